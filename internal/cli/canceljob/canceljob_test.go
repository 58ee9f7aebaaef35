package canceljob

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want errs.Exit
		says string
	}{
		{"x", errs.OK, ""},
		{"x y z --yes --wait --timeout 3s", errs.OK, ""},
		{"--name x", errs.OK, ""},
		{"--all --state pending,running --kind pytorchjobs", errs.OK, ""},
		{"-l a=b --dry-run", errs.OK, ""},
		{"", errs.Usage, "a job name is required"},
		{"x --name y", errs.Usage, "two different job names"},
		{"x --all", errs.Usage, "cannot be used with"},
		{"x --state pending", errs.Usage, "cannot be used with"},
		{"--all -l a=b", errs.Usage, "cannot be used with"},
		{"--state pending", errs.Usage, "--state requires"},
		{"--older-than 7d", errs.Usage, "--older-than requires"},
		{"-A --reason ExceedsMaxQuota --older-than 7d12h", errs.OK, ""},
		{"-A --all", errs.OK, ""},
		{"-A", errs.Usage, "-A requires"},
		{"-A x", errs.Usage, "cannot be used with"},
		{"--all --state dinner", errs.Usage, `invalid state "dinner"`},
		{"--all --kind Dinner", errs.Usage, `invalid --kind "Dinner"`},
		{"-l a===", errs.Usage, "must be a label selector"},
		{"x --timeout 3s", errs.Usage, "--timeout requires --wait"},
		{"x --dry-run=maybe", errs.Usage, `invalid --dry-run "maybe"`},
	} {
		streams, _ := output.Test()
		f := &factory.Factory{IO: streams, Env: func(string) string { return "" }}
		cmd := NewCmd(f, func(context.Context, *Options) error { return nil })
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(tt.args))
		err := cmd.ExecuteContext(context.Background())
		if errs.ExitOf(err) != tt.want || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: got %v", tt.args, err)
		}
	}
}

func TestConfirmed(t *testing.T) {
	one := []target{{kind: kinds.PyTorchJob, namespace: "n", name: "a\x1b[31m"}}
	two := append(one, target{kind: kinds.BatchJob, namespace: "n", name: "b", state: jobs.Pending})
	for _, tt := range []struct {
		name    string
		targets []target
		options Options
		tty     bool
		answer  string
		want    bool
		exit    errs.Exit
		asks    string
	}{
		{name: "yes", targets: two, options: Options{All: true}, tty: true, answer: "y\n", want: true, asks: "b          n          Job         Pending\nCancel 2 jobs? [y/N] "},
		{name: "in full", targets: one, options: Options{Names: []string{"a"}}, tty: true, answer: "YES\n", want: true, asks: `a\x1b[31m  n          PyTorchJob`},
		{name: "no", targets: two, options: Options{All: true}, tty: true, answer: "n\n", exit: errs.Failure, asks: "nothing was cancelled"},
		{name: "only enter", targets: two, options: Options{All: true}, tty: true, answer: "\n", exit: errs.Failure},
		{name: "end of input", targets: two, options: Options{All: true}, tty: true, exit: errs.Failure},
		{name: "--yes", targets: two, options: Options{All: true, Yes: true}, want: true},
		{name: "a dry run", targets: two, options: Options{All: true, DryRun: "client"}, want: true},
		{name: "names without a terminal", targets: one, options: Options{Names: []string{"a"}}, want: true},
		{name: "a choice without a terminal", targets: two, options: Options{All: true}, exit: errs.Usage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			streams, buffers := output.Test()
			streams.InTTY, streams.ErrTTY = tt.tty, tt.tty
			buffers.In.WriteString(tt.answer)
			o := tt.options
			o.Factory = &factory.Factory{IO: streams}
			if o.DryRun == "" {
				o.DryRun = "none"
			}
			got, err := o.confirmed(t.Context(), tt.targets)
			if (len(got) == len(tt.targets)) != tt.want || errs.ExitOf(err) != tt.exit || !strings.Contains(buffers.Err.String(), tt.asks) {
				t.Errorf("%v, %v: %q", got, err, buffers.Err.String())
			}
		})
	}
}

