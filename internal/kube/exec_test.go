package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// spdyServer answers exec over SPDY the way a kubelet does: it sends back its
// arguments and its input, and ends with an exit code.
func spdyServer(t *testing.T, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpstream.Handshake(r, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
			t.Error(err)
			return
		}
		streams := make(chan httpstream.Stream, 8)
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error { streams <- s; return nil })
		if conn == nil {
			t.Error("not upgraded")
			return
		}
		defer conn.Close()
		by := map[string]httpstream.Stream{}
		for range 4 {
			s := <-streams
			by[s.Headers().Get("streamType")] = s
		}
		input, _ := io.ReadAll(by["stdin"])
		fmt.Fprintf(by["stdout"], "%q %s", r.URL.Query()["command"], input)
		fmt.Fprint(by["stderr"], "to stderr")
		_ = by["stdout"].Close()
		_ = by["stderr"].Close()
		status := map[string]any{"status": "Success"}
		if code != 0 {
			status = map[string]any{"status": "Failure", "reason": "NonZeroExitCode",
				"details": map[string]any{"causes": []any{map[string]any{"reason": "ExitCode", "message": fmt.Sprint(code)}}}}
		}
		_ = json.NewEncoder(by["error"]).Encode(status)
		_ = by["error"].Close()
		<-conn.CloseChan()
	}
}

// TestExecFallsBack: where WebSocket is not upgraded, or is a verb that the user
// may not use, SPDY does it, with the same bytes and exit code.
func TestExecFallsBack(t *testing.T) {
	forbidden := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods \"p\" is forbidden: User \"ada\" cannot get resource \"pods/exec\""}`
	for name, refuse := range map[string]func(http.ResponseWriter){
		"not upgraded": func(w http.ResponseWriter) { http.Error(w, "no websockets here", http.StatusBadRequest) },
		"get refused": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, forbidden)
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := spdyServer(t, 42)
			c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					refuse(w)
					return
				}
				over(w, r)
			})
			var out, errOut bytes.Buffer
			code, err := c.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"a b", "$c"}, Stdin: strings.NewReader("input"), Stdout: &out, Stderr: &errOut})
			if err != nil || code != 42 || out.String() != `["a b" "$c"] input` || errOut.String() != "to stderr" {
				t.Errorf("code %d, %v, %q, %q", code, err, out.String(), errOut.String())
			}
		})
	}
}

func TestExecRefusals(t *testing.T) {
	answer := func(code int, reason, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message, "details": map[string]any{"name": "p"}})
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		code  errs.Exit
		says  string
	}{
		"no right":      {answer(403, "Forbidden", `pods "p" is forbidden: User "ada" cannot create resource "pods/exec" in API group ""`), errs.Denied, "permission to create pods/exec in namespace ns"},
		"no pod":        {answer(404, "NotFound", `pods "p" not found`), errs.NotFound, "not found"},
		"no container":  {answer(400, "BadRequest", "container nope is not valid for pod p"), errs.Failure, "container nope is not valid"},
		"node is down":  {answer(500, "InternalError", "dial tcp: no route to host"), errs.Failure, "no route to host"},
		"no upgrade":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") }, errs.Failure, "pod"},
		"not signed in": {answer(401, "Unauthorized", "Unauthorized"), errs.Denied, "credentials missing, invalid or expired"},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := serve(t, c.serve)
			_, err := client.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Container: "nope", Command: []string{"true"}, Stdout: io.Discard})
			text := errs.Text(err, false)
			if errs.ExitOf(err) != c.code || !strings.Contains(text, c.says) || strings.Contains(text, "{") || strings.Contains(text, "*") {
				t.Errorf("exit code %d, %s", errs.ExitOf(err), text)
			}
		})
	}
	client, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for _, command := range [][]string{nil, {""}} {
		if _, err := client.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Command: command}); errs.ExitOf(err) != errs.Usage {
			t.Errorf("command %q: %v", command, err)
		}
	}
	if _, err := client.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "../secrets/x", Command: []string{"true"}}); errs.ExitOf(err) != errs.Usage {
		t.Errorf("a pod's name with slashes: %v", err)
	}
}

func TestExecInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	client, _ := serve(t, func(http.ResponseWriter, *http.Request) { cancel(); <-over })
	t.Cleanup(func() { close(over) })
	_, err := client.Exec(ctx, ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"true"}, Stdout: io.Discard})
	if !errors.Is(err, context.Canceled) || errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("%v", err)
	}
}

// endless is a client of a server on which a command prints much and never ends.
func endless(t *testing.T) *Client {
	over := make(chan struct{})
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Error(w, "no websockets here", http.StatusBadRequest)
			return
		}
		if _, err := httpstream.Handshake(r, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
			t.Error(err)
			return
		}
		streams := make(chan httpstream.Stream, 8)
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error { streams <- s; return nil })
		if conn == nil {
			t.Error("not upgraded")
			return
		}
		defer conn.Close()
		for range 2 {
			if s := <-streams; s.Headers().Get("streamType") == "stdout" {
				fmt.Fprint(s, strings.Repeat("line\n", 100_000)) // in many pieces
			}
		}
		<-over
	})
	t.Cleanup(func() { close(over) })
	return client
}

// fullDisk takes the first n bytes.
type fullDisk struct{ n int }

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errNoSpace
	}
	return len(p), nil
}

var errNoSpace = errors.New("no space left on device")

// TestExecCannotWrite: a command whose output can no longer be written ends with the
// reason. client-go alone would continue to read, without an error.
func TestExecCannotWrite(t *testing.T) {
	_, err := endless(t).Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"yes"}, Stdout: &fullDisk{100}})
	if err != errNoSpace {
		t.Errorf("got %v", err)
	}
}

// slowWriter keeps a write that was cancelled on its way for a while, and tells of
// writes after Exec returned.
type slowWriter struct {
	t        *testing.T
	cancel   func()
	returned chan struct{}
	written  bytes.Buffer // without a lock, for -race to see
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.cancel()
	select {
	case <-w.returned:
		w.t.Error("Exec returned, and something is still written")
	case <-time.After(50 * time.Millisecond):
	}
	return w.written.Write(p)
}

// TestExecWritesNothingAfterwards: a command that prints without end is given up;
// then what it printed belongs to the caller alone.
func TestExecWritesNothingAfterwards(t *testing.T) {
	client := endless(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := &slowWriter{t: t, cancel: cancel, returned: make(chan struct{})}
	_, err := client.Exec(ctx, ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"yes"}, Stdout: out})
	close(out.returned)
	if !errors.Is(err, context.Canceled) || out.written.Len() == 0 {
		t.Errorf("%v, %d bytes", err, out.written.Len())
	}
	after := out.written.Len()
	select { // what is still copied has time to come
	case <-time.After(100 * time.Millisecond):
	case <-t.Context().Done():
	}
	if out.written.Len() != after {
		t.Errorf("%d bytes came after Exec returned", out.written.Len()-after)
	}
}

// TestOfferNeedsTheSecret: an API in process that is offered on loopback answers
// nobody else.
func TestOfferNeedsTheSecret(t *testing.T) {
	c := NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }), "test", Options{})
	cfg, _, done, err := c.upgradable(call{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	resp, err := http.Get(cfg.Host)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%v, %v", resp, err)
	}
}
