package style

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of docs/security.md names tests that exist.
func TestSecurityPage(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:internal|test)/[a-z/0-9]+)\\.(Test\\w+)`")
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| threat") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("no test in the row %q", line)
		}
		for _, m := range tests {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m[1]), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(data), "\nfunc "+m[2]+"(t *testing.T)")
			}
			if !found {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows were read", rows)
	}
}
