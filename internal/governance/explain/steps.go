package explain

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// StepCode is what a NextStep does.
type StepCode string

// The codes.
const (
	// ReadLog shows the log of Pod, which was the first to fail.
	ReadLog StepCode = "ReadLog"
	// OtherImage starts the job again with an image that can be pulled.
	OtherImage StepCode = "OtherImage"
	// CancelJob releases the quota that the job holds while its pods cannot start.
	CancelJob StepCode = "CancelJob"
)

// NextStep is something to do about a job that failed or whose pods cannot start. Package
// present/explanation fills in Message and Command.
type NextStep struct {
	Code StepCode
	// Pod, Role and Container are what failed, for ReadLog. Container is "" if the pod has one container.
	Pod       string `json:",omitempty"`
	Role      string `json:",omitempty"`
	Container string `json:",omitempty"`
	Message   string
	Command   string
}

// nextSteps sets what to do about the job's pods. It leaves out what the user has no permission for.
func (e *Explanation) nextSteps(ctx context.Context, q Question) {
	s := jobs.State(e.State)
	if pending(s) || s == jobs.Succeeded {
		return
	}
	if p, ok := pick.FirstFailed(pick.Placed(q.Job, q.Pods)); ok {
		// A pod that was evicted from its node has no log.
		if _, t, _ := p.Failure(); t.Ended != "" {
			step := NextStep{Code: ReadLog, Pod: p.Name, Role: p.Role}
			if len(p.Containers) > 1 {
				step.Container = t.Container
			}
			e.NextSteps = append(e.NextSteps, step)
		}
	}
	if s.Finished() {
		return
	}
	resource := q.Job.Kind.Resource
	image, stuck := stuckPods(q.Pods)
	if image && q.may(ctx, "delete", resource) && q.may(ctx, "create", resource) && q.repeats() {
		e.NextSteps = append(e.NextSteps, NextStep{Code: OtherImage})
	}
	if stuck && len(e.Holds) > 0 && q.may(ctx, "delete", resource) {
		e.NextSteps = append(e.NextSteps, NextStep{Code: CancelJob})
	}
}

// stuckPods reports whether a pod cannot pull its image, and whether one cannot start before somebody changes the job or
// an object that it names. A container that crashes has started.
func stuckPods(pods []state.Pod) (image, stuck bool) {
	for _, p := range pods {
		t := jobs.TroubleOf(p)
		switch {
		case p.DeletionTimestamp != nil || t.Reason == "CrashLoopBackOff":
		case t.Reason == "ErrImagePull", t.Reason == "ImagePullBackOff", t.Reason == "InvalidImageName", t.Reason == "ErrImageNeverPull":
			image, stuck = true, true
		case t.Stuck():
			stuck = true
		}
	}
	return image, stuck
}

// repeats reports whether start-job --from can repeat the job.
func (q *Question) repeats() bool {
	if q.Make == nil {
		return true
	}
	_, _, err := q.Make(remedy.Change{})
	return err == nil
}
