package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// call is one API call: what is sent, and its names in errors.
type call struct {
	method      string
	path        string
	query       url.Values
	body        []byte
	contentType string
	accept      string
	// safe: the call may be repeated after an answer was lost.
	safe bool
	// stream: the answer is endless; neither the timeout nor the limiter holds it.
	stream bool
	// most is the limit of the answer in bytes; 0 is bounded.Object.
	most int64
	// whole: the answer is the object of this name, nothing else.
	whole bool

	// implied: no user asked for the call. Another group's versions could have been read first.
	implied bool

	// For messages.
	verb            string
	res             kinds.Resource
	sub             string // subresource
	namespace, name string
}

// maxWait is the longest Retry-After that is obeyed; a server that asks for more
// is reported instead.
const maxWait = 60 * time.Second

// do sends a call, repeating it where that is safe, and returns the answer of a
// success (2xx); the caller closes its body. Errors are *errs.Error.
func (c *Client) do(ctx context.Context, k call) (*http.Response, error) {
	return c.doWatched(ctx, k, &delays{c: c})
}

// doWatched is do for a request whose delays are reported.
func (c *Client) doWatched(ctx context.Context, k call, delay *delays) (*http.Response, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	renewed, away := false, false
	for attempt := 1; ; attempt++ {
		resp, sent, err := c.try(ctx, k, attempt, delay)
		if err == nil && resp.StatusCode/100 == 2 {
			c.worked.Store(true)
			c.down.Store(false)
			return resp, nil
		}
		var wait time.Duration
		again, code := false, 0
		if err == nil {
			se := readStatus(resp)
			code = se.Code
			wait, again = k.retryStatus(se, attempt)
			if se.Code == http.StatusUnauthorized && c.renews() && !renewed {
				renewed, again, wait = true, true, 0
			}
			se.wasAway = away
			away = away || again && se.Code != http.StatusUnauthorized
			err = se
		} else {
			away = true
			again = ctx.Err() == nil && k.safe && isBroken(err)
			wait = backoff(attempt)
			err = &transportError{err: err, sent: sent}
		}
		if !again || wait > maxWait {
			return nil, c.explain(ctx, k, err)
		}
		// What one request has waited for in vain, others do not wait for again.
		if attempt > c.o.Retries || c.down.Load() && code != http.StatusUnauthorized {
			c.down.Store(true)
			return nil, c.explain(ctx, k, err)
		}
		delay.retry(wait, code)
		if serr := c.o.Sleep(ctx, wait); serr != nil {
			return nil, c.explain(ctx, k, err)
		}
	}
}

// renews reports whether a repeated request may carry newer credentials.
func (c *Client) renews() bool {
	return c.worked.Load() && c.config != nil && (c.signed || c.config.ExecProvider != nil || c.config.BearerTokenFile != "")
}

// try sends a call once. sent reports whether the server may have got all of it.
func (c *Client) try(ctx context.Context, k call, attempt int, delay *delays) (resp *http.Response, sent bool, err error) {
	release, err := c.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	cancel := context.CancelFunc(func() {})
	if c.o.Timeout > 0 && !k.stream {
		ctx, cancel = context.WithTimeoutCause(ctx, c.o.Timeout, errRequestTimeout)
	}
	var wrote atomic.Bool
	ctx = delay.trace(ctx, &wrote)
	req, err := c.request(ctx, k)
	if err != nil {
		cancel()
		release()
		return nil, false, err
	}
	c.sent.Add(1)
	start := time.Now()
	resp, err = c.rt.RoundTrip(req)
	if c.o.Observe != nil {
		o := Request{Method: k.method, Path: req.URL.RequestURI(), Duration: time.Since(start), Attempt: attempt, Err: err}
		if resp != nil {
			o.Status = resp.StatusCode
		}
		c.o.Observe(o)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = errors.Join(cause, err)
		}
		cancel()
		release()
		return nil, wrote.Load(), err
	}
	c.warn(resp.Header)
	if k.stream {
		release()
		release = func() {}
	}
	resp.Body = &answerBody{ReadCloser: resp.Body, cause: func() error { return context.Cause(ctx) }, done: func() { cancel(); release() }}
	return resp, true, nil
}

