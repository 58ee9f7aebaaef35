package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func newServer(t testing.TB, h http.HandlerFunc) *httptest.Server {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// secureServer is a server over TLS and what a kubeconfig says of it: credentials
// are not sent in the clear.
func secureServer(t testing.TB, h http.HandlerFunc) (cluster string) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "server", time.Now().Add(time.Hour))
	return ca.tlsServer(t, cert, key, tls.NoClientCert, h).URL + "|certificate-authority-data: " + b64(ca.pem)
}

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t testing.TB) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue makes a certificate that ends at a time, and its key.
func (a authority) issue(t testing.TB, name string, until time.Time) (cert, key []byte) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}}
	if strings.Contains(name, ".") {
		template.IPAddresses, template.DNSNames = nil, []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

// tlsServer starts a server with a certificate; with demand, clients need a certificate of the authority.
func (a authority) tlsServer(t testing.TB, cert, key []byte, demand tls.ClientAuthType, h http.HandlerFunc) *httptest.Server {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	srv := httptest.NewUnstartedServer(h)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: demand, ClientCAs: pool}
	if demand == tls.RequireAndVerifyClientCert {
		srv.TLS.MaxVersion = tls.VersionTLS12 // refuses within the handshake
	}
	srv.Config.ErrorLog = quietLog
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func TestClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	in := time.Now().Add(time.Hour)
	cert, key := ca.issue(t, "server", in)
	mine, myKey := ca.issue(t, "jane", in)
	srv := ca.tlsServer(t, cert, key, tls.RequireAndVerifyClientCert, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.PeerCertificates[0].Subject.CommonName != "jane" || r.ProtoMajor != 2 {
			t.Errorf("got %v over %s", r.TLS.PeerCertificates[0].Subject, r.Proto)
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	user := fmt.Sprintf("me={client-certificate-data: %s, client-key-data: %s}", b64(mine), b64(myKey))
	c := located(t, configFile(t, "dev", []string{"dev=" + srv.URL + "|certificate-authority-data: " + b64(ca.pem)}, []string{"dev=dev/me/"}, []string{user}))
	if i, err := getItem(c); err != nil || i.Value != 7 {
		t.Errorf("got %+v, %v", i, err)
	}
	// Files, relative to the kubeconfig.
	dir := t.TempDir()
	for name, data := range map[string][]byte{"me.crt": mine, "me.key": myKey, "ca.crt": ca.pem} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(configFile(t, "dev", []string{"dev=" + srv.URL + "|certificate-authority: ca.crt"}, []string{"dev=dev/me/"}, []string{"me={client-certificate: me.crt, client-key: me.key}"}))
	path := filepath.Join(dir, "config")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if i, err := getItem(located(t, path)); err != nil || i.Value != 7 {
		t.Errorf("got %+v, %v", i, err)
	}
}

func TestTLSTroubles(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	in, ago := time.Now().Add(time.Hour), time.Now().Add(-time.Hour).Truncate(time.Second)
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, object("a", "1", "1", 7)) }
	unauthorized := refuse(401, "Unauthorized", "Unauthorized")
	cert, key := ca.issue(t, "server", in)
	oldCert, oldKey := ca.issue(t, "server", ago)
	named, namedKey := ca.issue(t, "other.example", in)
	mine, myKey := ca.issue(t, "jane", in)
	stale, staleKey := ca.issue(t, "jane", ago)
	trust := "|certificate-authority-data: " + b64(ca.pem)
	login := func(cert, key []byte) string {
		return fmt.Sprintf("me={client-certificate-data: %s, client-key-data: %s}", b64(cert), b64(key))
	}
	// A server as old as this negotiates nothing that Go accepts by default.
	old := ca.tlsServer(t, cert, key, tls.NoClientCert, ok)
	old.TLS.MinVersion, old.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	tests := []struct {
		name      string
		srv       *httptest.Server
		trust     string
		user      string
		code      errs.Exit
		says      []string
		atSetup   bool
		plainHTTP bool
	}{
		{name: "unknown authority", srv: ca.tlsServer(t, cert, key, tls.NoClientCert, ok), trust: "|certificate-authority-data: " + b64(other.pem), code: errs.Failure, says: []string{"signed by an unknown authority", "hyperpod connect-cluster NAME"}},
		{name: "no authority given", srv: ca.tlsServer(t, cert, key, tls.NoClientCert, ok), code: errs.Failure, says: []string{"signed by an unknown authority"}},
		{name: "expired server", srv: ca.tlsServer(t, oldCert, oldKey, tls.NoClientCert, ok), trust: trust, code: errs.Failure, says: []string{"the server certificate has expired", "to " + ago.UTC().Format(time.RFC3339)}},
		{name: "another host", srv: ca.tlsServer(t, named, namedKey, tls.NoClientCert, ok), trust: trust, code: errs.Failure, says: []string{"for another host name"}},
		{name: "expired client, refused in the handshake", srv: ca.tlsServer(t, cert, key, tls.RequireAndVerifyClientCert, ok), trust: trust, user: login(stale, staleKey), code: errs.Denied, says: []string{"the client certificate expired on"}},
		{name: "expired client, refused by the API server", srv: ca.tlsServer(t, cert, key, tls.RequestClientCert, unauthorized), trust: trust, user: login(stale, staleKey), code: errs.Denied, says: []string{"the client certificate expired on " + ago.UTC().Format(time.RFC3339)}},
		{name: "valid client, refused by the API server", srv: ca.tlsServer(t, cert, key, tls.RequestClientCert, unauthorized), trust: trust, user: login(mine, myKey), code: errs.Denied, says: []string{"credentials missing, invalid or expired"}},
		{name: "no client certificate", srv: ca.tlsServer(t, cert, key, tls.RequireAndVerifyClientCert, ok), trust: trust, code: errs.Denied, says: []string{"rejected the client certificate"}},
		{name: "key of another certificate", srv: ca.tlsServer(t, cert, key, tls.NoClientCert, ok), trust: trust, user: login(mine, staleKey), code: errs.Failure, says: []string{"does not match the client certificate"}, atSetup: true},
		{name: "not PEM", srv: ca.tlsServer(t, cert, key, tls.NoClientCert, ok), trust: trust, user: login([]byte("x"), []byte("y")), code: errs.Failure, says: []string{"not valid PEM"}, atSetup: true},
		{name: "TLS 1.0", srv: old, trust: trust, code: errs.Failure, says: []string{"no TLS version that is safe to use"}},
		{name: "no TLS there", srv: newServer(t, ok), trust: trust, code: errs.Failure, says: []string{"does not use TLS"}, plainHTTP: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := tt.srv.URL
			if tt.plainHTTP {
				url = strings.Replace(url, "http:", "https:", 1)
			}
			user := tt.user
			if user == "" {
				user = "me={}"
			}
			target, err := Locate(Location{Kubeconfig: configFile(t, "dev", []string{"dev=" + url + tt.trust}, []string{"dev=dev/me/"}, []string{user})}, env())
			var c *Client
			if err == nil {
				c, err = New(target.Config, Options{})
			}
			if (err != nil) != tt.atSetup {
				t.Fatalf("at set-up: %v", err)
			}
			if err == nil {
				_, err = getItem(c)
			}
			mustSay(t, err, tt.code, tt.says...)
		})
	}
}

