package factory

import (
	"context"
	"io"
	"os"
)

// mostManifest is a little beyond what a manifest or template may have: the parser
// says that it is too large.
const mostManifest = 5 << 20

// ReadManifest reads a manifest or template; "-" is stdin. A pipe that nobody
// writes to can be given up. Errors are those of the file, as they are.
func (f *Factory) ReadManifest(ctx context.Context, path string) ([]byte, error) {
	return Interruptible(ctx, func() ([]byte, error) {
		if path == "-" {
			return io.ReadAll(io.LimitReader(f.IO.In, mostManifest))
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, mostManifest))
	})
}

// Interruptible does what may never return, such as reading from a terminal, and
// gives it up when the context ends: it goes on in the background then.
func Interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
