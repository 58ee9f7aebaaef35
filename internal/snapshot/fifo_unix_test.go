//go:build unix

package snapshot_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
)

// TestPipe: opening a pipe would wait for someone to write into it.
func TestPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Open(fifo); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
}
