package mcpcmd

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patient is a transport that reports the end of the input when every request has its
// answer. The SDK refuses requests that it has read but not started when the input ends, so
// `hyperpod mcp < requests` would lose answers.
type patient struct{ mcp.Transport }

// Connect implements [mcp.Transport].
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &patientConnection{Connection: c, open: map[any]bool{}, changed: make(chan struct{}, 1)}, err
}

type patientConnection struct {
	mcp.Connection
	mu      sync.Mutex
	open    map[any]bool  // ids of requests without an answer; of two requests with the same id, one is never answered
	changed chan struct{} // gets a value after each answer
}

// Read implements [mcp.Connection].
func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.mark(r.ID, true)
	}
	for errors.Is(err, io.EOF) && c.waits() {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		err = &messageError{err}
	}
	return m, err
}

// messageError is the error of a message that cannot be read.
type messageError struct{ err error }

func (e *messageError) Error() string { return e.err.Error() }
func (e *messageError) Unwrap() error { return e.err }

// Write implements [mcp.Connection].
func (c *patientConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mark(r.ID, false)
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// mark remembers whether a request has no answer yet.
func (c *patientConnection) mark(id jsonrpc.ID, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if open {
		c.open[id.Raw()] = true
	} else {
		delete(c.open, id.Raw())
	}
}

// waits reports whether a request has no answer yet.
func (c *patientConnection) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}
