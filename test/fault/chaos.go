package fault

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Chaos are the kinds of a ChaosProxy.
func Chaos() []string {
	return []string{"delay", "cut", "repeat", "corrupt", "truncate", "trickle", "lose", "drop", "hang", "endless",
		"401", "403", "404", "409", "410", "429", "429 later", "500", "502", "503", "504",
		"html", "types", "null", "encoding", "redirect"}
}

// ChaosProxy makes some requests go wrong, chosen by a seed.
type ChaosProxy struct {
	backend http.Handler
	kind    string
	seed    uint64

	mu   sync.Mutex
	held bool
	seen map[string]int // by method and path
	hits []string
	done map[string]int // successful writes
}

// NewChaos returns a proxy before backend. An odd seed strikes a request again when it is
// repeated.
func NewChaos(backend http.Handler, kind string, seed uint64) *ChaosProxy {
	return &ChaosProxy{backend: backend, kind: kind, seed: seed, seen: map[string]int{}, done: map[string]int{}}
}

// Hold makes requests pass until it is called with false.
func (c *ChaosProxy) Hold(held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
}

// Struck returns how many requests went wrong.
func (c *ChaosProxy) Struck() int { return len(c.Hits()) }

// Hits returns the requests that went wrong.
func (c *ChaosProxy) Hits() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.hits...)
}

// Count returns how many requests of a method with the end of a path the backend carried
// out with success.
func (c *ChaosProxy) Count(method, end string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for key, times := range c.done {
		if strings.HasPrefix(key, method+" ") && strings.HasSuffix(key, end) {
			n += times
		}
	}
	return n
}

// strikes chooses by the seed: about every third request, and always a write.
func (c *ChaosProxy) strikes(r *http.Request) (uint64, bool) {
	key := name(r)
	h := fnv.New64a()
	fmt.Fprint(h, c.seed, key, c.kind)
	sum := h.Sum64()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return sum, false
	}
	c.seen[key]++
	reads := r.Method == http.MethodGet || readsAWS(r)
	hit := (sum%3 == 0 || !reads) && (c.seen[key] == 1 || c.seed%2 == 1)
	if hit {
		c.hits = append(c.hits, key)
	}
	return sum, hit
}

// name is the method and the path of a request, and the operation of one for AWS, whose
// requests all have one path.
func name(r *http.Request) string {
	key := r.Method + " " + r.URL.Path
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		key += target
	}
	return key
}

// readsAWS reports an operation of AWS that changes nothing.
func readsAWS(r *http.Request) bool {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return strings.HasPrefix(operation, "List") || strings.HasPrefix(operation, "Describe")
}

// carryOut passes a request on and counts a write that succeeds.
func (c *ChaosProxy) carryOut(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.URL.Query().Get("dryRun") != "" {
		c.backend.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	c.backend.ServeHTTP(rec, r)
	if rec.Code < 300 {
		c.mu.Lock()
		c.done[name(r)]++
		c.mu.Unlock()
	}
	reply(w, rec, rec.Body.Bytes())
}

func reply(w http.ResponseWriter, rec *httptest.ResponseRecorder, body []byte) {
	for key, values := range rec.Header() {
		if key != "Content-Length" {
			w.Header()[key] = values
		}
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

func (c *ChaosProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	random, hit := c.strikes(r)
	stream := r.URL.Query().Get("watch") != "" || r.URL.Query().Get("follow") != "" || r.Header.Get("Upgrade") != ""
	var sent []byte
	if hit && !stream {
		sent, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	var code, later int
	switch {
	case hit && stream && strings.Contains("cut truncate corrupt", c.kind) && r.Header.Get("Upgrade") != "":
		c.backend.ServeHTTP(&badStream{ResponseWriter: w, left: 200 + int(random%1500), corrupt: c.kind == "corrupt"}, r)
		return
	case !hit, stream && !strings.Contains("drop hang 401 403 404 410 429 500 503", c.kind):
		c.carryOut(w, r)
		return
	case c.kind == "429 later":
		code, later = http.StatusTooManyRequests, 1
	default:
		_, _ = fmt.Sscanf(c.kind, "%3d", &code)
	}
	if code > 0 {
		refuse(w, Rule{Status: code, RetryAfter: later})
		return
	}
	c.spoil(w, r, random, sent)
}

// spoil answers a request with a fault that is not a status: to the answer of the backend, or in its place. sent is the body of
// the request.
func (c *ChaosProxy) spoil(w http.ResponseWriter, r *http.Request, random uint64, sent []byte) {
	// answer is what the backend says, for faults that change it.
	answer := func() (*httptest.ResponseRecorder, []byte) {
		rec := httptest.NewRecorder()
		c.carryOut(rec, r)
		return rec, rec.Body.Bytes()
	}
	switch c.kind {
	case "delay":
		time.Sleep(300 * time.Millisecond)
		c.carryOut(w, r)
	case "cut":
		c.carryOut(&cutWriter{ResponseWriter: w, left: 1 + int(random%2000)}, r)
	case "repeat":
		_, _ = answer()
		r.Body = io.NopCloser(bytes.NewReader(sent))
		c.carryOut(w, r)
	case "corrupt":
		rec, body := answer()
		for i := range 8 {
			if len(body) > 0 {
				body[(random+uint64(i)*977)%uint64(len(body))] ^= 1 << (i % 7)
			}
		}
		reply(w, rec, body)
	case "truncate":
		rec, body := answer()
		reply(w, rec, body[:len(body)/2])
	case "trickle":
		rec, body := answer()
		w.WriteHeader(rec.Code)
		for i := 0; i < len(body) && r.Context().Err() == nil; i += 16 {
			_, _ = w.Write(body[i:min(i+16, len(body))])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	case "lose":
		_, _ = answer()
		panic(http.ErrAbortHandler)
	case "drop":
		panic(http.ErrAbortHandler)
	case "hang":
		<-r.Context().Done()
	case "endless":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[`)
		for filler := bytes.Repeat([]byte(" "), 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(filler); err != nil {
				return
			}
		}
	case "html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please sign in to the network.</body></html>")
	case "types":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":7,"apiVersion":[],"metadata":"x","items":{"a":1},"status":[],"spec":null}`)
	case "null":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "null")
	case "encoding":
		rec, body := answer()
		w.Header().Set("Content-Encoding", "gzip")
		reply(w, rec, body)
	case "redirect":
		http.Redirect(w, r, "http://127.0.0.1:1"+r.URL.Path, http.StatusTemporaryRedirect)
	}
}
