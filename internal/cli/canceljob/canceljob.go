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
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	// Names are the jobs to cancel. If there are none, the flags below choose them.
	Names []string
	All   bool
	// Mine chooses the jobs that the user created.
	Mine          bool
	AllNamespaces bool
	// Sweep chooses the jobs of a sweep.
	Sweep      string
	Selector   string
	StateNames []string
	// Reasons are why jobs are pending, or in their state; OlderThan is their least age.
	Reasons   []string
	OlderThan *time.Duration
	Kind      string
	Yes       bool
	// IgnoreNotFound ignores names that no job has.
	IgnoreNotFound bool
	Wait           bool
	Timeout        *time.Duration
	DryRun         string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:     "cancel-job NAME...",
		Aliases: []string{"cancel-jobs"},
		Short:   "Cancel jobs and delete their pods",
		Long: `Cancel jobs: delete them, their pods and Workloads, and the objects that
start-job created with them. Volume claims stay because they hold data.

On a terminal, cancel-job prompts for confirmation unless --yes is set. --all
and --selector choose jobs of one namespace, -A those of all namespaces that you
have permission to read. --state, --reason and --older-than narrow the choice.
With -A, the command first lists the jobs by team, with the people who started
them.

--reason takes the reasons that get-queue and list-jobs -o wide show, for
example ExceedsMaxQuota, WaitingForQuota or NoMatchingFlavor.`,
		Example: `  hyperpod cancel-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod cancel-job a b c --yes --wait
  hyperpod cancel-job --all --state pending --yes
  hyperpod cancel-job --mine --state pending
  hyperpod cancel-job --sweep tune
  hyperpod cancel-job -l app=eval --dry-run
  hyperpod cancel-job -A --reason ExceedsMaxQuota --older-than 7d`,
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			o.Names = args
			if cmd.Flags().Changed("name") || slices.Contains(args, "") {
				name, err := factory.JobName(flag, args)
				o.Names = []string{name}
				return err
			}
			return nil
		}, Run, runF),
	}
	factory.AddJobNameFlag(cmd, &flag)
	fs := cmd.Flags()
	fs.BoolVar(&o.All, "all", false, "cancel all jobs of the namespace")
	fs.BoolVar(&o.Mine, "mine", false, "only jobs that you created; without names, all of them")
	fs.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "choose jobs in all namespaces (with --all, --mine, --selector, --state, --reason or --older-than)")
	fs.StringVar(&o.Sweep, "sweep", "", "only jobs of this sweep; without names, all of them")
	fs.StringVarP(&o.Selector, "selector", "l", "", "only jobs that match this label selector")
	f.CompleteFlag(cmd, "selector", factory.Selectors)
	f.CompleteFlag(cmd, "sweep", factory.Sweeps)
	fs.StringSliceVar(&o.StateNames, "state", nil, "only jobs in these states (with -A, --all or --selector)")
	fs.StringSliceVar(&o.Reasons, "reason", nil, "only jobs with one of these reasons (with -A, --all or --selector)")
	factory.OptionalAge(fs, &o.OlderThan, "older-than", "only jobs created longer ago than this `duration`, for example 7d (with -A, --all or --selector)")
	factory.AddKindFlagFor(cmd, &o.Kind, "only jobs of this kind")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	fs.BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "ignore missing jobs")
	fs.BoolVar(&o.Wait, "wait", false, "wait until the jobs are deleted")
	factory.OptionalDuration(fs, &o.Timeout, "timeout", "with --wait: maximum time to wait for all jobs (exit code 124); 0 checks once (default: no limit)")
	factory.AddDryRunFlag(cmd, &o.DryRun, "print what would be deleted")
	factory.Complete(cmd, "state", jobs.StateNames()...)
	factory.Complete(cmd, "reason", queue.ReasonCodes()...)
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "name", factory.Jobs)
	return cmd
}

// narrowing returns the flags that narrow a choice, as they were typed.
func (o *Options) narrowing() (flags []string) {
	if len(o.StateNames) > 0 {
		flags = append(flags, "--state", strings.Join(o.StateNames, ","))
	}
	if len(o.Reasons) > 0 {
		flags = append(flags, "--reason", strings.Join(o.Reasons, ","))
	}
	if o.OlderThan != nil {
		flags = append(flags, "--older-than", o.OlderThan.String())
	}
	return flags
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	narrow := o.narrowing()
	chosen := o.All || o.Mine || o.Sweep != "" || o.Selector != "" || o.AllNamespaces
	switch {
	case len(o.Names) == 0 && !chosen && len(narrow) > 0:
		return errs.Usagef("%s requires --all, --selector or -A", narrow[0]).Suggest(errs.Run("cancel-job", append([]string{"--all"}, narrow...)...))
	case len(o.Names) == 0 && !chosen:
		return errs.Usagef("a job name is required").Suggest(errs.Run("list-jobs").WithNote("shows the names"), errs.Run("cancel-job", "--all"))
	case len(o.Names) > 0 && o.Sweep != "":
		return errs.Usagef("job names cannot be used with --sweep").Suggest(errs.Run("cancel-job", o.Names...))
	case len(o.Names) > 0 && o.Mine:
		return errs.Usagef("job names cannot be used with --mine").Suggest(errs.Run("cancel-job", o.Names...))
	case len(o.Names) > 0 && (chosen || len(narrow) > 0):
		return errs.Usagef("job names cannot be used with -A, --all, --selector, --state, --reason or --older-than").
			Suggest(errs.Run("cancel-job", o.Names...))
	case o.Sweep != "" && o.Selector != "":
		return factory.Excludes("sweep", "selector")
	case o.AllNamespaces && !o.All && !o.Mine && o.Sweep == "" && o.Selector == "" && len(narrow) == 0:
		return errs.Usagef("-A requires --all, --selector, --state, --reason or --older-than").
			Suggest(errs.Run("cancel-job", "-A", "--older-than", "7d", "--dry-run"), errs.Run("cancel-job", "-A", "--all", "--dry-run").WithNote("all jobs of all teams"))
	case o.AllNamespaces && o.Factory.Global.Namespace != "":
		return errs.Usagef("-A cannot be used with --namespace").WithAdvice("remove one of them")
	case o.All && o.Selector != "":
		return errs.Usagef("--all cannot be used with --selector").WithAdvice("remove one of them")
	case o.Timeout != nil && !o.Wait:
		return errs.Usagef("--timeout requires --wait").Suggest(errs.Option("--wait", "--timeout", o.Timeout.String()))
	}
	for _, name := range o.Names {
		a, err := factory.SplitJob(name, o.Kind)
		if err != nil {
			return err
		}
		if _, err := a.In(o.Factory.Global.Namespace); err != nil {
			return err
		}
	}
	if err := factory.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := o.Factory.CheckChoice(o.Sweep, o.Selector, o.Mine); err != nil {
		return err
	}
	return jobtext.CheckStates(o.StateNames)
}
