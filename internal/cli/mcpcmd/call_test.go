package mcpcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestLongDocument: in place of a document that is too long, a tool answers with its table, which is bounded too, and names the
// arguments that narrow it.
func TestLongDocument(t *testing.T) {
	long := `{"jobs": ["` + strings.Repeat("x", mostAnswer) + `"]}`
	for _, c := range []struct {
		tool, table  string
		want, absent []string
	}{
		{"list_jobs", "NAME\njob-1\n", []string{"namespace, state, selector, sweep, since", "This is its table:", "NAME\njob-1", dataNotice}, []string{"more lines", "xxx"}},
		{"list_jobs", strings.Repeat("a job with a name\n", 10_000), []string{"\n... and 4445 more lines"}, nil},
		{"simulate", "team-1  8 used\n", []string{"team-1  8 used"}, []string{"arguments"}},
		{"governance_export", "TEAM\n", []string{"use the arguments team. This is its table:", "\nTEAM"}, nil},
		{"validate_template", "TEMPLATE\n", []string{"This is its table:", "\nTEMPLATE"}, nil},
		{"governance_plan", "", []string{"The document has"}, []string{"table", dataNotice}},
		{"start_job", "NAME\n", []string{"The document has"}, []string{"table"}},
	} {
		runs := 0
		run := func(_ context.Context, f *factory.Factory, args []string) errs.Exit {
			runs++
			switch wide := slices.Contains(args, "--output="+string(output.Wide)); {
			case wide && c.tool == "validate_template": // it has no wide table
				return errs.Usage
			case wide || slices.Contains(args, "--output="+string(output.TableFormat)):
				fmt.Fprint(f.IO.Out, c.table)
			default:
				fmt.Fprint(f.IO.Out, long)
			}
			return errs.OK
		}
		io, _ := output.Test()
		box := &toolbox{o: &Options{Factory: &factory.Factory{IO: io, Env: func(string) string { return "" }}, run: run}}
		all := commands()
		tool := all[slices.IndexFunc(all, func(x command) bool { return x.name == c.tool })]
		got, err := box.run(t.Context(), tool, nil, strings.Fields(tool.line), "")
		if err != nil || !got.failed || got.structured != nil {
			t.Errorf("%s: %v, %+v", c.tool, err, got)
		}
		text := strings.Join(got.texts, "\n")
		if len(text) > mostAnswer+1000 {
			t.Errorf("%s: %d bytes", c.tool, len(text))
		}
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in %.300s", c.tool, w, text)
			}
		}
		for _, w := range c.absent {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q in %.300s", c.tool, w, text)
			}
		}
		if tool.write != "" && runs != 1 {
			t.Errorf("%s ran %d times", c.tool, runs)
		}
	}
}
