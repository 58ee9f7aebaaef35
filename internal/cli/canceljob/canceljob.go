// Package canceljob is `hyperpod cancel-job`.
package canceljob

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// Names are the jobs to cancel. Without any, All or Selector choose them.
	Names      []string
	All        bool
	Selector   string
	StateNames []string
	States     []jobs.State // of StateNames, set by Validate
	Kind       string
	Yes        bool
	// Missing: a name that no job has is no error.
	Missing bool
	Wait    bool
	Timeout time.Duration
	DryRun  string

	names bool // -o name; set by Run
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:     "cancel-job NAME...",
		Aliases: []string{"cancel-jobs"},
		Short:   "Cancel jobs: delete them, their pods and what was started with them",
		Long: `Cancels jobs: deletes them, their pods and Workloads, and the objects that
start-job made with them (not volume claims, which hold data). On a terminal it
asks first; --yes does not. --all and --selector choose among the jobs of one
namespace.`,
		Example: `  hyperpod cancel-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod cancel-job a b c --yes --wait
  hyperpod cancel-job --all --state pending --yes
  hyperpod cancel-job -l sweep=17 --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Names = args
			if cmd.Flags().Changed("job-name") || slices.Contains(args, "") {
				name, err := factory.JobName(flag, args)
				if err != nil {
					return err
				}
				o.Names = []string{name}
			}
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	factory.AddJobNameFlag(cmd, &flag)
	fs := cmd.Flags()
	fs.BoolVar(&o.All, "all", false, "all jobs of the namespace")
	fs.StringVarP(&o.Selector, "selector", "l", "", "label selector, as kubectl has it")
	fs.StringSliceVar(&o.StateNames, "state", nil, "of those, only jobs in these states")
	factory.AddKindFlagFor(cmd, &o.Kind, "only jobs of this kind; also where two kinds share a name")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	fs.BoolVar(&o.Missing, "ignore-not-found", false, "a job that does not exist is no error")
	fs.BoolVar(&o.Wait, "wait", false, "wait until the jobs are gone")
	fs.DurationVar(&o.Timeout, "timeout", 0, "give up waiting for all of them after this time (exit code 124)")
	factory.AddDryRunFlag(cmd, &o.DryRun, "what would be deleted")
	factory.Complete(cmd, "state", jobs.StateNames()...)
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	chosen := o.All || o.Selector != ""
	switch {
	case len(o.Names) == 0 && !chosen && len(o.StateNames) > 0:
		return errs.Usagef("--state narrows a choice: which jobs?").WithTry("hyperpod cancel-job --all --state " + strings.Join(o.StateNames, ","))
	case len(o.Names) == 0 && !chosen:
		return errs.Usagef("which job? give its name").WithTry("hyperpod list-jobs   # shows the names", "hyperpod cancel-job --all")
	case len(o.Names) > 0 && (chosen || len(o.StateNames) > 0):
		return errs.Usagef("names and --all, --selector or --state do not go together").
			WithTry("hyperpod cancel-job " + words.ShellWords(o.Names))
	case o.All && o.Selector != "":
		return errs.Usagef("--all and --selector do not go together").WithAdvice("leave one of them out")
	case o.Timeout > 0 && !o.Wait:
		return errs.Usagef("--timeout is for --wait").WithTry("--wait --timeout " + o.Timeout.String())
	}
	if err := factory.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := factory.CheckSelector(o.Selector); err != nil {
		return err
	}
	var err error
	o.States, err = jobs.ParseStates(o.StateNames)
	return err
}
