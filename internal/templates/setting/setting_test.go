package setting_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// settings reads the table from its source.
func settings(t *testing.T) []setting.Setting {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "setting.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []setting.Setting
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Setting" {
				out = append(out, setting.Setting(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)))
			}
		}
		return true
	})
	if len(out) < 50 {
		t.Fatalf("only %d settings", len(out))
	}
	return out
}

// The names of flags are in the table and nowhere else in the packages for templates.
func TestFlagsAreNamedInTheTableOnly(t *testing.T) {
	var names []string
	for _, s := range settings(t) {
		if s.Flag() != "" {
			names = append(names, regexp.QuoteMeta(s.Flag()))
		}
	}
	flags := regexp.MustCompile(`(?:^|[^-\w])(` + strings.Join(names, "|") + `)(?:[^-\w]|$)`)
	read := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		read++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if m := flags.FindStringSubmatch(strings.Trim(l.Value, "\"`")); m != nil {
					t.Errorf("%s: a string names the flag %s", fset.Position(l.Pos()), m[1])
				}
			}
			return true
		})
		return nil
	})
	if err != nil || read < 50 {
		t.Fatalf("%d files read, %v", read, err)
	}
}

// A placeholder names one setting.
func TestPlaceholders(t *testing.T) {
	for _, s := range settings(t) {
		p := s.Placeholder()
		if p == "" {
			continue
		}
		if got, ok := setting.OfPlaceholder(p); !ok || got != s {
			t.Errorf("%s leads to %q, want %q", p, string(got), string(s))
		}
	}
	if s, ok := setting.OfPlaceholder("NUM_NODES"); !ok || s != setting.NodeCount {
		t.Errorf("NUM_NODES leads to %q", string(s))
	}
	if s, ok := setting.OfPlaceholder("LEARNING_RATE"); ok {
		t.Errorf("LEARNING_RATE leads to %q", string(s))
	}
	if f := setting.Processes.Flag(); f != "" {
		t.Errorf("a computed setting has the flag %q", f)
	}
}

func TestErrors(t *testing.T) {
	for want, err := range map[string]error{
		`invalid --node-count "0": must be at least 1`:                                                setting.NodeCount.OutOfRange(0, 1, 0),
		`invalid --node-count "9": must be at most 8`:                                                 setting.NodeCount.OutOfRange(9, 1, 8),
		`invalid --pull-policy "never": must be Always, IfNotPresent or Never; did you mean "Never"?`: setting.PullPolicy.NotOneOf("never", []string{"Always", "IfNotPresent", "Never"}),
		`invalid --environment: must be KEY=VALUE`:                                                    setting.Environment.InvalidSecret("must be KEY=VALUE"),
		`--auto-resume is required with --max-retry`:                                                  setting.MaxRetry.Requires(setting.AutoResume),
		`--vcpu cannot be used with --memory`:                                                         setting.Exclusive(setting.VCPU, setting.Memory),
		`--restart-policy, --auto-resume and --max-retry do not apply to a RayJob`:                    setting.NotFor("RayJob", setting.RestartPolicy, setting.AutoResume, setting.MaxRetry),
		`--image does not apply to a RayJob`:                                                          setting.NotFor("RayJob", setting.Image),
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
