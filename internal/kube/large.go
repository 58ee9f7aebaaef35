package kube

import (
	"context"
	"io"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// small is the size up to which answers are read side by side.
const small = 1 << 20

// turns lets large objects be read one at a time: a command asks for many kinds at once,
// and an answer without end to each would take the limit as often.
type turns chan struct{}

func newTurns() turns { return make(turns, 1) }

// readAll reads an answer of at most so many bytes.
func (t turns) readAll(ctx context.Context, r io.Reader, most int64) ([]byte, error) {
	r = bounded.NewReader(r, most)
	data, err := io.ReadAll(io.LimitReader(r, small))
	if err != nil || len(data) < small {
		return data, err
	}
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return append(data, rest...), nil
}
