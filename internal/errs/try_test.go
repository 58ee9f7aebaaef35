package errs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pasted begins a line that can be typed: a command, or options to add to the one
// that failed.
var pasted = regexp.MustCompile(`^(hyperpod|kubectl|export) |^--?[A-Za-z]`)

// prose is what only a sentence has.
var prose = regexp.MustCompile(`, | or | such as | shows | takes | lets `)

// TestTryLines: what stands after "try:" can be pasted; words follow after # only.
// The lines are found in the source, as far as they are written out there.
func TestTryLines(t *testing.T) {
	lines := 0
	for _, folder := range []string{"../governance", "../snapshot", "../discovery", "../cli/simulatecmd", "../cli/explainjob", "../cli/savesnapshot"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "WithTry" {
					return true
				}
				for _, arg := range call.Args {
					text, begins := written(arg)
					command, _, _ := strings.Cut(text, " #")
					lines++
					if begins && !pasted.MatchString(command) || prose.MatchString(command) {
						t.Errorf("%s: %q cannot be pasted", files.Position(arg.Pos()), text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 20 {
		t.Errorf("only %d lines found", lines)
	}
}

// written is the text of an expression, with X for what is not written out in it;
// begins is false where that comes first.
func written(e ast.Expr) (text string, begins bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, begins := written(e.X)
		right, _ := written(e.Y)
		return left + right, begins
	case *ast.ParenExpr:
		return written(e.X)
	}
	return "X", false
}
