package kube

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Delay describes a request that takes long, for people who wait for it.
type Delay struct {
	// Stage is what the request waits for.
	Stage Stage
	// Retry is how long the client waits before it sends the request again; 0 if the
	// request is under way.
	Retry time.Duration
	// Status is the answer that makes the client send the request again; 0 if the
	// connection was lost.
	Status int
}

// Stage is what a request waits for.
type Stage int32

// The stages of a request, in their order.
const (
	Credentials Stage = iota // the credential plugin of the kubeconfig
	Connection               // the connection to the server
	Answer                   // the server's answer
	Retry                    // the time until the next try
)

// patient is how long a request may take before Options.Delayed is called, and how long
// a wait between tries is that is worth a word.
const (
	patient  = 2 * time.Second
	longWait = time.Second
)

// delays reports that a request takes long.
type delays struct {
	c     *Client
	stage atomic.Int32
	timer *time.Timer // nil: no report
}

// watchDelays starts to measure the time of a request.
func (c *Client) watchDelays() *delays {
	d := &delays{c: c}
	if c.config == nil || c.config.ExecProvider == nil {
		d.stage.Store(int32(Connection))
	}
	if c.o.Delayed != nil && c.config != nil {
		d.timer = time.AfterFunc(c.o.Patience, func() { c.o.Delayed(Delay{Stage: Stage(d.stage.Load())}) })
	}
	return d
}

func (d *delays) end() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// retry reports a wait between two tries, unless it is short.
func (d *delays) retry(wait time.Duration, status int) {
	d.stage.Store(int32(Retry))
	if d.timer != nil && wait >= longWait {
		d.c.o.Delayed(Delay{Stage: Retry, Retry: wait, Status: status})
	}
}

// retries reports a wait before something that failed is tried again.
func (c *Client) retries(wait time.Duration, err error) {
	if c.o.Delayed == nil || c.config == nil {
		return
	}
	d := Delay{Stage: Retry, Retry: wait}
	if se, ok := status(err); ok {
		d.Status = se.Code
	}
	c.o.Delayed(d)
}

// trace returns a context that tells how far a request has come. wrote is set once the
// server may have got all of it.
func (d *delays) trace(ctx context.Context, wrote *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.stage.Store(int32(Connection)) },
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				wrote.Store(true)
				d.stage.Store(int32(Answer))
			}
		},
	})
}

// abandoning is a transport whose requests end with their context, and when a credential plugin prints too much.
// Those of client-go do neither while a plugin runs.
type abandoning struct {
	http.RoundTripper
	c *Client
	// most is the limit of a plugin in bytes. mostRenewed is that of a plugin that renews credentials: answers that are
	// read meanwhile count too.
	most, mostRenewed int64
	// spoilt is set when a plugin printed too much: the plugin may still print, and nothing waits for it again.
	spoilt atomic.Pointer[bounded.TooLarge]
	// abandoned are the requests that nothing waits for any more and that have not ended.
	abandoned sync.WaitGroup
}

// pluginOutput is the error about a credential plugin that prints too much.
type pluginOutput struct{ *bounded.TooLarge }

func (e pluginOutput) Error() string { return "getting credentials: " + e.TooLarge.Error() }
func (e pluginOutput) Unwrap() error { return e.TooLarge }

func (t *abandoning) RoundTrip(req *http.Request) (*http.Response, error) {
	if e := t.spoilt.Load(); e != nil {
		return nil, pluginOutput{e}
	}
	type result struct {
		resp *http.Response
		err  error
	}
	g := guard{most: t.most, exceeded: make(chan struct{})}
	if t.c.worked.Load() {
		g.most = t.mostRenewed
	}
	defer g.end()
	g.begin()
	// A request looks for its connection once it has its credentials. An answer may say that they are refused, and the
	// plugin runs again before that answer is returned.
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GetConn: func(string) { g.pause() }, GotFirstResponseByte: g.begin}))
	done := make(chan result, 1)
	crash.Go(func() {
		resp, err := t.RoundTripper.RoundTrip(req)
		done <- result{resp, err}
	})
	var err error
	select {
	case r := <-done:
		return r.resp, r.err
	case <-req.Context().Done():
		err = req.Context().Err()
	case <-g.exceeded:
		e := &bounded.TooLarge{Most: g.most}
		t.spoilt.Store(e)
		err = pluginOutput{e}
	}
	t.abandoned.Add(1)
	crash.Go(func() {
		defer t.abandoned.Done()
		if r := <-done; r.resp != nil {
			r.resp.Body.Close()
		}
	})
	return nil, err
}

// guard watches the memory while a credential plugin may run for a request.
type guard struct {
	most     int64
	exceeded chan struct{}

	mu    sync.Mutex
	stop  func() // nil: it does not watch
	ended bool
	once  sync.Once
}

func (g *guard) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop == nil && !g.ended {
		g.stop = bounded.Growth(g.most, func() { g.once.Do(func() { close(g.exceeded) }) })
	}
}

func (g *guard) pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop != nil {
		g.stop()
		g.stop = nil
	}
}

func (g *guard) end() {
	g.pause()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
}
