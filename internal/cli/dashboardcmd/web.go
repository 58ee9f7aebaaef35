package dashboardcmd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/connlimit"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/loopback"
)

// page has the files of the web page. Nothing of them is executed here.
//
//go:embed page
var page embed.FS

// mostStreams is how many pages can be open at a time.
const mostStreams = 16

// mostConnections is how many connections can be open at a time: those of the pages, and of what they load.
const mostConnections = 64

// web serves the page and its figures to the browser that has the token.
type web struct {
	feed    *feed
	cluster string
	user    string
	now     func() time.Time
	// after is the clock between two messages; tests replace it.
	after func(time.Duration) <-chan time.Time
	// show runs a command line of this program that only reads, and returns what it prints.
	show func(ctx context.Context, args ...string) string
	port string
	// home is the path of the page, between slashes. Only the link has it. The cookie belongs to it: a browser sends the
	// cookies of a host to the servers of all its ports.
	home string

	mu      sync.Mutex
	token   string // the next browser's; "" once it was used
	session []byte // SHA-256 of the cookie
	streams int
}

// newWeb returns a server without a session.
func newWeb(f *feed, cluster, user string, now func() time.Time) *web {
	return &web{feed: f, cluster: cluster, user: user, now: now, after: time.After, home: "/" + rand.Text() + "/"}
}

// serve serves on a listener until ctx ends.
func (w *web) serve(ctx context.Context, ln net.Listener) error {
	_, w.port, _ = net.SplitHostPort(ln.Addr().String())
	server := &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx }}
	ln = connlimit.Listen(server, ln, mostConnections)
	done := make(chan error, 1)
	crash.Go(func() { done <- server.Serve(ln) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		_ = server.Close() // streams end with ctx
		return nil
	}
}

// link returns an address that opens the page once.
func (w *web) link(ln net.Listener) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.token = rand.Text()
	return (&url.URL{Scheme: "http", Host: ln.Addr().String(), Path: w.home, RawQuery: "token=" + w.token}).String()
}

// ServeHTTP answers only what comes from this machine, from the page itself or the user's address bar, with the session's
// cookie. It changes nothing.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case r.ContentLength != 0: // the server would wait for a body, without end, before it answers
		h.Set("Connection", "close")
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now()) // not every connection has one
		http.Error(rw, "the dashboard takes no body", http.StatusBadRequest)
	case !local(r):
		http.Error(rw, "the dashboard answers only its own page on this machine", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(rw, "the dashboard changes nothing", http.StatusMethodNotAllowed)
	case r.URL.Path == "/favicon.ico": // browsers ask for it outside of the page
		rw.WriteHeader(http.StatusNoContent)
	case r.URL.Path == w.home && r.URL.Query().Has("token"):
		w.open(rw, r)
	case !w.known(r):
		http.Error(rw, "this link was used before, or is wrong: run hyperpod dashboard --web again", http.StatusUnauthorized)
	default:
		w.answer(rw, r)
	}
}

// local reports whether a request was made by a program on this machine, and not for another site's page: its host is
// a loopback address (another name may be bound to one), and its origin is this server.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !loopback.Is(strings.Trim(host, "[]")) {
		return false
	}
	if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "none" || site == "same-origin"
}

// open takes the token, and gives the browser its cookie.
func (w *web) open(rw http.ResponseWriter, r *http.Request) {
	given := r.URL.Query().Get("token")
	w.mu.Lock()
	fits := w.token != "" && same([]byte(given), []byte(w.token))
	var secret string
	if fits && r.Method == http.MethodGet {
		secret, w.token = rand.Text()+rand.Text(), ""
		sum := sha256.Sum256([]byte(secret))
		w.session = sum[:]
	}
	w.mu.Unlock()
	if secret == "" && !w.known(r) {
		http.Error(rw, "this link was used before, or is wrong: run hyperpod dashboard --web again", http.StatusUnauthorized)
		return
	}
	if secret != "" {
		http.SetCookie(rw, &http.Cookie{Name: w.cookie(), Value: secret, Path: w.home, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(rw, r, w.home, http.StatusSeeOther)
}

// cookie returns the name of the cookie, which differs between dashboards of one machine.
func (w *web) cookie() string { return "hyperpod-dashboard-" + w.port }

// known reports whether a request is for the page and has the session's cookie.
func (w *web) known(r *http.Request) bool {
	c, err := r.Cookie(w.cookie())
	if err != nil || !strings.HasPrefix(r.URL.Path, w.home) {
		return false
	}
	sum := sha256.Sum256([]byte(c.Value))
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session != nil && same(sum[:], w.session)
}

// same compares in a time that does not depend on where they differ.
func same(a, b []byte) bool {
	x, y := sha256.Sum256(a), sha256.Sum256(b)
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func (w *web) answer(rw http.ResponseWriter, r *http.Request) {
	file, kind := "", ""
	switch strings.TrimPrefix(r.URL.Path, w.home) {
	case "":
		file, kind = "index.html", "text/html; charset=utf-8"
	case "dashboard.js":
		file, kind = "dashboard.js", "text/javascript; charset=utf-8"
	case "dashboard.css":
		file, kind = "dashboard.css", "text/css; charset=utf-8"
	case "events":
		w.events(rw, r)
		return
	case "show":
		w.details(rw, r)
		return
	default:
		http.NotFound(rw, r)
		return
	}
	data, err := page.ReadFile("page/" + file)
	if err != nil {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", kind)
	_, _ = rw.Write(data) // the browser went away
}
