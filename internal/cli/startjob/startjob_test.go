package startjob

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
)

// parsed runs the command line up to, and without, Run.
func parsed(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	stdio, _ := output.Test()
	var got *Options
	cmd := NewCmd(&factory.Factory{IO: stdio, Env: func(string) string { return "" }}, func(_ context.Context, o *Options) error {
		got = o
		return nil
	})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return got, err
}

func TestFlagsBecomeValues(t *testing.T) {
	var o *Options
	stdio, _ := output.Test()
	cmd := NewCmd(&factory.Factory{IO: stdio, Env: func(string) string { return "" }}, func(_ context.Context, got *Options) error { o = got; return nil })
	cmd.SetArgs([]string{"--name", "j", "--image", "i", "--node-count", "2", "--efa", "0", "--script-args", `--lr 0.1 --name "a b"`,
		"--environment", "A=1,2", "--environment", `{"B": 1000000}`, "--persistent-volume-claims", "c1:/a,c2:/b", "--volumes", "v:/h:/m",
		"--label", "team=blue", "--set", "spec.x=1", "--label-selector", "zone=a", "--accelerator-partition-type", "1g.10gb"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	v, err := o.values()
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "j" || v.Image != "i" || *v.NodeCount != 2 || *v.EFA != 0 || v.TasksPerNode != nil || v.Accelerators != nil || v.Partition != "1g.10gb" {
		t.Errorf("values %+v", v)
	}
	for what, diff := range map[string]string{
		"script args": cmp.Diff([]string{"--lr", "0.1", "--name", "a b"}, v.ScriptArgs),
		"environment": cmp.Diff(map[string]string{"A": "1,2", "B": "1000000"}, v.Environment),
		"labels":      cmp.Diff(map[string]string{"team": "blue"}, v.Labels),
		"set":         cmp.Diff([]fieldpath.Assignment{{Key: "spec.x", Value: "1"}}, v.Set),
		"selector":    cmp.Diff(map[string][]string{"zone": {"a"}}, v.LabelSelector.Required),
	} {
		if diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if len(v.Volumes) != 3 {
		t.Errorf("volumes %+v", v.Volumes)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "--name is required"},
		{"--name j -f x --template y", "--config-file cannot be used with --template: each defines the job"},
		{"--name j --node-count 0", `invalid --node-count "0": must be at least 1`},
		{"--name j --tasks-per-node -1", `invalid --tasks-per-node "-1": must be a number of at least 1, auto, gpu or cpu`},
		{"--name j --efa -1", `invalid --efa "-1": must be at least 0`},
		{"--name j --max-retry -1", `invalid --max-retry "-1": must be at least 0`},
		{"--name j --job-kind kubeflow/TFJob", "kubeflow/PyTorchJob, kubeflow/MPIJob"},
		{"--name j --wait=done", "admitted, running"},
		{"--name j --timeout 5s", "--timeout requires --wait, --follow, --replace or --upload-pvc"},
		{"--name j --accelerators -1 --efa -1 --max-retry -1", "invalid --accelerators"},
		{"--from a --name j -f x --template t --job-kind MPIJob", "--config-file"},
		{"--name " + strings.Repeat("j", 254), "at most 253 characters (got 254)"},
		{"--name j --wait --timeout -5s", "--timeout 5s"},
		{"--name j --wait --dry-run=server", "a dry run starts no job"},
		{"--name j --scheduler-type slurm", "SageMaker, Kueue, None"},
		{"a b", "too many arguments"},
		{"--name j --environment A", "A"},
		{"--name j --edit -f -", "--edit cannot be used with -f -"},
		{"--from a", "a repeated job needs a name of its own"},
		{"--from a --name a", "a is the name of the job in --from"},
		{"--from n/a/b --name c", `invalid --from "n/a/b"`},
		{"--name j --accelerators 2 --accelerators-limit 4", "--accelerators-limit 4 must equal --accelerators 2"},
	} {
		_, err := parsed(t, strings.Fields(c.args)...)
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), c.want) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	if _, err := parsed(t, "--name", "j", "--replace", "--timeout", "5s"); err != nil {
		t.Error(err)
	}
	if _, err := parsed(t, "--name", "j", "--wait", "--dry-run=NONE", "--scheduler-type", "sagemaker"); err != nil {
		t.Error(err)
	}
}

// Validate changes nothing: the options are what was typed, also after a second call.
func TestValidateIsPure(t *testing.T) {
	for _, args := range []string{"--from a --replace", "--from n/a --name b", "--name j --node-selector a=b --label-selector c=d --label x=y", "-f f --auto-resume=false"} {
		o, err := parsed(t, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(args, "--name") && o.Name != "" {
			t.Errorf("%q: --name is %s", args, o.Name)
		}
		before := *o
		if err := o.Validate(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if diff := cmp.Diff(before, *o, cmpopts.IgnoreFields(Options{}, "Factory")); diff != "" {
			t.Errorf("%q: %s", args, diff)
		}
		if before.Factory.Global != o.Factory.Global {
			t.Errorf("%q changes the global flags", args)
		}
	}
}

// The same key gives the same name, and only it.
func TestGeneratedNames(t *testing.T) {
	key := func(key string) *Options { return &Options{Submission: Submission{IdempotencyKey: key}} }
	first, second, other := key("k").suffix("j"), key("k").suffix("j"), key("l").suffix("j")
	if first != second || first == other {
		t.Errorf("suffixes of idempotency keys: %s, %s and %s", first, second, other)
	}
	if a, b := key("").suffix("j"), key("").suffix("j"); a == b {
		t.Errorf("two suffixes are %s", a)
	}
}

// A pipe that nobody writes to is given up when the user is tired of it.
func TestReadingCanBeInterrupted(t *testing.T) {
	stdio, _ := output.Test()
	silent, end := io.Pipe()
	defer end.Close()
	stdio.In = silent
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := (&run{options: &Options{Source: Source{File: "-"}}, factory: &factory.Factory{IO: stdio}}).readFile(ctx)
	if got := errs.ExitOf(err); got != errs.Interrupted {
		t.Errorf("exit code %d: %v", got, err)
	}
}
