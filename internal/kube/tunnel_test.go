package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// spdyPorts is a server that forwards over SPDY alone: port 1 sends bytes back, others
// refuse.
func spdyPorts(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Error(w, "no websockets here", http.StatusBadRequest)
			return
		}
		if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			t.Error(err)
			return
		}
		type opened struct {
			httpstream.Stream
			replied <-chan struct{}
		}
		streams := make(chan opened, 8)
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error { streams <- opened{s, replied}; return nil })
		if conn == nil {
			t.Error("not upgraded")
			return
		}
		defer conn.Close()
		for {
			var failure, data httpstream.Stream
			for failure == nil || data == nil {
				select {
				case s := <-streams:
					<-s.replied // a stream that is reset before the reply cannot be opened
					if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
						failure = s.Stream
					} else {
						data = s.Stream
					}
				case <-conn.CloseChan():
					return
				}
			}
			if data.Headers().Get(corev1.PortHeader) == "1" {
				_, _ = io.Copy(data, data)
			} else {
				fmt.Fprint(failure, "connection refused")
				_ = data.Reset()
			}
			_ = data.Close()
			_ = failure.Close()
		}
	}
}

func TestTunnel(t *testing.T) {
	c, _ := serve(t, spdyPorts(t))
	tunnel, err := c.Tunnel(t.Context(), "ns", "p")
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	through := func(port uint16, sent []byte) ([]byte, error) {
		near, far := net.Pipe()
		got := make(chan []byte, 1)
		go func() {
			b := make([]byte, len(sent))
			n, _ := io.ReadFull(near, b)
			_ = near.Close()
			got <- b[:n]
		}()
		go func() { _, _ = near.Write(sent) }()
		err := tunnel.Carry(t.Context(), far, port)
		return <-got, err
	}
	bulk := bytes.Repeat([]byte("gradient"), 100_000)
	for range 2 { // one tunnel carries many connections
		if got, err := through(1, bulk); err != nil || !bytes.Equal(got, bulk) {
			t.Errorf("%d of %d bytes, %v", len(got), len(bulk), err)
		}
		var refused *PortError
		if _, err := through(2, nil); !errors.As(err, &refused) || refused.Port != 2 || refused.Message != "connection refused" {
			t.Errorf("%v", err)
		}
	}
}

func TestTunnelFollowsNoRedirect(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	if _, err := c.Tunnel(t.Context(), "ns", "p"); err == nil {
		t.Error("no error")
	}
	if asked != 0 {
		t.Errorf("%d requests went to another host", asked)
	}
}

func TestTunnelRefusals(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods \"p\" is forbidden: User \"ada\" cannot create resource \"pods/portforward\" in API group \"\""}`)
	})
	_, err := c.Tunnel(t.Context(), "ns", "p")
	if text := errs.Text(err, false); errs.ExitOf(err) != errs.Denied || !strings.Contains(text, "permission to create pods/portforward in namespace ns") {
		t.Errorf("exit code %d, %s", errs.ExitOf(err), text)
	}
	if _, err := c.Tunnel(t.Context(), "ns", "../secrets/x"); errs.ExitOf(err) != errs.Usage {
		t.Errorf("a pod's name with slashes: %v", err)
	}
}
