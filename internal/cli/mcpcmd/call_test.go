package mcpcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
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
		{"list_jobs", "TEAM\nand 3 more findings (see -o wide)\nhidden jobs: 2 (see -o wide, --state)\nthe 40 teams have rows (-o wide: all teams)\n\"a (see -o wide)\"", []string{"\nand 3 more findings\n", "\nhidden jobs: 2 (see state)\n", "\nthe 40 teams have rows\n", "\"a (see -o wide)\""}, nil},
		{"get_queue", "no job waits", []string{"This is its table:", "\nno job waits"}, nil},
		{"get_quota", "TEAM\n40 of them", []string{"This is its table:", "\nTEAM\n40 of them"}, []string{"more lines"}},
		{"governance_plan", "", []string{"The document has"}, []string{"table", dataNotice}},
		{"start_job", "NAME\n", []string{"The document has"}, []string{"table"}},
	} {
		runs := 0
		run := func(_ context.Context, f *factory.Factory, args []string) errs.Exit {
			runs++
			switch wide := slices.Contains(args, "--output="+string(output.Wide)); {
			case wide && c.tool == "validate_template": // it has no wide table
				return errs.Usage
			case c.tool == "get_queue" && !slices.Contains(args, "--output=json"):
				fmt.Fprint(f.IO.Err, c.table)
			case wide && c.tool == "get_quota":
				fmt.Fprint(f.IO.Out, strings.Repeat("a team with a name\n", 10_000))
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

// TestTurns: a tool that waits decides only while no other tool runs, and does not keep others from running while it waits.
func TestTurns(t *testing.T) {
	io, _ := output.Test()
	waits, decides, runs, end := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	deciding := 0 // written only by whoever has the turn: the race detector sees others
	run := func(ctx context.Context, f *factory.Factory, args []string) errs.Exit {
		if args[0] == "wait-job" {
			close(waits)
			<-decides
		}
		_, next, err := turn.Take(ctx)
		if err != nil {
			t.Error(err)
			return errs.Failure
		}
		defer next()
		if deciding++; deciding != 1 {
			t.Error("two tools decide")
		}
		if args[0] != "wait-job" {
			close(runs)
			<-end
		}
		deciding--
		return errs.OK
	}
	box := &toolbox{o: &Options{Factory: &factory.Factory{IO: io, Env: func(string) string { return "" }}, run: run}}
	var tools sync.WaitGroup
	for _, name := range []string{"wait_job", "validate_template"} {
		tools.Go(func() {
			if _, err := box.call(t.Context(), tool(name), nil); err != nil {
				t.Error(err)
			}
		})
		if name == "wait_job" {
			<-waits
		}
	}
	<-runs // beside the wait
	close(decides)
	if _, _, err := turn.Take(ended(t)); err == nil {
		t.Error("a tool that runs has no turn")
	}
	close(end)
	tools.Wait()
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
