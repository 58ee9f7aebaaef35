package pattern

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAll: a pattern with an error would panic only when a user gets there.
func TestAll(t *testing.T) {
	patterns := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		texts := map[string]ast.Expr{} // the values of constants and variables of the package
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				values, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, v := range values.Values {
					texts[values.Names[i].Name] = v
					if call, ok := v.(*ast.CallExpr); ok && named(call.Fun, "regexp", "MustCompile") {
						t.Errorf("%s: every start compiles %s; use pattern.Lazy", path, values.Names[i])
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && named(call.Fun, "pattern", "Lazy") {
				patterns++
				if _, err := regexp.Compile(text(t, texts, call.Args[0])); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if patterns < 50 {
		t.Errorf("only %d patterns found", patterns)
	}
}

func named(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// text returns the value of a constant text.
func text(t *testing.T, texts map[string]ast.Expr, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0))
	case *ast.BinaryExpr:
		return text(t, texts, e.X) + text(t, texts, e.Y)
	case *ast.Ident:
		return text(t, texts, texts[e.Name])
	}
	t.Fatalf("not a constant: %#v", e)
	return ""
}

func TestLazy(t *testing.T) {
	p := Lazy(`^a+$`)
	first, again := p(), p()
	if !first.MatchString("aaa") || first != again {
		t.Error("compiled more than once")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Lazy(`(`)()
}
