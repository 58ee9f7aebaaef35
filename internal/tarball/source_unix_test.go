//go:build unix

package tarball

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that takes a file's place after the list is an error, and does not wait for a writer.
func TestAFileThatBecomesAPipe(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	if err := os.WriteFile(p, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, dir)
	entries, err := List(root, "a", "a", nil, func(string, fs.FileMode) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Fatal(err)
	}
	var source *SourceError
	if err := Pack(io.Discard, root, entries, func(int) {}); !errors.As(err, &source) || source.Error() != "a is a pipe" {
		t.Error(err)
	}
}
