package sandbox

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Serve offers the sandbox on a listener, for kubectl, until ctx ends. Jobs go
// on by the clock while it runs. The listener should be on loopback: there is no
// authentication. Requests that a web page made a browser send are refused.
func (s *Sandbox) Serve(ctx context.Context, ln net.Listener) error {
	server := &http.Server{
		Handler:           localOnly(s),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			// Watches end with ctx; give answers in progress a moment.
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			if err := server.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return nil
		case <-s.opts.After(time.Second):
			// Trouble with the file is told to whoever asks next.
			_ = backend{s}.View(ctx, func(*store.Store) error { return nil })
		}
	}
}

// localOnly refuses what a browser sends for another site's page: a request
// with an Origin, or for a host name that is not this machine's own.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(host)
		if r.Header.Get("Origin") != "" || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "the sandbox only answers programs on this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
