package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// A redirect never carries the token to another host: of no request, and of
// neither protocol of exec.
func TestNoRedirectIsFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, code)
		}))
		t.Cleanup(srv.Close)
		c, err := New(&rest.Config{Host: srv.URL, BearerToken: "secret"}, Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(bg, kinds.Pod, "ns", "p", nil); err == nil {
			t.Errorf("%d: no error", code)
		}
		_, err = c.Exec(bg, ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"true"}, Stdout: io.Discard})
		if errs.ExitOf(err) != errs.Failure {
			t.Errorf("%d: %v", code, err)
		}
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests went to another host", n)
	}
}

// A server may answer with pages that nobody asked for.
func TestUnrequestedPages(t *testing.T) {
	page := func(name, token string) string {
		return fmt.Sprintf(`{"kind":"PodList","metadata":{"continue":%q},"items":[{"metadata":{"name":%q}}]}`, token, name)
	}
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("continue") {
		case "":
			fmt.Fprint(w, page("a", "second"))
		case "second":
			fmt.Fprint(w, page("b", ""))
		}
	})
	got, err := List[map[string]any](bg, c, kinds.Pod, "", ListOptions{})
	if err != nil || len(got.Items) != 2 {
		t.Errorf("got %v, %v", got.Items, err)
	}
	// Pages without end are an error.
	c, _ = serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page("a", "again")) })
	if got, err := List[map[string]any](bg, c, kinds.Pod, "", ListOptions{}); err == nil {
		t.Errorf("got %d items, no error", len(got.Items))
	}
}

// null is neither an object nor an item of a list.
func TestNullObjects(t *testing.T) {
	c, _ := serve(t, answer("null"))
	var m map[string]any
	mustSay(t, c.Get(bg, kinds.Pod, "ns", "p", &m), errs.Failure, "not from a Kubernetes API server")
	var s struct{}
	mustSay(t, c.Get(bg, kinds.Pod, "ns", "p", &s), errs.Failure, "not from a Kubernetes API server")
	c, _ = serve(t, answer(`{"kind":"PodList","items":[{"metadata":{"name":"a"}}, null]}`))
	_, err := List[map[string]any](bg, c, kinds.Pod, "", ListOptions{})
	mustSay(t, err, errs.Failure, "not from a Kubernetes API server")
}

// A list with an object that has no name is refused; an object that is there twice counts once.
func TestNamelessAndDoubleObjects(t *testing.T) {
	type typed struct {
		Metadata struct {
			Name, Namespace string
		} `json:"metadata"`
	}
	const nameless = `{"kind":"PodList","items":[{"metadata":{"name":"a"}}, {"metadata":{"uid":"b"}}]}`
	const double = `{"kind":"PodList","items":[{"metadata":{"name":"a","namespace":"n"},"v":1}, {"metadata":{"name":"a","namespace":"m"}}, {"metadata":{"name":"a","namespace":"n"},"v":2}]}`
	c, _ := serve(t, answer(nameless))
	_, err := List[map[string]any](bg, c, kinds.Pod, "", ListOptions{})
	mustSay(t, err, errs.Failure, "not from a Kubernetes API server")
	_, err = List[*corev1.Pod](bg, c, kinds.Pod, "", ListOptions{})
	mustSay(t, err, errs.Failure, "not from a Kubernetes API server")
	c, _ = serve(t, answer(double))
	untyped, err := List[map[string]any](bg, c, kinds.Pod, "", ListOptions{})
	if err != nil || len(untyped.Items) != 2 || fmt.Sprint(untyped.Items[0]["v"]) != "2" {
		t.Errorf("got %v, %v", untyped.Items, err)
	}
	if pods, err := List[corev1.Pod](bg, c, kinds.Pod, "", ListOptions{}); err != nil || len(pods.Items) != 2 || pods.Items[1].Namespace != "m" {
		t.Errorf("got %v, %v", pods.Items, err)
	}
	if raw, err := List[json.RawMessage](bg, c, kinds.Pod, "", ListOptions{}); err != nil || len(raw.Items) != 3 {
		t.Errorf("a type without a name: got %d, %v", len(raw.Items), err)
	}
	type short struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if all, err := List[short](bg, c, kinds.Pod, "", ListOptions{}); err != nil || len(all.Items) != 3 {
		t.Errorf("a type without a namespace, in all namespaces: got %d, %v", len(all.Items), err)
	}
	if one, err := List[short](bg, c, kinds.Pod, "n", ListOptions{}); err != nil || len(one.Items) != 1 {
		t.Errorf("a type without a namespace, in one: got %d, %v", len(one.Items), err)
	}
	if at, ok := identifierOf(reflect.TypeFor[typed]()); ok {
		t.Errorf("fields without JSON names: %v", at)
	}
}

