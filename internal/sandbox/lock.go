package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// errBusy means that another process holds the lock.
var errBusy = errors.New("locked by another process")

// errNotRegular means that something else is where the lock file belongs, such as a
// symbolic link, which would be followed.
var errNotRegular = errors.New("the lock file is not a regular file")

const (
	// retryLock is the pause between attempts to get the lock.
	retryLock = 10 * time.Millisecond
	// quiet is how long a wait stays unreported.
	quiet = 500 * time.Millisecond
	// mostTurns limits a wait behind processes that make changes in turn, in Options.LockTimeout: five minutes.
	mostTurns = 30
)

func (f file) lockPath() string {
	return filepath.Join(filepath.Dir(f.path), "."+f.name()+".lock")
}

// lock takes the exclusive lock for changes. It gives up when one process has held the lock for Options.LockTimeout
// without a change of the sandbox. While other processes make changes in turn, it waits mostTurns times as long.
func (f file) lock(ctx context.Context, o Options) (release func(), err error) {
	turn, limit := f.turn(), o.LockTimeout
	for waited := time.Duration(0); ; waited += retryLock {
		h, err := f.tryLock()
		switch {
		case err == nil:
			return func() { unlock(h) }, nil
		case errors.Is(err, errNotRegular):
			return nil, errs.New("cannot change sandbox "+f.name(), err.Error()).WithFact("file", f.lockPath()).WithCause(err)
		case !errors.Is(err, errBusy):
			return nil, errs.New("cannot change sandbox "+f.name(), errs.FileReason(err)).WithFact("file", f.path).WithCause(err)
		case waited >= mostTurns*o.LockTimeout:
			return nil, errs.New("cannot change sandbox "+f.name(), "other commands have been changing it for "+waited.String()).
				WithFact("file", f.path).WithAdvice("try again when fewer commands use it").WithCause(err)
		case waited >= limit && f.turn() != turn:
			turn, limit = f.turn(), waited+o.LockTimeout
		case waited >= limit:
			return nil, errs.New("cannot change sandbox "+f.name(), f.holder()+" is using it").
				WithFact("file", f.path).
				WithAdvice("wait until that command finishes, or stop it").WithCause(err)
		}
		if waited == quiet {
			o.Waiting(f.holder())
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-o.After(retryLock):
		}
	}
}

// turn identifies the change that a process is making: who makes it, and what the last one left.
func (f file) turn() string {
	s, err := f.stamp()
	if err != nil {
		return f.holder()
	}
	return fmt.Sprint(f.holder(), s.info.ModTime().UnixNano(), s.info.Size())
}

// tryLock locks the lock file and writes the process id into it. The sandbox's own
// file cannot be the lock, because every change replaces it.
func (f file) tryLock() (*os.File, error) {
	path := f.lockPath()
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	h, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(h); err != nil {
		_ = h.Close()
		return nil, err
	}
	// Delete removes the lock file. A lock on a removed file locks nobody out.
	mine, err1 := h.Stat()
	there, err2 := os.Lstat(path)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		unlock(h)
		return nil, errBusy
	}
	// Other processes print this id while they wait. The lock works without it, so a
	// failure (a full disk) does no harm.
	if err := h.Truncate(0); err == nil {
		_, _ = h.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return h, nil
}

func unlock(h *os.File) {
	unlockFile(h)
	_ = h.Close()
}

// holder names the process that holds the lock.
func (f file) holder() string {
	b, err := bounded.File(f.lockPath(), 1<<10)
	if pid, convErr := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && convErr == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// sweepLocks removes the lock files in a folder that belong to no sandbox and to no running
// process: a command was killed while it created or deleted a sandbox.
func sweepLocks(dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, ".*.lock"))
	if err != nil {
		return
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "."), ".lock")
		f := newFile(filepath.Join(dir, name+Extension))
		if _, err := f.stamp(); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if h, err := f.tryLock(); err == nil {
			if _, err := f.stamp(); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(path)
			}
			unlock(h)
		}
	}
}
