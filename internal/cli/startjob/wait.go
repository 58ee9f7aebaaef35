package startjob

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// logFollower prints the log of a started job until the job ends. It returns an error if the job failed.
type logFollower func(ctx context.Context, f *factory.Factory, c *factory.Cluster, kind kinds.Job, namespace, name string) error

// followLog returns the logFollower of the command. It prints the log of the pod that reports for the job.
func followLog(ctx context.Context, f *factory.Factory, c *factory.Cluster, kind kinds.Job, namespace, name string) error {
	job, err := state.GetJob(ctx, c.Client, kind, namespace, name)
	if err != nil {
		return err
	}
	var all errs.Suggestion
	if jobs.WantedPods(job) > 1 {
		all = suggest.GetLog(namespace, name).WithArgs("--all-pods", "-f")
	}
	view := logview.New(f, logview.Options{Job: name, Follow: true, AllShownBy: all})
	result, err := logs.Engine{Client: c.Client, Missing: f.Missing}.Read(ctx, logs.Query{Job: job, Follow: true, Parts: true}, view)
	view.Close()
	if err != nil {
		return jobtext.Error(err)
	}
	return logview.Verdict(name, result)
}

// await waits for the job as --wait says, and then follows its log as --follow says. It does not wait for a suspended job.
func (r *run) await(ctx context.Context, object submit.Object, created map[string]any, end factory.Deadline) error {
	kind, ok := kinds.JobFor(object.Resource.GroupVersion(), object.Resource.Kind)
	if !ok {
		return errs.New("cannot wait for "+object.String(), "it is not a job of a known kind")
	}
	kind.Resource = object.Resource
	req := wait.Request{Kind: kind, Namespace: kinds.Text(created, "metadata", "namespace"), Name: object.Name(), UID: kinds.Text(created, "metadata", "uid"),
		Goal: wait.Goal(r.options.Wait), Timeout: end.Left(), Given: end.Limit(), Once: end.Once(), UntilHeld: true}
	if req.Goal == "" {
		req.Goal = wait.Running
	}
	target := wait.Target{Kind: kind, Namespace: req.Namespace, Name: req.Name, UID: req.UID}
	last, err := waitjob.Until(ctx, r.factory, r.cluster, req)
	r.options.Notify.Ended(ctx, r.factory, req, last, err)
	if err != nil && !(r.options.Follow && last.Status.State == jobs.Failed) {
		return r.interrupted(ctx, err, target, last.Status.State)
	}
	output.NewProgress(r.factory.IO).Done(fmt.Sprintf("%s is %s", req.Name, last.Status.State))
	if !r.options.Follow {
		return waitjob.Failure(last)
	}
	return r.interrupted(ctx, r.follow(ctx, r.factory, r.cluster, kind, req.Namespace, req.Name), target, last.Status.State)
}
