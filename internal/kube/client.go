// Package kube is a small REST client of the Kubernetes API: slim lists, single objects, watches that resume
// after failures, and errors for people. A cluster, a sandbox and a snapshot differ only in the transport below
// it.
package kube

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// maxInFlight is how many requests one client has open at a time. Watches and
// logs count only until their first byte.
const maxInFlight = 16

// Request describes one request that was sent, for --debug. It never holds a
// header, a body or a credential.
type Request struct {
	Method string
	Path   string // path and query
	Status int    // 0 when there was no answer
	// Duration is the time to the answer's headers.
	Duration time.Duration
	Attempt  int // 1 for the first try
	Err      error
}

// Options are the settings of a client; the zero value is usable.
type Options struct {
	// UserAgent is sent with every request. Servers indent their answers for
	// agents that look like curl or a browser, so it should not look like one.
	UserAgent string
	// Timeout is the limit of one request, from sending to the last byte; 0 is
	// none. Watches and streams are not limited.
	Timeout time.Duration
	// Observe receives every request; it may be called from several goroutines.
	Observe func(Request)
	// Warn receives the warnings that a server sends with an answer; it may be
	// called from several goroutines.
	Warn func(text string)
	// Delayed receives requests that take longer than Patience (0: 2 seconds), and
	// long waits between tries; it may be called from several goroutines.
	Delayed  func(Delay)
	Patience time.Duration
	// CacheDir is the folder that caches the served API versions; "" keeps them in memory.
	CacheDir string
	// Retries is the number of times that a request is repeated, if that is safe: 0 means the default of 4, a negative
	// number never.
	Retries int
	// Sleep waits between tries; nil waits on the real clock.
	Sleep func(context.Context, time.Duration) error
	// Tokens returns the source that replaces a credential plugin of the kubeconfig, nil to
	// run the plugin.
	Tokens func(plugin *api.ExecConfig) TokenSource
	// Now is the clock of the version cache and of tokens; nil is the real one.
	Now func() time.Time
}

// Client talks to one API server. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	rt     http.RoundTripper
	config *rest.Config
	// given is the configuration of the kubeconfig, with its credential plugin.
	given *rest.Config
	// signed: tokens come from Options.Tokens.
	signed bool
	o      Options
	slots  chan struct{}
	sent   atomic.Int64
	// worked is set by the first successful answer: a 401 after it means that the
	// credentials ran out, which a credential plugin can mend.
	worked atomic.Bool
	// down is set when a request failed after all its tries, until one succeeds: the
	// next ones are tried once.
	down     atomic.Bool
	versions versionCache
	large    turns
}

// New returns a client for a live server. Every error is a configuration error:
// no request is sent.
func New(cfg *rest.Config, o Options) (*Client, error) {
	what := "cannot connect to the cluster"
	base, _, err := rest.DefaultServerURL(cfg.Host, "", schema.GroupVersion{}, hasTLS(cfg))
	if err != nil {
		return nil, errs.New(what, "invalid server address in the kubeconfig").WithCause(err)
	}
	given, signed := cfg, false
	cfg = refuseRedirects(cfg)
	if cfg.ExecProvider != nil && o.Tokens != nil {
		if source := o.Tokens(cfg.ExecProvider); source != nil {
			now := o.Now
			if now == nil {
				now = time.Now
			}
			cfg, signed = withTokens(cfg, source, now), true
		}
	}
	rt, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, explainSetup(what, err)
	}
	c := newClient(base, rt, o)
	if cfg.ExecProvider != nil {
		c.rt = &abandoning{RoundTripper: rt, c: c, most: bounded.Library, mostRenewed: 4 * bounded.Library}
	}
	c.config, c.given, c.signed = cfg, given, signed
	return c, nil
}

// NewInProcess returns a client whose requests are calls of h. server is only a
// name, shown in messages.
func NewInProcess(h http.Handler, server string, o Options) *Client {
	base := &url.URL{Scheme: "http", Host: "in-process"}
	c := newClient(base, handlerTransport{h}, o)
	c.versions.server = server
	return c
}

func newClient(base *url.URL, rt http.RoundTripper, o Options) *Client {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Patience == 0 {
		o.Patience = patient
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Retries == 0 {
		o.Retries = 4
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	c := &Client{base: base, rt: rt, o: o, slots: make(chan struct{}, maxInFlight), large: newTurns()}
	c.versions.server, c.versions.dir = base.Redacted(), o.CacheDir
	return c
}

// Server returns the address of the server, or the name given to NewInProcess.
func (c *Client) Server() string { return c.versions.server }

// Config returns the configuration that the client was made with; nil for a client that
// talks in process.
func (c *Client) Config() *rest.Config { return c.given }

// Requests returns how many requests were sent so far, repeats included.
func (c *Client) Requests() int { return int(c.sent.Load()) }

func hasTLS(cfg *rest.Config) bool {
	return cfg.CAFile != "" || len(cfg.CAData) > 0 || cfg.CertFile != "" || len(cfg.CertData) > 0 || cfg.Insecure
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
