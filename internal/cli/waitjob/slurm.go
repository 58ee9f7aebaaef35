package waitjob

import (
	"context"
	"errors"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// runSlurm is Run on a Slurm cluster.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	if o.Goal == wait.Deleted {
		return deletedOnSlurm()
	}
	end := f.Deadline(o.Timeout)
	finding, stop := end.Bound(ctx)
	defer stop()
	j, err := slurmjob.Find(finding, c, o.Name, f.Now())
	if err != nil {
		return err
	}
	last, err := UntilSlurm(ctx, f, c, j, o.Goal, end, o.OnInterrupt)
	p := wait.Progress{Job: last.Job, Status: last.Status}
	o.Notify.Ended(ctx, f, wait.Request{Kind: slurm.Kind, Name: last.Job.Name, UID: last.Slurm.ID, Goal: o.Goal}, p, err)
	switch code := errs.ExitOf(err); {
	case err != nil && f.Global.Output != "" && (code == errs.Timeout || code == errs.No):
		return errs.Also(o.report(format, p, f.Now()), err)
	case err != nil:
		return err
	}
	if err := o.report(format, p, f.Now()); err != nil {
		return err
	}
	return SlurmFailure(last)
}

// SlurmTarget returns a job as the target of a wait. Its UID is its Slurm id.
func SlurmTarget(j slurmjob.Job) wait.Target {
	return wait.Target{Kind: slurm.Kind, Name: j.Job.Name, UID: j.Slurm.ID}
}

// SlurmFailure returns the error of a job that failed (exit code 3), nil for any other.
func SlurmFailure(j slurmjob.Job) error {
	if j.Status.State != jobs.Failed {
		return nil
	}
	return &errs.Error{What: "job " + j.Job.Name + " failed", Why: jobtext.Why(j.Status), Code: errs.No,
		Try: []errs.Suggestion{errs.Run("get-log", j.Slurm.ID)}}
}

// errOver is the cause of the end of a wait whose time is over.
var errOver = errors.New("the wait ran out of time")

// UntilSlurm waits for a job of Slurm with a progress line on stderr, and returns the last
// that was seen of it. An interrupt does to the job what the policy says.
func UntilSlurm(ctx context.Context, f *factory.Factory, c *client.Client, j slurmjob.Job, goal wait.Goal, end factory.Deadline, onInterrupt interrupt.Policy) (slurmjob.Job, error) {
	waiting, stop := end.BoundCause(ctx, errOver)
	defer stop()
	progress := output.NewProgress(f.IO)
	defer progress.Done("")
	last, over := j, false
	err := slurmjob.Follow(waiting, c, j, f.Now, func(j slurmjob.Job) (bool, error) {
		last = j
		switch wait.Judge(goal, j.Status.State) {
		case wait.Reached:
			return false, nil
		case wait.Never:
			return false, SlurmFailure(j)
		}
		if end.Once() {
			over = true
			return false, nil
		}
		if !f.Global.Quiet {
			progress.Update(jobtext.Progress(wait.Progress{Job: j.Job, Status: j.Status}))
		}
		return true, nil
	})
	switch {
	case over, err != nil && errors.Is(context.Cause(waiting), errOver):
		return last, lateSlurm(last, goal, end.Limit())
	case err != nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return last, onInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{SlurmTarget(last)}, Goal: goal, Cancel: interrupt.OnSlurm(c)})
	}
	return last, err
}

// lateSlurm returns the error of a wait whose time is over.
func lateSlurm(j slurmjob.Job, goal wait.Goal, limit time.Duration) error {
	what := "job " + j.Job.Name + " " + missed(goal, 1)
	if limit > 0 {
		what += " after " + limit.String()
	}
	return &errs.Error{What: what, Why: "it is " + jobtext.Standing(wait.Progress{Job: j.Job, Status: j.Status}), Code: errs.Timeout, Try: []errs.Suggestion{errs.Run("explain-job", j.Slurm.ID)}}
}
