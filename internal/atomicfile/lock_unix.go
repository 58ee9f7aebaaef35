//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// create creates a temporary file and locks it until it is closed, so that nobody sweeps
// it. Mode 0600.
func create(dir, pattern string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, pattern)
		if err != nil {
			return nil, err
		}
		// A file system without locks keeps abandoned files: sweep cannot lock them either.
		if err := lock(f, 0); err != nil {
			return f, nil
		}
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(f.Name())
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close() // swept before it was locked
	}
}

// rename gives the file its name while the lock holds, then closes it.
func rename(f *os.File, path string) error {
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	_ = f.Close() // it is written and synced
	return nil
}

// removeAbandoned removes a file that no process has locked.
func removeAbandoned(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || lock(f, syscall.LOCK_NB) != nil {
		return
	}
	// The name may be a new file's by now.
	if there, err := os.Lstat(path); err == nil && os.SameFile(info, there) {
		_ = os.Remove(path)
	}
}

func lock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how); err != syscall.EINTR {
			return err
		}
	}
}

// Exclusive creates a lock file, which only one process can do, and removes one that a
// killed Exclusive left. If another process has the lock, the error is [fs.ErrExist].
func Exclusive(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) && abandonedLock(path) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, err
	}
	// The mark tells whose lock the file is, and is written under the system's lock, which
	// ends with the process. Without either, nobody takes the file for abandoned.
	if lock(f, syscall.LOCK_NB) == nil {
		_, _ = f.WriteString(mark)
	}
	return func() { _ = os.Remove(path); _ = f.Close() }, nil
}

// mark is the content of lock files of Exclusive. Other programs leave theirs empty.
const mark = "hyperpod\n"

// abandonedLock removes a lock file of Exclusive that no process has, and reports whether
// it did.
func abandonedLock(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(mark)+1)
	n, _ := f.Read(b)
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || string(b[:n]) != mark || lock(f, syscall.LOCK_NB) != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(info, there) && os.Remove(path) == nil
}
