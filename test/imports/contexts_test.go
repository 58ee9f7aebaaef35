package imports

import (
	"go/ast"
	"testing"
)

// rounds is the file whose struct stores a context: the rounds of one edit share the
// handler of Ctrl-C, and each of them ends with the context of the first.
const rounds = "internal/cli/editor/editor.go"

// TestContextsArePassed: no other struct of the product stores a context. A call gets it
// as its first argument.
func TestContextsArePassed(t *testing.T) {
	for _, file := range sources(t, "internal") {
		if file.pkg+"/"+file.name == rounds {
			continue
		}
		ast.Inspect(file.File, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				if of, ok := f.Type.(*ast.SelectorExpr); ok && selected(of) == "context.Context" {
					t.Errorf("%s: a struct stores a context", file.at(f))
				}
			}
			return true
		})
	}
}
