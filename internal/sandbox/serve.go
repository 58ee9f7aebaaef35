package sandbox

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/connlimit"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/loopback"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Serve serves the sandbox on a listener until ctx ends, for kubectl and other clients
// that send the bearer token. Jobs run by the clock meanwhile. Without secure, connections
// are not encrypted. Serve refuses requests of web pages.
func (s *Sandbox) Serve(ctx context.Context, ln net.Listener, secure *tls.Config, token string) error {
	server := &http.Server{
		Handler: s.served(token),
		// Watches and logs are endless, so there is no limit for a whole request.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that end a connection early
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	ln = connlimit.Listen(server, ln, s.opts.MostConnections)
	if secure != nil {
		ln = tls.NewListener(ln, secure)
	}
	crash.Go(func() { done <- server.Serve(ln) })
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
			// The next request reports errors of the file.
			_ = backend{s}.View(ctx, func(*store.Store) error { return nil })
		}
	}
}

// served returns the handler of Serve.
func (s *Sandbox) served(token string) http.Handler {
	return localOnly(s.authenticated(token, s.bodyInTime(s)))
}

// authenticated refuses requests without the bearer token of the sandbox's owner, or one of
// a service account.
func (s *Sandbox) authenticated(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if ok && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
			next.ServeHTTP(w, r)
			return
		}
		if u, known := s.handler.Authenticate(r, given); ok && known {
			next.ServeHTTP(w, r.WithContext(api.WithUser(r.Context(), u)))
			return
		}
		api.Unauthorized(w)
	})
}

// bodyInTime limits how long a request's body takes to arrive.
func (s *Sandbox) bodyInTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			c := http.NewResponseController(w)
			if err := c.SetReadDeadline(time.Now().Add(s.opts.BodyTimeout)); err == nil {
				r.Body = &timedBody{r.Body, c}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a request body with a deadline, which ends with the body.
type timedBody struct {
	io.ReadCloser
	c *http.ResponseController
}

// Read reads from the body. At its end it removes the deadline.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.c.SetReadDeadline(time.Time{}) // the connection is closing if this fails
	}
	return n, err
}

// localOnly refuses what a browser sends for another site's page: a request with an
// Origin, or for a host name that is not this machine's own.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if r.Header.Get("Origin") != "" || !loopback.Is(host) {
			http.Error(w, "the sandbox answers only programs on this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
