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

// TestOptionsStayAsTyped: Validate changes no option, and no command sets the namespace
// that was typed.
func TestOptionsStayAsTyped(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "internal/cli"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			receiver := ""
			if f.Name.Name == "Validate" && f.Recv != nil && len(f.Recv.List[0].Names) == 1 {
				receiver = f.Recv.List[0].Names[0].Name
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				for _, target := range targets(n) {
					switch name := selected(target); {
					case receiver != "" && strings.HasPrefix(name, receiver+"."):
						t.Errorf("%s: Validate sets %s", fset.Position(target.Pos()), name)
					case strings.HasSuffix(name, ".Global.Namespace"):
						t.Errorf("%s: %s sets %s", fset.Position(target.Pos()), f.Name.Name, name)
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// targets are the expressions that a node assigns to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// selected writes an expression of fields and elements as its path: a.b.c.
func selected(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return selected(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return selected(e.X)
	case *ast.StarExpr:
		return selected(e.X)
	case *ast.ParenExpr:
		return selected(e.X)
	}
	return ""
}
