// Package patchjob is `hyperpod patch-job`.
package patchjob

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/patch"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are the settings of one run.
type Options struct {
	Factory  *factory.Factory
	Verb     string // suspend, unsuspend or priority
	Name     string
	Kind     string
	Priority string
	DryRun   string

	names bool // -o name; set by Run
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "patch-job suspend|unsuspend|priority NAME",
		Short: "Hold a job back, let it go on, or rank it anew",
		Example: `  hyperpod patch-job suspend smpv2-llama2
  hyperpod patch-job unsuspend smpv2-llama2
  hyperpod patch-job priority smpv2-llama2 --priority fine-tuning --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			e := errs.Usagef("patch-job needs to know what to do")
			if len(args) > 0 {
				e = errs.Usagef("patch-job cannot %q", args[0])
			}
			return e.WithFact("it can", "suspend, unsuspend, priority").WithTry("hyperpod patch-job suspend NAME")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	for _, sub := range []struct{ verb, short, long string }{
		{"suspend", "Hold a job back: its pods are stopped and its quota is given back",
			"Holds a job back. Where Kueue has a Workload for it, that is deactivated;\notherwise the job's own suspend field is set. What a job has not saved is lost."},
		{"unsuspend", "Let a job go on that was held back", "Lets a job go on that was held back: it queues again where Kueue decides."},
		{"priority", "Give a job another priority class",
			`Gives a job another priority class. A waiting job is ranked anew at once. A job
that runs keeps its quota; the new priority says whom others may preempt from
then on. Kueue takes a class away from no job, and gives none to a job that runs
without one.

The effect on a waiting job is predicted with Kueue's own scheduling code, as
far as you may read what that needs. --dry-run only predicts.`},
	} {
		cmd.AddCommand(newVerb(f, runF, sub.verb, sub.short, sub.long))
	}
	return cmd
}

func newVerb(f *factory.Factory, runF func(context.Context, *Options) error, verb, short, long string) *cobra.Command {
	o := &Options{Factory: f, Verb: verb}
	var flag string
	cmd := &cobra.Command{
		Use: verb + " NAME", Short: short, Long: long,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
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
	factory.AddKindFlag(cmd, &o.Kind)
	if verb == "priority" {
		cmd.Flags().StringVar(&o.Priority, "priority", "", "priority class, e.g. training or training-priority")
		f.CompleteFlag(cmd, "priority", factory.Priorities)
	}
	factory.AddDryRunFlag(cmd, &o.DryRun, "what would be changed")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Verb == "priority" && o.Priority == "" {
		return errs.Usagef("which priority? give --priority").WithTry("hyperpod patch-job priority " + o.Name + " --priority training")
	}
	return nil
}

// Run changes the job and says what it did.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	o.names = f.NameOnly()
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	found, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	t, err := target(ctx, cluster.Client, found)
	if err != nil {
		return err
	}
	if o.Verb == "priority" {
		return o.rank(ctx, cluster, t)
	}
	on := o.Verb == "suspend"
	var result patch.Result
	if o.DryRun == factory.DryRunClient {
		result, err = patch.PlanSuspend(t, on)
	} else {
		result, err = patch.Suspend(ctx, cluster, t, on, o.DryRun == factory.DryRunServer)
	}
	if err != nil {
		return wrap(err, o.Name)
	}
	return o.say(result, on, t)
}

func wrap(err error, name string) error {
	return errs.Wrap(err, "job "+name+" was not changed")
}

// target reads what Kueue knows of a job.
func target(ctx context.Context, c *kube.Client, found findjob.Job) (patch.Target, error) {
	job, err := found.State()
	if err != nil {
		return patch.Target{}, err
	}
	t := patch.Target{Job: job}
	r, err := reader.Served(ctx, c, kinds.Workload)
	if kube.IsNotServed(err) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	all, err := state.ListWorkloads(ctx, c, job.Namespace, kube.ListOptions{})
	if err != nil {
		return t, err
	}
	t.WorkloadResource = r
	t.Workload = jobs.Match([]state.Job{job}, all)[0]
	return t, nil
}

func (o *Options) say(r patch.Result, on bool, t patch.Target) error {
	did, already := "Suspended", "is suspended already"
	if !on {
		did, already = "Unsuspended", "is not suspended"
	}
	if !r.Changed {
		return o.print(t, "Job %s %s\n", o.Name, already)
	}
	s := jobs.StatusOf(t.Job, t.Workload, nil)
	switch {
	case on && (s.State == jobs.Running || s.State == jobs.Starting || s.State == jobs.Restarting):
		o.Factory.Notef("note: its pods are stopped, and its quota is given back")
	case !on && t.Workload != nil:
		o.Factory.Notef("note: it queues again")
	}
	return o.print(t, "%s job %s%s\n", did, o.Name, factory.DryRunSuffix(o.DryRun))
}

// print prints the sentence, or with -o name the object.
func (o *Options) print(t patch.Target, sentence string, args ...any) error {
	if o.names {
		_, err := fmt.Fprintln(o.Factory.IO.Out, t.Job.Kind.ObjectName(o.Name))
		return err
	}
	_, err := fmt.Fprintf(o.Factory.IO.Out, sentence, args...)
	return err
}

// rank gives the job another priority class and predicts what that does.
func (o *Options) rank(ctx context.Context, c *factory.Cluster, t patch.Target) error {
	f := o.Factory
	choice, err := discovery.Priority(ctx, c.Client, o.Priority)
	if err != nil {
		return err
	}
	f.Notes(choice.Notes)
	running := !t.Job.Suspended
	if t.Job.Queue() == "" {
		f.Notef("note: %s is in no queue: its priority has no effect", o.Name)
	}
	if running && t.Job.Labels[kinds.PriorityLabel] == "" && t.Workload != nil {
		at := " -n " + t.Job.Namespace
		return errs.New("Kueue gives no priority class to a job that runs without one", "").WithCode(errs.No).
			WithFact("but", "it does to one that is suspended, which stops the job").
			WithTry("hyperpod patch-job suspend "+o.Name+at, "hyperpod patch-job priority "+o.Name+at+" --priority "+o.Priority, "hyperpod patch-job unsuspend "+o.Name+at)
	}
	result, err := patch.PlanPriority(t, choice.Name)
	if err != nil {
		return wrap(err, o.Name)
	}
	var effects []string
	if result.Changed {
		effects = predict(ctx, c, t, choice) // as things stand before the change
	}
	if o.DryRun != factory.DryRunClient {
		if result, err = patch.Priority(ctx, c, t, choice.Name, o.DryRun == factory.DryRunServer); err != nil {
			return wrap(err, o.Name)
		}
	}
	if !result.Changed {
		return o.print(t, "Job %s has %s already\n", o.Name, choice.Name)
	}
	if err := o.print(t, "Job %s now has %s (%d)%s\n", o.Name, choice.Name, choice.Value, factory.DryRunSuffix(o.DryRun)); err != nil {
		return err
	}
	f.Notes(effects)
	return nil
}
