//go:build unix

package upload

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A .gitignore that is a pipe, which may have no writer, counts as missing.
func TestIgnoreFileIsAPipe(t *testing.T) {
	root := folder(t, map[string]string{"a.py": "1"})
	if err := syscall.Mkfifo(filepath.Join(root.Name(), ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Collect(root); err != nil || !slices.Equal(paths(got), []string{"a.py"}) {
		t.Errorf("%v, %v", paths(got), err)
	}
}
