package dashboardcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// site is a web server with figures that tests change.
type site struct {
	*web
	origin, base, link string
	reading            *reading
	ran                []string
}

func newSite(t *testing.T, tasks ...dashboardview.Task) *site {
	t.Helper()
	f := newFeed(func() time.Time { return noon })
	s := &site{web: newWeb(f, "https://example.com", "ada", func() time.Time { return noon }), reading: &reading{state: &state.State{Taken: noon}, tasks: tasks}}
	f.update(s.reading, func() {})
	s.after = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	s.show = func(_ context.Context, args ...string) string {
		s.ran = append(s.ran, strings.Join(args, " "))
		return "shown"
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.origin, s.link = "http://"+ln.Addr().String(), s.web.link(ln)
	s.base, _, _ = strings.Cut(s.link, "/?")
	ctx, cancel := context.WithCancel(t.Context())
	var running crash.Group
	running.Go(func() { _ = s.serve(ctx, ln) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s
}

// browser returns a client with cookies, which has opened the link.
func (s *site) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	if code, _, body := get(t, c, "GET", s.link); code != 200 || !strings.Contains(body, "<title>hyperpod dashboard</title>") {
		t.Fatal(code, body)
	}
	return c
}

func get(t *testing.T, c *http.Client, method, address string, header ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Add(header[i], header[i+1])
		}
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// TestWhoMayRead: only the first browser with the link gets anything, and only for the page itself.
func TestWhoMayRead(t *testing.T) {
	s := newSite(t)
	bare := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, address := range []string{s.base + "/", s.base + "/events", s.base + "/dashboard.js", s.base + "/show?tab=2&row=x&command=get-job", s.base + "/?token=", s.base + "/?token=WRONG", s.link + "x", s.base + "/nothing", s.origin, s.origin + "/", s.origin + "/events", s.origin + "/dashboard.js", strings.Replace(s.link, s.base, s.origin, 1)} {
		if code, h, body := get(t, bare, "GET", address); code != 401 || strings.Contains(body, "example.com") || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", address, code, body)
		}
	}
	c := s.browser(t)
	if code, _, _ := get(t, bare, "GET", s.link); code != 401 { // a second browser
		t.Error(code)
	}
	if code, _, _ := get(t, c, "GET", s.link); code != 200 { // the first one, again
		t.Error(code)
	}
	code, h, _ := get(t, c, "GET", s.base+"/")
	if code != 200 {
		t.Error(code)
	}
	for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store"} {
		if !strings.HasPrefix(h.Get(name), want) {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		t.Error("other origins may read")
	}
	u, _ := url.Parse(s.base)
	port := u.Port()
	for _, x := range []struct {
		method string
		header []string
		want   int
	}{
		{"GET", []string{"Host", "evil.example:" + port}, 403}, // a name that is bound to the loopback address
		{"GET", []string{"Host", "127.0.0.1.evil.example"}, 403},
		{"GET", []string{"Host", "10.0.0.1:" + port}, 403},
		{"GET", []string{"Host", "localhost:" + port}, 401}, // the cookie is of another host
		{"GET", []string{"Host", "[::1]:" + port}, 401},
		{"GET", []string{"Origin", "https://evil.example"}, 403},
		{"GET", []string{"Origin", "null"}, 403},
		{"GET", []string{"Origin", "http://127.0.0.1:1"}, 403}, // another server of this machine
		{"GET", []string{"Origin", s.origin}, 200},
		{"GET", []string{"Origin", s.origin, "Origin", "https://evil.example"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", []string{"Origin", s.origin}, 405},
		{"DELETE", nil, 405},
		{"OPTIONS", nil, 405},
	} {
		if code, _, body := get(t, c, x.method, s.base+"/", x.header...); code != x.want {
			t.Errorf("%s %v: %d, want %d: %s", x.method, x.header, code, x.want, body)
		}
	}
	other := newSite(t)
	home := strings.TrimPrefix(other.base, other.origin) + "/"
	if code, h, _ := get(t, bare, "GET", other.link); code != 303 || !strings.HasSuffix(h.Get("Set-Cookie"), "; Path="+home+"; HttpOnly; SameSite=Strict") || h.Get("Location") != home {
		t.Error(code, h)
	}
}

// TestOtherServers: a browser sends the cookies of a host to all its ports, but the dashboard's only below a path that
// other servers of this machine do not know.
func TestOtherServers(t *testing.T) {
	s := newSite(t)
	c := s.browser(t)
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Cookie")) }))
	defer other.Close()
	for _, path := range []string{"", "/", "/events", "/dashboard.js"} {
		get(t, c, "GET", other.URL+path)
	}
	if fmt.Sprintf("%q", got) != `["" "" "" ""]` {
		t.Errorf("another server gets cookies: %q", got)
	}
	again := newSite(t)
	if len(s.base)-len(s.origin) < 20 || strings.TrimPrefix(s.base, s.origin) == strings.TrimPrefix(again.base, again.origin) {
		t.Errorf("the path can be guessed: %s, %s", s.base, again.base)
	}
}

// TestForwardedPort: a port that ssh forwards can have another number.
func TestForwardedPort(t *testing.T) {
	s := newSite(t)
	u, err := url.Parse(s.origin)
	if err != nil {
		t.Fatal(err)
	}
	tunnel := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { // keeps Host, as a tunnel does
		r.Out.URL.Scheme, r.Out.URL.Host = u.Scheme, u.Host
	}})
	defer tunnel.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		origin := strings.Replace(tunnel.URL, "127.0.0.1", host, 1)
		forwarded := &site{web: s.web, link: strings.Replace(s.link, s.origin, origin, 1)}
		c := forwarded.browser(t)
		for path, want := range map[string]int{"/": 200, "/dashboard.js": 200} {
			if code, _, body := get(t, c, "GET", strings.Replace(s.base, s.origin, origin, 1)+path, "Origin", origin, "Sec-Fetch-Site", "same-origin"); code != want {
				t.Errorf("%s %s: %d %s", host, path, code, body)
			}
		}
		// A page of another port of the browser's machine.
		if code, _, _ := get(t, c, "GET", strings.Replace(s.base, s.origin, origin, 1)+"/", "Origin", s.origin, "Sec-Fetch-Site", "same-site"); code != 403 {
			t.Error(code)
		}
		s.mu.Lock()
		s.token, _ = strings.CutPrefix(s.link, s.base+"/?token=") // for the next browser
		s.mu.Unlock()
	}
}

