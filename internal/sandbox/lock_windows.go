package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The locked byte lies far behind the content, which others may read.
const lockOffset = 1 << 30

func overlapped() *windows.Overlapped { return &windows.Overlapped{Offset: lockOffset} }

// noFollow is a flag of Unix. On Windows the check before opening must do.
const noFollow = 0

func lockFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, overlapped())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errBusy
	}
	return err
}

func unlockFile(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, overlapped())
}
