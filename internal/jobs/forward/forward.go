// Package forward carries connections from ports of this machine to ports of a pod. It
// opens a lost tunnel again, and ends when the pod does.
package forward

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Tunnel carries connections to ports of a pod. kube.Tunnel is one.
type Tunnel interface {
	Carry(ctx context.Context, local io.ReadWriteCloser, port uint16) error
	Lost() <-chan bool
	Close() error
}

// Kind is what happened to a forward.
type Kind int

// The kinds of an Event.
const (
	Listening    Kind = iota // connections are accepted at Address
	Accepted                 // a program connected to Address
	Failed                   // a connection failed; others go on
	Lost                     // the tunnel is lost and is opened again after Wait
	Reconnected              // the tunnel is open again
	WatchRefused             // the end of the pod cannot be noticed: Err
)

// Event is something that happened. Address and Port belong to connections.
type Event struct {
	Kind    Kind
	Address string
	Port    Port
	Err     error
	Wait    time.Duration
}

// ListenError is an address that cannot be listened on.
type ListenError struct {
	Address string
	Port    Port
	Err     error
}

func (e *ListenError) Error() string { return "cannot listen on " + e.Address + ": " + e.Err.Error() }
func (e *ListenError) Unwrap() error { return e.Err }

// Options say what is forwarded and how.
type Options struct {
	Addresses []string
	Ports     []Port
	// Open opens a tunnel to the pod.
	Open func(context.Context) (Tunnel, error)
	// Ended returns when the pod has ended, with the reason. ErrUnwatched wraps why that
	// cannot be noticed.
	Ended func(context.Context) error
	// Final reports that an error of Open will not go away.
	Final func(error) bool
	// Tell gets each event, one at a time.
	Tell func(Event)
	// After is the clock.
	After func(time.Duration) <-chan time.Time
}

// ErrUnwatched says that the end of the pod cannot be noticed.
var ErrUnwatched = errors.New("the pod cannot be watched")

// maxWait limits the time between two attempts to open a lost tunnel.
const maxWait = 30 * time.Second

// forwarder is the state of Run.
type forwarder struct {
	Options
	mu     sync.Mutex
	tunnel Tunnel        // nil while it is lost
	opened chan struct{} // closed when a tunnel is there again
	tell   sync.Mutex
}

// Run listens and carries connections until ctx ends, the pod ends, or the tunnel is
// lost and Final says that it stays so. It returns why.
func Run(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f := &forwarder{Options: o, opened: make(chan struct{})}
	var running crash.Group
	defer running.Wait()
	defer stop(nil)

	listeners, err := f.listen(ctx)
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	if err != nil {
		return err
	}
	first, err := o.Open(ctx)
	if err != nil {
		return err
	}
	f.set(first)
	for _, l := range listeners {
		f.say(Event{Kind: Listening, Address: l.Addr().String(), Port: l.port})
		running.Go(func() { f.accept(ctx, l, &running) })
	}
	running.Go(func() {
		switch err := o.Ended(ctx); {
		case errors.Is(err, ErrUnwatched):
			f.say(Event{Kind: WatchRefused, Err: err})
		case err != nil:
			stop(err)
		}
	})
	running.Go(func() {
		if err := f.keepOpen(ctx, first); err != nil {
			stop(err)
		}
	})
	<-ctx.Done()
	return context.Cause(ctx)
}

type listener struct {
	net.Listener
	port Port
}

// listen opens every port on every address. All must be free. A port that was left open
// is the same on all addresses.
func (f *forwarder) listen(ctx context.Context) (out []listener, err error) {
	var config net.ListenConfig
	for _, port := range f.Ports {
		for _, address := range f.Addresses {
			at := net.JoinHostPort(address, strconv.Itoa(int(port.Local)))
			l, err := config.Listen(ctx, "tcp", at)
			if err != nil {
				return out, &ListenError{at, port, err}
			}
			if tcp, ok := l.Addr().(*net.TCPAddr); ok {
				port.Local = uint16(tcp.Port)
			}
			out = append(out, listener{l, port})
		}
	}
	return out, nil
}

func (f *forwarder) say(e Event) {
	f.tell.Lock()
	defer f.tell.Unlock()
	f.Tell(e)
}

// accept carries the connections of one listener until ctx ends.
func (f *forwarder) accept(ctx context.Context, l listener, running *crash.Group) {
	end := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer end()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return
		case err != nil: // too many open files, a connection that ended early
			f.say(Event{Kind: Failed, Address: l.Addr().String(), Port: l.port, Err: err})
			select {
			case <-f.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		f.say(Event{Kind: Accepted, Address: l.Addr().String(), Port: l.port})
		running.Go(func() { f.carry(ctx, l, conn) })
	}
}

// carry joins one connection with the pod, when there is a tunnel.
func (f *forwarder) carry(ctx context.Context, l listener, conn net.Conn) {
	end := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer end()
	tunnel := f.current(ctx)
	if tunnel == nil {
		_ = conn.Close()
		return
	}
	if err := tunnel.Carry(ctx, conn, l.port.Remote); err != nil && ctx.Err() == nil {
		f.say(Event{Kind: Failed, Address: l.Addr().String(), Port: l.port, Err: err})
	}
}

// current waits for the tunnel. It returns nil when ctx ends first.
func (f *forwarder) current(ctx context.Context) Tunnel {
	for {
		f.mu.Lock()
		tunnel, opened := f.tunnel, f.opened
		f.mu.Unlock()
		if tunnel != nil {
			return tunnel
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *forwarder) set(t Tunnel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tunnel = t
	if t != nil {
		close(f.opened)
		f.opened = make(chan struct{})
	}
}

// keepOpen opens the tunnel again each time it is lost.
func (f *forwarder) keepOpen(ctx context.Context, tunnel Tunnel) error {
	for {
		select {
		case <-tunnel.Lost():
			_ = tunnel.Close()
		case <-ctx.Done():
			return tunnel.Close()
		}
		f.set(nil)
		var err error
		for wait := time.Second; ; wait = min(2*wait, maxWait) {
			f.say(Event{Kind: Lost, Wait: wait, Err: err})
			select {
			case <-f.After(wait):
			case <-ctx.Done():
				return nil
			}
			if tunnel, err = f.Open(ctx); err == nil {
				break
			}
			if f.Final(err) {
				return err
			}
		}
		f.set(tunnel)
		f.say(Event{Kind: Reconnected})
	}
}
