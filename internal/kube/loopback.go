package kube

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// offer serves the API in process on a port of loopback, for protocols that need
// a connection of their own. Only requests that carry a secret made here are
// answered.
func (c *Client) offer() (*rest.Config, func(), error) {
	in, ok := c.rt.(handlerTransport)
	if !ok {
		return nil, nil, errors.New("this connection cannot be upgraded")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	secret := rand.Text()
	want := []byte("Bearer " + secret)
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			in.h.ServeHTTP(w, r)
		}),
	}
	crash.Go(func() { _ = server.Serve(l) }) // ends with Close, which is its error
	cfg := &rest.Config{Host: "http://" + l.Addr().String(), BearerToken: secret, UserAgent: c.o.UserAgent,
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}
	return cfg, func() { cancel(); _ = server.Close() }, nil
}
