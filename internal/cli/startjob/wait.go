package startjob

import (
	"context"
	"fmt"
	"time"

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
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// logFollower prints the log of a job that was just started until the job ends,
// and returns the job's verdict.
type logFollower func(ctx context.Context, f *factory.Factory, c *factory.Cluster, kind kinds.Job, namespace, name string) error

// followLog prints the log of the pod that matters.
func followLog(ctx context.Context, f *factory.Factory, c *factory.Cluster, kind kinds.Job, namespace, name string) error {
	job, err := state.GetJob(ctx, c.Client, kind, namespace, name)
	if err != nil {
		return err
	}
	all := ""
	if jobs.Wanted(job) > 1 {
		all = "hyperpod get-log " + name + " -n " + namespace + f.ClusterFlags() + " --all-pods -f"
	}
	view := logview.New(f, logview.Options{Job: name, Follow: true, AllShownBy: all})
	result, err := logs.Engine{Client: c.Client, Missing: f.Missing}.Read(ctx, logs.Query{Job: job, Follow: true, Parts: true}, view)
	view.Close()
	if err != nil {
		return err
	}
	return logview.Verdict(name, result)
}

// left is what is left of --timeout, which is for the whole run: 0 where none was
// given, never 0 where it is over.
func (o *Options) left() time.Duration {
	if o.Timeout == 0 {
		return 0
	}
	return max(o.end.Sub(o.Factory.Now()), time.Nanosecond)
}

// await waits for the job as --wait says, and then follows its log as --follow
// says. A job that a person holds back is not waited for.
func (o *Options) await(ctx context.Context, c *factory.Cluster, object submit.Object, created map[string]any) error {
	kind, ok := kinds.JobFor(object.Resource.GroupVersion(), object.Resource.Kind)
	if !ok {
		return errs.New("nothing to wait for", object.String()+" is not of a kind that is known")
	}
	kind.Resource = object.Resource
	r := wait.Request{Kind: kind, Namespace: kinds.Text(created, "metadata", "namespace"), Name: object.Name(), UID: kinds.Text(created, "metadata", "uid"),
		Goal: wait.Goal(o.Wait), Timeout: o.left(), Given: o.Timeout, UntilHeld: true}
	if r.Goal == "" {
		r.Goal = wait.Running
	}
	f := o.Factory
	last, err := waitjob.Until(ctx, f, c, r)
	if err != nil && !(o.Follow && last.Status.State == jobs.Failed) {
		return err
	}
	output.NewProgress(f.IO).Done(fmt.Sprintf("%s is %s", r.Name, last.Status.State))
	if !o.Follow {
		return last.Failure()
	}
	return o.logs(ctx, f, c, kind, r.Namespace, r.Name)
}
