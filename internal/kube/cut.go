package kube

import (
	"io"
	"sync"
)

// cutWriter passes on what is written until it is cut off. client-go has no end to
// wait for: its copying may go on after a command was given up.
type cutWriter struct {
	mu sync.Mutex
	w  io.Writer // nil once cut off
}

// cuttable returns a writer that can be cut off, or nil for nil: a stream that is
// not asked for.
func cuttable(w io.Writer) (_ io.Writer, cut func()) {
	if w == nil {
		return nil, func() {}
	}
	c := &cutWriter{w: w}
	return c, c.cut
}

func (c *cutWriter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w == nil {
		return 0, io.ErrClosedPipe
	}
	return c.w.Write(p)
}

// cut waits for a write that is on its way; afterwards nothing is written.
func (c *cutWriter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = nil
}
