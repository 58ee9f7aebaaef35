package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func TestRetriesOfReads(t *testing.T) {
	good := answer(object("a", "1", "1", 7))
	tests := []struct {
		name  string
		turns []http.HandlerFunc
		waits string
		fails bool
	}{
		{name: "at once", turns: []http.HandlerFunc{good}, waits: "[]"},
		{name: "429 with Retry-After", turns: []http.HandlerFunc{refuse(429, "TooManyRequests", "later", "Retry-After: 3"), good}, waits: "[3s]"},
		{name: "429 without", turns: []http.HandlerFunc{refuse(429, "TooManyRequests", "later"), refuse(429, "TooManyRequests", "later"), good}, waits: "[250ms 500ms]"},
		{name: "503 with Retry-After", turns: []http.HandlerFunc{refuse(503, "ServiceUnavailable", "later", "Retry-After: 1"), good}, waits: "[1s]"},
		{name: "502 of a gateway", turns: []http.HandlerFunc{refuse(502, "", ""), good}, waits: "[250ms]"},
		{name: "500 is not repeated", turns: []http.HandlerFunc{refuse(500, "InternalError", "boom")}, waits: "[]", fails: true},
		{name: "500 with Retry-After", turns: []http.HandlerFunc{refuse(500, "InternalError", "boom", "Retry-After: 2"), good}, waits: "[2s]"},
		{name: "connection cut", turns: []http.HandlerFunc{cut, good}, waits: "[250ms]"},
		{name: "cut in the answer", turns: []http.HandlerFunc{cutAfter(`{"metadata":`), good}, waits: "[250ms]"},
		{name: "always cut in the answer", turns: []http.HandlerFunc{cutAfter(`{`), cutAfter(`{`), cutAfter(`{`)}, waits: "[250ms 500ms]", fails: true},
		{name: "enough is enough", turns: []http.HandlerFunc{cut, cut, cut, cut, cut}, waits: "[250ms 500ms 1s 2s]", fails: true},
		{name: "asked to wait too long", turns: []http.HandlerFunc{refuse(429, "TooManyRequests", "later", "Retry-After: 3600")}, waits: "[]", fails: true},
		{name: "404 is final", turns: []http.HandlerFunc{refuse(404, "NotFound", "no")}, waits: "[]", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, n := serve(t, inTurn(t, tt.turns...))
			i, err := getItem(c)
			if (err != nil) != tt.fails || err == nil && i.Value != 7 {
				t.Errorf("got %+v, %v", i, err)
			}
			if n.String() != tt.waits {
				t.Errorf("waited %s, want %s", n, tt.waits)
			}
			mustHaveSent(t, c, len(tt.turns))
		})
	}
}

func TestNoRetries(t *testing.T) {
	c, _ := serve(t, inTurn(t, refuse(503, "ServiceUnavailable", "later", "Retry-After: 1")), func(o *Options) { o.Retries = -1 })
	if _, err := getItem(c); err == nil {
		t.Error("no error")
	}
	mustHaveSent(t, c, 1)
}

