// Package patch changes jobs that exist: holds them back, lets them go on, ranks
// them anew.
package patch

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// API is what patching needs of a cluster; *kube.Client has it.
type API interface {
	Get(ctx context.Context, r kinds.Resource, namespace, name string, into any) error
	Change(ctx context.Context, r kinds.Resource, namespace, name string, t kube.PatchType, body any, o kube.ChangeOptions, into any) error
	Update(ctx context.Context, r kinds.Resource, namespace, name string, body any, o kube.ChangeOptions, into any) error
}

// Target is the job to change and what Kueue knows of it.
type Target struct {
	Job      state.Job
	Workload *state.Workload
	// WorkloadResource is the Workload's kind at the version that is served.
	WorkloadResource kinds.Resource
}

// Result says what a change did.
type Result struct {
	// Changed is false when everything was as wanted already.
	Changed bool
	// Field is what was set, for people: "spec.active of Workload x".
	Field string
}

// PlanSuspend says what Suspend would do, and why it would not, from what is known
// of the target alone.
func PlanSuspend(t Target, on bool) (Result, error) {
	s := jobs.StatusOf(t.Job, t.Workload, nil)
	if s.State.Finished() {
		return Result{}, errs.New(fmt.Sprintf("job %s is over", t.Job.Name), "it "+map[jobs.State]string{jobs.Succeeded: "succeeded", jobs.Failed: "failed"}[s.State])
	}
	if w := t.Workload; w != nil {
		return Result{Changed: w.Active == on, Field: "spec.active of Workload " + w.Name}, nil
	}
	if t.Job.Queue() != "" && t.WorkloadResource.Plural != "" {
		return Result{}, errs.New(fmt.Sprintf("job %s has no Workload yet", t.Job.Name), "Kueue has not taken it up, and would undo a change of the job itself").
			WithTry("hyperpod get-job " + t.Job.Name + " -n " + t.Job.Namespace)
	}
	return Result{Changed: t.Job.Suspended != on, Field: "the suspend field of the job"}, nil
}

// Suspend holds a job back (on) or lets it go on: by its Workload where Kueue has
// one, else by the job's own suspend field.
func Suspend(ctx context.Context, c API, t Target, on, dryRun bool) (Result, error) {
	r, err := PlanSuspend(t, on)
	if err != nil || !r.Changed {
		return r, err
	}
	o := kube.ChangeOptions{DryRun: dryRun}
	if w := t.Workload; w != nil {
		body := map[string]any{"spec": map[string]any{"active": !on}}
		return r, c.Change(ctx, t.WorkloadResource, w.Namespace, w.Name, kube.MergePatch, body, o, nil)
	}
	return r, set(ctx, c, t.Job, o, on, t.Job.Kind.SuspendPath...)
}

// PlanPriority says what Priority would do, and why it would not.
func PlanPriority(t Target, class string) (Result, error) {
	r := Result{Changed: t.Job.Labels[kinds.PriorityLabel] != class, Field: "label " + kinds.PriorityLabel}
	if r.Changed && jobs.StatusOf(t.Job, t.Workload, nil).State.Finished() {
		return Result{}, errs.New(fmt.Sprintf("job %s is over", t.Job.Name), "its priority matters no more")
	}
	return r, nil
}

// Priority gives a job another priority class.
func Priority(ctx context.Context, c API, t Target, class string, dryRun bool) (Result, error) {
	r, err := PlanPriority(t, class)
	if err != nil || !r.Changed {
		return r, err
	}
	return r, set(ctx, c, t.Job, kube.ChangeOptions{DryRun: dryRun}, class, "metadata", "labels", kinds.PriorityLabel)
}

// set changes one field of a job: by a patch, or, for those who may update and
// not patch (the roles of task governance), by replacing the whole object.
func set(ctx context.Context, c API, j state.Job, o kube.ChangeOptions, value any, path ...string) error {
	err := c.Change(ctx, j.Kind.Resource, j.Namespace, j.Name, kube.MergePatch, nested(value, path), o, nil)
	if !kube.IsForbidden(err) {
		return err
	}
	object := map[string]any{}
	if err := c.Get(ctx, j.Kind.Resource, j.Namespace, j.Name, &object); err != nil {
		return err
	}
	if uid := kinds.Text(object, "metadata", "uid"); uid != j.UID {
		return errs.New(fmt.Sprintf("job %s was replaced by another of its name meanwhile", j.Name), "nothing was changed")
	}
	put(object, value, path)
	if updated := c.Update(ctx, j.Kind.Resource, j.Namespace, j.Name, object, o, nil); !kube.IsForbidden(updated) {
		return updated
	}
	return err
}

func nested(value any, path []string) map[string]any {
	out := map[string]any{}
	put(out, value, path)
	return out
}

func put(o map[string]any, value any, path []string) {
	for _, key := range path[:len(path)-1] {
		next, ok := o[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[key] = next
		}
		o = next
	}
	o[path[len(path)-1]] = value
}
