// Package portservice has the simulated services behind the ports of a sandbox's pods. [Forwards] answers the connections of
// port forwarding.
package portservice

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Ports on which simulated services answer although no container declares them:
// TensorBoard and Jupyter.
const (
	tensorBoardPort = 6006
	jupyterPort     = 8888
)

// PortsOf returns the ports on which the simulated services of a pod answer.
func PortsOf(pod *store.Object) []uint16 {
	out := []uint16{tensorBoardPort, jupyterPort}
	for _, ct := range object.List(pod.Map(), "spec", "containers") {
		for _, p := range object.List(ct, "ports") {
			if n, err := strconv.ParseUint(fmt.Sprint(object.At(p, "containerPort")), 10, 16); err == nil {
				out = append(out, uint16(n))
			}
		}
	}
	return out
}

// Forwards are the connections to one pod.
type Forwards struct {
	// Pod is its name.
	Pod string
	// Ports are those on which a service answers.
	Ports []uint16
}

// Stream is a stream of the client. It carries nothing before Replied is closed: a stream
// that is reset earlier makes the client's request to open it fail.
type Stream struct {
	httpstream.Stream
	Replied <-chan struct{}
}

// pair are the two streams of a connection.
type pair struct{ data, failure Stream }

// Serve answers connections until the client or ctx ends.
func (f Forwards) Serve(ctx context.Context, conn httpstream.Connection, streams <-chan Stream) {
	var running crash.Group
	defer running.Wait()
	defer conn.Close()
	pairs := map[string]pair{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-conn.CloseChan():
			return
		case stream := <-streams:
			id := stream.Headers().Get(corev1.PortForwardRequestIDHeader)
			p := pairs[id]
			switch stream.Headers().Get(corev1.StreamType) {
			case corev1.StreamTypeData:
				p.data = stream
			case corev1.StreamTypeError:
				p.failure = stream
			}
			pairs[id] = p
			if p.data.Stream == nil || p.failure.Stream == nil {
				continue
			}
			delete(pairs, id)
			running.Go(func() {
				for _, s := range []Stream{p.data, p.failure} {
					select {
					case <-s.Replied:
					case <-ctx.Done():
						return
					}
				}
				f.answer(p)
				conn.RemoveStreams(p.data.Stream, p.failure.Stream)
			})
		}
	}
}

// answer runs one connection.
func (f Forwards) answer(p pair) {
	defer p.failure.Close()
	defer p.data.Close()
	text := p.data.Headers().Get(corev1.PortHeader)
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || !slices.Contains(f.Ports, uint16(port)) {
		fmt.Fprintf(p.failure, "error forwarding port %s to pod %s: dial tcp4 127.0.0.1:%s: connect: connection refused", text, f.Pod, text)
		_ = p.data.Reset()
		return
	}
	f.service(p.data, text)
}

// service is the simulated service of a port: it answers HTTP requests with a page, and
// sends everything else back as it came.
func (f Forwards) service(stream io.ReadWriter, port string) {
	in := bufio.NewReader(stream)
	if _, err := in.Peek(1); err != nil {
		return
	}
	start, _ := in.Peek(min(in.Buffered(), len("POST ")))
	if !isHTTP(string(start)) {
		_, _ = io.Copy(stream, in) // until the client ends the stream
		return
	}
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
		if err != nil {
			return
		}
		page := fmt.Sprintf("simulated service on port %s of pod %s: %s %s\n%s", port, f.Pod, req.Method, req.URL.Path, body)
		resp := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: req, Close: req.Close, ContentLength: int64(len(page)),
			Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(page))}
		if resp.Write(stream) != nil || req.Close {
			return
		}
	}
}

// isHTTP reports whether a connection that starts like this speaks HTTP.
func isHTTP(start string) bool {
	for _, method := range []string{"GET ", "HEAD ", "POST ", "PUT "} {
		if strings.HasPrefix(start, method) {
			return true
		}
	}
	return false
}
