package cli

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestScope(t *testing.T) {
	sandbox := scope{namespace: "a b", cluster: []string{"--sandbox"}}
	for _, c := range []struct {
		s    errs.Suggestion
		want string
	}{
		{errs.Run("get-job", "x", "-n", "y"), "hyperpod get-job x -n y --sandbox"},
		{errs.Run("get-job", "x", "-ny"), "hyperpod get-job x -ny --sandbox"},
		{errs.Run("get-job", "x", "--namespace=y"), "hyperpod get-job x --namespace=y --sandbox"},
		{errs.Run("list-jobs").WithNote("shows the names"), "hyperpod list-jobs -n 'a b' --sandbox   # shows the names"},
		{errs.Run("list-jobs", "-A"), "hyperpod list-jobs -A --sandbox"},
		{errs.Run("get-job", "a job"), "hyperpod get-job 'a job' -n 'a b' --sandbox"},
		{errs.Run("exec", "x", "--", "ls", "-n"), "hyperpod exec x -n 'a b' --sandbox -- ls -n"},
		{errs.Run("list-jobs", "--context", "c"), "hyperpod list-jobs --context c -n 'a b'"},
		{errs.Run("start-job", "--help"), "hyperpod start-job --help"},
		{errs.Run("sandbox", "list"), "hyperpod sandbox list"},
		{errs.Option("--node-count", "1"), "--node-count 1"},
		{errs.Other("aws", "eks", "list-clusters"), "aws eks list-clusters"},
	} {
		if got := sandbox.complete(c.s).String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if got := (scope{}).complete(c.s).String(); got != c.s.String() {
			t.Errorf("without a scope: got %s, want %s", got, c.s)
		}
	}
	file := scope{namespace: "a", cluster: []string{"--snapshot=broken"}, file: true}
	if taken := errs.Run("save-snapshot", "FILE"); file.complete(taken).String() != taken.String() {
		t.Errorf("got %s", file.complete(taken))
	}
}

// A mistake in the options leads to the command's help, where there is no better
// advice; a fault of a file or a cluster does not.
func TestAdvised(t *testing.T) {
	f, _ := testFactory(t, nil)
	f.Global.Snapshot = "a b.json"
	cmd := &cobra.Command{Use: "do"}
	(&cobra.Command{Use: "hyperpod"}).AddCommand(cmd)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errs.Usagef("--x is wrong"), "hyperpod do --help"},
		{errs.Usagef("there is no option -x"), "hyperpod do --help"},
		{errs.Usagef("--x is wrong").Suggest(errs.Option("--x", "1")), "--x 1"},
		{errs.Usagef("--x is wrong").WithAdvice("leave it out"), ""},
		{errs.Usagef("train-job.yaml, line 3: no YAML"), ""},
		{errs.New("--x", "the server is down"), ""},
		{errs.NotFoundf("no job").Suggest(errs.Run("list-jobs")), "hyperpod list-jobs --snapshot='a b.json'"},
		{fmt.Errorf("wrapped: %w", errs.NotFoundf("no job").Suggest(errs.Run("list-jobs"))), "hyperpod list-jobs --snapshot='a b.json'"},
	} {
		got := advised(f, cmd, c.err)
		var e *errs.Error
		if !errors.As(got, &e) || got.Error() != c.err.Error() || fmt.Sprint(e.Try) != "["+c.want+"]" || errs.ExitOf(got) != errs.ExitOf(c.err) {
			t.Errorf("%v: got %v, try %v, want %q", c.err, got, e.Try, c.want)
		}
	}
	if plain := errors.New("plain"); advised(f, cmd, plain) != plain {
		t.Error("an error that is not for people was changed")
	}
}

// What was found before Ctrl-C is reported, and the interruption too.
func TestReport(t *testing.T) {
	f, screen := testFactory(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	missing := errs.NotFoundf("there is no job nope")
	for _, c := range []struct {
		err  error
		want string
		code errs.Exit
	}{
		{errs.Also(missing, context.Canceled), "Error: there is no job nope\ninterrupted\n", errs.Interrupted},
		{errs.Also(missing, errs.Silent{Code: errs.Failure}), "Error: there is no job nope\n", errs.NotFound},
		{fmt.Errorf("x: %w", context.Canceled), "interrupted\n", errs.Interrupted},
		{errs.Silent{Code: errs.Timeout}, "", errs.Timeout},
	} {
		screen.Err.Reset()
		if code := report(ctx, f, &cobra.Command{Use: "do"}, c.err); code != c.code || screen.Err.String() != c.want {
			t.Errorf("%v: exit code %d, %q", c.err, code, screen.Err.String())
		}
	}
}

func TestUnwritten(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	if got := unwritten(fmt.Errorf("x: %w", full)); got.Error() != "cannot write the result: no space left on device" || errs.ExitOf(got) != errs.Failure {
		t.Errorf("got %v", got)
	}
	for _, err := range []error{nil, errors.New("x"), &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE},
		&fs.PathError{Op: "write", Path: "a-file", Err: syscall.ENOSPC}, errs.Wrap(full, "x")} {
		if got := unwritten(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// TestOffered: the commands and options that messages offer exist. Whole lines that
// begin with the program's name are checked, and the words of errs.Run and errs.Option.
func TestOffered(t *testing.T) {
	f, _ := testFactory(t, nil)
	root := NewRoot(f)
	options := map[string]bool{}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		for _, name := range flagNames(c) {
			options["--"+name] = true
		}
		for _, child := range c.Commands() {
			collect(child)
		}
	}
	collect(root)
	options["--help"], options["--name"] = true, true
	seen := 0
	check := func(at token.Position, line string) {
		line, _, _ = strings.Cut(line, "   # ")
		line, _, _ = strings.Cut(line, " -- ")
		words := strings.Fields(line)
		if len(words) == 0 || len(words) > 1 && words[1] == "X" {
			return // made at run time
		}
		if words[0] == "hyperpod" && (len(words) == 1 || strings.HasPrefix(words[1], "%")) || !strings.HasPrefix(words[0], "-") && words[0] != "hyperpod" {
			return // another program's, or made at run time
		}
		if words[0] == "hyperpod" {
			seen++ // some twice
			if c, _, err := root.Find(words[1:]); err != nil || c == root && !strings.HasPrefix(words[1], "-") {
				t.Errorf("%s: %s: there is no such command", at, line)
			}
		}
		for _, w := range words {
			if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "--") && name != "--" && !options[name] {
				t.Errorf("%s: %s: there is no option %s", at, line, name)
			}
		}
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if field, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := field.Key.(*ast.Ident); ok && slices.Contains([]string{"Short", "Long", "Use"}, key.Name) {
					return false
				}
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && types.ExprString(s.X) == "errs" && (s.Sel.Name == "Run" || s.Sel.Name == "Option") {
					line := ""
					if s.Sel.Name == "Run" {
						line = "hyperpod"
					}
					for _, arg := range call.Args {
						text, ok := literal(arg)
						if !ok {
							text = "X"
						}
						line += " " + text
					}
					check(files.Position(call.Pos()), strings.TrimSpace(line))
				}
			}
			if e, ok := n.(ast.Expr); ok { // lists of lines
				if text, ok := literal(e); ok && strings.HasPrefix(text, "hyperpod ") && len(strings.Fields(text)) > 1 {
					check(files.Position(e.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 50 {
		t.Errorf("%v, %d commands", err, seen)
	}
}

// literal is the text that an expression is, or begins with.
func literal(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return literal(sum.X)
	}
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		text, err := strconv.Unquote(l.Value)
		return text, err == nil
	}
	return "", false
}
