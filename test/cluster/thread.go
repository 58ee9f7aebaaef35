package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
)

// thread runs functions on one OS thread that lives until close. Processes are started from
// such threads because the kernel ties two things to the starting thread rather than to the
// process: the signal that kills orphans, and the network namespace they inherit.
type thread struct {
	calls chan func()
	quit  chan struct{}
	once  sync.Once
}

// newThread makes a thread; isolated gives it an empty network namespace with only loopback.
func newThread(isolated bool) (*thread, error) {
	t := &thread{calls: make(chan func()), quit: make(chan struct{})}
	ready := make(chan error)
	go func() {
		// Never unlocked: a thread with a namespace of its own must end with its goroutine.
		runtime.LockOSThread()
		if isolated {
			if err := isolateNetwork(); err != nil {
				ready <- fmt.Errorf("cannot make a network namespace: %w", err)
				return
			}
		}
		ready <- nil
		for {
			select {
			case call := <-t.calls:
				call()
			case <-t.quit:
				return
			}
		}
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	return t, nil
}

var errThreadClosed = errors.New("the bed is stopped")

// do runs f on the thread and waits for it.
func (t *thread) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case t.calls <- func() { done <- f() }:
		return <-done
	case <-t.quit:
		return errThreadClosed
	}
}

// close ends the thread. The kernel then kills what was started from it.
func (t *thread) close() { t.once.Do(func() { close(t.quit) }) }

// dial connects inside the thread's network: a socket belongs to the namespace it is made in.
func (t *thread) dial(ctx context.Context, address string) (conn net.Conn, err error) {
	var d net.Dialer
	doErr := t.do(func() error {
		conn, err = d.DialContext(ctx, "tcp", address)
		return err
	})
	return conn, doErr
}

// listen listens inside the thread's network.
func (t *thread) listen(address string) (l net.Listener, err error) {
	doErr := t.do(func() error {
		l, err = net.Listen("tcp", address)
		return err
	})
	return l, doErr
}

type dialer func(ctx context.Context, address string) (net.Conn, error)

// relay passes every connection of l on to target until l is closed.
func relay(l net.Listener, dial dialer, target string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			far, err := dial(context.Background(), target)
			if err != nil {
				return // the client sees a closed connection, as from a server that is down
			}
			defer far.Close()
			var wg sync.WaitGroup
			wg.Go(func() { copyHalf(far, conn) })
			wg.Go(func() { copyHalf(conn, far) })
			wg.Wait()
		}()
	}
}

// copyHalf copies one direction and passes its end on, so that the other direction can go on.
func copyHalf(to, from net.Conn) {
	f, fromTCP := from.(*net.TCPConn)
	t, toTCP := to.(*net.TCPConn)
	if !fromTCP || !toTCP {
		return
	}
	if _, err := t.ReadFrom(f); err != nil {
		t.Close()
		f.Close()
		return
	}
	if err := t.CloseWrite(); err != nil {
		t.Close()
	}
}