func TestProxy(t *testing.T) {
	var used atomic.Int64
	proxy := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		used.Add(1)
		if r.URL.Host != "cluster.invalid" {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	c := located(t, configFile(t, "dev", []string{"dev=http://cluster.invalid|proxy-url: " + proxy.URL}, []string{"dev=dev/me/"}, []string{"me={}"}))
	if i, err := getItem(c); err != nil || i.Value != 7 || used.Load() != 1 {
		t.Errorf("got %+v, %v, proxy used %d times", i, err, used.Load())
	}
	proxy.Close()
	_, err := getItem(located(t, configFile(t, "dev", []string{"dev=https://cluster.invalid|proxy-url: " + proxy.URL}, []string{"dev=dev/me/"}, []string{"me={}"})))
	mustSay(t, err, errs.Failure, "the connection through the proxy failed", "proxy-url")
}

// plugin writes a credential plugin.
func plugin(t testing.TB, script string) string {
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	path := filepath.Join(t.TempDir(), "get-token")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// execUser is a user whose credentials come from a plugin.
func execUser(command string) string {
	return fmt.Sprintf("me={exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}}", command)
}

const credential = `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}'`

func TestCredentialPlugin(t *testing.T) {
	cluster := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer from-plugin" {
			t.Errorf("got %q", r.Header.Get("Authorization"))
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	count := filepath.Join(t.TempDir(), "count")
	script := fmt.Sprintf("echo run >> %q\n"+credential, count, "from-plugin")
	c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(plugin(t, script))}))
	for range 3 {
		if i, err := getItem(c); err != nil || i.Value != 7 {
			t.Errorf("got %+v, %v", i, err)
		}
	}
	if runs, _ := os.ReadFile(count); string(runs) != "run\n" {
		t.Errorf("the plugin ran: %q", runs)
	}
}

