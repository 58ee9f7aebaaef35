//go:build !unix

package atomicfile

import (
	"os"
	"time"
)

// abandoned is the age at which a temporary file belongs to no running write.
const abandoned = time.Hour

// create creates a temporary file.
func create(dir, pattern string) (*os.File, error) { return os.CreateTemp(dir, pattern) }

// rename closes the file, because an open one cannot be renamed, and gives it its name.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeAbandoned removes a file that is old. An open file cannot be removed.
func removeAbandoned(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
		_ = os.Remove(path)
	}
}

// Exclusive creates a lock file, which only one process can do. If another process has the
// lock, the error is [fs.ErrExist].
func Exclusive(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }, nil
}