// request makes the HTTP request of a call.
func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	u := *c.base
	u.Path += strings.TrimSuffix(k.path, "/") // the path of a group version has no resource
	u.RawQuery = k.query.Encode()
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if k.body != nil {
		req.Header.Set("Content-Type", k.contentType)
	}
	accept := k.accept
	if accept == "" {
		accept = "application/json"
	}
	req.Header.Set("Accept", accept)
	if c.config != nil && c.config.DisableCompression {
		// client-go honours this only where it makes a transport of its own.
		req.Header.Set("Accept-Encoding", "identity")
	}
	if c.o.UserAgent != "" {
		req.Header.Set("User-Agent", c.o.UserAgent)
	}
	return req, nil
}

// bodyRetries is the number of retries after an incomplete answer.
const bodyRetries = 2

// read sends a call and has its answer read; f is called again from the start
// when the answer breaks off and the call is safe to repeat.
func (c *Client) read(ctx context.Context, k call, f func(io.Reader) error) error {
	delay := c.watchDelays()
	defer delay.end()
	for attempt := 1; ; attempt++ {
		resp, err := c.doWatched(ctx, k, delay)
		if err != nil {
			return err
		}
		err = f(resp.Body)
		resp.Body.Close()
		if err == nil {
			return nil
		}
		again := k.safe && ctx.Err() == nil && isBroken(err) && attempt <= min(bodyRetries, c.o.Retries)
		if !again || c.o.Sleep(ctx, backoff(attempt)) != nil {
			return c.explain(ctx, k, &bodyError{err})
		}
	}
}

// errRequestTimeout marks a deadline that Options.Timeout set, as opposed to one
// of the caller.
var errRequestTimeout = errors.New("the request timed out")

// answerBody ends the request's timeout and gives its slot back once, when closed,
// and names the reason when a read fails because of the timeout.
type answerBody struct {
	io.ReadCloser
	cause  func() error // why the request has ended, nil while it goes on
	done   func()
	closed atomic.Bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		if cause := b.cause(); cause != nil {
			err = errors.Join(cause, err)
		}
	}
	return n, err
}

func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	if b.closed.CompareAndSwap(false, true) {
		b.done()
	}
	return err
}

func (c *Client) acquire(ctx context.Context) (release func(), err error) {
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// warn passes on the texts of Warning headers (RFC 7234, as Kubernetes sends
// them: 299 - "text").
func (c *Client) warn(h http.Header) {
	if c.o.Warn == nil {
		return
	}
	for _, v := range h.Values("Warning") {
		if _, rest, ok := strings.Cut(v, " - "); ok && strings.HasPrefix(v, "299 ") {
			if text, err := strconv.QuotedPrefix(rest); err == nil {
				if s, err := strconv.Unquote(text); err == nil {
					c.o.Warn(s)
				}
			}
		}
	}
}

// retryStatus decides whether a call that was answered with an error is sent
// again, and after how long.
func (k call) retryStatus(se *StatusError, attempt int) (time.Duration, bool) {
	switch se.Code {
	case http.StatusTooManyRequests:
		// The server refused before doing anything, so even a create may be
		// repeated, but only when it says that later is better.
		if se.RetryAfter > 0 {
			return se.RetryAfter, true
		}
		return backoff(attempt), k.safe
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if se.RetryAfter > 0 {
			return se.RetryAfter, k.safe
		}
		return backoff(attempt), k.safe
	case http.StatusInternalServerError:
		return se.RetryAfter, k.safe && se.RetryAfter > 0
	}
	return 0, false
}

// backoff returns the wait after the n-th failure: 250 ms, doubling, at most 30 s.
func backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(n-1, 7), 30*time.Second)
}

// check refuses names that would change the path of the request.
func (k call) check() error {
	for _, s := range []string{k.namespace, k.name} {
		if s == "." || s == ".." || strings.ContainsAny(s, "/%?#") {
			return errs.Usagef("invalid name %q: must not contain / %% ? or #", s)
		}
	}
	return nil
}

// encode returns the JSON of a request body; bytes are sent as they are.
func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case json.RawMessage:
		return b, nil
	case []byte:
		return b, nil
	}
	return json.Marshal(body)
}
