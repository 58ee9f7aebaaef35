package kube

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct{ Width, Height uint16 }

// ExecOptions describes a command to run. Streams that are nil are not requested.
type ExecOptions struct {
	Namespace, Pod, Container string
	// Command is the program and its arguments, one element each: no shell reads them.
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// TTY gives the command a terminal; its stderr then comes with its stdout.
	TTY bool
	// Resize delivers the size of the terminal at the start, and after each change.
	Resize <-chan TerminalSize
}

// Exec runs a command in a container until it ends, ctx ends or the connection is lost, and returns its exit code. It
// speaks WebSocket (v5.channel.k8s.io) and falls back to SPDY where a server or a proxy between does not upgrade to
// that, or allows "create" on pods/exec but not "get". A code other than 0 does not make an error. Nothing is written to
// Stdout and Stderr after Exec has returned. An output that cannot be written ends it: the error of the write is
// returned as it is.
func (c *Client) Exec(ctx context.Context, o ExecOptions) (code int, err error) {
	q := url.Values{"command": o.Command, "stdin": {strconv.FormatBool(o.Stdin != nil)}, "stdout": {strconv.FormatBool(o.Stdout != nil)},
		"stderr": {strconv.FormatBool(o.Stderr != nil && !o.TTY)}, "tty": {strconv.FormatBool(o.TTY)}}
	if o.Container != "" {
		q.Set("container", o.Container)
	}
	k := call{method: http.MethodPost, path: kinds.Pod.Path(o.Namespace, o.Pod, "exec"), query: q,
		verb: "run a command in", res: kinds.Pod, sub: "exec", namespace: o.Namespace, name: o.Pod}
	if len(o.Command) == 0 || o.Command[0] == "" {
		return 0, errs.Usagef("the command to run is empty")
	}
	if err := k.check(); err != nil {
		return 0, err
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cfg, u, done, err := c.upgradable(k, stop)
	if err != nil {
		return 0, c.explain(ctx, k, err)
	}
	defer done()

	failed := func() { stop(nil) }
	stdout, cutStdout := cuttable(o.Stdout, failed)
	stderr, cutStderr := cuttable(o.Stderr, failed)
	streams := remotecommand.StreamOptions{Stdin: o.Stdin, Stdout: stdout, Stderr: stderr, Tty: o.TTY}
	if o.TTY {
		streams.Stderr = nil
		streams.TerminalSizeQueue = sizes{running.Done(), o.Resize}
	}
	// client-go logs what it returns as well.
	quiet := klog.NewContext(running, logr.Discard())
	err = c.execOver(quiet, http.MethodGet, u, streams, func() (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(cfg, http.MethodGet, u.String())
	})
	if fallsBack(err) {
		err = c.execOver(quiet, http.MethodPost, u, streams, func() (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(cfg, http.MethodPost, u)
		})
	}
	if failed := cmp.Or(cutStdout(), cutStderr()); failed != nil {
		return 0, failed
	}
	if cause := openingFailed(running); err != nil && cause != nil {
		err = cause
	}
	return c.execResult(ctx, k, err)
}

// openingFailed returns why a connection was given up before it was upgraded; nil if it was not.
func openingFailed(opening context.Context) error {
	switch cause := context.Cause(opening); cause {
	case errRequestTimeout, errUpgradeHeaders:
		return &transportError{err: cause, sent: true}
	}
	return nil
}

// execOver runs a command over one of the protocols and tells the observer.
func (c *Client) execOver(ctx context.Context, method string, u *url.URL, streams remotecommand.StreamOptions, open func() (remotecommand.Executor, error)) error {
	start := time.Now()
	c.sent.Add(1)
	executor, err := open()
	if err == nil {
		// A WebSocket handshake does not end with ctx, but a command has to.
		ended := make(chan error, 1)
		crash.Go(func() { ended <- executor.StreamWithContext(ctx, streams) })
		select {
		case err = <-ended:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	var failed *httpstream.UpgradeFailureError
	if errors.As(err, &failed) { // it hides its cause
		err = &upgradeError{failed.Cause}
	}
	if c.o.Observe != nil {
		o := Request{Method: method, Path: u.RequestURI(), Duration: time.Since(start), Attempt: 1}
		var exit exec.CodeExitError
		var status apierrors.APIStatus
		switch {
		case err == nil, errors.As(err, &exit):
			o.Status = http.StatusSwitchingProtocols
		case errors.As(err, &status):
			o.Status = int(status.Status().Code)
		default:
			o.Err = err
		}
		c.o.Observe(o)
	}
	return err
}

// upgradeError is a connection that was not upgraded to another protocol.
type upgradeError struct{ err error }

func (e *upgradeError) Error() string { return e.err.Error() }
func (e *upgradeError) Unwrap() error { return e.err }

// fallsBack reports whether SPDY may work after WebSocket failed: a proxy in between did not upgrade, or the user may only "create" pods/exec, which a
// WebSocket, being a GET, is not.
func fallsBack(err error) bool {
	if err == nil {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		switch status.Status().Code {
		case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusBadGateway, http.StatusNotImplemented:
			return true
		}
		return false
	}
	var failed *upgradeError
	return errors.As(err, &failed) || httpstream.IsHTTPSProxyError(err)
}

// execResult distinguishes the end of the command from a failure of the connection.
func (c *Client) execResult(ctx context.Context, k call, err error) (int, error) {
	var exit exec.CodeExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.Code, nil
	}
	return 0, c.explainUpgraded(ctx, k, err)
}

// explainUpgraded explains why a connection was not upgraded, or what went wrong on it.
func (c *Client) explainUpgraded(ctx context.Context, k call, err error) error {
	var status apierrors.APIStatus
	switch {
	case ctx.Err() != nil:
		return c.explain(ctx, k, err)
	case errors.As(err, &status):
		return c.explain(ctx, k, statusFrom(status))
	}
	text := err.Error()
	if _, message, ok := strings.Cut(text, "unable to upgrade connection: "); ok {
		// Over SPDY the server's Status arrives as its message only.
		se := &StatusError{Code: http.StatusBadRequest, Reason: "BadRequest", Message: message}
		switch {
		case strings.Contains(message, " is forbidden: "):
			se.Code, se.Reason = http.StatusForbidden, "Forbidden"
		case strings.HasPrefix(message, "pods ") && strings.HasSuffix(message, "not found"):
			se.Code, se.Reason, se.Details.Name = http.StatusNotFound, "NotFound", k.name
		}
		return c.explain(ctx, k, se)
	}
	if errors.Is(err, errRequestTimeout) || errors.Is(err, errUpgradeHeaders) || isBroken(err) || isRefused(err) || isTimeout(err) || strings.Contains(text, "next reader: ") || strings.Contains(text, "x509: ") {
		return c.explain(ctx, k, &transportError{err: err, sent: true})
	}
	if errors.As(err, new(*upgradeError)) {
		e := errs.New(k.what(), "the server, or a proxy before it, supports neither WebSocket nor SPDY")
		return e.WithFact("message", oneLine(text)).WithCause(err)
	}
	// What the container runtime says: no such program, no running container.
	e := errs.New(k.what(), oneLine(runtimeWords(text))).WithCause(err)
	if strings.Contains(text, "executable file not found") || strings.Contains(text, "no such file or directory") {
		e.Why, e.Code = "the container has no program "+strconv.Quote(k.query.Get("command")), commandNotFound
		e.WithFact("message", oneLine(runtimeWords(text)))
	}
	return e
}

// commandNotFound is the exit code that shells give for a program that is not there.
const commandNotFound errs.Exit = 127

// runtimeWords leaves out what every layer between puts before the runtime's own words.
func runtimeWords(text string) string {
	for _, prefix := range []string{"Internal error occurred: ", "error executing command in container: ", "failed to exec in container: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func statusFrom(s apierrors.APIStatus) *StatusError {
	m := s.Status()
	se := &StatusError{Code: int(m.Code), Reason: string(m.Reason), Message: m.Message}
	if se.Reason == "" {
		se.Reason = "Unknown"
	}
	if d := m.Details; d != nil {
		se.Details.Name, se.Details.Group, se.Details.Kind = d.Name, d.Group, d.Kind
	}
	return se
}

// sizes hands on the sizes of a terminal; nil ends it.
type sizes struct {
	ended <-chan struct{}
	ch    <-chan TerminalSize
}

func (s sizes) Next() *remotecommand.TerminalSize {
	select {
	case size, ok := <-s.ch:
		if ok {
			return &remotecommand.TerminalSize{Width: size.Width, Height: size.Height}
		}
	case <-s.ended:
	}
	return nil
}

// upgradable returns a configuration with which a connection can be upgraded to
// another protocol, and the address of a call. An API in process is offered on loopback for that, to who
// knows a secret; done ends it. stop is called when the server does not answer the
// upgrade within the timeout of a request, or with too many headers.
func (c *Client) upgradable(k call, stop context.CancelCauseFunc) (cfg *rest.Config, u *url.URL, done func(), err error) {
	done = func() {}
	if c.config == nil {
		cfg, done, err = c.offer()
	} else {
		cfg = rest.CopyConfig(c.config)
		cfg.Host = c.base.String()
		cfg.UserAgent = c.o.UserAgent
		var timer *time.Timer
		if c.o.Timeout > 0 {
			timer = time.AfterFunc(c.o.Timeout, func() { stop(errRequestTimeout) })
			done = func() { timer.Stop() }
		}
		cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return answered{rt, timer, c.o.Timeout, stop} })
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if u, err = url.Parse(strings.TrimSuffix(cfg.Host, "/")); err != nil {
		done()
		return nil, nil, nil, err
	}
	u.Path += k.path
	u.RawQuery = k.query.Encode()
	return cfg, u, done, nil
}

// answered is a transport that watches over the time and the memory until the server has upgraded a connection, and
// again for the next try.
type answered struct {
	http.RoundTripper
	timer   *time.Timer // nil: no timeout
	timeout time.Duration
	stop    context.CancelCauseFunc
}

// errUpgradeHeaders is the error about an upgrade of a connection with too many headers.
var errUpgradeHeaders error = &bounded.TooLarge{Most: bounded.Library}

func (t answered) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.timer != nil {
		t.timer.Reset(t.timeout)
	}
	defer bounded.Growth(bounded.Library, func() { t.stop(errUpgradeHeaders) })()
	resp, err := t.RoundTripper.RoundTrip(req)
	if err == nil && t.timer != nil {
		t.timer.Stop()
	}
	return resp, err
}

// WrappedRoundTripper returns the transport below, as client-go wants it.
func (t answered) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
