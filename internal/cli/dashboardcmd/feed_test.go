package dashboardcmd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startestimate"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// serveTLS serves a cluster with a certificate of its own, which it writes to the kubeconfig, at an address or "" for any.
func serveTLS(t *testing.T, h http.Handler, kubeconfig, address string) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	if address != "" {
		s.Listener.Close()
		if s.Listener, err = net.Listen("tcp", address); err != nil {
			t.Fatal(err)
		}
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q, certificate-authority-data: %s}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {}}]
`, s.URL, authority)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// stop ends a server and its connections, also those that clients open meanwhile.
func stop(s *httptest.Server) { _ = s.Config.Close() }

// following is a feed that runs.
type following struct {
	*feed
	f *factory.Factory
}

func startFeed(t *testing.T, kubeconfig string, change ...func(*feed)) *following {
	t.Helper()
	f := &factory.Factory{IO: &output.IO{Out: io.Discard, Err: io.Discard}, Env: func(string) string { return "" }, Now: time.Now}
	f.Global.Kubeconfig = kubeconfig
	x := &following{feed: newFeed(time.Now), f: f}
	x.pause = func(ctx context.Context, _ int) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	for _, c := range change {
		c(x.feed)
	}
	f.Observe = x.observe
	c, err := f.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running crash.Group
	running.Go(func() { x.run(ctx, c, f.Reconnect) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return x
}

// until waits for a snapshot.
func (x *following) until(t *testing.T, what string, ok func(*dashboardview.Snapshot) bool) {
	t.Helper()
	end := time.After(time.Minute)
	for {
		s, next := x.look(time.Now())
		if s != nil && ok(s) {
			return
		}
		select {
		case <-next:
		case <-end:
			t.Fatalf("not %s: %+v", what, s)
		}
	}
}

// TestAServerThatComesBack: with another certificate at the same address, or at another one, the dashboard keeps the last
// figures, says how old they are, and goes on.
func TestAServerThatComesBack(t *testing.T) {
	for _, same := range []bool{true, false} {
		dir := t.TempDir()
		box, err := sandbox.Create(t.Context(), filepath.Join(dir, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kubeconfig := filepath.Join(dir, "kubeconfig")
		first := serveTLS(t, box, kubeconfig, "")
		x := startFeed(t, kubeconfig)
		x.until(t, "shown", func(s *dashboardview.Snapshot) bool { return s.Failure == nil && len(s.Tasks) > 0 })
		at := first.Listener.Addr().String()
		stop(first)
		x.until(t, "lost", func(s *dashboardview.Snapshot) bool {
			return s.Failure == nil && !s.LostSince.IsZero() && len(s.Tasks) > 0
		})
		if !same {
			at = ""
		}
		second := serveTLS(t, box, kubeconfig, at)
		x.until(t, "back", func(s *dashboardview.Snapshot) bool {
			return s.Failure == nil && s.Age(time.Now()) == "" && len(s.Tasks) > 0
		})
		stop(second)
	}
}

// TestAStartWithoutAServer: before the first figures an error is final.
func TestAStartWithoutAServer(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	stop(serveTLS(t, http.NotFoundHandler(), kubeconfig, ""))
	x := startFeed(t, kubeconfig)
	x.until(t, "failed", func(s *dashboardview.Snapshot) bool { return s.Failure != nil })
}

// TestRefusedKinds: kinds of jobs that may not be listed are named, and hide no others; nothing is watched twice.
func TestRefusedKinds(t *testing.T) {
	dir := t.TempDir()
	box, err := sandbox.Create(t.Context(), filepath.Join(dir, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	watched := map[string]int{}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	server := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/deployments") || strings.HasSuffix(r.URL.Path, "/rayjobs") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`)
			return
		}
		if r.URL.Query().Get("watch") != "" {
			mu.Lock()
			watched[r.URL.Path]++
			mu.Unlock()
		}
		box.ServeHTTP(w, r)
	}), kubeconfig, "")
	x := startFeed(t, kubeconfig)
	x.until(t, "shown", func(s *dashboardview.Snapshot) bool {
		return s.Failure == nil && len(s.Tasks) > 10 && s.Note() == "some values are hidden (?): no permission to list deployments, rayjobs"
	})
	stop(server)
	mu.Lock()
	defer mu.Unlock()
	for path, n := range watched {
		if n > 1 {
			t.Errorf("%s is watched %d times", path, n)
		}
	}
}

// TestEstimates: pending jobs have an estimate of their start soon after the first figures, which do not wait for it.
func TestEstimates(t *testing.T) {
	dir := t.TempDir()
	box, err := sandbox.Create(t.Context(), filepath.Join(dir, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	server := serveTLS(t, box, kubeconfig, "")
	proceed := make(chan struct{})
	x := startFeed(t, kubeconfig, func(f *feed) {
		f.estimate = func(ctx context.Context, c *factory.Cluster, queues []string) (map[queue.Key]queue.ETA, error) {
			<-proceed
			return startestimate.Of(ctx, c, nil, queues, time.Hour)
		}
	})
	x.until(t, "shown", func(s *dashboardview.Snapshot) bool { return s.Failure == nil && len(s.Tasks) > 10 && s.Starts == nil })
	close(proceed)
	x.until(t, "estimated", func(s *dashboardview.Snapshot) bool {
		v := dashboardview.Of(s, dashboardview.Tasks, "")
		return slices.ContainsFunc(v.Table.Columns, func(c output.Column) bool { return c.Title == "ETA" }) &&
			slices.ContainsFunc(v.Table.Rows, func(row []output.Cell) bool { return strings.HasPrefix(row[7].Text, "~") })
	})
	stop(server)
}

// TestWhyTheConnectionIsLost: the reason of the last attempt is on the screen.
func TestWhyTheConnectionIsLost(t *testing.T) {
	f := newFeed(func() time.Time { return noon })
	f.shown = &reading{}
	f.lost(kube.ErrStop)
	f.lost(errors.New("x"))
	if s, _ := f.take(noon); s.LostSince != noon || s.LostBy.Error() != "x" {
		t.Errorf("%+v", s)
	}
}
