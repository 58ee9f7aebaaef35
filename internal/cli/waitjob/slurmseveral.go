package waitjob

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listjobs"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// runSlurmSeveral waits for all jobs of Slurm that the options name or choose.
func runSlurmSeveral(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	switch {
	case o.Selector != "":
		return factory.NotOnSlurm("selector").WithAdvice("jobs of Slurm have no labels")
	case o.Goal == wait.Deleted:
		return deletedOnSlurm()
	}
	end := f.Deadline(o.Timeout)
	choosing, stop := end.Bound(ctx)
	defer stop()
	found, err := o.slurmTargets(choosing, c)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if o.Sweep != "" {
			return errs.NotFoundf("no jobs of sweep %s", o.Sweep).Suggest(errs.Run("list-jobs"))
		}
		f.Notef("note: no jobs found: nothing to wait for")
		return nil
	}
	all, err := o.untilSlurm(ctx, c, found, end)
	o.Notify.AllEnded(ctx, f, all, o.Goal, err)
	switch code := errs.ExitOf(err); {
	case ctx.Err() != nil:
		return o.OnInterrupt.End(ctx, cmp.Or(err, ctx.Err()), interrupt.Jobs{Targets: interrupt.Unfinished(all), Sweep: o.Sweep, Goal: o.Goal, Cancel: interrupt.OnSlurm(c)})
	case err != nil && (f.Global.Output == "" || code != errs.No && code != errs.Timeout):
		return err
	}
	return errs.Also(o.reportSlurm(format, all), err)
}

// untilSlurm waits for jobs, and returns what became of each.
func (o *Options) untilSlurm(ctx context.Context, c *client.Client, found []slurmjob.Job, end factory.Deadline) ([]wait.Ended, error) {
	all := make([]wait.Ended, len(found))
	for i, j := range found {
		all[i].Target = SlurmTarget(j)
		o.saw(&all[i], j)
	}
	err := o.pollSlurm(ctx, c, all, end)
	if err == nil {
		err = Unreached(all, o.Goal, end)
	}
	return all, err
}

// SlurmSweep waits for the jobs of a sweep on Slurm.
func SlurmSweep(ctx context.Context, f *factory.Factory, c *client.Client, name string, list []slurmjob.Job, goal wait.Goal, end factory.Deadline, onInterrupt interrupt.Policy) error {
	o := &Options{Factory: f, Goal: goal}
	all, err := o.untilSlurm(ctx, c, list, end)
	if ctx.Err() != nil {
		return onInterrupt.End(ctx, cmp.Or(err, ctx.Err()), interrupt.Jobs{Targets: interrupt.Unfinished(all), Sweep: name, Goal: goal, Cancel: interrupt.OnSlurm(c)})
	}
	if code := errs.ExitOf(err); err == nil || code == errs.No || code == errs.Timeout {
		output.NewProgress(f.IO).Done("sweep " + name + ": " + jobtext.StatesOfAll(all, goal))
	}
	return err
}

// slurmTargets finds the jobs by their names or ids, those of a sweep, or those of the user that have not ended.
func (o *Options) slurmTargets(ctx context.Context, c *client.Client) (out []slurmjob.Job, err error) {
	f := o.Factory
	for _, name := range o.Names {
		j, err := slurmjob.Find(ctx, c, name, f.Now())
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(t slurmjob.Job) bool { return t.Slurm.ID == j.Slurm.ID }) { // named twice
			out = append(out, j)
		}
	}
	if len(o.Names) > 0 {
		return out, nil
	}
	all, err := slurmjob.All(ctx, c, f.Now())
	if o.Sweep != "" {
		return slurmjob.LatestOfSweep(all, o.Sweep), err
	}
	for _, j := range all {
		if j.Slurm.Active() && j.Slurm.User == f.User() && (f.Global.Namespace == "" || f.Global.Namespace == j.Job.Namespace) {
			out = append(out, j)
		}
	}
	return out, err
}

// saw takes a state of a job, and whether the wait for it is over.
func (o *Options) saw(e *wait.Ended, j slurmjob.Job) {
	e.Progress = wait.Progress{Job: j.Job, Status: j.Status}
	switch wait.Judge(o.Goal, j.Status.State) {
	case wait.Reached:
		e.Decided = true
	case wait.Never:
		e.Decided, e.Outcome = true, wait.Failed
	}
}

// pollSlurm reads the jobs again and again until the wait for each is over.
func (o *Options) pollSlurm(ctx context.Context, c *client.Client, all []wait.Ended, end factory.Deadline) error {
	f := o.Factory
	waiting, stop := end.BoundCause(ctx, errOver)
	defer stop()
	progress := output.NewProgress(f.IO)
	defer progress.Done("")
	var pauses slurmjob.Pauses
	failures := 0
	for {
		var left []*wait.Ended
		for i := range all {
			if !all[i].Decided {
				left = append(left, &all[i])
			}
		}
		if len(left) == 0 {
			return nil
		}
		over := end.Once()
		if !over {
			if !f.Global.Quiet {
				progress.Update(jobtext.ProgressOfAll(all, o.Goal))
			}
			over = pauses.Wait(waiting) != nil
		}
		if over && ctx.Err() == nil {
			for _, e := range left {
				e.Decided, e.Outcome = true, wait.TimedOut
			}
			return nil
		}
		if over {
			return ctx.Err()
		}
		for _, e := range left {
			j, err := slurmjob.Find(waiting, c, e.UID, f.Now())
			switch {
			case err == nil:
				failures = 0
				o.saw(e, j)
			case errors.Is(context.Cause(waiting), errOver):
			case slurmjob.Temporary(err) && failures < slurmjob.MostFailures:
				failures++
			default:
				return err
			}
		}
	}
}

// reportSlurm prints the result: a sentence, or the rows of the jobs in the format of -o.
func (o *Options) reportSlurm(format output.Format, all []wait.Ended) error {
	f := o.Factory
	if f.Global.Output == "" {
		return f.IO.PrintLine(jobtext.StatesOfAll(all, o.Goal))
	}
	var list []state.Job
	var statuses []jobs.Status
	var ids []string
	for _, e := range all {
		list, statuses, ids = append(list, e.Job), append(statuses, e.Status), append(ids, e.UID)
	}
	return output.Print(f.IO, format, jobtext.VerboseList(list, statuses),
		func() output.Table { return listjobs.TableOf(list, statuses, f.Now(), false) }, func() []string { return ids })
}

func deletedOnSlurm() error {
	return errs.Usagef("--for deleted cannot be used on Slurm: jobs that ended are not deleted").Suggest(errs.Option("--for", string(wait.Finished)))
}
