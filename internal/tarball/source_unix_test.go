//go:build unix

package tarball

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// TestANameThatIsNotText: the error names the file and says what is wrong with its name.
func TestANameThatIsNotText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "\xff\xfe"), []byte("x"), 0o600); err != nil {
		t.Skip(err) // a file system of text only
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{".", "\xff\xfe"} {
		_, err = List(root, name, "x", nil, nil)
		if !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "\xff\xfe") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
