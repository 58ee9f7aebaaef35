// Package waitjob is `hyperpod wait-job`. Other commands use it to wait for a job.
package waitjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listjobs"
	"github.com/hyperpod-cli/hyperpod/internal/cli/notifyflags"
	"github.com/hyperpod-cli/hyperpod/internal/cli/obstacle"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	Name    string // the only one of Names, or ""
	Names   []string
	Kind    string
	// Sweep, Selector and Mine choose jobs where no name does.
	Sweep, Selector string
	Mine            bool
	AllNamespaces   bool
	Goal            wait.Goal      // --for
	Timeout         *time.Duration // nil: no limit; 0: check once
	Notify          notifyflags.Flags
	OnInterrupt     interrupt.Policy
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, Goal: wait.Finished}
	cmd := &cobra.Command{
		Use:   "wait-job NAME...",
		Short: "Wait until jobs are admitted, run, end or are deleted",
		Long: `Wait until jobs are admitted, running, succeeded, finished or deleted.

wait-job watches the job and does not poll. The wait survives lost connections
and restarts of the API server. A line on stderr shows why the job is still
pending. If the job can never start (it is larger than its queue allows, or the
queue does not exist or is stopped), a warning gives the reason and what to do;
the wait continues because quotas and queues change.

--timeout limits the wait; --timeout 0 checks once. --notify, --notify-exec and
--notify-url send a notification when the wait ends, with any result. If a
notification fails, the command prints a warning. --on-interrupt cancel makes
Ctrl-C cancel the jobs that have not ended; without it, they continue.

With several names, --sweep or --selector, the command waits for all these jobs;
with --mine, for those that you created and that have not ended. Jobs that are
created later do not count. The wait continues if one of the jobs fails.

Exit codes: 0 reached; 3 a job failed; 5 a job does not exist or was deleted
during the wait; 124 timeout; 130 interrupted. With several jobs, the exit code
is the first of these that applies. A failed job also reaches --for finished;
the exit code is then 3.`,
		Example: `  hyperpod wait-job smpv2-llama2
  hyperpod wait-job smpv2-llama2 --for succeeded --timeout 12h && hyperpod start-job -f eval.yaml
  hyperpod wait-job smpv2-llama2 --for running --notify
  hyperpod wait-job smpv2-llama2 --notify-url https://hooks.example.com/NAME
  hyperpod wait-job smpv2-llama2 --for deleted
  hyperpod wait-job a b c && hyperpod start-job -f eval.yaml
  hyperpod wait-job --sweep tune --timeout 12h`,
	}
	one := factory.TakeJob(&o.Name, &o.Kind)
	cmd.RunE = factory.RunE(o, func(cmd *cobra.Command, args []string) error {
		if o.Names = args; len(args) > 1 || len(args) == 0 && o.Name == "" && o.several() {
			return nil
		}
		return one(cmd, args)
	}, Run, runF)
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	fs := cmd.Flags()
	fs.StringVar(&o.Sweep, "sweep", "", "wait for all jobs of a sweep")
	fs.StringVarP(&o.Selector, "selector", "l", "", "wait for all jobs that match this label selector")
	f.CompleteFlag(cmd, "selector", factory.Selectors)
	f.CompleteFlag(cmd, "sweep", factory.Sweeps)
	fs.BoolVar(&o.Mine, "mine", false, "wait for all jobs that you created and that have not ended")
	fs.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "choose jobs in all namespaces (with --sweep, --selector or --mine)")
	f.CompleteArgs(cmd, factory.Jobs)
	factory.AddChoice(cmd, (*string)(&o.Goal), factory.Choice{Name: "for", Usage: "what to wait for: " + strings.Join(wait.Goals(), "|"), Words: wait.Goals(), Read: wait.GoalNamed})
	factory.OptionalDuration(cmd.Flags(), &o.Timeout, "timeout", "maximum time to wait, for example 2h (exit code 124); 0 checks once (default: no limit)")
	o.Notify.Add(cmd)
	o.OnInterrupt.Add(cmd, "during the wait")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if err := o.Notify.Validate(); err != nil {
		return err
	}
	chosen := o.Sweep != "" || o.Selector != "" || o.Mine
	switch {
	case chosen && (len(o.Names) > 0 || o.Name != ""):
		return errs.Usagef("job names cannot be used with --sweep, --selector or --mine").WithAdvice("remove one of them")
	case o.Sweep != "" && o.Selector != "":
		return factory.Excludes("sweep", "selector")
	case o.AllNamespaces && !chosen:
		return factory.Requires("all-namespaces", "--sweep, --selector or --mine").Suggest(errs.Option("-A", "--mine"))
	case o.AllNamespaces && o.Factory.Global.Namespace != "":
		return errs.Usagef("-A cannot be used with --namespace").WithAdvice("remove one of them")
	}
	if err := o.Factory.CheckChoice(o.Sweep, o.Selector, o.Mine); err != nil {
		return err
	}
	return factory.CheckTimeout(o.Timeout)
}

