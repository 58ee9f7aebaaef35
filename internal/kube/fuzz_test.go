package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// worded fails unless an error is one for people.
func worded(t *testing.T, err error) {
	t.Helper()
	var e *errs.Error
	if err != nil && (!errors.As(err, &e) || e.What == "" || errs.ExitOf(err) == errs.OK) {
		t.Errorf("%T: %v", err, err)
	}
}

// FuzzWatch follows a list whose watch answers any text. Following ends with an error for people; what it reports of the list
// comes first.
func FuzzWatch(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":` + object("c", "3", "3", 3) + `}{"type":"DELETED","object":` + object("a", "1", "4", 1) + `}`))
	f.Add([]byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}` + "\n" + `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`))
	f.Add([]byte(`{"type":"ERROR","object":null}`))
	f.Add([]byte(`{"type":"MODIFIED","object":{"metadata":{"name":"a"}`))
	f.Fuzz(func(t *testing.T, events []byte) {
		watches := 0
		c := NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") != "" {
				if watches++; watches > 3 {
					http.Error(w, "the end", http.StatusBadRequest)
					return
				}
				_, _ = w.Write(events)
				return
			}
			fmt.Fprint(w, listOf("2", object("a", "1", "1", 1), object("b", "2", "2", 2)))
		}), "fuzzed", Options{Sleep: func(context.Context, time.Duration) error { return nil }})
		var seen []string
		err := Follow(t.Context(), c, kinds.ConfigMap, "ns", ListOptions{}, func(e Event[item]) error {
			seen = append(seen, e.Type+" "+e.Object.Metadata.Name)
			return nil
		})
		if err == nil {
			t.Error("following ended without an error")
		}
		worded(t, err)
		if len(seen) < 3 || strings.Join(seen[:3], ",") != "ADDED a,ADDED b,SYNCED " {
			t.Errorf("%q", seen)
		}
	})
}

// FuzzAnswer reads, lists and creates objects, and reads versions, where every answer is any text with any status. A success
// has the object with the requested name; an error is one for people.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "", []byte(object("a", "1", "1", 1)))
	f.Add(200, "", []byte(listOf("1", object("a", "1", "1", 1))))
	f.Add(429, "7", []byte(`{"kind":"Status","message":"slow down","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":9}}`))
	f.Add(422, "x", []byte(`{"kind":"Status","reason":"Invalid","details":{"causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.a"}]}}`))
	f.Add(403, "", []byte(`{"kind":"Status","reason":"Forbidden","message":"pods is forbidden: User \"ada\" cannot list resource"}`))
	f.Add(404, "", []byte(`404 page not found`))
	f.Add(200, "", []byte(`{"kind":"APIGroup","versions":[{"version":"v1"},{"version":null}],"preferredVersion":{"version":"v2"}}`))
	f.Add(500, "-1", []byte(`<html>`))
	f.Fuzz(func(t *testing.T, code int, later string, body []byte) {
		if code < 200 || code > 599 || strings.ContainsAny(later, "\r\n") {
			return
		}
		c := NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", later)
			w.WriteHeader(code)
			_, _ = w.Write(body)
		}), "fuzzed", Options{Retries: 1, Sleep: func(context.Context, time.Duration) error { return nil }})
		var one item
		err := c.Get(t.Context(), kinds.ConfigMap, "ns", "a", &one)
		worded(t, err)
		if err == nil && one.Metadata.Name != "a" {
			t.Errorf("got %q", one.Metadata.Name)
		}
		_, err = List[json.RawMessage](t.Context(), c, kinds.ConfigMap, "ns", ListOptions{})
		worded(t, err)
		worded(t, c.Create(t.Context(), kinds.ConfigMap, "ns", map[string]any{"metadata": map[string]any{"name": "a"}}, CreateOptions{}, &one))
		versions, err := c.ServedVersions(t.Context(), "g")
		worded(t, err)
		if err != nil && len(versions) > 0 {
			t.Errorf("%q and %v", versions, err)
		}
	})
}

// FuzzFromKubeconfig: a kubeconfig that a cluster stores leads to a server with TLS, and neither to a program nor to a file of
// this machine. Errors do not quote it.
func FuzzFromKubeconfig(f *testing.F) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
	for _, text := range []string{
		"clusters: [{name: k, cluster: {server: 'https://worker:6443', certificate-authority-data: eA==}}]\nusers: [{name: u, user: {token: hush}}]\n",
		"clusters: [{name: k, cluster: {server: 'https://worker:6443', proxy-url: 'http://p'}}]\nusers: [{name: u, user: {exec: {command: hush}}}]\n",
		"clusters: [{name: k, cluster: {server: 'http://worker', insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {tokenFile: /hush}}]\n",
		"clusters: [{name: k, cluster: {server: 'hTtps://worker:6443'}}]\nusers: [{name: u, user: {token: hush}}]\n",
		"clusters: null\nusers: [null]\n",
	} {
		f.Add([]byte(head + text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := FromKubeconfig(data)
		if err != nil {
			if strings.Contains(err.Error(), "hush") {
				t.Error(err)
			}
			return
		}
		server, err := url.Parse(cfg.Host)
		switch {
		case err != nil || server.Scheme != "https", cfg.ExecProvider != nil, cfg.AuthProvider != nil, cfg.BearerTokenFile != "", cfg.Insecure, cfg.CAFile != "", cfg.CertFile != "", cfg.KeyFile != "", cfg.Password != "", cfg.Proxy != nil:
			t.Errorf("%q leads to %+v", data, cfg)
		}
	})
}
