//go:build linux

package soak

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

const (
	namespace = "hyperpod-ns-ml-engineers"
	jobsPath  = "/apis/kubeflow.org/v1/namespaces/" + namespace + "/pytorchjobs"
	// lineEvery is the time between two lines of the log.
	lineEvery = 100 * time.Millisecond
	steady    = "steady"
)

// cluster is a sandbox behind a real listener, with what a cluster has over hours: it restarts, tokens expire, and a log
// grows.
type cluster struct {
	t      *testing.T
	box    *sandbox.Sandbox
	addr   string
	tokens string // the file that the credential plugin prints
	began  time.Time

	mu       sync.Mutex
	token    string
	tls      *tls.Config
	ca       []byte // PEM
	server   *http.Server
	restarts []time.Time
	refused  int
}

func newCluster(t *testing.T, dir string) *cluster {
	t.Helper()
	box, err := sandbox.Create(t.Context(), filepath.Join(dir, "soak"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, box: box, addr: ln.Addr().String(), tokens: filepath.Join(dir, "token.json"), began: time.Now()}
	signed := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	c.tls, c.ca = signed.TLS, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Certificate().Raw})
	signed.Close()
	c.rotate(0)
	c.serve(ln)
	t.Cleanup(func() { _ = c.server.Close() })
	return c
}

// kubeconfig signs in with a credential plugin: this binary, which prints the current token.
func (c *cluster) kubeconfig(path string) error {
	return os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: soak
clusters: [{name: soak, cluster: {server: "https://%s", certificate-authority-data: %s}}]
contexts: [{name: soak, context: {cluster: soak, user: soak, namespace: %s}}]
users:
- name: soak
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: %q
      interactiveMode: Never
      env: [{name: %s, value: %q}]
`, c.addr, base64.StdEncoding.EncodeToString(c.ca), namespace, os.Args[0], asPlugin, c.tokens), 0o600)
}

// rotate makes the token that was good so far invalid.
func (c *cluster) rotate(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = fmt.Sprintf("token-%d", n)
	text := fmt.Sprintf(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":%q}}`, c.token)
	if err := os.WriteFile(c.tokens+".new", []byte(text), 0o600); err != nil {
		c.t.Error(err)
	}
	if err := os.Rename(c.tokens+".new", c.tokens); err != nil {
		c.t.Error(err)
	}
}

func (c *cluster) serve(ln net.Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = &http.Server{Handler: http.HandlerFunc(c.answer), TLSConfig: c.tls.Clone(), ErrorLog: log.New(io.Discard, "", 0)}
	go func(s *http.Server) { _ = s.ServeTLS(ln, "", "") }(c.server)
}

// restart closes every connection, and serves on the same address again after a moment.
func (c *cluster) restart(down time.Duration) {
	c.mu.Lock()
	c.restarts = append(c.restarts, time.Now())
	server := c.server
	c.mu.Unlock()
	_ = server.Close()
	time.Sleep(down) // the server is down
	ln, err := net.Listen("tcp", c.addr)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.serve(ln)
}

func (c *cluster) answer(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	signedIn := r.Header.Get("Authorization") == "Bearer "+c.token
	if !signedIn {
		c.refused++
	}
	c.mu.Unlock()
	switch {
	case !signedIn:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`))
	case strings.HasSuffix(r.URL.Path, "/log") && strings.Contains(r.URL.Path, "/"+steady+"-"):
		c.log(w, r)
	default:
		c.box.ServeHTTP(w, r)
	}
}

// log is a log as the kubelet serves it: a line every 100 ms, from sinceTime on, which has whole seconds.
func (c *cluster) log(w http.ResponseWriter, r *http.Request) {
	n := 1
	if from, err := time.Parse(time.RFC3339, r.URL.Query().Get("sinceTime")); err == nil {
		for c.lineTime(n).Before(from) {
			n++
		}
	}
	w.WriteHeader(http.StatusOK)
	for r.Context().Err() == nil {
		for ; !c.lineTime(n).After(time.Now()); n++ {
			if _, err := fmt.Fprintf(w, "%s line %d\n", c.lineTime(n).Format(time.RFC3339Nano), n); err != nil {
				return
			}
		}
		if http.NewResponseController(w).Flush() != nil || r.URL.Query().Get("follow") != "true" {
			return
		}
		select {
		case <-r.Context().Done():
		case <-time.After(time.Until(c.lineTime(n))):
		}
	}
}

func (c *cluster) lineTime(n int) time.Time { return c.began.UTC().Add(time.Duration(n) * lineEvery) }

// request sends a request of the churn, past listener and token.
func (c *cluster) request(method, path string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Error(err)
		return
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.box.ServeHTTP(w, r)
	if w.Code >= 300 {
		c.t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

func (c *cluster) create(name string) {
	template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "i",
		"resources": map[string]any{"requests": map[string]any{"cpu": "100m"}}}}}}
	c.request(http.MethodPost, jobsPath, map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{"kueue.x-k8s.io/queue-name": namespace + "-localqueue"},
			"annotations": map[string]any{kinds.DurationAnnotation: "100h"}}, // longer than the test; by default a job ends after an hour
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": 1, "restartPolicy": "OnFailure", "template": template}}}})
}

func (c *cluster) remove(name string) {
	c.request(http.MethodDelete, jobsPath+"/"+name, map[string]any{})
}
