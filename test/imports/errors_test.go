package imports

import (
	"go/ast"
	"testing"
)

// explainers make sentences for people themselves, each for its reason. They name no flag and
// no command: TestLogicNamesNoFlags. Every other package returns values with codes.
var explainers = map[string]string{
	"internal/cli":        "commands",
	"internal/present":    "words for the values of all others",
	"internal/errs":       "the error value",
	"internal/output":     "explains a value of --output and of its formats",
	"internal/config":     "explains the settings file and the environment",
	"internal/kube":       "explains what an API server or a kubeconfig says",
	"internal/prometheus": "explains what a Prometheus server says",
	"internal/discovery":  "explains what a cluster's objects and AWS say",
	"internal/snapshot":   "explains what a file says",
	"internal/sandbox":    "explains what a sandbox's file says",
	"internal/templates":  "explains what a template or a manifest says, with its line",
}

// TestSilentPackagesMakeNoSentences: only the explainers make errors for people.
func TestSilentPackagesMakeNoSentences(t *testing.T) {
	makers := map[string]bool{"New": true, "Usagef": true, "NotFoundf": true, "Wrap": true, "Error": true}
	makes := map[string]bool{}
	for _, file := range sources(t, "internal") {
		explainer := ""
		for e := range explainers {
			if under(file.pkg, e) {
				explainer = e
			}
		}
		ast.Inspect(file.File, func(n ast.Node) bool {
			var of ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				of = n.Fun
			case *ast.CompositeLit:
				of = n.Type
			}
			s, ok := of.(*ast.SelectorExpr)
			if !ok || !makers[s.Sel.Name] || selected(s.X) != "errs" {
				return true
			}
			if makes[explainer] = true; explainer == "" {
				t.Errorf("%s: errs.%s makes a sentence", file.at(n), s.Sel.Name)
			}
			return true
		})
	}
	for e := range explainers {
		if !makes[e] && e != "internal/errs" {
			t.Errorf("%s makes no sentence; take it off the list", e)
		}
	}
}
