//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe stays a pipe, as devices do, and writing to it does not wait for a reader.
func TestPipesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Write(path, func(*os.File) error { t.Error("written"); return nil })
	if err == nil || !strings.HasSuffix(err.Error(), "it is a pipe") {
		t.Errorf("got %v", err)
	}
	if now, err := os.Lstat(path); err != nil || now.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("%v, %v", now, err)
	}
}
