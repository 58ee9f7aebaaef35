package factory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
)

// mostManifest is a little above the limit for a manifest or template, so that the parser reports a text that is too large.
const mostManifest = 5 << 20

// byteOrderMark is what editors of Windows write before a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// ReadNamed reads a file that a command line names, or a file of a folder that it names, without its byte order mark; "-"
// is stdin. The context ends reading from a pipe without a writer. An error about the file has exit code NotFound or Usage.
func (f *Factory) ReadNamed(ctx context.Context, path string) ([]byte, error) {
	data, err := Interruptible(ctx, func() ([]byte, error) {
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
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.NotFoundf("file %s not found", path).WithCause(err)
	case err != nil:
		return nil, errs.New("cannot read "+path, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	return bytes.TrimPrefix(data, []byte(byteOrderMark)), nil
}

// ManifestsIn returns the paths of the manifests in a folder that a command line names, in the order of their names. ReadNamed
// reads them.
func ManifestsIn(dir string) ([]string, error) {
	files, err := catalogue.Manifests(dir)
	if err != nil {
		return nil, errs.New("cannot read "+dir, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	if len(files) == 0 {
		return nil, errs.NotFoundf("no manifest in %s", dir).WithFact("files", "*.yaml, *.yml, *.json")
	}
	return files, nil
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
