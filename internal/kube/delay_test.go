package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// A server that does not answer is reported while it does not.
func TestDelayIsReported(t *testing.T) {
	told := make(chan Delay, 1)
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		told <- <-told // wait until it is reported, and leave it there
		answer(`{"metadata":{"name":"a"}}`)(w, r)
	}, func(o *Options) {
		o.Patience = time.Millisecond
		o.Delayed = func(d Delay) { told <- d }
	})
	if _, err := getItem(c); err != nil {
		t.Error(err)
	}
	if d := <-told; d.Stage != Answer && d.Stage != Connection {
		t.Errorf("%+v", d)
	}
}

// Short waits between tries are not worth a word, long ones are.
func TestRetriesAreReported(t *testing.T) {
	var mu sync.Mutex
	var told []Delay
	c, _ := serve(t, inTurn(t, refuse(503, "ServiceUnavailable", "x"), refuse(503, "ServiceUnavailable", "x", "Retry-After: 7"), answer(`{"metadata":{"name":"a"}}`)), func(o *Options) {
		o.Patience = time.Hour
		o.Delayed = func(d Delay) { mu.Lock(); told = append(told, d); mu.Unlock() }
	})
	if _, err := getItem(c); err != nil {
		t.Error(err)
	}
	if len(told) != 1 || told[0] != (Delay{Stage: Retry, Retry: 7 * time.Second, Status: 503}) {
		t.Errorf("%+v", told)
	}
}

// The waits for a server that is down are made once, not for each request in turn.
func TestServerThatIsDown(t *testing.T) {
	c, n := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 3 {
		if _, err := getItem(c); err == nil {
			t.Error("no error")
		}
	}
	if c.Requests() != 5+1+1 || len(n.all) != 4 {
		t.Errorf("%d requests, waits %v", c.Requests(), n)
	}
}

// Kinds of one group share a failed discovery.
func TestSharedDiscovery(t *testing.T) {
	const several = 6
	c, _ := serve(t, refuse(500, "InternalError", "x"))
	entry := c.versions.entry("g")
	first, mine := c.look(entry, "g") // a request is under way
	if !mine {
		t.Fatal("not mine")
	}
	failures := make(chan error, several)
	for range several {
		go func() {
			_, err := c.ServedVersions(bg, "g")
			failures <- err
		}()
	}
	ended, stop := context.WithCancel(bg)
	stop()
	if _, err := c.ServedVersions(ended, "g"); errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("who waits can be stopped: %v", err)
	}
	c.ask(bg, entry, first, "g")
	for range several {
		if err := <-failures; err == nil {
			t.Error("no error")
		}
	}
}

// A credential plugin that hangs ends with the request.
func TestHungCredentialPlugin(t *testing.T) {
	cluster := secureServer(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without credentials was sent") })
	dir := t.TempDir()
	script := fmt.Sprintf("mkdir %[1]q/once || exit 1\nread line < %[1]q/fifo\n", dir)
	command := plugin(t, script)
	if out, err := exec.Command("mkfifo", dir+"/fifo").CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	fifo, err := os.OpenFile(dir+"/fifo", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the plugin ends with the test, and one that starts late finds nothing to wait for
		_ = os.RemoveAll(dir)
		_, _ = fmt.Fprintln(fifo, "end")
		_ = fifo.Close()
	})
	c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{execUser(command)}))
	c.o.Timeout = 20 * time.Millisecond
	_, err = getItem(c)
	mustSay(t, err, errs.Failure, "no complete answer within 20ms")
	ctx, cancel := context.WithCancel(bg)
	c.o.Timeout, c.o.Patience = 0, time.Millisecond
	var told Delay
	c.o.Delayed = func(d Delay) { told = d; cancel() }
	err = c.Get(ctx, kinds.ConfigMap, "ns", "a", nil)
	mustSay(t, err, errs.Interrupted, "interrupted")
	if told.Stage != Credentials {
		t.Errorf("%+v", told)
	}
}

// The timeout of a request is one of the upgrade of a connection, not of the command
// that then runs.
func TestExecTimeout(t *testing.T) {
	over := make(chan struct{})
	c, _ := serve(t, func(http.ResponseWriter, *http.Request) { <-over }, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	t.Cleanup(func() { close(over) })
	_, err := c.Exec(t.Context(), ExecOptions{Namespace: "ns", Pod: "p", Command: []string{"true"}, Stdout: io.Discard})
	mustSay(t, err, errs.Failure, "no complete answer within 20ms")

	for _, refused := range []bool{false, true} {
		timer := time.NewTimer(time.Hour)
		_, _ = answered{transport(func(*http.Request) (*http.Response, error) {
			if refused {
				return nil, io.EOF
			}
			return &http.Response{}, nil
		}), timer, time.Hour, nil}.RoundTrip(nil)
		if running := timer.Stop(); running != refused {
			t.Errorf("after an upgrade that was refused (%v) the timer runs: %v", refused, running)
		}
	}
}

// transport is a function as a transport.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestLongDelay: a wait that no duration can hold is a very long one.
func TestLongDelay(t *testing.T) {
	if d := seconds(1 << 60); d != longest*time.Second {
		t.Error(d)
	}
}