func TestCredentialPluginTroubles(t *testing.T) {
	cluster := secureServer(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without credentials was sent") })
	tests := []struct {
		name, command string
		says          []string
	}{
		{"missing", "no-such-plugin-here", []string{`credential plugin "no-such-plugin-here" is not installed`, "--kubeconfig FILE"}},
		{"missing, with a path", "/no/such/plugin", []string{`"/no/such/plugin" is not installed`}},
		{"failing", plugin(t, "exit 3"), []string{"get-token", "failed (exit code 3)", "sign in again"}},
		{"no JSON", plugin(t, "echo secret-output"), []string{"returned no usable credentials"}},
		{"empty", plugin(t, fmt.Sprintf(credential, "")), []string{"returned no usable credentials"}},
		{"another version", plugin(t, `echo '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"x"}}'`), []string{"another API version"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(tt.command)}))
			_, err := getItem(c)
			mustSay(t, err, errs.Denied, tt.says...)
			if strings.Contains(errs.Text(err, false), "secret-output") {
				t.Errorf("the plugin's output is shown:\n%s", errs.Text(err, false))
			}
		})
	}
}

// fewBytes is the limit of a plugin in these tests: client-go decodes all that a plugin printed, in many times its memory.
const fewBytes = 4 << 20

func TestCredentialPluginPrintsTooMuch(t *testing.T) {
	cluster := secureServer(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without credentials was sent") })
	script := fmt.Sprintf("head -c %d /dev/zero", 4*fewBytes)
	c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(plugin(t, script))}))
	c.rt.(*abandoning).most = fewBytes
	for range 2 { // nothing waits for the plugin again
		_, err := getItem(c)
		mustSay(t, err, errs.Denied, `get-token" printed more than 4 MiB`, "run the plugin by hand")
	}
	waitForAbandoned(c)
}

// A plugin that renews credentials has a limit too, also where the server has refused the old ones.
func TestCredentialPluginPrintsTooMuchLater(t *testing.T) {
	for name, end := range map[string]string{"refused": "", "expired": `,"expirationTimestamp":"2020-01-01T00:00:00Z"`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := fmt.Sprintf("if [ -e %[1]q/first ]; then head -c %[2]d /dev/zero; exit; fi\ntouch %[1]q/first\n"+
				`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"x"%[3]s}}'`, dir, 4*fewBytes, end)
			requests := 0
			cluster := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests > 1 {
					refuse(401, "Unauthorized", "Unauthorized")(w, r)
					return
				}
				fmt.Fprint(w, object("a", "1", "1", 7))
			})
			c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(plugin(t, script))}))
			c.rt.(*abandoning).mostRenewed = fewBytes
			if _, err := getItem(c); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err := getItem(c)
				mustSay(t, err, errs.Denied, `get-token" printed more than 4 MiB`)
			}
			waitForAbandoned(c)
		})
	}
}

// waitForAbandoned waits until the requests of a client have read all that their plugins printed: the limit of the
// next test is about the heap of the whole process.
func waitForAbandoned(c *Client) { c.rt.(*abandoning).abandoned.Wait() }

// Credentials that run out while the program runs are renewed once; credentials
// that never worked are not tried again.
func TestCredentialsRunOut(t *testing.T) {
	dir := t.TempDir()
	script := fmt.Sprintf("echo run >> %[1]q/count\nN=$(grep -c run %[1]q/count)\n"+`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$N'"}}'`, dir)
	var valid atomic.Value
	valid.Store("Bearer token-1")
	cluster := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != valid.Load() {
			refuse(401, "Unauthorized", "Unauthorized")(w, r)
			return
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(plugin(t, script))}))
	if _, err := getItem(c); err != nil {
		t.Fatal(err)
	}
	valid.Store("Bearer token-2")
	if i, err := getItem(c); err != nil || i.Value != 7 {
		t.Errorf("got %+v, %v", i, err)
	}
	mustHaveSent(t, c, 3)
	valid.Store("none")
	if _, err := getItem(c); !IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}
	mustHaveSent(t, c, 5)
}
