package imports

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestOptionsStayAsTyped: Validate changes no option, and no command sets the namespace
// that was typed.
func TestOptionsStayAsTyped(t *testing.T) {
	for _, file := range sources(t, "internal/cli") {
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
						t.Errorf("%s: Validate sets %s", file.at(target), name)
					case strings.HasSuffix(name, ".Global.Namespace"):
						t.Errorf("%s: %s sets %s", file.at(target), f.Name.Name, name)
					}
				}
				return true
			})
		}
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
