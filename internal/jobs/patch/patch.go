// Package patch suspends, resumes and reprioritizes jobs.
package patch

import (
	"context"
	"strings"

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

// Target is the job to change and its Workload.
type Target struct {
	Job      state.Job
	Workload *state.Workload
	// WorkloadResource is the Workload's kind at the version that is served.
	WorkloadResource kinds.Resource
}

// Result is what a change did.
type Result struct {
	// Changed is false if nothing had to change.
	Changed bool
	// Field is what was set, for people: "spec.active of Workload x".
	Field string
}

// ErrorCode is why a job cannot be changed.
type ErrorCode string

// The codes of errors.
const (
	Ended      ErrorCode = "Ended"      // the job has ended: State
	NoEffect   ErrorCode = "NoEffect"   // the job has ended, and its priority has no effect
	NoWorkload ErrorCode = "NoWorkload" // Kueue would undo a change of the job itself
	NoSuspend  ErrorCode = "NoSuspend"  // the kind cannot be suspended: its pods have Workloads of their own
	Replaced   ErrorCode = "Replaced"   // another job has the name now
)

// Error is why a job cannot be changed. Package present/jobtext words it.
type Error struct {
	Code  ErrorCode
	Job   state.Job
	State jobs.State
}

func (e *Error) Error() string { return "job " + e.Job.Name + ": " + string(e.Code) }

// PlanSuspend returns what Suspend would do, from the target alone, or why it cannot.
func PlanSuspend(t Target, on bool) (Result, error) {
	s := jobs.StatusOf(t.Job, t.Workload, nil)
	if s.State.Finished() {
		return Result{}, &Error{Code: Ended, Job: t.Job, State: s.State}
	}
	if stop := t.Job.Kind.Stop; stop != nil {
		return Result{Changed: (jobs.WantedPods(t.Job) == 0) != on, Field: strings.Join(stop.At, ".") + " of the job"}, nil
	}
	if k := t.Job.Kind; k.Itself || k.OnePod || len(k.GroupsAt) > 0 {
		return Result{}, &Error{Code: NoSuspend, Job: t.Job}
	}
	if w := t.Workload; w != nil {
		return Result{Changed: w.Active == on, Field: "spec.active of Workload " + w.Name}, nil
	}
	if t.Job.Queue() != "" && t.WorkloadResource.Plural != "" {
		return Result{}, &Error{Code: NoWorkload, Job: t.Job}
	}
	if len(t.Job.Kind.SuspendPath) == 0 {
		return Result{}, &Error{Code: NoSuspend, Job: t.Job}
	}
	return Result{Changed: t.Job.Suspended != on, Field: "the suspend field of the job"}, nil
}

// Suspend suspends a job (on) or resumes it: through the field that stops objects of its kind, its Workload
// if Kueue has one, or else the job's suspend field.
func Suspend(ctx context.Context, c API, t Target, on, dryRun bool) (Result, error) {
	r, err := PlanSuspend(t, on)
	if err != nil || !r.Changed {
		return r, err
	}
	o := kube.ChangeOptions{DryRun: dryRun}
	if stop := t.Job.Kind.Stop; stop != nil {
		word := stop.Runs
		if on {
			word = stop.Stopped
		}
		return r, set(ctx, c, t.Job, o, word, stop.At...)
	}
	if w := t.Workload; w != nil {
		body := map[string]any{"spec": map[string]any{"active": !on}}
		return r, c.Change(ctx, t.WorkloadResource, w.Namespace, w.Name, kube.MergePatch, body, o, nil)
	}
	return r, set(ctx, c, t.Job, o, on, t.Job.Kind.SuspendPath...)
}

// PlanPriority returns what Priority would do, or why it cannot.
func PlanPriority(t Target, class string) (Result, error) {
	r := Result{Changed: t.Job.Labels[kinds.PriorityLabel] != class, Field: "label " + kinds.PriorityLabel}
	if r.Changed && jobs.StatusOf(t.Job, t.Workload, nil).State.Finished() {
		return Result{}, &Error{Code: NoEffect, Job: t.Job}
	}
	return r, nil
}

// Priority changes the priority class of a job.
func Priority(ctx context.Context, c API, t Target, class string, dryRun bool) (Result, error) {
	r, err := PlanPriority(t, class)
	if err != nil || !r.Changed {
		return r, err
	}
	return r, set(ctx, c, t.Job, kube.ChangeOptions{DryRun: dryRun}, class, "metadata", "labels", kinds.PriorityLabel)
}

// set changes one field of a job with a patch. If the user has permission to update but
// not to patch (the roles of task governance), it replaces the whole object.
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
		return &Error{Code: Replaced, Job: j}
	}
	kinds.Set(object, value, path...)
	if updated := c.Update(ctx, j.Kind.Resource, j.Namespace, j.Name, object, o, nil); !kube.IsForbidden(updated) {
		return updated
	}
	return err
}

func nested(value any, path []string) map[string]any {
	out := map[string]any{}
	kinds.Set(out, value, path...)
	return out
}
