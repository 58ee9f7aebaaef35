package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// errBusy says that another process has the lock.
var errBusy = errors.New("locked by another process")

const (
	// retryLock is how long to wait before trying to get the lock again.
	retryLock = 10 * time.Millisecond
	// sayWaiting is how long to wait in silence.
	sayWaiting = 500 * time.Millisecond
)

func (f file) lockPath() string {
	return filepath.Join(filepath.Dir(f.path), "."+f.name()+".lock")
}

// lock gets the exclusive right to change the file. It waits, not longer than
// Options.LockTimeout, for a process that has it.
func (f file) lock(ctx context.Context, o Options) (release func(), err error) {
	for waited := time.Duration(0); ; waited += retryLock {
		h, err := f.tryLock()
		switch {
		case err == nil:
			return func() { unlock(h) }, nil
		case !errors.Is(err, errBusy):
			return nil, errs.New("cannot change sandbox "+f.name(), errs.FileReason(err)).WithFact("file", f.path).WithCause(err)
		case waited >= o.LockTimeout:
			return nil, errs.New("cannot change sandbox "+f.name(), "it is in use by "+f.holder()).
				WithFact("file", f.path).
				WithAdvice("wait until that command is done, or end it").WithCause(err)
		}
		if waited == sayWaiting {
			o.Waiting(f.holder())
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-o.After(retryLock):
		}
	}
}

// tryLock locks the lock file and writes who has it. The lock file is apart
// from the sandbox's because that one is replaced at every change.
func (f file) tryLock() (*os.File, error) {
	h, err := os.OpenFile(f.lockPath(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(h); err != nil {
		_ = h.Close()
		return nil, err
	}
	// Delete removes the lock file: a lock on one that is gone is worth nothing.
	mine, err1 := h.Stat()
	there, err2 := os.Stat(f.lockPath())
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		unlock(h)
		return nil, errBusy
	}
	// For the message another process prints while it waits; the lock itself
	// does not depend on it, so that this can fail (a full disk) does no harm.
	if err := h.Truncate(0); err == nil {
		_, _ = h.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return h, nil
}

func unlock(h *os.File) {
	unlockFile(h)
	_ = h.Close()
}

// holder names the process that has the lock.
func (f file) holder() string {
	b, err := os.ReadFile(f.lockPath())
	if pid, convErr := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && convErr == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}
