package style

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every fuzz target has a row in docs/reliability.md, and every row names one.
func TestFuzzTargets(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| .+ \\| `(\\S+\\.Fuzz\\w+)` \\| (?:-|[0-9]+) \\| (?:-|[0-9]+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	found := map[string]bool{}
	err = fs.WalkDir(os.DirFS(root), "internal", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			found[path.Dir(p)+"."+m[1]] = true
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	for name := range found {
		if !listed[name] {
			t.Errorf("docs/reliability.md has no row for %s", name)
		}
	}
	for name := range listed {
		if !found[name] {
			t.Errorf("docs/reliability.md names %s, which does not exist", name)
		}
	}
}
