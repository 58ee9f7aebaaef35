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
	return &patientConnection{Connection: c, changed: make(chan struct{}, 1)}, err
}

type patientConnection struct {
	mcp.Connection
	mu      sync.Mutex
	open    int           // requests without an answer
	changed chan struct{} // gets a value after each answer
}

// Read implements [mcp.Connection].
func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.count(1)
	}
	for errors.Is(err, io.EOF) && c.count(0) > 0 {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return m, err
}

// Write implements [mcp.Connection].
func (c *patientConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.count(-1)
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// count adds to the open requests and returns them.
func (c *patientConnection) count(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
	return c.open
}
