package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Tunnel is a connection to a pod that carries connections to its ports.
type Tunnel struct {
	c    *Client
	call call
	conn httpstream.Connection
	next atomic.Int64 // number of the next connection
	done func()       // ends what Tunnel set up for the connection
	once sync.Once
}

// Tunnel opens a tunnel to a pod. It speaks SPDY in a WebSocket and falls back to plain
// SPDY in the same cases as Exec. The caller closes the tunnel.
func (c *Client) Tunnel(ctx context.Context, namespace, pod string) (*Tunnel, error) {
	k := call{method: http.MethodPost, path: kinds.Pod.Path(namespace, pod, "portforward"), query: url.Values{},
		verb: "forward ports of", res: kinds.Pod, sub: "portforward", namespace: namespace, name: pod}
	if err := k.check(); err != nil {
		return nil, err
	}
	opening, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cfg, u, done, err := c.upgradable(k, stop)
	if err != nil {
		return nil, c.explain(ctx, k, err)
	}
	conn, err := c.dial(opening, http.MethodGet, u, func() (httpstream.Dialer, error) {
		return portforward.NewSPDYOverWebsocketDialerForStreaming(u, cfg)
	})
	if fallsBack(err) {
		conn, err = c.dial(opening, http.MethodPost, u, func() (httpstream.Dialer, error) { return overSPDY(u, cfg) })
	}
	if err != nil {
		done()
		if cause := openingFailed(opening); cause != nil {
			err = cause
		}
		return nil, c.explainUpgraded(ctx, k, err)
	}
	return &Tunnel{c: c, call: k, conn: conn, done: done}, nil
}

func overSPDY(u *url.URL, cfg *rest.Config) (httpstream.Dialer, error) {
	rt, upgrader, err := spdy.RoundTripperFor(cfg)
	if err != nil {
		return nil, err
	}
	// A redirect is an answer like another; followed, it would carry credentials away.
	client := &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return spdy.NewDialerForStreaming(upgrader, client, http.MethodPost, u), nil
}

// dial opens a connection over one of the protocols and tells the observer.
func (c *Client) dial(ctx context.Context, method string, u *url.URL, open func() (httpstream.Dialer, error)) (httpstream.Connection, error) {
	type result struct {
		conn httpstream.Connection
		err  error
	}
	start := time.Now()
	c.sent.Add(1)
	opened := make(chan result, 1)
	crash.Go(func() {
		dialer, err := open()
		if err != nil {
			opened <- result{err: err}
			return
		}
		conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		opened <- result{conn, err}
	})
	var r result
	select {
	case r = <-opened:
	case <-ctx.Done(): // dialers know no context
		r.err = ctx.Err()
		crash.Go(func() {
			if late := <-opened; late.conn != nil {
				_ = late.conn.Close()
			}
		})
	}
	var failed *httpstream.UpgradeFailureError
	if errors.As(r.err, &failed) { // it hides its cause
		r.err = &upgradeError{failed.Cause}
	}
	if c.o.Observe != nil {
		o := Request{Method: method, Path: u.RequestURI(), Duration: time.Since(start), Attempt: 1}
		var status apierrors.APIStatus
		switch {
		case r.err == nil:
			o.Status = http.StatusSwitchingProtocols
		case errors.As(r.err, &status):
			o.Status = int(status.Status().Code)
		default:
			o.Err = r.err
		}
		c.o.Observe(o)
	}
	return r.conn, r.err
}

// Lost is closed when the connection to the pod is lost or closed.
func (t *Tunnel) Lost() <-chan bool { return t.conn.CloseChan() }

// Close closes the tunnel and the connections that it carries.
func (t *Tunnel) Close() error {
	err := t.conn.Close()
	t.once.Do(t.done)
	return err
}

// PortError is an error that the pod's node reports for a connection to a port, for example that nothing listens there.
// The tunnel remains usable.
type PortError struct {
	Port    uint16
	Message string
}

func (e *PortError) Error() string {
	return "port " + strconv.Itoa(int(e.Port)) + ": " + e.Message
}

// maxPortError limits how much of the node's message is read.
const maxPortError = 8 << 10

// Carry joins a local connection with a port of the pod until one side ends. It closes the connection. A PortError comes
// from the pod; any other error is one of the tunnel.
func (t *Tunnel) Carry(ctx context.Context, local io.ReadWriteCloser, port uint16) error {
	defer local.Close()
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(corev1.PortForwardRequestIDHeader, strconv.FormatInt(t.next.Add(1), 10))
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := t.conn.CreateStream(headers)
	if err != nil {
		return err
	}
	defer t.conn.RemoveStreams(failures)
	_ = failures.Close() // nothing is written to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := t.conn.CreateStream(headers)
	if err != nil {
		return err
	}
	defer t.conn.RemoveStreams(data)

	reported := make(chan string, 1)
	crash.Go(func() {
		var message bytes.Buffer
		_, _ = io.Copy(&message, io.LimitReader(failures, maxPortError))
		reported <- message.String()
	})
	received, refused := make(chan struct{}), make(chan struct{})
	crash.Go(func() { // until the pod ends the stream
		defer close(received)
		_, _ = io.Copy(local, data)
	})
	crash.Go(func() { // until the program on this machine ends the connection
		defer data.Close()
		if _, err := io.Copy(data, local); err != nil && !errors.Is(err, io.EOF) {
			select {
			case <-received:
			default:
				close(refused)
			}
		}
	})
	select {
	case <-received:
	case <-refused:
	case <-t.Lost():
	case <-ctx.Done():
	}
	_ = data.Reset() // nothing more is read; the node must not block on what it still sends
	select {
	case message := <-reported:
		if message != "" {
			return &PortError{port, oneLine(runtimeWords(message))}
		}
	case <-t.Lost():
	case <-ctx.Done():
	}
	return nil
}
