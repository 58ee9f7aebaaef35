package canceljob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/cancel"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// target is one job to cancel.
type target struct {
	kind                 kinds.Job
	namespace, name, uid string
	state                jobs.State // "" if it was chosen by name
	reason               string     // of the state, as the queue or the cluster words it
	team, by             string     // whose quota it uses, who started it; "" if not known
	created              time.Time
	with                 []submit.Ref
	group                string // the pod group of a pod, "" for none
	// removed and left are the objects of with that were deleted, and that were not.
	removed, left []string
}

// Schema is the name and version of the JSON of cancel-job. Fields may be added within a
// version.
const Schema = "hyperpod.cancel-job/v1"

// Document is what cancel-job did.
type Document struct {
	Schema string
	DryRun string // none, client or server
	Jobs   []Cancelled
}

// List returns the rows of custom-columns.
func (d Document) List() any { return d.Jobs }

// Cancelled is a job that was cancelled, or would be.
type Cancelled struct {
	Name      string
	Namespace string
	Kind      string
	UID       string
	// Team and CreatedBy are whose quota it uses and who started it, null if not known.
	Team      *string
	CreatedBy *string
	// AlsoDeleted and NotDeleted are the objects that were submitted with the job.
	AlsoDeleted, NotDeleted []string
}

// report prints the document, where -o asks for one.
func (o *Options) report(gone []target) error {
	format, err := o.Factory.Format()
	if err != nil || o.Factory.Global.Output == "" || format.Name == output.NameFormat {
		return err
	}
	d := Document{Schema: Schema, DryRun: o.DryRun, Jobs: []Cancelled{}}
	for _, t := range gone {
		d.Jobs = append(d.Jobs, Cancelled{Name: t.name, Namespace: t.namespace, Kind: t.kind.Kind, UID: t.uid, Team: jobs.OrNull(t.team), CreatedBy: jobs.OrNull(t.by),
			AlsoDeleted: append([]string{}, t.removed...), NotDeleted: append([]string{}, t.left...)})
	}
	return output.Print(o.Factory.IO, format, d, nil, nil)
}

// Run cancels the jobs. As with kubectl, a name that no job has does not stop the
// others; Run reports it at the end.
func Run(ctx context.Context, o *Options) error {
	return factory.OnScheduler(ctx, o.Factory, o, runSlurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	_, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	end := f.Deadline(o.Timeout)
	choosing, stop := end.Bound(ctx)
	defer stop()
	found, err := o.choose(choosing, cluster)
	if err != nil {
		return err
	}
	targets, failed := found.targets, found.failed
	if len(targets) == 0 {
		if failed == nil && len(o.Names) == 0 {
			f.Notef("note: no jobs found: nothing was cancelled")
		}
		if others := found.otherReasons(); len(o.Reasons) > 0 && others != "" {
			f.Notef("note: reasons of the jobs: %s", others)
		}
		return errs.Also(o.report(nil), failed)
	}
	if o.AllNamespaces {
		o.announce(targets, cluster.Now())
	}
	if targets, err = o.confirmed(ctx, targets); err != nil {
		return errs.Also(failed, err)
	}
	end = f.Deadline(o.Timeout) // the answer to the prompt took its own time
	deleting, stop := end.Bound(ctx)
	defer stop()
	var gone []target
	for _, t := range targets {
		if err := o.cancel(deleting, cluster, &t); err != nil {
			failed = errs.Also(failed, err)
			if deleting.Err() != nil {
				break
			}
			continue
		}
		gone = append(gone, t)
	}
	if o.DryRun == factory.DryRunNone {
		failed = errs.Also(failed, o.release(deleting, cluster, gone))
	}
	if err := o.report(gone); err != nil {
		return errs.Also(failed, err)
	}
	if o.Wait && o.DryRun == factory.DryRunNone && deleting.Err() == nil {
		if err := o.await(ctx, cluster, gone, end); err != nil {
			return errs.Also(failed, err)
		}
	}
	return failed
}

// release makes Kueue release the quota of pod groups whose last pods were cancelled, and says what other groups wait for.
func (o *Options) release(ctx context.Context, c *factory.Cluster, gone []target) (failed error) {
	done := map[[2]string]bool{}
	for _, t := range gone {
		key := [2]string{t.namespace, t.group}
		if t.group == "" || done[key] || ctx.Err() != nil {
			continue
		}
		done[key] = true
		left, err := cancel.Release(ctx, c.Client, t.namespace, t.group)
		switch {
		case err != nil:
			failed = errs.Also(failed, errs.Wrap(err, fmt.Sprintf("pod group %s keeps its quota until its Workload is deleted", t.group)).
				Suggest(suggest.DeleteGroup(t.namespace, t.group)))
		case len(left) > 0:
			o.Factory.Notef("note: pod group %s keeps its quota: Kueue waits for a new pod in place of each cancelled one, until you cancel %s too", t.group, words.Some(left, 4))
		}
	}
	return failed
}

// await waits until the jobs are deleted. The timeout counts for all of them together.
func (o *Options) await(ctx context.Context, c *factory.Cluster, gone []target, end factory.Deadline) error {
	for i, t := range gone {
		_, err := waitjob.Until(ctx, o.Factory, c, wait.Request{Kind: t.kind, Namespace: t.namespace, Name: t.name, UID: t.uid, Goal: wait.Deleted,
			Timeout: end.Left(), Given: end.Limit(), Once: end.Once()})
		var missed *wait.Unmet
		if errors.As(err, &missed) && missed.Outcome == wait.TimedOut {
			e := &errs.Error{What: fmt.Sprintf("job %s still exists", t.name), Code: errs.Timeout,
				Try: []errs.Suggestion{errs.Run("wait-job", t.name, "-n", t.namespace, "--for", "deleted")}}
			if !end.Once() {
				e.What += " after " + end.Limit().String()
			}
			if len(gone) > 1 {
				e.Why = fmt.Sprintf("%d of %d jobs are deleted", i, len(gone))
			}
			return e
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cancel deletes one job and the objects that belong to it, and reports it.
func (o *Options) cancel(ctx context.Context, c *factory.Cluster, t *target) error {
	f := o.Factory
	if o.DryRun == factory.DryRunClient {
		return o.print("Would cancel job %s (%s in %s)", t, t.name, t.kind.Kind, t.namespace)
	}
	j := cancel.Job{Kind: t.kind, Namespace: t.namespace, Name: t.name, UID: t.uid, With: t.with}
	err := cancel.Delete(ctx, c.Client, j, o.DryRun == factory.DryRunServer)
	if kube.IsNotFound(err) && o.IgnoreNotFound {
		return nil
	}
	if err != nil {
		return errs.Wrap(err, "cannot cancel job "+t.name)
	}
	if o.DryRun == factory.DryRunServer {
		return o.print("Cancelled job %s%s", t, t.name, factory.DryRunSuffix(o.DryRun))
	}
	t.removed, t.left = cancel.DeleteTogether(ctx, c.Client, j)
	if err := o.print("Cancelled job %s", t, t.name); err != nil {
		return err
	}
	if len(t.removed) > 0 {
		f.Notef("note: also deleted: %s", words.Some(t.removed, 10))
	}
	for _, l := range t.left {
		f.Notef("warning: not deleted: %s", l)
	}
	return nil
}

// print prints the sentence, or with -o name the object; the document comes at the end.
func (o *Options) print(sentence string, t *target, args ...any) error {
	return o.Factory.PrintDone(fmt.Sprintf(sentence, args...), t.kind.ObjectName(t.name))
}
