package style

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of folders in docs/architecture.md names each package, and nothing that does not exist. Packages of single
// commands need no row. A package may be named without its folder in a row that names the folder or a neighbor.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Folders\n")
	table, _, ok := strings.Cut(table, "\n## ")
	if !ok {
		t.Fatal("docs/architecture.md has no table of folders")
	}
	rows := strings.Split(table, "\n")
	for _, m := range regexp.MustCompile("`((?:internal|test|cmd)/[a-z0-9/]+)`").FindAllStringSubmatch(table, -1) {
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md lists %s, which is not a folder", m[1])
		}
	}
	for _, dir := range packages(t, "internal", "test", "cmd") {
		listed := slices.ContainsFunc(rows, func(row string) bool {
			near := strings.Contains(row, "`"+path.Dir(dir)) && strings.Contains(row, "`"+path.Base(dir)+"`")
			return near || strings.Contains(row, "`"+dir+"`")
		})
		if !listed {
			t.Errorf("docs/architecture.md does not list %s", dir)
		}
	}
}

// packages returns the folders with Go files below the given ones, but those of single commands and of testdata.
func packages(t *testing.T, tops ...string) []string {
	t.Helper()
	var dirs []string
	command := map[string]bool{}
	newCmd := regexp.MustCompile(`(?m)^func New\w*Cmd\(`)
	for _, top := range tops {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(name, ".go") {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			text, err := os.ReadFile(name)
			dirs = append(dirs, filepath.ToSlash(rel))
			command[filepath.ToSlash(rel)] = command[filepath.ToSlash(rel)] || newCmd.Match(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(dirs)
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool { return command[dir] })
}
