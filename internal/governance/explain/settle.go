package explain

import (
	"context"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// settle decides what the one reason is, from the most to the least telling
// circumstance, and says it.
func (e *Explanation) settle(ctx context.Context, q Question, wl *kueue.Workload, s jobs.Status) {
	v := e.Verdict
	reason := func(code, detail, summary string) { e.Reason, e.Detail, e.Summary = code, detail, summary }
	switch {
	case s.State.Finished() || s.State == jobs.Running || s.State == jobs.Restarting:
		e.Summary = s.Message
	case wl != nil && inputs.Reserves(wl):
		e.admitted(wl, s)
	case wl != nil && wl.Spec.Active != nil && !*wl.Spec.Active:
		reason(kueue.WorkloadDeactivated, "", "it is held back: hyperpod patch-job unsuspend "+e.Job.Name+" -n "+e.Job.Namespace+q.Flags+" lets it go on")
		if !q.may(ctx, "patch", kinds.Workload) {
			e.Summary = "it is held back, and you have no right to let it go on (patch workloads in " + e.Job.Namespace + ")"
		}
	case e.Place == nil && q.NoKueue:
		reason(NotQueued, "", "this cluster has no Kueue; the job waits for its operator or its pods")
		e.podsWhy()
	case e.Place == nil:
		reason(NotQueued, "", "it has no queue label, so Kueue does not manage it")
		if q.Job.Suspended {
			e.Summary = "it is suspended and has no queue label: nobody will start it"
			if q.mayChange(ctx, q.Job.Kind.Resource) {
				e.Notes = append(e.Notes, inputs.Note{Code: NotQueued, Message: "to let it start without Kueue: hyperpod patch-job unsuspend " + e.Job.Name + " -n " + e.Job.Namespace + q.Flags})
			}
		} else {
			e.podsWhy()
		}
	case wl == nil && v != nil && v.Verdict == check.Never:
		reason(v.Reason, v.Detail, v.Summary)
	case wl == nil:
		reason(NoWorkload, "", "Kueue has made no workload of it yet")
		if v != nil && v.Verdict == check.Admitted {
			e.Notes = append(e.Notes, inputs.Note{Code: NoWorkload, Message: "it " + v.Summary + ", once Kueue looks at it; is its job kind enabled in Kueue's integrations?"})
		}
	case backoff(wl, e.Time) != nil:
		at := backoff(wl, e.Time)
		reason(Backoff, "", fmt.Sprintf("it was evicted and is tried again at %s", at.UTC().Format("15:04:05 UTC")))
	case v == nil:
		e.Summary = s.Message
	case v.Verdict == check.Admitted && len(v.Quota.Preempts) == 0:
		reason(kueue.WorkloadQuotaReservedReasonPendingEvaluation, "", "nothing stands in its way: Kueue should admit it at its next look")
		if e.Kueue != nil && e.Kueue.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPodsReady {
			reason(e.Kueue.Reason, "", "Kueue waits until the pods of jobs admitted before are ready")
		}
	case v.Verdict == check.Admitted:
		reason(kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "", v.Summary)
	default:
		reason(v.Reason, v.Detail, v.Summary)
	}
	if v != nil && v.Detail == check.BehindOthers && e.Summary == "" {
		e.Summary = v.Summary
	}
}

// admitted speaks of a job that has its quota and does not run yet.
func (e *Explanation) admitted(wl *kueue.Workload, s jobs.Status) {
	if !apimeta.IsStatusConditionTrue(wl.Status.Conditions, kueue.WorkloadAdmitted) {
		e.Reason = kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
		e.Summary = "it has its quota and waits for admission checks"
		for _, c := range e.Checks {
			if c.State != string(kueue.CheckStateReady) {
				e.Summary = fmt.Sprintf("it has its quota and waits for admission check %s (%s)", c.Name, c.State)
				if c.Message != "" {
					e.Summary += ": " + c.Message
				}
				break
			}
		}
		return
	}
	e.Summary = "it is admitted and its pods are starting"
	e.podsWhy()
	if c := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadPodsReady); c != nil && c.Status == "False" {
		e.Reason = kueue.WorkloadQuotaReservedReasonWaitingForPodsReady
		e.Notes = append(e.Notes, inputs.Note{Code: e.Reason, Message: "Kueue evicts it if its pods are not ready in time (waitForPodsReady)"})
	}
}

// podsWhy lets the first problem of the pods speak.
func (e *Explanation) podsWhy() {
	for _, r := range e.Roles {
		if len(r.Problems) == 0 {
			continue
		}
		p := r.Problems[0]
		e.Reason = p.Reason
		e.Summary = fmt.Sprintf("%d of %d pods of %s: %s", p.Pods, r.Pods, r.Role, p.Reason)
		if p.Message != "" {
			e.Summary += ": " + p.Message
		}
		return
	}
}

// backoff is when an evicted workload is tried again; nil when that is not to come.
func backoff(wl *kueue.Workload, now time.Time) *time.Time {
	rs := wl.Status.RequeueState
	if rs == nil || rs.RequeueAt == nil || !rs.RequeueAt.After(now) {
		return nil
	}
	at := rs.RequeueAt.Time
	return &at
}
