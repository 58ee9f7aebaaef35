package explain

import (
	"context"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// settle sets the cause and the reason, from the most to the least telling
// circumstance.
func (e *Explanation) settle(ctx context.Context, q Question, wl *kueue.Workload, s jobs.Status) {
	e.cause(ctx, q, wl, s)
	if name := jobs.MissingCluster(q.Job, q.Pods, q.Events); name != "" {
		e.Cause, e.Reason, e.Cluster = MissingCluster, jobs.ClusterNotFound, name
	}
	if slices.Contains([]Cause{Starting, Unmanaged, WithoutKueue, WithoutWorkload}, e.Cause) && jobs.Unattended(q.Job, s, e.Time) {
		e.Cause, e.Reason, e.Operator = Unattended, jobs.NoPods, q.Job.Kind.Operator
	}
}

// cause sets what settle sets, whatever the operator does.
func (e *Explanation) cause(ctx context.Context, q Question, wl *kueue.Workload, s jobs.Status) {
	v := e.Verdict
	set := func(cause Cause, reason, detail string) { e.Cause, e.Reason, e.Detail = cause, reason, detail }
	switch {
	case s.State == jobs.ZeroReplicas:
		e.Cause = ByStatus
	case s.State.Finished() || s.State == jobs.Running || s.State == jobs.Restarting:
		if e.Cause = ByStatus; !s.State.Finished() {
			e.losing()
		}
	case wl != nil && inputs.Reserves(wl):
		e.admitted(wl)
	case wl != nil && wl.Spec.Active != nil && !*wl.Spec.Active:
		set(Deactivated, kueue.WorkloadDeactivated, "")
		e.Unsuspendable = q.may(ctx, "patch", kinds.Workload)
	case e.Position == nil && q.NoKueue:
		set(WithoutKueue, NotQueued, "")
		e.podsProblem()
	case e.Position == nil && q.Job.Suspended:
		set(SuspendedUnmanaged, NotQueued, "")
		if e.Unsuspendable = q.mayChange(ctx, q.Job.Kind.Resource); e.Unsuspendable {
			e.note(NotQueued)
		}
	case e.Position == nil:
		set(Unmanaged, NotQueued, "")
		e.podsProblem()
	case wl == nil && v != nil && (v.Verdict == check.Never || v.Reason == check.GroupIncomplete):
		set(ByVerdict, v.Reason, v.Detail)
	case wl == nil:
		set(WithoutWorkload, NoWorkload, "")
		if v != nil && v.Verdict == check.Admitted {
			e.note(NoWorkload)
		}
	case backoff(wl, e.Time) != nil:
		set(BackingOff, Backoff, "")
		e.RetryAt = *backoff(wl, e.Time)
	case v == nil:
		e.Cause = ByStatus
	case v.Verdict != check.Never && e.inactive(kinds.LocalQueue), v.Verdict == check.Unknown && e.inactive(kinds.ClusterQueue):
		set(ByKueue, kueue.WorkloadQuotaReservedReasonSuspended, "")
	case v.Verdict == check.Waits && v.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPodsReady:
		set(OtherPodsNotReady, v.Reason, "")
	case v.Verdict == check.Admitted && len(v.Quota.Preempts) == 0:
		set(Unobstructed, kueue.WorkloadQuotaReservedReasonPendingEvaluation, "")
		if e.Kueue != nil && e.Kueue.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPodsReady {
			set(OtherPodsNotReady, e.Kueue.Reason, "")
		}
	case v.Verdict == check.Admitted:
		set(ByVerdict, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "")
	case v.Verdict == check.Unknown && v.Reason == check.NotReadable && e.Kueue != nil && len(words.Shortages(e.Kueue.Message)) > 0:
		reason := kueue.WorkloadQuotaReservedReasonWaitingForQuota
		if _, never := quota.DecidingShortages(e.Kueue.Message); never {
			reason = kueue.WorkloadQuotaReservedReasonExceedsMaxQuota
		}
		set(ByKueue, reason, "")
	case v.Verdict == check.Unknown && v.Reason == check.NotReadable && e.Kueue != nil && v.Job.ClusterQueue == "" && e.Kueue.Message != "":
		set(ByKueue, e.Kueue.Reason, "") // such as a LocalQueue that does not exist
	default:
		set(ByVerdict, v.Reason, v.Detail)
	}
}

// inactive reports whether Kueue says that the job's queue of a kind is inactive, where the queue could not be read
// ("LocalQueue a is inactive": core/workload_controller.go).
func (e *Explanation) inactive(r kinds.Resource) bool {
	return e.Kueue != nil && e.Verdict.Unread(r) && strings.HasPrefix(e.Kueue.Message, r.Kind+" ") && strings.HasSuffix(e.Kueue.Message, " is inactive")
}

func (e *Explanation) note(code string) { e.Notes = append(e.Notes, inputs.Note{Code: code}) }

// admitted sets the cause of a job that holds quota and does not run yet.
func (e *Explanation) admitted(wl *kueue.Workload) {
	if !apimeta.IsStatusConditionTrue(wl.Status.Conditions, kueue.WorkloadAdmitted) {
		e.Cause, e.Reason = ChecksPending, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
		return
	}
	e.Cause = Starting
	e.podsProblem()
	if c := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadPodsReady); c != nil && c.Status == "False" {
		e.Reason = kueue.WorkloadQuotaReservedReasonWaitingForPodsReady
		e.note(e.Reason)
	}
}

// PendingCheck returns the first admission check that is not ready.
func (e *Explanation) PendingCheck() (Check, bool) {
	i := slices.IndexFunc(e.Checks, func(c Check) bool { return c.State != string(kueue.CheckStateReady) })
	if i < 0 {
		return Check{}, false
	}
	return e.Checks[i], true
}

// podsProblem makes the first problem of the pods the cause.
func (e *Explanation) podsProblem() {
	for i := range e.Roles {
		if r := &e.Roles[i]; len(r.Problems) > 0 {
			e.Cause, e.Problem, e.Reason = PodProblem, r, r.Problems[0].Reason
			return
		}
	}
}

// backoff returns when an evicted workload is tried again, nil where it is not backing
// off.
func backoff(wl *kueue.Workload, now time.Time) *time.Time {
	rs := wl.Status.RequeueState
	if rs == nil || rs.RequeueAt == nil || !rs.RequeueAt.After(now) {
		return nil
	}
	at := rs.RequeueAt.Time
	return &at
}

// permit drops the fixes of a verdict that the user has no permission for.
func (q *Question) permit(ctx context.Context, v *check.Verdict) {
	resource := q.Job.Kind.Resource
	allowed := func(f *lint.Fix) *lint.Fix {
		switch {
		case f == nil:
		case f.Field == lint.Priority && !q.mayChange(ctx, resource),
			f.Field == lint.Queue && !(q.may(ctx, "delete", resource) && q.may(ctx, "create", resource)):
			return nil
		}
		return f
	}
	for i := range v.Submission {
		v.Submission[i].Fix = allowed(v.Submission[i].Fix)
	}
	for i := range v.Lint {
		v.Lint[i].Facts.Fix = allowed(v.Lint[i].Facts.Fix)
	}
}

// may reports whether the user has a permission in the job's namespace, true where this
// is not known.
func (q *Question) may(ctx context.Context, verb string, k kinds.Resource) bool {
	return q.May == nil || q.May(ctx, verb, k, q.Job.Namespace)
}

// mayChange is may for a change by patch-job, which replaces what it cannot patch.
func (q *Question) mayChange(ctx context.Context, k kinds.Resource) bool {
	return q.may(ctx, "patch", k) || q.may(ctx, "update", k)
}
