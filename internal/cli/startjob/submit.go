package startjob

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

// submit creates the objects of the job and waits for it as --wait and --follow say.
func (r *run) submit(ctx context.Context, j job) error {
	o, f := r.options, r.factory
	req, err := r.request(ctx, j)
	if err != nil {
		return err
	}
	if err := r.mayFill(ctx, j); err != nil {
		return err
	}
	foreseen := r.foresee(ctx, j)
	if ok, err := r.confirmed(ctx, foreseen); !ok {
		return err
	}
	end := f.Deadline(o.Timeout)
	if err := r.fillClaim(ctx, j, end); err != nil {
		return err
	}
	if o.Replace {
		if err := r.deleteExisting(ctx, req, end); err != nil {
			return err
		}
	}
	creating, stop := end.Bound(ctx)
	defer stop()
	done, err := submitted(creating, r.cluster, req)
	if err != nil {
		return placeRefused(ctx, j, err)
	}
	if done.Reused {
		f.Notef("note: an earlier start with this idempotency key created the job")
	}
	switch {
	case req.DryRun:
		return r.print(done.Objects, "server dry run")
	case f.Global.Output != "":
		err = r.print(toldApart(done, req), "")
	default:
		err = r.printResult(done, j)
	}
	if err != nil {
		return err
	}
	if err := f.IO.Flush(); err != nil {
		return err
	}
	if !done.Reused {
		r.say(foreseen)
	}
	if o.Wait == "" && !o.Follow {
		return nil
	}
	return r.await(ctx, req.Objects[j.Job], done.Objects[j.Job], end)
}

// submitted submits, and words the error.
func submitted(ctx context.Context, c *factory.Cluster, req submit.Request) (submit.Result, error) {
	done, err := submit.Submit(ctx, c, req)
	return done, jobtext.Error(err)
}

// request returns the submission of a job.
func (r *run) request(ctx context.Context, j job) (submit.Request, error) {
	o := r.options
	req := submit.Request{
		Namespace: j.namespace, Key: o.IdempotencyKey, DryRun: o.DryRun == factory.DryRunServer, Job: j.Job, Replace: o.Replace,
		Manager: "hyperpod-" + strings.ToLower(rand.Text()[:10]),
	}
	for _, body := range j.Objects {
		res, err := discovery.ResourceOf(ctx, r.cluster.Client, body)
		if err != nil {
			return req, err
		}
		req.Objects = append(req.Objects, submit.Object{Resource: res, Body: body})
	}
	return req, nil
}

// deleteExisting deletes a job of the same name and waits until it is gone, for --replace. Objects that were submitted
// with it are deleted with it.
func (r *run) deleteExisting(ctx context.Context, req submit.Request, end factory.Deadline) error {
	if req.Job < 0 || req.DryRun {
		return nil
	}
	job := req.Objects[req.Job]
	kind, ok := kinds.JobFor(job.Resource.GroupVersion(), job.Resource.Kind)
	if !ok {
		return nil
	}
	kind.Resource = job.Resource
	asking, stop := end.Bound(ctx)
	defer stop()
	found := map[string]any{}
	err := r.cluster.Get(asking, job.Resource, req.Namespace, job.Name(), &found)
	if kube.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if req.Key != "" && kinds.Text(found, "metadata", "annotations", kinds.IdempotencyAnnotation) == req.Key {
		return nil // an earlier try of this start created it
	}
	if err := rehearse(asking, r.cluster, req, found); err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not replaced", job.Name()))
	}
	uid := kinds.Text(found, "metadata", "uid")
	if err := r.cluster.Delete(asking, job.Resource, req.Namespace, job.Name(), kube.DeleteOptions{UID: uid, Propagation: "Background"}); err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not replaced", job.Name()))
	}
	_, err = waitjob.Until(ctx, r.factory, r.cluster, wait.Request{Kind: kind, Namespace: req.Namespace, Name: job.Name(), UID: uid, Goal: wait.Deleted,
		Timeout: end.Left(), Given: end.Limit(), Once: end.Once()})
	return err
}

// rehearse lets the API server validate the objects that replace a job, before the job is deleted. The job and the objects
// that are deleted with it still exist, so their replacements are validated under other names.
func rehearse(ctx context.Context, c *factory.Cluster, req submit.Request, old map[string]any) error {
	gone := submit.Together(annotations(old))
	objects := make([]submit.Object, len(req.Objects))
	for i, o := range req.Objects {
		objects[i] = submit.Object{Resource: o.Resource, Body: runtime.DeepCopyJSON(o.Body)}
		if i == req.Job || slices.Contains(gone, submit.Ref{APIVersion: o.Resource.GroupVersion(), Kind: o.Resource.Kind, Name: o.Name()}) {
			short := o.Name()[:min(len(o.Name()), 50)] // some kinds limit names to 63 characters
			objects[i].Body["metadata"].(map[string]any)["name"] = short + "-" + strings.ToLower(rand.Text()[:8])
		}
	}
	req.Objects, req.DryRun, req.Key = objects, true, ""
	_, err := submitted(ctx, c, req)
	return err
}
