package factory

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// mostManifest is a little above the limit for a manifest or template, so that the parser reports a text that is too large.
const mostManifest = 5 << 20

// ReadManifest reads a manifest or template; "-" is stdin. The context ends reading from a pipe without a writer. Errors of
// the file are returned unchanged.
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

// ReadNamed is ReadManifest with errors in words.
func (f *Factory) ReadNamed(ctx context.Context, path string) ([]byte, error) {
	data, err := f.ReadManifest(ctx, path)
	switch {
	case err == nil || ctx.Err() != nil:
		return data, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.NotFoundf("file %s not found", path).WithCause(err)
	}
	return nil, errs.New("cannot read "+path, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
}

// Interruptible runs what may never return, such as reading from a terminal. When the context ends, it returns and leaves
// the rest to the background.
func Interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	crash.Go(func() {
		value, err := do()
		done <- result{value, err}
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
