package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// naps records the waits of a client and never waits.
type naps struct {
	mu  sync.Mutex
	all []time.Duration
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	n.all = append(n.all, d)
	n.mu.Unlock()
	return ctx.Err()
}

func (n *naps) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprint(n.all)
}

// serve starts a server on loopback and a client of it.
func serve(t testing.TB, h http.HandlerFunc, change ...func(*Options)) (*Client, *naps) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return connect(t, &rest.Config{Host: srv.URL}, change...)
}

func connect(t testing.TB, cfg *rest.Config, change ...func(*Options)) (*Client, *naps) {
	t.Helper()
	n := &naps{}
	o := Options{UserAgent: "hyperpod/test (linux/amd64)", Sleep: n.sleep}
	for _, f := range change {
		f(&o)
	}
	c, err := New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, n
}

// inTurn answers the n-th request with the n-th handler, and fails the test when
// there are more requests than handlers.
func inTurn(t testing.TB, hs ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		i := n
		n++
		mu.Unlock()
		if i >= len(hs) {
			t.Errorf("request %d is one too many: %s %s", i+1, r.Method, r.URL)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		hs[i](w, r)
	}
}

// answer sends a body.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

// refuse sends a Status as the API server does; header is "Name: value" pairs.
func refuse(code int, reason, message string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, h := range header {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure",
			"message": message, "reason": reason, "code": code})
	}
}

// cut ends the connection without an answer, after the request was read.
func cut(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// cutAfter sends the beginning of an answer.
func cutAfter(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// item is what the tests read of an object.
type item struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Value int `json:"value"`
}

func object(name, uid, version string, value int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"ns","uid":%q,"resourceVersion":%q},"value":%d}`, name, uid, version, value)
}

func listOf(version string, items ...string) string {
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":%q},"items":[%s]}`, version, strings.Join(items, ","))
}

func names(items []item) string {
	var out []string
	for _, i := range items {
		out = append(out, i.Metadata.Name)
	}
	return strings.Join(out, " ")
}

// mustSay checks the text people see, its exit code and the number of requests.
func mustSay(t *testing.T, err error, code errs.Exit, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := errs.Text(err, false)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
	if got := errs.ExitOf(err); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, text)
	}
}

func mustHaveSent(t *testing.T, c *Client, n int) {
	t.Helper()
	if c.Requests() != n {
		t.Errorf("%d requests were sent, want %d", c.Requests(), n)
	}
}

var bg = context.Background()

func getItem(c *Client) (item, error) {
	var i item
	err := c.Get(bg, kinds.ConfigMap, "ns", "a", &i)
	return i, err
}

// quietLog keeps failed handshakes, which tests cause, off the terminal.
var quietLog = log.New(io.Discard, "", 0)
