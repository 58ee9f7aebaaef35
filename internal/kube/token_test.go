package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestTokens: tokens of this process replace the plugin. One is used until shortly before it
// expires, and one that the server refuses is renewed once.
func TestTokens(t *testing.T) {
	var good atomic.Value
	good.Store("Bearer t1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != good.Load() {
			http.Error(w, `{"kind":"Status","code":401}`, http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`)
	}))
	defer server.Close()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var asked []bool
	source := func(_ context.Context, renew bool) (string, time.Time, error) {
		asked = append(asked, renew)
		return fmt.Sprintf("t%d", len(asked)), now.Add(10 * time.Minute), nil
	}
	cfg := &rest.Config{Host: server.URL, ExecProvider: &api.ExecConfig{Command: "/no/such/plugin", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}}
	c, err := New(cfg, Options{Now: func() time.Time { return now }, Tokens: func(p *api.ExecConfig) TokenSource {
		if p.Command != "/no/such/plugin" {
			t.Error(p.Command)
		}
		return source
	}})
	if err != nil {
		t.Fatal(err)
	}
	get := func() error {
		var node map[string]any
		return c.Get(t.Context(), kinds.Node, "", "a", &node)
	}
	for range 2 {
		if err := get(); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 1 {
		t.Errorf("%d tokens for two requests", len(asked))
	}
	now = now.Add(9 * time.Minute)
	good.Store("Bearer t2")
	if err := get(); err != nil || len(asked) != 2 || asked[1] {
		t.Errorf("a token that is about to expire: %v %v", err, asked)
	}
	good.Store("Bearer t3")
	if err := get(); err != nil || len(asked) != 3 || !asked[2] {
		t.Errorf("a token that the server refuses: %v %v", err, asked)
	}
	if c.Config().ExecProvider == nil {
		t.Error("the configuration does not have the plugin of the kubeconfig")
	}

	// The error has the words of the source.
	refused := (&errs.Error{What: "cannot sign in", Why: "the session has expired", Code: errs.Denied})
	c, err = New(cfg, Options{Tokens: func(*api.ExecConfig) TokenSource {
		return func(context.Context, bool) (string, time.Time, error) { return "", time.Time{}, refused }
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := get(); !errors.Is(err, refused) || errs.ExitOf(err) != errs.Denied {
		t.Error(err)
	}
}