// An object without a UID ends a watch: whether a job of that name was deleted cannot be known.
func TestFollowNeedsUIDs(t *testing.T) {
	ignore := func(Event[map[string]any]) error { return nil }
	c, _ := serve(t, answer(`{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","namespace":"ns"}}]}`))
	mustSay(t, Follow(bg, c, kinds.Pod, "ns", ListOptions{}, ignore), errs.Failure, "not from a Kubernetes API server")
	w := follower{known: map[string]tracked{}, version: "1",
		f:      func(string, any) error { return nil },
		decode: func(json.RawMessage) (any, error) { return nil, nil }}
	if err := w.apply(bookmark, json.RawMessage(`{"metadata":{"resourceVersion":"2"}}`)); err != nil || w.version != "2" {
		t.Errorf("a bookmark has no UID: %v", err)
	}
	for _, kind := range []string{Added, Modified, Deleted} {
		if err := w.apply(kind, json.RawMessage(`{"metadata":{"name":"a","namespace":"ns","resourceVersion":"3"}}`)); err == nil || err.Error() != "the object ns/a has no UID" || w.version != "2" {
			t.Errorf("%s: %v, version %s", kind, err, w.version)
		}
	}
}

// The password of a proxy is not shown.
func TestMalformedProxy(t *testing.T) {
	_, err := Locate(Location{Kubeconfig: configFile(t, "dev", []string{"dev=https://a.invalid|proxy-url: \"http://me:hidden-word@[proxy:1\""}, []string{"dev=dev/me/"}, []string{"me={}"})}, env())
	mustSay(t, err, errs.Failure, "invalid proxy-url")
	for e := err; e != nil; {
		if strings.Contains(errs.Text(e, true), "hidden-word") {
			t.Fatalf("the password is shown:\n%s", errs.Text(e, true))
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
}

// Headers of an upgrade are read by client-go; see docs/limits.md.
func TestEndlessUpgradeHeaders(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		line := []byte("X-More: " + strings.Repeat("x", 1<<16) + "\r\n")
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n")
		for sent := 0; err == nil && sent < 2*bounded.Library; sent += len(line) {
			_, err = conn.Write(line)
		}
	})
	_, err := c.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"true"}, Stdout: io.Discard})
	mustSay(t, err, errs.Failure, "the answer is larger than 64 MiB")
	_, err = c.Tunnel(t.Context(), "ns", "p")
	mustSay(t, err, errs.Failure, "the answer is larger than 64 MiB")
}

// What has no end is given up at its limit.
func TestEndlessAnswers(t *testing.T) {
	endless := func(head string) http.HandlerFunc {
		more := strings.Repeat("x", 1<<20)
		return func(w http.ResponseWriter, r *http.Request) {
			for _, err := io.WriteString(w, head); err == nil; {
				_, err = io.WriteString(w, more)
			}
		}
	}
	t.Run("object", func(t *testing.T) {
		c, _ := serve(t, endless(`{"metadata":{"name":"`))
		_, err := getItem(c)
		mustSay(t, err, errs.Failure, "the answer is larger than 64 MiB")
		mustHaveSent(t, c, 1)
	})
	t.Run("value of a list", func(t *testing.T) {
		c, _ := serve(t, endless(`{"items":[{"metadata":{"name":"`))
		_, err := List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{})
		mustSay(t, err, errs.Failure, "the answer is larger than 64 MiB")
	})
	t.Run("event of a watch", func(t *testing.T) {
		c, _ := serve(t, inTurn(t, answer(`{"metadata":{"resourceVersion":"1"},"items":[]}`), endless(`{"type":"ADDED","object":{"metadata":{"name":"`)))
		err := Follow(bg, c, kinds.ConfigMap, "ns", ListOptions{}, func(Event[item]) error { return nil })
		mustSay(t, err, errs.Failure, "the answer is larger than 64 MiB")
	})
	t.Run("brackets", func(t *testing.T) {
		deep := `{"items":[{"unknown":` + strings.Repeat("[", 20_000)
		c, _ := serve(t, answer(deep))
		if _, err := List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("pages", func(t *testing.T) {
		n := 0
		c := NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			fmt.Fprintf(w, `{"metadata":{"continue":"%d"},"items":[]}`, n)
		}), "test", Options{})
		_, err := List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{})
		if err == nil || n > bounded.Pages+5 {
			t.Errorf("%d pages, %v", n, err)
		}
	})
}
