package canceljob

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// runSlurm is Run on a Slurm cluster.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	if err := factory.NoLabelsOnSlurm(o.Selector, o.Kind); err != nil {
		return err
	}
	end := f.Deadline(o.Timeout)
	choosing, stop := end.Bound(ctx)
	defer stop()
	list, failed, err := o.chooseSlurm(choosing, c)
	if err != nil {
		return err
	}
	var targets []target
	for _, j := range list {
		targets = append(targets, slurmTarget(j))
	}
	if len(targets) == 0 {
		if failed == nil && len(o.Names) == 0 {
			f.Notef("note: no jobs found: nothing was cancelled")
		}
		return errs.Also(o.report(nil), failed)
	}
	if o.AllNamespaces {
		o.show(targets, false, f.Now())
	}
	if targets, err = o.confirmed(ctx, targets); err != nil {
		return errs.Also(failed, err)
	}
	end = f.Deadline(o.Timeout)
	deleting, stop := end.Bound(ctx)
	defer stop()
	var gone []target
	for _, t := range targets {
		if err := o.cancelSlurm(deleting, c, t); err != nil {
			failed = errs.Also(failed, err)
			continue
		}
		gone = append(gone, t)
	}
	if err := o.report(gone); err != nil {
		return errs.Also(failed, err)
	}
	if o.Wait && o.DryRun == factory.DryRunNone {
		for _, t := range gone {
			if err := o.awaitSlurm(ctx, c, t, end); err != nil {
				return errs.Also(failed, err)
			}
		}
	}
	return failed
}

// slurmTarget returns the target of a job.
func slurmTarget(j slurmjob.Job) target {
	return target{kind: slurm.Kind, namespace: j.Job.Namespace, name: j.Job.Name, uid: j.Slurm.ID, state: j.Status.State, reason: j.Status.Reason,
		by: j.Slurm.User, created: j.Slurm.Submit}
}

// chooseSlurm finds the jobs by name or id, or by the flags. Jobs that have ended are left
// out.
func (o *Options) chooseSlurm(ctx context.Context, c *client.Client) (list []slurmjob.Job, failed, err error) {
	f := o.Factory
	for _, name := range o.Names {
		j, err := o.findSlurm(ctx, c, name)
		switch {
		case err != nil && slurmjob.Absent(err) && o.IgnoreNotFound:
		case err != nil && len(o.Names) > 1:
			failed = errs.Also(failed, err)
		case err != nil:
			return nil, nil, err
		case !j.Slurm.Active():
			f.Notef("note: job %s (%s) has ended: it %s", j.Job.Name, j.Slurm.ID, strings.ToLower(string(j.Status.State)))
		case slices.ContainsFunc(list, func(t slurmjob.Job) bool { return t.Slurm.ID == j.Slurm.ID }): // named twice
		default:
			list = append(list, j)
		}
	}
	if len(o.Names) > 0 {
		return list, failed, nil
	}
	all, err := slurmjob.All(ctx, c, f.Now())
	for _, j := range all {
		account := f.Global.Namespace
		if !j.Slurm.Active() || !j.OfSweep(o.Sweep) || o.Sweep != "" && j.Slurm.User != f.User() || account != "" && j.Job.Namespace != account || !j.Status.State.Named(o.StateNames) || o.Mine && j.Slurm.User != f.User() ||
			o.OlderThan != nil && f.Now().Sub(j.Slurm.Submit) <= *o.OlderThan ||
			len(o.Reasons) > 0 && !slices.ContainsFunc(o.Reasons, func(r string) bool { return strings.EqualFold(r, j.Status.Reason) }) {
			continue
		}
		list = append(list, j)
	}
	return list, nil, err
}

// findSlurm finds a job. The id of an array stands for all its tasks.
func (o *Options) findSlurm(ctx context.Context, c *client.Client, name string) (slurmjob.Job, error) {
	j, err := slurmjob.Find(ctx, c, name, o.Factory.Now())
	if err == nil || !slurm.IsID(name) || errs.ExitOf(err) != errs.Usage {
		return j, err
	}
	tasks, err := c.Jobs(ctx, name)
	if err != nil || len(tasks) == 0 {
		return j, err
	}
	at := max(slices.IndexFunc(tasks, slurm.Job.Active), 0)
	tasks[at].ID = name
	return slurmjob.Of(tasks[at]), nil
}

// cancelSlurm cancels one job and reports it.
func (o *Options) cancelSlurm(ctx context.Context, c *client.Client, t target) error {
	if o.DryRun != factory.DryRunNone {
		return o.Factory.PrintDone(fmt.Sprintf("Would cancel job %s (%s)", t.name, t.uid), t.uid)
	}
	if err := c.Cancel(ctx, t.uid); err != nil {
		return slurmtext.Error(fmt.Sprintf("cannot cancel job %s (%s)", t.name, t.uid), err)
	}
	return o.Factory.PrintDone("Cancelled job "+t.name, t.uid)
}

// awaitSlurm waits until a job has ended.
func (o *Options) awaitSlurm(ctx context.Context, c *client.Client, t target, end factory.Deadline) error {
	var pauses slurmjob.Pauses
	until := time.Time{}
	if left := end.Left(); left > 0 {
		until = o.Factory.Now().Add(left)
	}
	for {
		tasks, err := c.Jobs(ctx, t.uid)
		if client.Is(err, client.UnknownJob) || err == nil && !slices.ContainsFunc(tasks, slurm.Job.Active) {
			return nil
		}
		if err != nil {
			return slurmtext.Error("cannot read job "+t.uid, err)
		}
		if end.Once() || !until.IsZero() && o.Factory.Now().After(until) {
			e := &errs.Error{What: fmt.Sprintf("job %s has not ended", t.name), Code: errs.Timeout, Try: []errs.Suggestion{errs.Run("wait-job", t.uid, "--for", string(wait.Finished))}}
			if !end.Once() {
				e.What += " after " + end.Limit().String()
			}
			return e
		}
		if err := pauses.Wait(ctx); err != nil {
			return factory.Interrupted("job " + t.name + " is being cancelled")
		}
	}
}
