// Package golden compares what tests make with files that are kept beside them. With
// -update the files are written instead; their difference is then to be read.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// Check compares got with the file of that path.
func Check(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -run %s -update writes it)\ngot:\n%s\nwant:\n%s", path, t.Name(), got, want)
	}
}

// Screen is Check for a text that people see on a terminal of 80 columns.
func Screen(t *testing.T, path, got string) {
	t.Helper()
	for _, line := range strings.Split(got, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	Check(t, path, got)
}