// TestThePage: what the page has comes from this server, and is small.
func TestThePage(t *testing.T) {
	s := newSite(t)
	c := s.browser(t)
	size := 0
	for _, path := range []string{"/", "/dashboard.js", "/dashboard.css"} {
		_, _, body := get(t, c, "GET", s.base+path)
		size += len(body)
		for _, text := range []string{"https://", "innerHTML", "insertAdjacent", "document.write", "eval(", " style=", "onclick"} {
			if strings.Contains(body, text) {
				t.Errorf("%s has %s", path, text)
			}
		}
	}
	if size > 300<<10 {
		t.Error(size)
	}
}

// events reads messages of the stream.
func (s *site) events(t *testing.T, c *http.Client) func() message {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(resp.Status)
	}
	return func() (m message) {
		var line []byte
		one := make([]byte, 1)
		for {
			if _, err := io.ReadFull(resp.Body, one); err != nil {
				t.Fatal(err)
			}
			if one[0] != '\n' {
				line = append(line, one[0])
				continue
			}
			if data, ok := strings.CutPrefix(string(line), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &m); err != nil {
					t.Fatal(err)
				}
				return m
			}
			line = nil
		}
	}
}

// TestEvents: the page gets everything once, then only what changed.
func TestEvents(t *testing.T) {
	var many []dashboardview.Task
	for i := range 50 {
		many = append(many, task(fmt.Sprintf("job-%02d", i), "ada", jobs.Running))
	}
	s := newSite(t, append(many, task("</script>\u202e\x1b[31m", "eve", jobs.Running))...)
	next := s.events(t, s.browser(t))
	m := next()
	if len(m.Tabs) != 4 || !m.Tabs[2].Whole || len(m.Tabs[2].Rows) != 51 || m.Tabs[2].Summary != "51 running" || m.Cluster != "https://example.com" {
		t.Fatalf("%+v", m)
	}
	for key, row := range m.Tabs[2].Rows {
		if strings.ContainsAny(string(row), "\u202e\x1b<") {
			t.Errorf("%q: %s", key, row)
		}
	}
	s.feed.update(s.reading, func() {
		s.reading.tasks = slices.Clone(s.reading.tasks)
		s.reading.tasks[7] = task("job-07", "ada", jobs.Failed)
	})
	m = next()
	if len(m.Tabs) != 1 || m.Tabs[0].Index != 2 || len(m.Tabs[0].Rows) != 1 || !strings.Contains(string(m.Tabs[0].Rows["ns/job-07"]), "Failed") || m.Tabs[0].Keys[50] != "ns/job-07" {
		t.Fatalf("%+v", m)
	}
	s.feed.update(s.reading, func() { s.reading.tasks = nil })
	if m = next(); len(m.Tabs) != 1 || !m.Tabs[0].Whole || m.Tabs[0].Summary != "no jobs" {
		t.Fatalf("%+v", m)
	}
	s.feed.lost(io.EOF)
	if m = next(); m.Lost != "connection lost: the figures are from 0s ago" {
		t.Fatalf("%+v", m)
	}
}

