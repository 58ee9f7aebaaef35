package getlog

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// runSlurm is Run on a Slurm cluster: the log is the file that the job writes.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	for _, flag := range []struct {
		name  string
		given bool
	}{{"previous", o.Previous}, {"since", o.Since != ""}, {"timestamps", o.Timestamps}, {"cloudwatch-link", o.CloudWatchLink}, {"pod, --rank or --container", !o.Pods.Choice().Default() || o.Pods.Container != ""}} {
		if flag.given {
			return factory.NotOnSlurm(flag.name).WithAdvice("a job of Slurm writes one file for all its nodes")
		}
	}
	q, err := o.query(f.Now())
	if err != nil {
		return err
	}
	j, err := slurmjob.Find(ctx, c, o.Name, f.Now())
	if err != nil {
		return err
	}
	view := logview.New(f, logview.Options{Job: j.Job.Name, JSON: f.WantsJSON(), Follow: o.Follow})
	last, err := slurmjob.Log{Client: c, Now: f.Now, Query: q, Sink: view}.Read(ctx, j)
	view.Close()
	switch {
	case err != nil && ctx.Err() != nil && o.Follow:
		return o.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{waitjob.SlurmTarget(last)}, Cancel: interrupt.OnSlurm(c)})
	case errors.Is(err, slurmjob.ErrForgotten):
		return forgotten(last, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return noFile(last, err)
	case err != nil || !o.Follow:
		return err
	case o.ExitCode:
		return waitjob.SlurmFailure(last)
	}
	f.Notef("note: job %s %s", last.Job.Name, strings.ToLower(string(last.Status.State)))
	return nil
}

// forgotten returns the error about a job that only the accounting database knows.
func forgotten(j slurmjob.Job, err error) error {
	e := errs.New("cannot read the log of job "+j.Job.Name, "Slurm no longer knows the file").WithCode(errs.NotFound).WithCause(err)
	if j.Slurm.WorkDir != "" {
		e.WithFact("folder of the job", j.Slurm.WorkDir)
	}
	return e.WithAdvice("the controller forgets a job some minutes after its end, and the accounting database keeps no file names")
}

// noFile returns the error about a log that is not on this machine.
func noFile(j slurmjob.Job, err error) error {
	var path *fs.PathError
	file := ""
	if errors.As(err, &path) {
		file = path.Path
	}
	e := errs.New("cannot read the log of job "+j.Job.Name, errs.FileReason(err)).WithFact("file", file).WithCause(err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return e.WithCode(errs.Denied)
	case j.Job.Start == nil:
		return errs.New("job "+j.Job.Name+" has no log yet", "it has not started").WithFact("file", file).WithCode(errs.NotFound).
			Suggest(errs.Run("get-log", j.Slurm.ID, "-f").WithNote("waits for it"), errs.Run("explain-job", j.Slurm.ID))
	case j.Slurm.NodeList != "":
		e.WithFact("written on", j.Slurm.NodeList)
	}
	return e.WithCode(errs.NotFound).WithAdvice("the file is on the node that runs the script; write the output to a file system that the nodes share")
}
