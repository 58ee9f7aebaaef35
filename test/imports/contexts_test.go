package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// rounds is the file whose struct stores a context: the rounds of one edit share the
// handler of Ctrl-C, and each of them ends with the context of the first.
const rounds = "internal/cli/editor/editor.go"

// TestContextsArePassed: no other struct of the product stores a context. A call gets it
// as its first argument.
func TestContextsArePassed(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == filepath.Join(root, rounds) {
			return err
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				if of, ok := f.Type.(*ast.SelectorExpr); ok && selected(of) == "context.Context" {
					t.Errorf("%s: a struct stores a context", fset.Position(f.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("%d files, %v", files, err)
	}
}
