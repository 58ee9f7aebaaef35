package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is a Go file of the product, without its tests.
type source struct {
	pkg  string // its folder, from the root
	name string // of the file
	fset *token.FileSet
	*ast.File
}

// at is the position of a node: a file and a line.
func (s source) at(n ast.Node) token.Position { return s.fset.Position(n.Pos()) }

// sources parses the files below a folder of the repository. It leaves out modules of their own, such as the oracle.
func sources(t *testing.T, dir string) []source {
	t.Helper()
	var out []source
	fset, top := token.NewFileSet(), filepath.Join(root, dir)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != top {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		out = append(out, source{filepath.ToSlash(pkg), filepath.Base(path), fset, file})
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(out), err)
	}
	return out
}
