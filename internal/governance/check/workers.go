package check

import (
	"context"
	"errors"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Details of a verdict that worker clusters of MultiKueue decide.
const (
	// WorkersWait means that a worker cluster would admit the job later.
	WorkersWait = "WorkersWait"
	// WorkersRefuse means that Kueue cannot send jobs of this kind to worker clusters.
	WorkersRefuse = "WorkersRefuse"
	// WorkersNever means that no worker cluster can admit the job.
	WorkersNever = "WorkersNever"
	// WorkerUnread means that a worker cluster may admit the job, and its answer is not known.
	WorkerUnread = "WorkerUnread"
)

// WorkersError says that it is not known which worker clusters there are.
type WorkersError struct{ Err error }

// Error returns the cause.
func (e *WorkersError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WorkersError) Unwrap() error { return e.Err }

// Remote is a worker cluster of MultiKueue.
type Remote struct {
	// Name is the name of its MultiKueueCluster.
	Name string
	// In is what was read of it, Found what it has of what the pods need.
	In    *inputs.Inputs
	Found *prerequisite.Found
	// Inactive is why Kueue sends no jobs there, "" if it does.
	Inactive string
	// Unread is why In is nil, where Kueue does send jobs there.
	Unread string
	// After is how long Kueue first tries other workers (its incremental dispatcher).
	After time.Duration
}

// Worker is what a worker cluster would decide about the job.
type Worker struct {
	Name string
	// Verdict is its own; Unknown where it could not be asked, Waits while Kueue sends it no jobs.
	Verdict Outcome
	Reason  string `json:",omitempty"`
	Detail  string `json:",omitempty"`
	// Summary is the verdict in words, without the verdict and the name.
	Summary string
	// PreemptsTotal is the number of jobs that the job would preempt there.
	PreemptsTotal int `json:",omitempty"`
	// AfterSeconds is how long Kueue tries other workers first.
	AfterSeconds int64 `json:",omitempty"`

	// Answer is the whole verdict, nil where the worker was not asked: Problem says why.
	Answer  *Verdict `json:"-"`
	Problem string   `json:"-"`
}

// remoteCheck is an admission check of MultiKueue.
type remoteCheck struct {
	*kueue.AdmissionCheck
	always bool // whatever flavor a job gets
}

// remoteChecks returns the admission checks of MultiKueue of a ClusterQueue.
func (c *Checker) remoteChecks(clusterQueue string) (remote []remoteCheck) {
	cq := c.In.ClusterQueue(clusterQueue)
	if cq == nil || cq.Spec.AdmissionChecksStrategy == nil {
		return nil
	}
	for _, rule := range cq.Spec.AdmissionChecksStrategy.AdmissionChecks {
		i := slices.IndexFunc(c.In.AdmissionChecks, func(a *kueue.AdmissionCheck) bool { return a.Name == string(rule.Name) })
		if i >= 0 && c.In.AdmissionChecks[i].Spec.ControllerName == kueue.MultiKueueControllerName {
			remote = append(remote, remoteCheck{c.In.AdmissionChecks[i], len(rule.OnFlavors) == 0})
		}
	}
	return remote
}

// elsewhere reports that the pods of a job run on a worker cluster.
func (c *Checker) elsewhere(v *Verdict) bool { return len(c.remoteChecks(v.Job.ClusterQueue)) > 0 }

// askWorkers completes the verdict on a job that gets its quota here, and that a worker cluster has to admit, too. Each worker
// gets a copy of the Workload, after all other admission checks have passed.
func (c *Checker) askWorkers(ctx context.Context, r *Request, v *Verdict) error {
	if c.refused(v) {
		v.Quota.NotModelled = nil
		v.Verdict, v.Reason, v.Detail = Never, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks, WorkersRefuse
		v.ETA, v.Holders, v.HoldersTotal, v.HoldersRest, v.Remedies = nil, nil, 0, nil, nil // quota does not help
		return nil
	}
	v.workersUnasked = r.Workers == nil && slices.Contains(v.Quota.NotModelled, admission.NotModelledMultiKueue)
	remote := c.RemoteCheck(v.Job.ClusterQueue) // Kueue supports one
	if r.Workers == nil || remote == nil || !slices.Contains(v.checks, remote.Name) {
		return nil
	}
	alone := len(v.checks) == 1
	decide := alone && slices.Equal(v.Quota.NotModelled, []string{admission.NotModelledMultiKueue}) && v.Verdict == Unknown && v.Reason == NotModelled
	waits := !alone && len(v.Quota.NotModelled) == 0 && v.Verdict == Waits && v.Reason == kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
	if !decide && !waits {
		return nil
	}
	answers, err := c.Workers(ctx, r, v.workload, remote)
	if unread := (*WorkersError)(nil); errors.As(err, &unread) && ctx.Err() == nil {
		v.Submission = append(v.Submission, Step{Check: "Workers", Status: StatusUnknown, Message: unread.Error()})
		return nil
	} else if err != nil {
		return err
	}
	v.Workers = answers
	v.Rules.Notes = slices.DeleteFunc(slices.Clone(v.Rules.Notes), func(n inputs.Note) bool {
		return n.Warning != nil && n.Warning.Code == admission.MultiKueueCheck && n.Warning.Name == remote.Name
	})
	if decide || together(v.Workers) == Never {
		v.byWorkers()
	}
	return nil
}

// refused reports whether MultiKueue refuses the job because of its kind, once it has its quota here.
func (c *Checker) refused(v *Verdict) bool {
	if k, ok := kinds.JobNamed(v.Job.Kind); !ok || !k.OneCluster {
		return false
	}
	return slices.ContainsFunc(c.remoteChecks(v.Job.ClusterQueue), func(r remoteCheck) bool {
		return slices.Contains(v.checks, r.Name) || r.always && v.Verdict == Waits
	})
}

// RemoteCheck returns the admission check of MultiKueue of a ClusterQueue, nil without one.
func (c *Checker) RemoteCheck(clusterQueue string) *kueue.AdmissionCheck {
	if remote := c.remoteChecks(clusterQueue); len(remote) == 1 {
		return remote[0].AdmissionCheck
	}
	return nil
}

// Workers asks the worker clusters of an admission check about a workload. It must be the last question to a Checker, as it
// makes engines with the feature gates of other clusters. The error is a [WorkersError] if it is not known which there are.
func (c *Checker) Workers(ctx context.Context, r *Request, wl *kueue.Workload, of *kueue.AdmissionCheck) ([]Worker, error) {
	list, err := r.Workers(ctx, of, wl.Status.NominatedClusterNames)
	if err != nil {
		return nil, err
	}
	out := []Worker{}
	for _, w := range list {
		answer, err := w.ask(ctx, r, wl)
		if err != nil {
			return nil, err
		}
		out = append(out, answer)
	}
	return out, nil
}

// ask returns the verdict of one worker on a workload.
func (w *Remote) ask(ctx context.Context, r *Request, wl *kueue.Workload) (Worker, error) {
	out := Worker{Name: w.Name, AfterSeconds: int64(w.After / time.Second)}
	switch {
	case w.Inactive != "":
		out.Verdict, out.Problem = Waits, w.Inactive
		return out, nil
	case w.In == nil:
		out.Verdict, out.Problem = Unknown, w.Unread
		return out, nil
	}
	c, err := New(ctx, w.In)
	if err != nil {
		return out, err
	}
	if copied := w.In.Workload(wl.Namespace, wl.Name); copied != nil {
		wl = copied // Kueue has sent it already
	} else {
		wl = wl.DeepCopy()
		wl.Status = kueue.WorkloadStatus{}
	}
	v, err := c.whole(ctx, Request{Object: r.Object, Group: r.Group, Namespace: r.Namespace, Workload: wl, Found: w.Found})
	if err != nil {
		return out, err
	}
	out.Answer, out.Verdict, out.Reason, out.Detail, out.PreemptsTotal = v, v.Verdict, v.Reason, v.Detail, v.Quota.PreemptsTotal
	return out, nil
}

// together returns what the workers decide together: the first one that admits the job runs it.
func together(workers []Worker) Outcome {
	if len(workers) == 0 {
		return Waits // an administrator can add some
	}
	best := Never
	for _, w := range workers {
		o := w.Verdict
		if o == Admitted && w.AfterSeconds > 0 {
			o = Waits
		}
		switch {
		case o == Admitted, best != Admitted && o == Unknown, best == Never && o == Waits:
			best = o
		}
	}
	return best
}

// byWorkers concludes what the workers decide.
func (v *Verdict) byWorkers() {
	v.Quota.NotModelled = nil
	best := together(v.Workers)
	q := &v.Quota // this cluster has it
	if q.Status, q.Reason, q.Message = StatusOK, "", ""; q.Outcome == string(admission.Waits) {
		q.Outcome = string(admission.Admitted)
	}
	switch v.Verdict, v.Reason, v.Detail = best, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks, ""; best {
	case Admitted:
		v.Reason = ""
	case Unknown:
		v.Reason, v.Detail = NotReadable, WorkerUnread
	case Waits:
		v.Detail = WorkersWait
	case Never:
		v.Detail = WorkersNever
	}
}

// AdmittedBy returns the workers that would admit the job now.
func (v *Verdict) AdmittedBy() (out []*Worker) {
	for i := range v.Workers {
		if w := &v.Workers[i]; w.Verdict == Admitted && w.AfterSeconds == 0 {
			out = append(out, w)
		}
	}
	return out
}
