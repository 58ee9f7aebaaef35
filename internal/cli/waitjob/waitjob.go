// Package waitjob is `hyperpod wait-job`, and what other commands need to wait
// for a job as it does.
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
	"github.com/hyperpod-cli/hyperpod/internal/cli/listjobs"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Goal    wait.Goal // --for
	Timeout time.Duration
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, Goal: wait.Finished}
	var flag string
	cmd := &cobra.Command{
		Use:   "wait-job NAME",
		Short: "Wait until a job is admitted, runs, ends or is gone",
		Long: `Waits until a job is admitted, running, succeeded, finished or deleted. It
watches: nothing is asked for while nothing changes, and a lost connection or a
restart of the API server does not end it. A line on stderr says why the job
still waits. One that cannot start whatever ends (larger than its queue may
ever hold, a queue that does not exist or is stopped) is told with the reason
and what to do, and waited for all the same: quotas and queues change.
--timeout limits the wait.

Exit codes: 0 it is so; 3 the job failed; 5 there is no such job, or it was
deleted meanwhile; 124 the time is over; 130 Ctrl-C. --for finished is reached
by a failed job too, and ends with 3 then.`,
		Example: `  hyperpod wait-job smpv2-llama2
  hyperpod wait-job smpv2-llama2 --for succeeded --timeout 12h && hyperpod start-job -f eval.yaml
  hyperpod wait-job smpv2-llama2 --for deleted`,
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
	factory.AddChoice(cmd, (*string)(&o.Goal), factory.Choice{Name: "for", Usage: strings.Join(wait.Goals(), "|"), Words: wait.Goals(), Read: wait.GoalNamed})
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 0, "give up after this time (exit code 124; default: never)")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	return factory.CheckTimeout(o.Timeout)
}

// Run finds the job and waits.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	job, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if errs.ExitOf(err) == errs.NotFound && o.Goal == wait.Deleted && findjob.Absent(err) {
		return o.sayDeleted(format, o.Name)
	}
	if err != nil {
		return err
	}
	last, err := Until(ctx, f, cluster, wait.Request{Kind: job.Kind, Namespace: job.Namespace, Name: o.Name, UID: job.UID(), Goal: o.Goal, Timeout: o.Timeout})
	switch {
	case err != nil:
		return err
	case o.Goal == wait.Deleted:
		return o.sayDeleted(format, job.Kind.ObjectName(o.Name))
	}
	if err := o.say(format, last, cluster.Now()); err != nil {
		return err
	}
	return last.Failure()
}

// say prints the result: a sentence, or the job's row where -o asks for a form.
func (o *Options) say(format output.Format, last wait.Progress, now time.Time) error {
	f := o.Factory
	if f.Global.Output == "" {
		_, err := fmt.Fprintf(f.IO.Out, "%s is %s\n", o.Name, last.Status.State)
		return err
	}
	return output.Print(f.IO, format, jobs.VerboseRowOf(last.Job, last.Status),
		func() output.Table { return listjobs.Table(last.Job, last.Status, now) },
		func() []string { return []string{last.Job.Kind.ObjectName(last.Job.Name)} })
}

// deleted is what is left to show of a job that is gone.
type deleted struct {
	Name  string
	State string // always Deleted
}

// sayDeleted is say for a job that is gone. The object is its name for -o name:
// the bare name of a job that was not found, whose kind nobody knows.
func (o *Options) sayDeleted(format output.Format, object string) error {
	f := o.Factory
	if f.Global.Output == "" {
		_, err := fmt.Fprintf(f.IO.Out, "%s is deleted\n", o.Name)
		return err
	}
	return output.Print(f.IO, format, deleted{o.Name, "Deleted"}, func() output.Table {
		return output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "STATE", Keep: true}}, Rows: [][]output.Cell{output.T(o.Name, "Deleted")}}
	}, func() []string { return []string{object} })
}

// Until waits for a job with a progress line on stderr. A job that cannot start
// whatever ends is waited for all the same, and that is said.
func Until(ctx context.Context, f *factory.Factory, c *factory.Cluster, r wait.Request) (wait.Progress, error) {
	progress := output.NewProgress(f.IO)
	defer progress.Done("")
	var mu sync.Mutex // stderr is written by two
	above := func(print func()) {
		mu.Lock()
		defer mu.Unlock()
		progress.Above(print)
	}
	r.Missing = func(m []state.Missing) { above(func() { f.Missing(m) }) }
	h := newHopeless(explained(f, c, r), func(text string) {
		above(func() { _, _ = io.WriteString(f.IO.Err, output.SafeLines(text)+"\n") })
	})
	if !f.Global.Quiet {
		r.Progress = func(p wait.Progress) {
			mu.Lock()
			progress.Update(p.Text(), p.Shorter()...)
			mu.Unlock()
			h.see(p.Status.State)
		}
	}
	asking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if !f.Global.Quiet && r.Goal != wait.Deleted {
		wg.Go(func() { h.run(asking) })
	}
	last, err := wait.Wait(ctx, c.Client, r)
	stop()
	wg.Wait()
	var e *errs.Error
	if errors.As(err, &e) && e.Code == errs.Timeout {
		if progress.Stays() {
			e.Why = "" // said by the line above
		}
		if h.why() != "" {
			e.Try = []errs.Suggestion{errs.Run("explain-job", r.Name, "-n", r.Namespace)}
		}
	}
	return last, err
}
