package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadpatching "sigs.k8s.io/kueue/pkg/workload/patching"
)

// deactivated returns the reason and the message of the eviction of a workload that is not active, and removes the condition that
// deactivated it.
func deactivated(w *kueue.Workload) (reason, message string) {
	reason, message = kueue.WorkloadDeactivated, "The workload is deactivated"
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadDeactivationTarget); c != nil && !workloadevict.IsEvicted(w) {
		reason, message = workloadpatching.ReasonWithCause(reason, c.Reason), message+" due to "+c.Message
		apimeta.RemoveStatusCondition(&w.Status.Conditions, kueue.WorkloadDeactivationTarget)
	}
	return reason, message
}

// evictByChecks evicts a workload with quota if an admission check failed. A rejected check deactivates the workload; after one that
// asks for a retry, the workload is queued again. It reports whether it evicted. (reconcileCheckBasedEviction in
// workload_controller.go)
func (e *Engine) evictByChecks(ctx context.Context, w *kueue.Workload) bool {
	if workloadevict.IsEvicted(w) {
		return false
	}
	key := workload.Key(w)
	switch {
	case workload.HasRejectedChecks(w):
		c := e.writable(key)
		workload.SetDeactivationTarget(c, kueue.WorkloadEvictedByAdmissionCheck, failedChecks(workload.RejectedChecks(w), kueue.CheckStateRejected))
		e.store.put(c)
	case workload.HasRetryChecks(w):
		c := e.writable(key)
		e.evict(c, kueue.WorkloadEvictedByAdmissionCheck, "Evicted due to "+failedChecks(workload.RetryChecks(w), kueue.CheckStateRetry), "")
	default:
		return false
	}
	e.reconcile(ctx, key)
	return true
}

// retryLater records when a workload can be queued again after its admission checks asked for a retry.
func (e *Engine) retryLater(key workload.Reference) {
	if at := workload.NeedsRequeueAtUpdate(e.store.workloads[key], e.clock); at != nil {
		c := e.writable(key)
		workload.SetRequeueState(c, *at, false)
		e.store.put(c)
		if !workload.HasQuotaReservation(c) {
			e.enqueue(c)
		}
	}
}

// failedChecks is buildAdmissionChecksMessage in workload_controller.go.
func failedChecks(checks []kueue.AdmissionCheckState, state kueue.CheckState) string {
	slices.SortFunc(checks, func(a, b kueue.AdmissionCheckState) int { return cmp.Compare(a.Name, b.Name) })
	var parts []string
	for _, c := range checks {
		part := fmt.Sprintf("%q", c.Name)
		if c.Message != "" {
			part += " (" + c.Message + ")"
		}
		parts = append(parts, part)
	}
	noun := "AdmissionCheck"
	if len(checks) > 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s in %s state: %s", noun, state, strings.Join(parts, "; "))
}

// queueLost returns why a workload that has reserved quota and waits for admission checks loses it: its queue is stopped or deleted.
// (reconcileOnLocalQueueActiveState and reconcileOnClusterQueueActiveState in workload_controller.go)
func (e *Engine) queueLost(w *kueue.Workload, lq *kueue.LocalQueue) (reason, message string) {
	const misconfigured, suspended = kueue.WorkloadQuotaReservedReasonMisconfigured, kueue.WorkloadQuotaReservedReasonSuspended
	switch {
	case lq == nil && len(e.store.lqs) == 0: // they are unknown
		return "", ""
	case lq == nil || !lq.DeletionTimestamp.IsZero():
		return misconfigured, fmt.Sprintf("LocalQueue %s is terminating or missing", w.Spec.QueueName)
	case ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None:
		return suspended, fmt.Sprintf("LocalQueue %s is stopped", w.Spec.QueueName)
	}
	cq := e.store.cqs[string(lq.Spec.ClusterQueue)]
	switch {
	case cq == nil || !cq.DeletionTimestamp.IsZero():
		return misconfigured, fmt.Sprintf("ClusterQueue %s is terminating or missing", lq.Spec.ClusterQueue)
	case ptr.Deref(cq.Spec.StopPolicy, kueue.None) != kueue.None:
		return suspended, fmt.Sprintf("ClusterQueue %s is stopped", cq.Name)
	}
	return "", ""
}

// unreserve removes the quota reservation of a workload that was not admitted. Its pods do not run, so Kueue does not call it an
// eviction.
func (e *Engine) unreserve(ctx context.Context, key workload.Reference, reason, message string) {
	c := e.writable(key)
	queue := c.Status.Admission.ClusterQueue
	workload.UnsetQuotaReservationWithCondition(c, workload.UnadmittedWorkloadReasonWithFallback(reason, kueue.WorkloadInadmissible), message, e.now())
	e.store.put(c)
	_ = e.cache.DeleteWorkload(e.log, key)
	e.wake(queue)
	e.enqueue(c)
	e.reconcile(ctx, key)
	e.verdicts[key] = verdict{reason, message}
}
