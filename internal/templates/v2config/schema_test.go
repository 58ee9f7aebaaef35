package v2config

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jsonschema"
)

// The JSON Schema of configuration files has the fields that are read, and no others.
func TestSchemaHasTheFieldsThatAreRead(t *testing.T) {
	var read []string
	for _, name := range []string{"fields.go", "parts.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			list, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			// field{"name", reader} and, inside []field{...}, {"name", reader}; the
			// names of volumes' fields are lists of text.
			for i, e := range list.Elts {
				text, ok := e.(*ast.BasicLit)
				if !ok || text.Kind != token.STRING || !(len(list.Elts) == 2 && i == 0 && !isText(list.Elts[1])) && !isNames(list) {
					continue
				}
				if s, err := strconv.Unquote(text.Value); err == nil && !slices.Contains(read, s) {
					read = append(read, s)
				}
			}
			return true
		})
	}
	data, err := jsonschema.Config()
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	want := slices.Collect(maps.Keys(properties(schema, map[string]bool{})))
	// Structs of two texts elsewhere in the files are paths, not names.
	read = slices.DeleteFunc(read, func(s string) bool {
		return slices.Contains([]string{"env", "hydra", "multiply", "divide_ceil", "divide_floor"}, s) && s != "hydra"
	})
	slices.Sort(read)
	slices.Sort(want)
	if len(read) < 30 || !slices.Equal(read, want) {
		t.Errorf("read:   %q\nschema: %q", read, want)
	}
}

// properties adds the names of all properties of a schema, at every depth.
func properties(schema any, names map[string]bool) map[string]bool {
	switch s := schema.(type) {
	case map[string]any:
		for key, below := range s {
			fields, ok := below.(map[string]any)
			if key != "properties" || !ok {
				properties(below, names)
				continue
			}
			for name, field := range fields {
				names[name] = true
				properties(field, names)
			}
		}
	case []any:
		for _, below := range s {
			properties(below, names)
		}
	}
	return names
}

func isText(e ast.Expr) bool {
	b, ok := e.(*ast.BasicLit)
	return ok && b.Kind == token.STRING
}

// isNames tells []string{"claimName", ...} of entries.
func isNames(list *ast.CompositeLit) bool {
	array, ok := list.Type.(*ast.ArrayType)
	if !ok || len(list.Elts) < 2 {
		return false
	}
	name, ok := array.Elt.(*ast.Ident)
	return ok && name.Name == "string" && isText(list.Elts[0])
}
