package aws_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestTLS: what is wrong with the TLS of AWS, or of a proxy before it, does not pass, and has its own advice.
func TestTLS(t *testing.T) {
	year := 365 * 24 * time.Hour
	for name, tt := range map[string]struct {
		age     time.Duration // of a certificate for 127.0.0.1 that is valid for a year
		trusted bool
		host    string
		plain   bool
		most    uint16
		want    []string
	}{
		"unknown authority": {age: time.Hour, host: "127.0.0.1", want: []string{"the TLS certificate of 127.0.0.1 is signed by an unknown authority", "AWS_CA_BUNDLE"}},
		"another host":      {age: time.Hour, trusted: true, host: "localhost", want: []string{"the TLS certificate of localhost is for another host name", "proxy"}},
		"expired":           {age: 2 * year, trusted: true, host: "127.0.0.1", want: []string{"the TLS certificate of 127.0.0.1 has expired or is not yet valid", "valid:", "check the clock"}},
		"not yet valid":     {age: -year, trusted: true, host: "127.0.0.1", want: []string{"the TLS certificate of 127.0.0.1 has expired or is not yet valid", "check the clock"}},
		"no TLS":            {plain: true, host: "127.0.0.1", want: []string{"127.0.0.1 does not use TLS", "AWS_ENDPOINT_URL"}},
		"an old TLS":        {age: time.Hour, trusted: true, host: "127.0.0.1", most: tls.VersionTLS10, want: []string{"127.0.0.1 supports no TLS version that is safe to use"}},
	} {
		t.Run(name, func(t *testing.T) {
			account(t, fake.Options{})
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			defer server.Close()
			bundle := filepath.Join(t.TempDir(), "ca.pem")
			if tt.plain {
				server.Start()
			} else {
				certificate, text := certificate(t, time.Now().Add(-tt.age), year)
				server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10, MaxVersion: tt.most}
				if err := os.WriteFile(bundle, text, 0o600); err != nil {
					t.Fatal(err)
				}
				server.StartTLS()
			}
			if tt.trusted {
				t.Setenv("AWS_CA_BUNDLE", bundle)
			}
			_, port, err := net.SplitHostPort(server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("AWS_ENDPOINT_URL", "https://"+net.JoinHostPort(tt.host, port))
			attempts := 0
			_, err = open(t, aws.Options{Observe: func(aws.Request) { attempts++ }}).ListClusters(t.Context())
			text := errs.Text(err, false)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("without %q:\n%s", want, text)
				}
			}
			if aws.IsTransient(err) || errs.ExitOf(err) != errs.Failure || attempts != 1 {
				t.Errorf("transient %v, exit code %d, %d attempts", aws.IsTransient(err), errs.ExitOf(err), attempts)
			}
		})
	}
}

// certificate returns a certificate of its own authority for 127.0.0.1, and its text.
func certificate(t *testing.T, from time.Time, life time.Duration) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: from.Add(life), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