// A create is sent again only when the server said that it did nothing.
func TestCreate(t *testing.T) {
	good := answer(object("a", "1", "1", 7))
	tests := []struct {
		name    string
		turns   []http.HandlerFunc
		fails   bool
		unclear bool
	}{
		{name: "done", turns: []http.HandlerFunc{good}},
		{name: "connection cut after it was read", turns: []http.HandlerFunc{cut}, fails: true, unclear: true},
		{name: "gateway timeout", turns: []http.HandlerFunc{refuse(504, "", "")}, fails: true, unclear: true},
		{name: "bad gateway with a page", turns: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			fmt.Fprint(w, "<html>secret page</html>")
		}}, fails: true, unclear: true},
		{name: "503", turns: []http.HandlerFunc{refuse(503, "ServiceUnavailable", "x", "Retry-After: 1")}, fails: true, unclear: true},
		{name: "500 of the storage", turns: []http.HandlerFunc{refuse(500, "InternalError", "etcdserver: request timed out")}, fails: true, unclear: true},
		{name: "500 of a webhook", turns: []http.HandlerFunc{refuse(500, "InternalError", "failed calling webhook")}, fails: true},
		{name: "answer cut", turns: []http.HandlerFunc{cutAfter(`{"metadata":`)}, fails: true, unclear: true},
		{name: "429 with Retry-After", turns: []http.HandlerFunc{refuse(429, "TooManyRequests", "x", "Retry-After: 1"), good}},
		{name: "429 without", turns: []http.HandlerFunc{refuse(429, "TooManyRequests", "x")}, fails: true},
		{name: "409", turns: []http.HandlerFunc{refuse(409, "AlreadyExists", "x")}, fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := serve(t, inTurn(t, tt.turns...))
			var got item
			err := c.Create(bg, kinds.ConfigMap, "ns", map[string]any{"metadata": map[string]any{"name": "a"}}, CreateOptions{}, &got)
			if (err != nil) != tt.fails || err == nil && got.Value != 7 {
				t.Errorf("got %+v, %v", got, err)
			}
			if OutcomeUnknown(err) != tt.unclear {
				t.Errorf("OutcomeUnknown is %v: %v", OutcomeUnknown(err), err)
			}
			if err != nil && strings.Contains(errs.Text(err, true), "secret page") {
				t.Errorf("a raw body is shown: %s", errs.Text(err, true))
			}
			mustHaveSent(t, c, len(tt.turns))
		})
	}
}

// Cancelling after the create was sent leaves it unclear, too; before, it does not.
func TestCreateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	c, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	err := c.Create(ctx, kinds.ConfigMap, "ns", map[string]any{}, CreateOptions{}, nil)
	if !OutcomeUnknown(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mustSay(t, err, errs.Interrupted, "interrupted")
	if err := c.Create(ctx, kinds.ConfigMap, "ns", map[string]any{}, CreateOptions{}, nil); OutcomeUnknown(err) || err == nil {
		t.Errorf("nothing was sent: %v", err)
	}
}

func TestConnectionRefused(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c, _ := connect(t, &rest.Config{Host: srv.URL})
	_, err := getItem(c)
	mustSay(t, err, errs.Failure, `cannot get configmap "a" in namespace ns: connection refused`, srv.URL, "advice:")
	mustHaveSent(t, c, 1)
	if err := c.Create(bg, kinds.ConfigMap, "ns", map[string]any{}, CreateOptions{}, nil); OutcomeUnknown(err) {
		t.Error("nothing was sent, so nothing is unclear")
	}
	_, err = c.ServedVersions(bg, "g") // no user asks for the versions of a group
	mustSay(t, err, errs.Failure, "cannot reach the API server: connection refused", srv.URL)
}

func TestUnknownHost(t *testing.T) {
	c, _ := connect(t, &rest.Config{Host: "https://cluster.invalid"})
	_, err := getItem(c)
	mustSay(t, err, errs.Failure, "cannot resolve the host name cluster.invalid")
}

func TestHangingServer(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(bg)
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); hang(w, r) })
		_, err := List[item](ctx, c, kinds.ConfigMap, "ns", ListOptions{})
		mustSay(t, err, errs.Interrupted, "cannot list configmaps in namespace ns: interrupted")
		mustHaveSent(t, c, 1)
	})
	t.Run("cancelled within the answer", func(t *testing.T) {
		ctx, cancel := context.WithCancel(bg)
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"items":[{"metadata":`)
			w.(http.Flusher).Flush()
			cancel()
			hang(w, r)
		})
		_, err := List[item](ctx, c, kinds.ConfigMap, "ns", ListOptions{})
		mustSay(t, err, errs.Interrupted, "interrupted")
	})
	t.Run("deadline of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
		defer cancel()
		c, _ := serve(t, hang)
		_, err := List[item](ctx, c, kinds.ConfigMap, "", ListOptions{})
		mustSay(t, err, errs.Timeout, "cannot list configmaps in all namespaces: the deadline passed")
	})
	t.Run("request timeout", func(t *testing.T) {
		c, _ := serve(t, hang, func(o *Options) { o.Timeout = 20 * time.Millisecond })
		_, err := getItem(c)
		mustSay(t, err, errs.Failure, "no complete answer within 20ms", "--request-timeout")
		mustHaveSent(t, c, 1)
	})
	t.Run("request timeout within the answer", func(t *testing.T) {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"items":[`)
			w.(http.Flusher).Flush()
			hang(w, r)
		}, func(o *Options) { o.Timeout = 50 * time.Millisecond })
		_, err := List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{})
		mustSay(t, err, errs.Failure, "no complete answer within 50ms")
	})
	t.Run("cancelled while waiting to try again", func(t *testing.T) {
		ctx, cancel := context.WithCancel(bg)
		c, _ := serve(t, inTurn(t, refuse(503, "ServiceUnavailable", "x", "Retry-After: 5")), func(o *Options) {
			o.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
		})
		err := c.Get(ctx, kinds.ConfigMap, "ns", "a", nil)
		mustSay(t, err, errs.Interrupted, "interrupted")
	})
}

