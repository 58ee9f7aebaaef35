package api

import (
	"context"
	"slices"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/portservice"
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
	streams := make(chan portservice.Stream, 64)
	accept := func(stream httpstream.Stream, replied <-chan struct{}) error {
		select {
		case streams <- portservice.Stream{Stream: stream, Replied: replied}:
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
	portservice.Forwards{Pod: pod.Name, Ports: portservice.PortsOf(pod)}.Serve(ctx, conn, streams)
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