// TestManyPages: pages beyond a limit are refused.
func TestManyPages(t *testing.T) {
	s := newSite(t)
	c := s.browser(t)
	for range mostStreams {
		s.events(t, c)()
	}
	if code, _, _ := get(t, c, "GET", s.base+"/events"); code != 503 {
		t.Error(code)
	}
}

// TestManyConnections: connections without a request keep no browser out.
func TestManyConnections(t *testing.T) {
	s := newSite(t)
	var first net.Conn
	for range mostConnections + 1 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.origin, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if first == nil {
			first = conn
		}
	}
	s.browser(t)
	_ = first.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest connection is open: %v", err)
	}
}

// TestDetails: only rows that exist, and only commands that read.
func TestDetails(t *testing.T) {
	s := newSite(t, task("alpha", "ada", jobs.Running))
	c := s.browser(t)
	for query, want := range map[string]int{"tab=2&row=ns/alpha&command=get-log": 200, "tab=2&row=ns/beta&command=get-job": 404, "tab=2&row=ns/alpha&command=cancel-job": 400,
		"tab=2&row=ns/alpha&command=get-queue": 400, "tab=9&row=ns/alpha&command=get-job": 400, "tab=-1&row=ns/alpha&command=get-job": 400, "": 400} {
		if code, h, _ := get(t, c, "GET", s.base+"/show?"+query); code != want || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d, want %d", query, code, want)
		}
	}
	if fmt.Sprint(s.ran) != "[get-log -n ns --tail 200 -- alpha]" {
		t.Error(s.ran)
	}
}

// TestABodyThatNeverComes: a request that announces a body gets its answer at once, and its connection ends.
func TestABodyThatNeverComes(t *testing.T) {
	s := newSite(t)
	for _, framing := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.origin, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n\r\n", framing)
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("%s: %v: %.100q", framing, err, answer)
		}
	}
}

// TestAChildOfTheCommand: the details of a row end with their request, also if a program that the command started, such as a
// credential plugin, does not.
func TestAChildOfTheCommand(t *testing.T) {
	if os.Getenv("HYPERPOD_TEST_CHILD") != "" {
		plugin := exec.Command("sleep", "30")
		plugin.Stdout, plugin.Stderr = os.Stdout, os.Stderr
		_ = plugin.Run()
		return
	}
	t.Setenv("HYPERPOD_TEST_CHILD", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	began := time.Now()
	commandOutput(ctx, []string{"-test.run=^TestAChildOfTheCommand$"}, nil)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
