package kube

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// TokenSource returns a bearer token and the time at which it expires. With renew, the
// server has refused the last one.
type TokenSource func(ctx context.Context, renew bool) (token string, expires time.Time, err error)

// withTokens returns a configuration whose credentials come from a source in this process
// instead of a credential plugin.
func withTokens(cfg *rest.Config, source TokenSource, now func() time.Time) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.ExecProvider = nil
	t := &tokens{source: source, now: now}
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return signing{rt, t} })
	return cfg
}

// tokens keeps the token until shortly before it expires.
type tokens struct {
	source TokenSource
	now    func() time.Time

	mu      sync.Mutex
	value   string
	expires time.Time
	refused bool
}

// margin is the time for which a token must still be valid.
const margin = time.Minute

func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value != "" && !t.refused && t.now().Add(margin).Before(t.expires) {
		return t.value, nil
	}
	value, expires, err := t.source(ctx, t.refused)
	if err != nil {
		return "", err
	}
	t.value, t.expires, t.refused = value, expires, false
	return value, nil
}

// refuse marks the token of a request that got 401, unless there is a newer one.
func (t *tokens) refuse(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = t.refused || t.value == value
}

// signing adds the token to requests.
type signing struct {
	http.RoundTripper
	tokens *tokens
}

func (s signing) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := s.tokens.get(req.Context())
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.RoundTripper.RoundTrip(req)
	if resp != nil && resp.StatusCode == http.StatusUnauthorized {
		s.tokens.refuse(token)
	}
	return resp, err
}

// WrappedRoundTripper returns the transport below, as client-go wants it.
func (s signing) WrappedRoundTripper() http.RoundTripper { return s.RoundTripper }
