package kube

import (
	"io"
	"sync"
)

// cutWriter passes on what is written until it is cut off. client-go has no end to
// wait for: its copying may go on after a command was given up.
type cutWriter struct {
	mu     sync.Mutex
	w      io.Writer // nil once cut off
	err    error     // of the first write that failed
	failed func()    // called then
}

// cuttable returns a writer that can be cut off, or nil for nil: a stream that is
// not asked for. client-go does not tell that a write failed, and reads on: failed is
// called then, and cut returns the reason.
func cuttable(w io.Writer, failed func()) (_ io.Writer, cut func() error) {
	if w == nil {
		return nil, func() error { return nil }
	}
	c := &cutWriter{w: w, failed: failed}
	return c, c.cut
}

func (c *cutWriter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
		c.failed()
	}
	return n, err
}

// cut waits for a write that is on its way; afterwards nothing is written. It may be
// called again.
func (c *cutWriter) cut() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = nil
	return c.err
}