func TestRequestShape(t *testing.T) {
	var got []string
	var bodies []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type"))
		bodies = append(bodies, string(data))
		if ua := r.Header.Get("User-Agent"); ua != "hyperpod/test (linux/amd64)" {
			t.Errorf("User-Agent %q", ua)
		}
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
		}
		fmt.Fprint(w, `{}`)
	})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(c.Create(bg, kinds.PyTorchJob.Resource, "ns", map[string]any{"a": 1}, CreateOptions{DryRun: true, FieldValidation: "Strict"}, nil))
	check(c.Change(bg, kinds.Workload, "ns", "w", MergePatch, map[string]any{"spec": map[string]any{"active": false}}, ChangeOptions{}, nil))
	check(c.Delete(bg, kinds.PyTorchJob.Resource, "ns", "a", DeleteOptions{Propagation: "Background", UID: "u1", DryRun: true}))
	check(c.Get(bg, kinds.Namespace, "", "ns", nil))
	want := []string{
		"POST /apis/kubeflow.org/v1/namespaces/ns/pytorchjobs?dryRun=All&fieldValidation=Strict application/json",
		"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w application/merge-patch+json",
		"DELETE /apis/kubeflow.org/v1/namespaces/ns/pytorchjobs/a application/json",
		"GET /api/v1/namespaces/ns ",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	wantBodies := []string{`{"a":1}`, `{"spec":{"active":false}}`,
		`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","preconditions":{"uid":"u1"},"dryRun":["All"]}`, ""}
	for i := range wantBodies {
		if bodies[i] != wantBodies[i] {
			t.Errorf("got  %s\nwant %s", bodies[i], wantBodies[i])
		}
	}
}

// Names come from users: they must not lead to another path.
func TestHostileNames(t *testing.T) {
	c, _ := serve(t, inTurn(t))
	for _, name := range []string{"../../secrets/x", "a/b", "..", "a%2fb", "a?watch=true", "a#b"} {
		mustSay(t, c.Get(bg, kinds.ConfigMap, "ns", name, nil), errs.Usage, "invalid name")
		mustSay(t, c.Delete(bg, kinds.ConfigMap, name, "x", DeleteOptions{}), errs.Usage, "invalid name")
	}
	mustHaveSent(t, c, 0)
}

func TestGetInto(t *testing.T) {
	c, _ := serve(t, answer(`{"kind":"ConfigMap","metadata":{"name":"a","generation":9007199254740993},"value":1.5}`))
	var m map[string]any
	var raw json.RawMessage
	for _, into := range []any{&m, &raw} {
		if err := c.Get(bg, kinds.ConfigMap, "ns", "a", into); err != nil {
			t.Fatal(err)
		}
	}
	if n := m["metadata"].(map[string]any)["generation"]; n != int64(9007199254740993) {
		t.Errorf("a whole number became %T %v", n, n)
	}
	if !strings.HasPrefix(string(raw), `{"kind":"ConfigMap"`) {
		t.Errorf("got %s", raw)
	}
}