// Ctrl-C at the question ends the command at once.
func TestQuestionCanBeInterrupted(t *testing.T) {
	stdio, _ := output.Test()
	silent, end := io.Pipe()
	defer end.Close()
	stdio.In, stdio.InTTY, stdio.ErrTTY = silent, true, true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := &Options{Factory: &factory.Factory{IO: stdio}, DryRun: "none"}
	if ok, err := o.confirmed(ctx, []target{{name: "a"}}); len(ok) > 0 || errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("%v, %v", ok, err)
	}
}

// With -A, each team has a question of its own, which names who created the jobs.
func TestEachTeamIsAsked(t *testing.T) {
	targets := []target{{name: "a", namespace: "n1", team: "vision", by: "ada"}, {name: "b", namespace: "n2", team: "speech", by: "bo"},
		{name: "c", namespace: "n1", team: "vision"}, {name: "d", namespace: "free"}}
	for _, tt := range []struct {
		answers string
		want    string
		exit    errs.Exit
	}{
		{"y\ny\ny\n", "d b a c", errs.OK},
		{"n\ny\nn\n", "b", errs.OK},
		{"n\nn\ny\n", "a c", errs.OK},
		{"n\nn\nn\n", "", errs.Failure},
		{"y\n", "d", errs.OK}, // the input ends: no
	} {
		streams, buffers := output.Test()
		streams.InTTY, streams.ErrTTY = true, true
		buffers.In.WriteString(tt.answers)
		o := Options{Factory: &factory.Factory{IO: streams}, DryRun: "none", AllNamespaces: true, All: true}
		got, err := o.confirmed(t.Context(), targets)
		var names []string
		for _, g := range got {
			names = append(names, g.name)
		}
		if strings.Join(names, " ") != tt.want || errs.ExitOf(err) != tt.exit {
			t.Errorf("%q: %v %v", tt.answers, names, err)
		}
		for _, q := range []string{"Cancel job d of free? ", "Cancel job b of speech (created by bo)? ", "Cancel 2 jobs of vision (created by ada)? "} {
			if !strings.Contains(buffers.Err.String(), q) {
				t.Errorf("%q: no question %q in %q", tt.answers, q, buffers.Err.String())
			}
		}
	}
}

// TestManyJobs: the list before a prompt stays readable, and says how many jobs it leaves out.
func TestManyJobs(t *testing.T) {
	list := func(n int) (out []target) {
		for i := range n {
			out = append(out, target{kind: kinds.PyTorchJob, namespace: "n", team: "vision", name: fmt.Sprintf("job-%03d", i)})
		}
		return out
	}
	for _, tt := range []struct {
		jobs, lines int
		last        string
	}{
		{20, 21, "job-019  n          PyTorchJob"},
		{21, 22, "job-020  n          PyTorchJob"},
		{1000, 22, "and 980 more (--dry-run lists them)"},
	} {
		streams, buffers := output.Test()
		streams.InTTY, streams.ErrTTY = true, true
		buffers.In.WriteString("n\n")
		o := Options{Factory: &factory.Factory{IO: streams}, DryRun: "none", All: true}
		if got, err := o.confirmed(t.Context(), list(tt.jobs)); len(got) > 0 || errs.ExitOf(err) != errs.Failure {
			t.Fatalf("%v, %v", got, err)
		}
		prompt, _, _ := strings.Cut(buffers.Err.String(), "Cancel ")
		if lines := strings.Split(strings.TrimSpace(prompt), "\n"); len(lines) != tt.lines || !strings.Contains(lines[len(lines)-1], tt.last) {
			t.Errorf("%d jobs: %d lines, the last is %q", tt.jobs, len(lines), lines[len(lines)-1])
		}
		buffers.Err.Reset()
		o.announce(list(tt.jobs), time.Time{})
		last := strings.ReplaceAll(tt.last, "n          ", "") // the team's line has the namespace
		if lines := strings.Split(strings.TrimSpace(buffers.Err.String()), "\n"); len(lines) != tt.lines+1 || !strings.Contains(lines[len(lines)-1], last) {
			t.Errorf("announcement of %d jobs: %d lines, the last is %q", tt.jobs, len(lines), lines[len(lines)-1])
		}
	}
}
