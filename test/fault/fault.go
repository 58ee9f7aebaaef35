// Package fault puts troubles between a client and an API server: refusals,
// slow and lost answers, hanging connections.
package fault

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rule makes matching requests go wrong.
type Rule struct {
	Method string // "" is any
	Prefix string // of the path; with a "$" at its end, the whole path
	Suffix string // of the path
	Times  int    // how often it strikes; 0 is always
	Skip   int    // how many matching requests pass before it strikes
	// One of these happens:
	Status     int  // answer this status code
	RetryAfter int  // seconds, with Status
	Lose       bool // carry the request out, then drop the connection
	Drop       bool // drop the connection, carry nothing out
	Hang       bool // never answer
	Cut        int  // drop the connection after so many bytes of the answer
}

func matches(path, prefix string) bool {
	if whole, ok := strings.CutSuffix(prefix, "$"); ok {
		return path == whole
	}
	return strings.HasPrefix(path, prefix)
}

// Proxy is a handler with faults before a backend.
type Proxy struct {
	backend http.Handler

	first chan struct{} // closed at the first request

	mu    sync.Mutex
	rules []Rule
	log   []string
}

// New returns a proxy before backend.
func New(backend http.Handler, rules ...Rule) *Proxy {
	return &Proxy{backend: backend, rules: rules, first: make(chan struct{})}
}

// Await waits for the first request; false when none came before the deadline.
func (p *Proxy) Await(deadline time.Time) bool {
	select {
	case <-p.first:
		return true
	case <-time.After(time.Until(deadline)):
		return false
	}
}

// Requests returns "METHOD path" of every request so far.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.log...)
}

// match returns the rule that strikes, and counts it.
func (p *Proxy) match(r *http.Request) (Rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.log) == 0 {
		close(p.first)
	}
	p.log = append(p.log, r.Method+" "+r.URL.Path)
	for i := range p.rules {
		rule := &p.rules[i]
		if rule.Method != "" && rule.Method != r.Method || !matches(r.URL.Path, rule.Prefix) ||
			!strings.HasSuffix(r.URL.Path, rule.Suffix) || rule.Times < 0 {
			continue
		}
		if rule.Skip > 0 {
			rule.Skip--
			continue
		}
		hit := *rule
		if rule.Times == 1 {
			rule.Times = -1 // spent
		} else if rule.Times > 1 {
			rule.Times--
		}
		return hit, true
	}
	return Rule{}, false
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule, hit := p.match(r)
	switch {
	case !hit:
		p.backend.ServeHTTP(w, r)
	case rule.Hang:
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client went away
		<-r.Context().Done()
	case rule.Cut > 0:
		p.backend.ServeHTTP(&cutWriter{ResponseWriter: w, left: rule.Cut}, r)
	case rule.Drop:
		panic(http.ErrAbortHandler)
	case rule.Lose:
		p.backend.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		refuse(w, rule)
	}
}

// refuse answers as the API server does, with a Status object.
func refuse(w http.ResponseWriter, rule Rule) {
	if rule.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(rule.RetryAfter))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(rule.Status)
	message := "fault injected by the test"
	if rule.Status == http.StatusForbidden {
		message = `it is forbidden: User "ada" cannot do this in API group "test"`
	}
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`,
		message, reason(rule.Status), rule.Status)
}

func reason(code int) string {
	switch code {
	case http.StatusUnauthorized:
		return "Unauthorized"
	case http.StatusForbidden:
		return "Forbidden"
	case http.StatusNotFound:
		return "NotFound"
	case http.StatusConflict:
		return "Conflict"
	case http.StatusTooManyRequests:
		return "TooManyRequests"
	}
	return "InternalError"
}

// cutWriter drops the connection when enough was written.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	c.Flush()
	panic(http.ErrAbortHandler)
}

// Flush sends what was written so far.
func (c *cutWriter) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
