package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// overWebSocket is the protocol of port forwarding with SPDY in a WebSocket.
// Source: Kubernetes, KEP 4006.
const overWebSocket = "SPDY/3.1+" + portforward.PortForwardProtocolV1Name

// podPortForward connects clients with the simulated services of a pod, over SPDY alone
// or in a WebSocket.
func (s *Server) podPortForward(c *call) error {
	pod, rv, err := s.loggedPod(c, s.firstContainer(c))
	switch {
	case err != nil:
		return err
	case object.Text(pod.Map(), "status", "phase") != "Running":
		return badRequest("unable to forward port because pod is not running. Current status=" + object.Text(pod.Map(), "status", "phase"))
	}
	streams := make(chan opened, 64)
	accept := func(stream httpstream.Stream, replied <-chan struct{}) error {
		select {
		case streams <- opened{stream, replied}:
			return nil
		case <-c.Context().Done():
			return c.Context().Err()
		}
	}
	var conn httpstream.Connection
	if wsstream.IsWebSocketRequest(c.Request) {
		upgrader := websocket.Upgrader{Subprotocols: []string{overWebSocket}}
		if !slices.Contains(websocket.Subprotocols(c.Request), overWebSocket) {
			return badRequest("port forwarding over WebSocket needs the protocol " + overWebSocket)
		}
		ws, err := upgrader.Upgrade(c.w, c.Request, nil)
		if err != nil {
			return nil // the library answered the client
		}
		if conn, err = spdy.NewServerConnection(portforward.NewTunnelingConnection("server", ws), accept); err != nil {
			_ = ws.Close()
			return nil
		}
	} else {
		if _, err := httpstream.Handshake(c.Request, c.w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			return nil // the library answered the client
		}
		if conn = spdy.NewResponseUpgrader().UpgradeResponse(c.w, c.Request, accept); conn == nil {
			return nil
		}
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	crash.Go(func() { // the end of a pod ends its connections
		defer cancel()
		s.untilEnded(ctx, c, pod, rv)
	})
	forwards{ports: portsOf(pod), pod: pod.Name}.serve(ctx, conn, streams)
	return nil
}

// firstContainer returns the name of the pod's first container: its state is that of the pod.
func (s *Server) firstContainer(c *call) (name string) {
	_ = s.backend.View(c.Context(), func(st *store.Store) error { // an error shows in the next read
		if pod := st.Get("pods", c.namespace, c.name); pod != nil {
			for _, ct := range object.List(pod.Map(), "spec", "containers") {
				name = object.Text(ct, "name")
				break
			}
		}
		return nil
	})
	return name
}

// untilEnded returns when the pod no longer runs or ctx ends.
func (s *Server) untilEnded(ctx context.Context, c *call, pod *store.Object, rv int64) {
	for ctx.Err() == nil {
		over := false
		err := s.backend.View(ctx, func(st *store.Store) error {
			rv = st.RV()
			now := st.Get("pods", c.namespace, c.name)
			over = now == nil || now.UID != pod.UID || object.Text(now.Map(), "status", "phase") != "Running"
			return nil
		})
		if err != nil || over || s.backend.Wait(ctx, rv) != nil {
			return
		}
	}
}

// Ports on which simulated services answer although no container declares them:
// TensorBoard and Jupyter.
const (
	tensorBoardPort = 6006
	jupyterPort     = 8888
)

// portsOf returns the ports on which the simulated services of a pod answer.
func portsOf(pod *store.Object) []uint16 {
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

// forwards are the connections to one pod.
type forwards struct {
	pod   string
	ports []uint16
}

// opened is a stream of the client. It carries nothing before replied is closed: a stream
// that is reset earlier makes the client's request to open it fail.
type opened struct {
	httpstream.Stream
	replied <-chan struct{}
}

// pair are the two streams of a connection.
type pair struct{ data, failure opened }

// serve answers connections until the client or ctx ends.
func (f forwards) serve(ctx context.Context, conn httpstream.Connection, streams <-chan opened) {
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
				for _, s := range []opened{p.data, p.failure} {
					select {
					case <-s.replied:
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
func (f forwards) answer(p pair) {
	defer p.failure.Close()
	defer p.data.Close()
	text := p.data.Headers().Get(corev1.PortHeader)
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || !slices.Contains(f.ports, uint16(port)) {
		fmt.Fprintf(p.failure, "error forwarding port %s to pod %s: dial tcp4 127.0.0.1:%s: connect: connection refused", text, f.pod, text)
		_ = p.data.Reset()
		return
	}
	f.service(p.data, text)
}

// service is the simulated service of a port: it answers HTTP requests with a page, and
// sends everything else back as it came.
func (f forwards) service(stream io.ReadWriter, port string) {
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
		page := fmt.Sprintf("simulated service on port %s of pod %s: %s %s\n%s", port, f.pod, req.Method, req.URL.Path, body)
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
