package imports

import (
	"go/ast"
	"testing"
)

// TestReadsAreBounded: the product reads no file and no stream of unknown size without a limit. A file that is cut in
// silence says something else, so the limit is an error: internal/bounded.
func TestReadsAreBounded(t *testing.T) {
	// Readers that are limited before, each for its reason.
	limited := map[string]string{
		"internal/bounded":             "the reader itself",
		"internal/kube":                "answers in two parts; the message of an error may be cut",
		"internal/sandbox/api":         "http.MaxBytesReader",
		"internal/sandbox/portservice": "the rest of a request to a practice web page may be cut",
		"internal/upload":              "one byte more than the limit tells that a file has grown",
		"internal/cli/factory":         "a little more than the parser accepts",
		"internal/templates/catalogue": "a little more than the parser accepts",
	}
	used := map[string]bool{}
	for _, file := range sources(t, "internal") {
		ast.Inspect(file.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch of := selected(s.X); {
			case of == "os" && s.Sel.Name == "ReadFile":
				t.Errorf("%s: os.ReadFile has no limit; use bounded.File", file.at(n))
			case of == "io" && s.Sel.Name == "ReadAll":
				if used[file.pkg] = true; limited[file.pkg] == "" {
					t.Errorf("%s: io.ReadAll has no limit, or cuts; use bounded.ReadAll", file.at(n))
				}
			}
			return true
		})
	}
	for pkg := range limited {
		if !used[pkg] {
			t.Errorf("%s does not need to be on the list", pkg)
		}
	}
}
