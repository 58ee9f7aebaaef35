package templates

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// order is the order of the steps, from what knows nothing of the others to what knows
// them all. A package imports only packages on lines before its own.
var order = [][]string{
	{"manifest", "shellwords", "secret", "instances"},
	{"setting"},
	{"fieldpath", "jobobject", "schema"},
	{"values", "parse"},
	{"fixed", "origin", "resolve", "catalogue"},
	{"overlay", "validate"},
	{"render", "team", "v2config", "sbatch"},
	{"convert", "recipe"},
}

func TestNoImportLeadsUpwards(t *testing.T) {
	const base = "github.com/hyperpod-cli/hyperpod/internal/templates/"
	rank := map[string]int{}
	for i, line := range order {
		for _, name := range line {
			rank[name] = i
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "testdata" {
			continue
		}
		own, known := rank[e.Name()]
		if !known {
			t.Errorf("%s has no place in the order", e.Name())
		}
		files, _ := filepath.Glob(filepath.Join(e.Name(), "*.go"))
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				imported, _ := strconv.Unquote(i.Path.Value)
				if imported+"/" == base {
					t.Errorf("%s imports the folder of all steps", path)
				}
				name, inside := strings.CutPrefix(imported, base)
				if inside && rank[name] >= own {
					t.Errorf("%s imports %s, which is not before it", path, name)
				}
			}
		}
	}
	if all := slices.Concat(order...); len(all) != len(rank) || len(all) < 15 {
		t.Errorf("%d packages in the order", len(all))
	}
}
