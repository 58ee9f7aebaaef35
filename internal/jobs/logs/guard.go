package logs

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// guard ends a request when its container's run has ended and nothing has come
// for a while: not every server ends the stream. When another run has begun, the
// request may be reading that one's log by now, so it is ended in any case.
type guard struct {
	bytes atomic.Int64
	done  chan struct{}
}

func (s *stream) guard(cancel context.CancelFunc) *guard {
	g := &guard{done: make(chan struct{})}
	crash.Go(func() {
		select {
		case <-s.over:
		case <-g.done:
			return
		}
		for {
			before := g.bytes.Load()
			select {
			case <-s.engine.After(linger):
			case <-g.done:
				return
			}
			if _, replaced, gone := s.state(); replaced || gone || g.bytes.Load() == before {
				cancel()
				return
			}
		}
	})
	return g
}

func (g *guard) stop() { close(g.done) }

func (g *guard) reader(r io.Reader) io.Reader { return &countingReader{r, &g.bytes} }

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
