package portservice

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// fakeStream counts resets.
type fakeStream struct {
	httpstream.Stream
	headers http.Header
	resets  *atomic.Int32
}

func (f fakeStream) Headers() http.Header        { return f.headers }
func (f fakeStream) Write(p []byte) (int, error) { return len(p), nil }
func (f fakeStream) Read([]byte) (int, error)    { return 0, io.EOF }
func (f fakeStream) Close() error                { return nil }
func (f fakeStream) Reset() error                { f.resets.Add(1); return nil }

type fakeConnection struct {
	httpstream.Connection
	removed chan struct{}
}

func (fakeConnection) CloseChan() <-chan bool { return nil }
func (fakeConnection) Close() error           { return nil }
func (f fakeConnection) RemoveStreams(...httpstream.Stream) {
	close(f.removed)
}

// A refused port does not reset the stream before the client has the reply to its
// request: the client would fail to open it.
func TestForwardsWaitForTheReply(t *testing.T) {
	var resets atomic.Int32
	stream := func(kind string) fakeStream {
		headers := http.Header{}
		headers.Set(corev1.StreamType, kind)
		headers.Set(corev1.PortHeader, "1")
		headers.Set(corev1.PortForwardRequestIDHeader, "1")
		return fakeStream{headers: headers, resets: &resets}
	}
	done, never := make(chan struct{}), make(chan struct{})
	close(done)
	serve := func(replied chan struct{}) (fakeConnection, context.CancelFunc, chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		conn, streams, ended := fakeConnection{removed: make(chan struct{})}, make(chan Stream), make(chan struct{})
		go func() { defer close(ended); Forwards{Pod: "p"}.Serve(ctx, conn, streams) }()
		streams <- Stream{stream(corev1.StreamTypeError), done}
		streams <- Stream{stream(corev1.StreamTypeData), replied}
		return conn, cancel, ended
	}
	_, cancel, ended := serve(never)
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	if resets.Load() != 0 {
		t.Error("the stream was reset before the reply")
	}
	conn, cancel, _ := serve(done)
	defer cancel()
	select {
	case <-conn.removed:
	case <-time.After(10 * time.Second):
		t.Fatal("no answer after the reply")
	}
	if resets.Load() != 1 {
		t.Errorf("%d resets", resets.Load())
	}
}
