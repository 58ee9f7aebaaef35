package script

import (
	"context"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	judge "github.com/hyperpod-cli/hyperpod/test/slurm"
)

// condition is what scripts can ask for: [slurm] where a Slurm cluster can be started, [accounting] where one with an
// accounting database can.
func condition(name string) (bool, error) {
	return name == "slurm" && judge.Missing() == "" || name == "accounting" && judge.MissingAccounting() == "", nil
}

// slurmCommands start and stop a Slurm cluster for a script.
func slurmCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		// slurm: a Slurm cluster as $SLURM_CONF. slurm accounting: one with an accounting database. slurm down: its
		// controller ends. slurm forget: its controller forgets the jobs.
		"slurm": func(ts *testscript.TestScript, neg bool, args []string) {
			h := server(ts)
			switch {
			case !neg && (len(args) == 0 || args[0] == "accounting"):
				start := judge.Start
				if len(args) > 0 {
					start = judge.StartWithAccounting
				}
				c, err := start(context.Background())
				ts.Check(err)
				h.slurm = c
				ts.Defer(func() { ts.Check(c.Stop()) })
				ts.Setenv("SLURM_CONF", c.Config())
				ts.Setenv("PATH", ts.Getenv("PATH")+string(os.PathListSeparator)+"/usr/sbin")
			case !neg && len(args) == 1 && args[0] == "down" && h.slurm != nil:
				ts.Check(h.slurm.StopController())
			case !neg && args[0] == "forget" && h.slurm != nil:
				ts.Check(h.slurm.Forget(context.Background()))
			default:
				ts.Fatalf("usage: slurm [accounting|down|forget]")
			}
		},
		// jobid VAR FILE: the Slurm id in what sbatch --parsable printed, or start-job on stderr.
		"jobid": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: jobid VAR FILE")
			}
			text := ts.ReadFile(args[1])
			if _, id, ok := strings.Cut(text, "its Slurm id is "); ok {
				text = id
			}
			id := strings.Fields(text)
			if len(id) == 0 {
				ts.Fatalf("no id in %s", args[1])
			}
			ts.Setenv(args[0], id[0])
		},
	}
}
