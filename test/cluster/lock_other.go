//go:build !unix

package cluster

import (
	"context"
	"errors"
	"io"
)

func lockFile(context.Context, string) (func(), error) {
	return nil, errors.New("the test binaries can only be built on a Unix system")
}

func holdFolder(string) (io.Closer, error) { return io.NopCloser(nil), nil }

func removeLeftovers(string) {}
