package cli

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestRunsAreForgotten: what a command has read is free after it, also in mcp, which runs many commands in its process.
func TestRunsAreForgotten(t *testing.T) {
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home, "USER": "ada"}[name] }
	run := func(args ...string) weak.Pointer[factory.Factory] {
		io, _ := output.Test()
		f := &factory.Factory{IO: io, Env: env, Now: time.Now}
		if code := Run(context.Background(), f, args); code != errs.OK {
			t.Fatalf("%q: exit code %d", args, code)
		}
		return weak.Make(f)
	}
	for _, args := range [][]string{
		{"version"},
		{"list-jobs", "-A", "--sandbox"},
		{"get-quota", "--sandbox"},
		{"start-job", "-f", "../../examples/train.yaml", "-n", "hyperpod-ns-ml-engineers", "--dry-run", "--sandbox"},
		{"simulate", "--set", "researchers.borrow-limit=0", "--sandbox"},
		{"governance", "export", "--sandbox"},
	} {
		f := run(args...)
		for range 100 { // goroutines of the run may end after it
			runtime.GC()
			if f.Value() == nil {
				break
			}
		}
		if f.Value() != nil {
			t.Errorf("%q is still in memory after its end", args)
		}
	}
}
