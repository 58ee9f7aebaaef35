//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile takes an exclusive lock that other processes respect and that ends with this one.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of the test binaries: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another process is building the test binaries and holds %s: %w; wait for it to end", path, context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// holdFolder marks dir as in use for as long as this process lives.
func holdFolder(dir string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return f, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// removeLeftovers removes the folders of beds whose process was killed before it could. A failure is harmless:
// the next start tries again.
func removeLeftovers(pattern string) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, dir := range dirs {
		// A folder without the file belongs to a bed that is just starting, or is not ours.
		f, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(dir)
		}
		f.Close()
	}
}
