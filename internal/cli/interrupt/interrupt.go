// Package interrupt ends a command that Ctrl-C, SIGTERM or SIGHUP interrupts while it watches jobs: the jobs
// continue, or --on-interrupt cancel cancels them.
package interrupt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/cancel"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Policy is what an interrupt does to the jobs: the flag --on-interrupt.
type Policy string

// The policies. The default is Keep.
const (
	Keep   Policy = "keep"
	Cancel Policy = "cancel"
)

// Flag is the name of the flag.
const Flag = "on-interrupt"

// within is how long it may take to cancel one job.
const within = 30 * time.Second

// Add defines the flag. during is when it counts, for example "during the wait".
func (p *Policy) Add(cmd *cobra.Command, during string) {
	*p = Keep
	factory.AddChoice(cmd, (*string)(p), factory.Choice{Name: Flag, Words: []string{string(Cancel), string(Keep)},
		Usage: "what Ctrl-C or SIGTERM does to the job " + during + ": cancel|keep"})
}

// Jobs are the jobs that a command watched.
type Jobs struct {
	Targets []wait.Target // those that have not ended
	// Sweep is the sweep that they are all jobs of, "" if none.
	Sweep string
	// Goal is what the command waited for, "" for the end.
	Goal wait.Goal
	// State is the state of the only job when it was last seen, "" if not known.
	State jobs.State
	// Cancel cancels a job. It returns nil for a job that no longer exists.
	Cancel func(context.Context, wait.Target) error
}

// Unfinished returns the jobs of a wait that have not ended.
func Unfinished(all []wait.Ended) (out []wait.Target) {
	for _, e := range all {
		if !e.State().Finished() && e.Outcome != wait.Gone {
			out = append(out, e.Target)
		}
	}
	return out
}

// OnKubernetes returns a function that cancels a job of a Kubernetes cluster as cancel-job does.
func OnKubernetes(f *factory.Factory, c *kube.Client) func(context.Context, wait.Target) error {
	return func(ctx context.Context, t wait.Target) error {
		j := cancel.Job{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, UID: t.UID}
		now, err := state.GetJob(ctx, c, t.Kind, t.Namespace, t.Name)
		switch {
		case err == nil && now.UID != t.UID:
			return nil // another job of this name
		case err == nil:
			j.With = submit.Together(now.Annotations)
		}
		if err := cancel.Delete(ctx, c, j, false); err != nil && !kube.IsNotFound(err) {
			return errs.Wrap(err, "cannot cancel job "+t.Name)
		}
		if group := now.Labels[kinds.PodGroupName]; group != "" {
			_, _ = cancel.Release(ctx, c, t.Namespace, group) // once the last of its pods is deleted
		}
		_, left := cancel.DeleteTogether(ctx, c, j)
		for _, l := range left {
			f.Notef("warning: not deleted: %s", l)
		}
		return nil
	}
}

// OnSlurm returns a function that cancels a job of a Slurm cluster. The UID of a target is its Slurm id.
func OnSlurm(c *client.Client) func(context.Context, wait.Target) error {
	return func(ctx context.Context, t wait.Target) error {
		if err := c.Cancel(ctx, t.UID); err != nil && !client.Is(err, client.UnknownJob) {
			return slurmtext.Error("cannot cancel job "+t.UID, err)
		}
		return nil
	}
}

// End returns the error of a command that ended with err while it watched jobs: of an interrupted one, after it
// has cancelled the jobs if the policy is Cancel; any other error as it is.
func (p Policy) End(ctx context.Context, err error, j Jobs) error {
	if err == nil || !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if p != Cancel {
		return j.continues()
	}
	cancelled := 0
	var failed error
	for _, t := range j.Targets {
		one, stop := context.WithTimeout(context.WithoutCancel(ctx), within)
		err := j.Cancel(one, t)
		stop()
		if err == nil {
			cancelled++
			continue
		}
		failed = errs.Also(failed, err)
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	if failed != nil && cancelled == 0 {
		return errs.Also(failed, j.continues())
	}
	why := "cancelled " + words.Count(cancelled, "job", "jobs")
	switch {
	case j.Sweep != "":
		why += " of sweep " + j.Sweep
	case len(j.Targets) == 1:
		why = "cancelled job " + j.Targets[0].Name
	}
	return errs.Also(failed, factory.Interrupted(why))
}

// named returns arguments that name a few jobs of one namespace, nil for others.
func (j Jobs) named() (args []string) {
	const most = 8
	if len(j.Targets) == 0 || len(j.Targets) > most || j.Targets[0].Namespace == "" {
		return nil
	}
	for _, t := range j.Targets {
		if t.Namespace != j.Targets[0].Namespace {
			return nil
		}
		args = append(args, t.Name)
	}
	return append(args, "-n", j.Targets[0].Namespace)
}

// continues says that the jobs continue, and how to cancel them.
func (j Jobs) continues() error {
	switch {
	case j.Sweep != "":
		return factory.Interrupted("the jobs of the sweep continue").
			Suggest(errs.Run("cancel-job", "--sweep", j.Sweep).WithNote("cancels them"), j.again("--sweep", j.Sweep))
	case len(j.Targets) != 1:
		e := factory.Interrupted(words.Count(len(j.Targets), "job continues", "jobs continue"))
		if args := j.named(); args != nil {
			e = e.Suggest(errs.Run("cancel-job", args...).WithNote("cancels them"), errs.Run("wait-job", args...).WithNote("waits again"))
		}
		return e
	}
	t := j.Targets[0]
	why := fmt.Sprintf("job %s continues", t.Name)
	if j.State == jobs.Pending || j.State == jobs.Preempted {
		why = fmt.Sprintf("job %s stays in its queue", t.Name)
	}
	if t.Namespace == "" { // of Slurm
		return factory.Interrupted(why).Suggest(errs.Run("cancel-job", t.UID).WithNote("cancels it"), j.again(t.UID))
	}
	return factory.Interrupted(why).Suggest(suggest.CancelJobs(t.Namespace, t.Name).WithNote("cancels it"), j.again(t.Name, "-n", t.Namespace))
}

// again returns the command that waits for the same goal.
func (j Jobs) again(args ...string) errs.Suggestion {
	if j.Goal != "" && j.Goal != wait.Finished {
		args = append(args, "--for", string(j.Goal))
	}
	return errs.Run("wait-job", args...).WithNote("waits again")
}