func TestCanI(t *testing.T) {
	c, n := serve(t, inTurn(t, cut, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Spec struct {
				ResourceAttributes map[string]string `json:"resourceAttributes"`
			} `json:"spec"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if a := body.Spec.ResourceAttributes; a["verb"] != "get" || a["resource"] != "pods" || a["subresource"] != "log" || a["namespace"] != "ns" {
			t.Errorf("asked for %v", a)
		}
		fmt.Fprint(w, `{"status":{"allowed":true}}`)
	}, refuse(403, "Forbidden", "x cannot y")))
	// Asking changes nothing, so it is repeated.
	if ok, err := c.CanI(bg, "get", kinds.Pod, "ns", "log"); !ok || err != nil {
		t.Errorf("got %v, %v (waits %s)", ok, err, n)
	}
	if _, err := c.CanI(bg, "get", kinds.Pod, "ns", ""); !IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

// TestCan: a review of another user also has the groups that the server adds itself, and a refusal names the permission.
func TestCan(t *testing.T) {
	c, _ := serve(t, inTurn(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Kind string `json:"kind"`
			Spec struct {
				User   string   `json:"user"`
				Groups []string `json:"groups"`
			} `json:"spec"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if got := fmt.Sprint(r.URL.Path, body); got != "/apis/authorization.k8s.io/v1/subjectaccessreviews{SubjectAccessReview {system:serviceaccount:ci:bot [g system:authenticated system:serviceaccounts system:serviceaccounts:ci]}}" {
			t.Error(got)
		}
		fmt.Fprint(w, `{"status":{"allowed":true}}`)
	}, refuse(403, "Forbidden", `subjectaccessreviews.authorization.k8s.io is forbidden: User "ada" cannot create resource "subjectaccessreviews"`)))
	bot := User{Name: "system:serviceaccount:ci:bot", Groups: []string{"g"}}
	if ok, err := c.Can(bg, bot, "get", kinds.Pod, "ns", ""); !ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
	_, err := c.Can(bg, bot, "get", kinds.Pod, "ns", "")
	var e *errs.Error
	if !IsForbidden(err) || !errors.As(err, &e) || e.What != "cannot create subjectaccessreviews" || !slices.ContainsFunc(e.Facts, func(f errs.Fact) bool {
		return f.Text == "permission to create subjectaccessreviews.authorization.k8s.io in the cluster"
	}) {
		t.Errorf("got %v %+v", err, e)
	}
}

func TestLimiter(t *testing.T) {
	var now, most atomic.Int64
	gate := make(chan struct{})
	full := make(chan struct{})
	var once sync.Once
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		if n == maxInFlight {
			once.Do(func() { close(full) }) // a second wave may be as large
		}
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-gate
		now.Add(-1)
		fmt.Fprint(w, `{"metadata": {"name": "a"}}`)
	})
	var wg sync.WaitGroup
	for range 3 * maxInFlight {
		wg.Go(func() {
			if _, err := getItem(c); err != nil {
				t.Error(err)
			}
		})
	}
	<-full // as many as may are under way; one more would be counted below
	if n := c.Requests(); n != maxInFlight {
		t.Errorf("%d requests under way", n)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := c.Get(ctx, kinds.ConfigMap, "ns", "a", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request waits for its turn: %v", err)
	}
	close(gate)
	wg.Wait()
	if most.Load() > maxInFlight {
		t.Errorf("%d requests at once", most.Load())
	}
}

func TestObserveAndWarn(t *testing.T) {
	var seen []Request
	var warnings []string
	c, _ := serve(t, inTurn(t, cut, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Warning", `299 - "unknown field \"spec.x\""`)
		w.Header().Add("Warning", `not a warning`)
		fmt.Fprint(w, `{}`)
	}), func(o *Options) {
		o.Observe = func(r Request) { seen = append(seen, r) }
		o.Warn = func(s string) { warnings = append(warnings, s) }
	})
	c.config.BearerToken = "secret"
	if err := c.Get(bg, kinds.ConfigMap, "ns", "a", nil); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Err == nil || seen[0].Status != 0 || seen[1].Status != 200 || seen[1].Attempt != 2 || seen[1].Path != "/api/v1/namespaces/ns/configmaps/a" {
		t.Errorf("got %+v", seen)
	}
	if len(warnings) != 1 || warnings[0] != `unknown field "spec.x"` {
		t.Errorf("got %q", warnings)
	}
}
