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

// silent are the packages whose errors are values with codes. internal/present words them.
// The packages that talk to a server, a file or a template's author make their sentences
// themselves: internal/kube, internal/snapshot, internal/templates, internal/discovery.
var silent = []string{"internal/governance", "internal/jobs", "internal/quota", "internal/queue", "internal/state", "internal/reader"}

// TestSilentPackagesMakeNoSentences: they make no error for a person.
func TestSilentPackagesMakeNoSentences(t *testing.T) {
	makers := map[string]bool{"New": true, "Usagef": true, "NotFoundf": true, "Wrap": true, "Error": true}
	for _, dir := range silent {
		files := 0
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				var of ast.Expr
				switch n := n.(type) {
				case *ast.CallExpr:
					of = n.Fun
				case *ast.CompositeLit:
					of = n.Type
				}
				if s, ok := of.(*ast.SelectorExpr); ok && makers[s.Sel.Name] && selected(s.X) == "errs" {
					t.Errorf("%s: errs.%s makes a sentence", fset.Position(n.Pos()), s.Sel.Name)
				}
				return true
			})
			return nil
		})
		if err != nil || files == 0 {
			t.Fatalf("%s: %d files, %v", dir, files, err)
		}
	}
}
