package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocComments: the comment of an exported name starts with that name, and exported
// functions and types have one. Methods of standard interfaces need none.
func TestDocComments(t *testing.T) {
	for _, folder := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				for _, problem := range undocumented(decl) {
					t.Errorf("%s: %s", fset.Position(decl.Pos()), problem)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// plainMethods implement interfaces of the standard library.
var plainMethods = []string{"Error", "Unwrap", "String", "Read", "Write", "Close"}

// undocumented returns what is wrong with the comments of a declaration.
func undocumented(decl ast.Decl) []string {
	var out []string
	check := func(name string, doc *ast.CommentGroup, required bool) {
		switch {
		case !ast.IsExported(name):
		case doc == nil:
			if required {
				out = append(out, name+" has no comment")
			}
		case !startsWith(doc.Text(), name):
			first, _, _ := strings.Cut(doc.Text(), "\n")
			out = append(out, "the comment of "+name+" does not start with the name: "+first)
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d)) {
			check(d.Name.Name, d.Doc, d.Recv == nil || !slices.Contains(plainMethods, d.Name.Name))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				doc := s.Doc
				if doc == nil {
					doc = d.Doc
				}
				check(s.Name.Name, doc, true)
			case *ast.ValueSpec:
				// In a group, a comment may be the heading of several values.
				switch {
				case len(s.Names) > 1:
				case !d.Lparen.IsValid():
					check(s.Names[0].Name, d.Doc, s.Comment == nil)
				case s.Doc != nil && startsWith(strings.ToLower(s.Doc.Text()), strings.ToLower(s.Names[0].Name)):
					check(s.Names[0].Name, s.Doc, false)
				}
			}
		}
	}
	return out
}

// startsWith reports whether the first word of a comment is a name, possibly after an article.
func startsWith(text, name string) bool {
	for _, word := range strings.Fields(text) {
		if slices.Contains([]string{"A", "An", "The"}, word) && word != name {
			continue
		}
		return strings.TrimSuffix(strings.TrimRight(word, ":,.;"), "'s") == name
	}
	return false
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
