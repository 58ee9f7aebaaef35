// Package patchjob is `hyperpod patch-job`.
package patchjob

import (
	"cmp"
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
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Options are what was typed on the command line.
type Options struct {
	Factory  *factory.Factory
	Verb     string // suspend, unsuspend or priority
	Name     string
	Kind     string
	Priority string
	DryRun   string
}

// changes are the words of other tools for suspend and unsuspend.
var changes = map[string]string{"hold": "suspend", "pause": "suspend", "stop": "suspend",
	"resume": "unsuspend", "release": "unsuspend", "start": "unsuspend", "unpause": "unsuspend"}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "patch-job suspend|unsuspend|priority NAME",
		Short: "Suspend, resume or reprioritize a job",
		Example: `  hyperpod patch-job suspend smpv2-llama2
  hyperpod patch-job unsuspend smpv2-llama2
  hyperpod patch-job priority smpv2-llama2 --priority fine-tuning --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			e := errs.Usagef("a change is required")
			verb, name := "suspend", "NAME"
			if len(args) > 0 {
				e, verb = errs.Usagef("invalid change %q", args[0]), cmp.Or(changes[args[0]], verb)
			}
			if len(args) > 1 {
				name = args[1]
				if v := cmp.Or(changes[name], name); v == "suspend" || v == "unsuspend" { // the name comes first
					verb, name = v, args[0]
				}
			}
			return e.WithFact("must be one of", "suspend, unsuspend, priority").Suggest(errs.Run("patch-job", verb, name))
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	for _, sub := range []struct{ verb, short, long string }{
		{"suspend", "Suspend a job: stop its pods and release its quota",
			"Suspend a job. If Kueue has a Workload for the job, patch-job deactivates it;\notherwise it sets the job's suspend field. The job loses unsaved progress."},
		{"unsuspend", "Resume a suspended job", "Resume a suspended job. If Kueue manages the job, it is queued again."},
		{"priority", "Change the priority class of a job",
			`Change the priority class of a job. A pending job moves in its queue at once. A
running job keeps its quota; the new priority decides which jobs can preempt it
from then on. Kueue never removes a class from a job, and sets none on a running
job that has no class.

patch-job predicts the effect on a pending job with Kueue's own scheduling code,
if you have permission to read what it needs. --dry-run only predicts.`},
	} {
		cmd.AddCommand(newVerb(f, runF, sub.verb, sub.short, sub.long))
	}
	return cmd
}

func newVerb(f *factory.Factory, runF func(context.Context, *Options) error, verb, short, long string) *cobra.Command {
	o := &Options{Factory: f, Verb: verb}
	take := func(cmd *cobra.Command, args []string) error {
		if verb == "priority" && len(args) == 2 && o.Priority == "" {
			return errs.Usagef("--priority is required: the class is the value of a flag").Suggest(errs.Run("patch-job", "priority", args[0], "--priority", args[1]))
		}
		return factory.TakeJob(&o.Name, &o.Kind)(cmd, args)
	}
	cmd := &cobra.Command{
		Use: verb + " NAME", Short: short, Long: long,
		RunE: factory.RunE(o, take, Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	if verb == "priority" {
		cmd.Flags().StringVar(&o.Priority, "priority", "", "priority class, for example training or training-priority")
		f.CompleteFlag(cmd, "priority", factory.Priorities)
	}
	factory.AddDryRunFlag(cmd, &o.DryRun, "print what would change")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Verb == "priority" && o.Priority == "" {
		return errs.Usagef("--priority is required").Suggest(errs.Run("patch-job", "priority", o.Name, "--priority", "training"))
	}
	return nil
}

// Run changes the job and reports the result.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	_, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	found, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	named := *o
	named.Name, o = found.Name(), &named // a Workload may have named the job
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
	return o.report(result, on, t)
}

func wrap(err error, name string) error {
	return errs.Wrap(jobtext.Error(err), "cannot change job "+name)
}

// target reads the job's Workload.
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

func (o *Options) report(r patch.Result, on bool, t patch.Target) error {
	did, already := Suspended, "is already suspended"
	if !on {
		did, already = Unsuspended, "is not suspended"
	}
	if !r.Changed {
		return o.print(t, Unchanged, "", nil, "Job %s %s", o.Name, already)
	}
	s := jobs.StatusOf(t.Job, t.Workload, nil)
	var effects []string
	switch {
	case on && (s.State == jobs.Running || s.State == jobs.Starting || s.State == jobs.Restarting):
		effects = []string{"the pods stop and the quota is released"}
	case !on && t.Workload != nil:
		effects = []string{"the job is queued again"}
	}
	o.Factory.Notes(effects)
	return o.print(t, did, "", effects, "%s job %s%s", did, o.Name, factory.DryRunSuffix(o.DryRun))
}

// Schema is the name and version of the JSON of patch-job. Fields may be added within a
// version.
const Schema = "hyperpod.patch-job/v1"

// What patch-job did, or would do.
const (
	Suspended       = "Suspended"
	Unsuspended     = "Unsuspended"
	PriorityChanged = "PriorityChanged"
	Unchanged       = "Unchanged"
)

// Document is what patch-job did.
type Document struct {
	Schema    string
	DryRun    string // none, client or server
	Name      string
	Namespace string
	Kind      string
	UID       string
	Result    string
	// PriorityClass is the class that patch-job priority sets.
	PriorityClass string `json:",omitempty"`
	// Effects are what the change does, in words.
	Effects []string
}

// print prints the sentence, with -o name the object, with another -o the document.
func (o *Options) print(t patch.Target, result, class string, effects []string, sentence string, args ...any) error {
	f := o.Factory
	if err := f.PrintDone(fmt.Sprintf(sentence, args...), t.Job.Kind.ObjectName(o.Name)); err != nil {
		return err
	}
	format, err := f.Format()
	if err != nil || f.Global.Output == "" || format.Name == output.NameFormat {
		return err
	}
	return output.Print(f.IO, format, Document{Schema: Schema, DryRun: o.DryRun, Name: o.Name, Namespace: t.Job.Namespace, Kind: t.Job.Kind.Kind, UID: t.Job.UID,
		Result: result, PriorityClass: class, Effects: append([]string{}, effects...)}, nil, nil)
}

// rank changes the job's priority class and predicts the effect.
func (o *Options) rank(ctx context.Context, c *factory.Cluster, t patch.Target) error {
	f := o.Factory
	choice, err := discovery.Priority(ctx, c.Client, o.Priority)
	if err != nil {
		return err
	}
	f.Notes(choices.Texts(choice.Notes))
	running := !t.Job.Suspended
	if t.Job.Queue() == "" {
		f.Notef("note: %s has no queue: its priority has no effect", o.Name)
	}
	if running && t.Job.Labels[kinds.PriorityLabel] == "" && t.Workload != nil {
		ns := t.Job.Namespace
		if _, err := patch.PlanSuspend(t, true); err != nil {
			return errs.New("cannot set the priority class of job "+o.Name, "a running job without a priority class cannot get one from Kueue").WithCode(errs.No).
				WithFact("instead", "delete the "+t.Job.Kind.Kind+" and create it with the class").Suggest(suggest.CancelJobs(ns, o.Name))
		}
		return errs.New("cannot set the priority class of job "+o.Name, "a running job without a priority class cannot get one from Kueue").WithCode(errs.No).
			WithFact("instead", "suspend the job, set the class, resume the job; suspending stops its pods").
			Suggest(errs.Run("patch-job", "suspend", o.Name, "-n", ns), errs.Run("patch-job", "priority", o.Name, "-n", ns, "--priority", o.Priority), suggest.Unsuspend(ns, o.Name))
	}
	result, err := patch.PlanPriority(t, choice.Name)
	if err != nil {
		return wrap(err, o.Name)
	}
	var effects []string
	if result.Changed {
		effects = predict(ctx, c, t, choice) // before the change
	}
	if o.DryRun != factory.DryRunClient {
		if result, err = patch.Priority(ctx, c, t, choice.Name, o.DryRun == factory.DryRunServer); err != nil {
			return wrap(err, o.Name)
		}
	}
	if !result.Changed {
		return o.print(t, Unchanged, choice.Name, nil, "Job %s already has priority class %s", o.Name, choice.Name)
	}
	class := choice.Name
	if choice.Known {
		class = fmt.Sprintf("%s (%d)", choice.Name, choice.Value)
	}
	if err := o.print(t, PriorityChanged, choice.Name, effects, "Changed the priority class of job %s to %s%s", o.Name, class, factory.DryRunSuffix(o.DryRun)); err != nil {
		return err
	}
	f.Notes(effects)
	return nil
}