// Run finds the job and waits.
func Run(ctx context.Context, o *Options) error {
	slurm := runSlurm
	if o.several() {
		slurm = runSlurmSeveral
	}
	return factory.OnScheduler(ctx, o.Factory, o, slurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	if o.several() {
		return o.waitForSeveral(ctx, f, cluster, format)
	}
	end := f.Deadline(o.Timeout)
	finding, stop := end.Bound(ctx)
	defer stop()
	job, err := findjob.Find(finding, f, cluster, "get", o.Name, o.Kind)
	if errs.ExitOf(err) == errs.NotFound && o.Goal == wait.Deleted && findjob.Absent(err) {
		return o.reportDeleted(format, o.Name)
	}
	if err != nil {
		return err
	}
	if err := o.unreachable(job); err != nil {
		return err
	}
	named := *o
	named.Name, o = job.Name(), &named // a Workload may have named the job
	r := wait.Request{Kind: job.Kind, Namespace: job.Namespace, Name: o.Name, UID: job.UID(), Goal: o.Goal,
		Timeout: end.Left(), Given: end.Limit(), Once: end.Once()}
	last, err := Until(ctx, f, cluster, r)
	o.Notify.Ended(ctx, f, r, last, err)
	if err != nil && ctx.Err() != nil {
		return o.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{{Kind: job.Kind, Namespace: job.Namespace, Name: o.Name, UID: job.UID()}},
			Goal: o.Goal, State: last.Status.State, Cancel: interrupt.OnKubernetes(f, cluster.Client)})
	}
	switch code := errs.ExitOf(err); {
	case err != nil && last.Job.UID != "" && f.Global.Output != "" && (code == errs.Timeout || code == errs.No):
		// Programs get the job's document also when the goal was not reached.
		return errs.Also(o.report(format, last, cluster.Now()), err)
	case err != nil:
		return err
	case o.Goal == wait.Deleted:
		return o.reportDeleted(format, job.Kind.ObjectName(o.Name))
	}
	if err := o.report(format, last, cluster.Now()); err != nil {
		return err
	}
	return Failure(last)
}

// unreachable returns an error if a service never reaches the goal. A wait for its end is possible, and a note says what ends it.
func (o *Options) unreachable(job findjob.Job) error {
	if !job.Kind.Serves {
		return nil
	}
	switch o.Goal {
	case wait.Succeeded:
		return (&errs.Error{What: "job " + job.Name() + " never succeeds", Why: "a " + job.Kind.Kind + " runs until it is deleted", Code: errs.No}).
			Suggest(errs.Run("wait-job", job.Name(), "--for", string(wait.Running), "-n", job.Namespace))
	case wait.Finished:
		o.Factory.Notef("note: a %s runs until it is deleted: the wait ends if it fails or is deleted", job.Kind.Kind)
	}
	return nil
}

// report prints the result: a sentence, or the job's row in the format of -o.
func (o *Options) report(format output.Format, last wait.Progress, now time.Time) error {
	f := o.Factory
	if f.Global.Output == "" {
		_, err := fmt.Fprintf(f.IO.Out, "%s is %s\n", o.Name, last.Status.State)
		return err
	}
	return output.Print(f.IO, format, jobtext.VerboseRow(last.Job, last.Status),
		func() output.Table { return listjobs.Table(last.Job, last.Status, now) },
		func() []string { return []string{last.Job.Kind.ObjectName(last.Job.Name)} })
}

// Deleted is the document of a job that no longer exists.
type Deleted struct {
	Name  string
	State string // always Deleted
}

// reportDeleted is report for a job that no longer exists. The object is what -o name
// prints: only the name if the job was not found, because its kind is unknown.
func (o *Options) reportDeleted(format output.Format, object string) error {
	f := o.Factory
	if f.Global.Output == "" {
		_, err := fmt.Fprintf(f.IO.Out, "%s is deleted\n", o.Name)
		return err
	}
	return output.Print(f.IO, format, Deleted{o.Name, "Deleted"}, func() output.Table {
		return output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "STATE", Keep: true}}, Rows: [][]output.Cell{output.T(o.Name, "Deleted")}}
	}, func() []string { return []string{object} })
}

// Until waits for a job with a progress line on stderr. If the job can never start as
// things are, it prints a warning and continues to wait.
func Until(ctx context.Context, f *factory.Factory, c *factory.Cluster, r wait.Request) (wait.Progress, error) {
	progress := output.NewProgress(f.IO)
	defer progress.Done("")
	var mu sync.Mutex // held while stderr is written
	shown := ""       // the progress line
	above := func(print func()) {
		mu.Lock()
		defer mu.Unlock()
		progress.Above(print)
	}
	r.Missing = func(m []state.Missing) { above(func() { f.Missing(m) }) }
	h := obstacle.New(explained(f, c, r), func(lines []errs.Line) {
		above(func() { _, _ = io.WriteString(f.IO.Err, f.IO.Lines(lines)) })
	})
	if !f.Global.Quiet {
		r.Progress = func(p wait.Progress) {
			mu.Lock()
			if line := jobtext.Progress(p); line != shown {
				shown = line
				progress.Update(line, jobtext.ShorterProgress(p)...)
			}
			mu.Unlock()
			h.See(p.Status.State)
		}
	}
	asking, stop := context.WithCancel(ctx)
	var wg crash.Group
	if !f.Global.Quiet && r.Goal != wait.Deleted {
		wg.Go(func() { h.Run(asking) })
	}
	last, err := wait.Wait(ctx, c.Client, r)
	stop()
	wg.Wait()
	var missed *wait.Unmet
	if errors.As(err, &missed) {
		err = unmet(missed)
	}
	var e *errs.Error
	if errors.As(err, &e) && e.Code == errs.Timeout {
		if progress.Stays() {
			e.Why = "" // the line above has it
		}
		if h.Why() != "" {
			e.Try = []errs.Suggestion{errs.Run("explain-job", r.Name, "-n", r.Namespace)}
		}
	}
	return last, err
}
