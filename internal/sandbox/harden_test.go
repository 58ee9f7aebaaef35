package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// TestJSONPatchIsLimited sends a small patch whose copies double an object again and
// again.
func TestJSONPatchIsLimited(t *testing.T) {
	b := newBench(t, "john-smith")
	const path = "/api/v1/namespaces/default/configmaps"
	b.must(201, "POST", path, `{"metadata":{"name":"c"},"data":{"a":"`+strings.Repeat("x", 4096)+`"}}`)
	// copies copies the data once, and then all copies together n times.
	copies := func(n int) int {
		ops := []string{`{"op":"copy","from":"/data","path":"/metadata/annotations"}`}
		for i := range n {
			ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"/metadata/annotations","path":"/metadata/annotations/x%d"}`, i))
		}
		return b.send("PATCH", path+"/c", "["+strings.Join(ops, ",")+"]", jsonPatch).code
	}
	// The result of a few copies is not a valid object; the patch itself is.
	if code := copies(3); code != http.StatusBadRequest {
		t.Errorf("a few copies: %d", code)
	}
	if code := copies(12); code != http.StatusUnprocessableEntity {
		t.Errorf("4 MiB of copies: %d", code)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/data/a","value":""},`, 10_001), ",")
	if a := b.send("PATCH", path+"/c", "["+many+"]", jsonPatch); a.code != http.StatusRequestEntityTooLarge {
		t.Errorf("10,001 operations: %d", a.code)
	}
}

// TestLockFileIsNoSymlink puts a symbolic link to another file where the lock file
// belongs.
func TestLockFileIsNoSymlink(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "precious"), filepath.Join(dir, "box.json")
	if err := os.WriteFile(other, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, ".box.lock")); err != nil {
		t.Skip(err)
	}
	_, err := Create(t.Context(), path, "lend-three", Options{})
	checkErr(t, err, errs.Failure, "the lock file is not a regular file", ".box.lock")
	if data, err := os.ReadFile(other); err != nil || string(data) != "data" {
		t.Errorf("the target of the link is %q, %v", data, err)
	}
}

// TestAdvanceIsLimited moves the clock as far as it goes, and beyond.
func TestAdvanceIsLimited(t *testing.T) {
	b := newBench(t, "john-smith")
	const century = 100 * 365 * 24 * time.Hour
	b.advance(century)
	before := b.s.Now()
	for _, d := range []time.Duration{time.Hour, century, 1<<63 - 1} {
		checkErr(t, b.s.Advance(t.Context(), d), errs.Usage, "a sandbox's clock can be at most 100 years ahead")
	}
	if now := b.s.Now(); !now.Equal(before) || now.Year() != 2126 {
		t.Errorf("the clock went from %s to %s", before, now)
	}
}

// TestServeNeedsTheToken asks a served sandbox with and without its token.
func TestServeNeedsTheToken(t *testing.T) {
	b := newBench(t, "john-smith")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.s.Serve(ctx, ln, nil, "right") }()
	b.url = "http://" + ln.Addr().String()
	for header, code := range map[string]int{
		"Authorization: Bearer right": 200, "Authorization: bearer right": 401, "Authorization: Bearer wrong": 401,
		"Authorization: Bearer ": 401, "Authorization: Bearer righ": 401, "Authorization: right": 401, "Accept: */*": 401,
	} {
		for _, path := range []string{"/version", "/api/v1/pods", "/healthz"} {
			a := b.send("GET", path, "", header)
			if a.code != code {
				t.Errorf("%s with %q: %d", path, header, a.code)
			}
			if code == 401 && object.Text(a.object(t), "reason") != "Unauthorized" {
				t.Errorf("%s with %q: %s", path, header, a.body)
			}
		}
	}
	if a := b.send("GET", "/version", "", "Authorization: Bearer right", "Origin: http://example.com"); a.code != http.StatusForbidden {
		t.Errorf("with an origin: %d", a.code)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestManyConnections opens more connections than a served sandbox has, and sends nothing. Clients with a request still get
// their answers, over TLS too.
func TestManyConnections(t *testing.T) {
	b := newBench(t, "john-smith")
	b.s.opts.MostConnections = 8
	far := httptest.NewUnstartedServer(nil)
	far.StartTLS() // for its certificate
	defer far.Close()
	for _, secure := range []*tls.Config{nil, {Certificates: far.TLS.Certificates}} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.s.Serve(ctx, ln, secure, "right") }()
		var idle []net.Conn
		for range b.s.opts.MostConnections + 1 {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			idle = append(idle, conn)
		}
		url, client := "http://"+ln.Addr().String(), http.DefaultClient
		if secure != nil {
			url, client = "https://"+ln.Addr().String(), far.Client()
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/version", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer right")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Error(answer.Status)
		}
		_ = idle[0].SetReadDeadline(time.Now().Add(20 * time.Second)) // the oldest was closed for it
		if _, err := idle[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the oldest connection is open: %v", err)
		}
		for _, conn := range idle {
			_ = conn.Close()
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestSlowBody sends half a body and no more. The server gives up.
func TestSlowBody(t *testing.T) {
	b := newBench(t, "john-smith")
	b.s.opts.BodyTimeout = 50 * time.Millisecond
	b.url = serve(t, b.s.served("right"))
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	answer := make([]byte, 100)
	if n, err := conn.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 408 ") {
		t.Errorf("%q, %v", answer[:n], err)
	}
}

// A lock file without a sandbox, which a killed command left, goes when a sandbox is
// created. Lock files of others stay.
func TestAbandonedLocks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".gone.lock", ".kept.lock", "kept.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	busy := newFile(filepath.Join(dir, "busy.json"))
	h, err := busy.tryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(h)
	if _, err := Create(context.Background(), filepath.Join(dir, "new.json"), "startup", Options{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".gone.lock": false, ".kept.lock": true, ".busy.lock": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want kept: %v", name, err, want)
		}
	}
}
