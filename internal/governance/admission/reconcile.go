package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// reconcile writes the conditions Reconcile in Kueue's workload_controller.go
// would write for the stored workload, and moves it where they put it. Only the
// branches that do not wait for something outside are followed.
func (e *Engine) reconcile(ctx context.Context, key workload.Reference) {
	w := e.store.workloads[key]
	if w == nil || workloadfinish.IsFinished(w) {
		return
	}
	e.lead(key)
	e.retryLater(key)
	w = e.store.workloads[key]
	if workload.IsActive(w) && apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadDeactivationTarget) {
		w = e.writable(key)
		w.Spec.Active = ptr.To(false)
		e.store.put(w)
	}
	if !workload.IsActive(w) {
		e.verdicts[key] = verdict{kueue.WorkloadDeactivated, "The workload is deactivated"}
		if !workloadevict.IsEvicted(w) || workload.HasQuotaReservation(w) || w.Status.RequeueState != nil {
			c := e.writable(key)
			c.Status.RequeueState = nil
			if !workloadevict.IsEvicted(w) && e.needsDevices(w) && e.devicesOf(ctx, w).refused.reason == "" {
				// Kueue counts its devices first, which removes these.
				c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, func(c metav1.Condition) bool {
					return c.Status == metav1.ConditionFalse && (c.Type == kueue.WorkloadQuotaReserved || c.Type == kueue.WorkloadRequeued)
				})
			}
			reason, message := deactivated(c)
			e.evict(c, reason, message, "")
		}
		return
	}
	if e.allowRequeue(ctx, key) {
		w = e.store.workloads[key]
	}
	if workload.HasAdmissionGate(w) {
		msg := fmt.Sprintf("Admission is gated by: %s", w.Annotations[constants.AdmissionGatedByAnnotation])
		e.block(key, kueue.WorkloadAdmissionGated, kueue.WorkloadAdmissionGated, msg)
		return
	}
	if workload.HasQuotaReservation(w) {
		e.reconcileReserved(ctx, key)
		return
	}
	if e.reconcileDevices(ctx, w) {
		return
	}
	if b := e.blocker(w); b.reason != "" {
		e.block(key, workload.UnadmittedWorkloadReasonWithFallback(b.reason, kueue.WorkloadInadmissible), b.reason, b.message)
		return
	}
	if v, blocked := e.verdicts[key]; blocked && isBlockerReason(v.reason) {
		delete(e.verdicts, key) // the queue is fine again; the scheduler will say more
	}
}

func isBlockerReason(reason string) bool {
	switch reason {
	case kueue.WorkloadQuotaReservedReasonMisconfigured, kueue.WorkloadQuotaReservedReasonSuspended,
		kueue.WorkloadAdmissionGated, kueue.WorkloadDeactivated:
		return true
	}
	return false
}

// block records why a workload is not evaluated, in the verdict with the precise
// reason and in the QuotaReserved condition with the one Kueue writes.
func (e *Engine) block(key workload.Reference, conditionReason, reason, message string) {
	e.verdicts[key] = verdict{reason, message}
	c := e.writable(key)
	if e.setCondition(c, kueue.WorkloadQuotaReserved, conditionReason, message, false) {
		e.store.put(c)
	}
}

// allowRequeue ends a back-off that is over and turns Requeued=False into True
// when its cause is gone. It reports whether the workload changed.
func (e *Engine) allowRequeue(ctx context.Context, key workload.Reference) bool {
	w := e.store.workloads[key]
	if workload.HasQuotaReservation(w) {
		return false
	}
	over := false
	if rs := w.Status.RequeueState; rs != nil && rs.RequeueAt != nil {
		if rs.RequeueAt.After(e.now()) {
			return false
		}
		over = true
	}
	reason, message := "", ""
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadRequeued); c != nil && c.Status == metav1.ConditionFalse {
		lq := e.store.queueOf(w)
		switch {
		case c.Reason == kueue.WorkloadDeactivated:
			reason, message = kueue.WorkloadReactivated, "The workload was reactivated"
		case c.Reason == kueue.WorkloadEvictedByPodsReadyTimeout || c.Reason == kueue.WorkloadEvictedByAdmissionCheck:
			reason, message = kueue.WorkloadBackoffFinished, "The workload backoff was finished"
		case lq == nil:
		case c.Reason == kueue.WorkloadEvictedByLocalQueueStopped && notStopped(lq.Spec.StopPolicy):
			reason, message = kueue.WorkloadLocalQueueRestarted, "The LocalQueue was restarted after being stopped"
		case c.Reason == kueue.WorkloadEvictedByClusterQueueStopped:
			if cq := e.store.cqs[string(lq.Spec.ClusterQueue)]; cq != nil && notStopped(cq.Spec.StopPolicy) {
				reason, message = kueue.WorkloadClusterQueueRestarted, "The ClusterQueue was restarted after being stopped"
			}
		}
	}
	if !over && reason == "" {
		return false
	}
	c := e.writable(key)
	if over {
		c.Status.RequeueState.RequeueAt = nil
		delete(e.backoff, key)
	}
	if reason != "" {
		e.setCondition(c, kueue.WorkloadRequeued, reason, message, true)
	}
	e.store.put(c)
	e.enqueue(c)
	return true
}

func notStopped(p *kueue.StopPolicy) bool { return ptr.Deref(p, kueue.None) == kueue.None }

// reconcileReserved follows a workload that holds quota: its admission checks,
// then the stop policies of its queues.
func (e *Engine) reconcileReserved(ctx context.Context, key workload.Reference) {
	w := e.store.workloads[key]
	if w.Status.Admission == nil {
		return
	}
	delete(e.verdicts, key)
	lq := e.store.queueOf(w)
	cq := e.store.cqs[string(w.Status.Admission.ClusterQueue)]
	c := e.writable(key)
	changed := cq != nil && !e.leads(w) && e.syncChecks(c, cq)
	if !workload.IsAdmitted(c) && workload.SyncAdmittedCondition(c, e.now()) { // what runs stays admitted until it is evicted
		changed = true
	}
	if changed {
		e.store.put(c)
		e.count(e.adjusted(ctx, c))
		if workload.IsAdmitted(c) && !workload.IsAdmitted(w) && !e.leads(w) {
			e.settleUse(c)
		}
	}
	if w = e.store.workloads[key]; !e.leads(w) && e.evictByChecks(ctx, w) {
		return
	}
	if !workload.IsAdmitted(w) && !e.leads(w) {
		if reason, message := e.queueLost(w, lq); reason != "" {
			e.unreserve(ctx, key, reason, message)
		}
		return
	}
	switch {
	case lq != nil && ptr.Deref(lq.Spec.StopPolicy, kueue.None) == kueue.HoldAndDrain:
		e.evict(e.writable(key), kueue.WorkloadEvictedByLocalQueueStopped, "The LocalQueue is stopped", "")
		e.reconcile(ctx, key)
	case cq != nil && ptr.Deref(cq.Spec.StopPolicy, kueue.None) == kueue.HoldAndDrain:
		e.evict(e.writable(key), kueue.WorkloadEvictedByClusterQueueStopped, "The ClusterQueue is stopped", "")
		e.reconcile(ctx, key)
	}
}

// syncChecks makes status.admissionChecks list the checks the admission needs
// (reconcileSyncAdmissionChecks). It reports whether the status changed.
func (e *Engine) syncChecks(w *kueue.Workload, cq *kueue.ClusterQueue) bool {
	want := workload.AdmissionChecksForWorkload(e.log, w, cq)
	old := w.Status.AdmissionChecks
	var next []kueue.AdmissionCheckState
	for _, s := range old {
		if want.Has(s.Name) {
			next = append(next, s)
			want.Delete(s.Name)
		}
	}
	if want.Len() == 0 && len(next) == len(old) {
		return false
	}
	for name := range want {
		next = append(next, kueue.AdmissionCheckState{Name: name, State: kueue.CheckStatePending, LastTransitionTime: metav1.NewTime(e.now())})
	}
	slices.SortFunc(next, func(a, b kueue.AdmissionCheckState) int { return cmp.Compare(a.Name, b.Name) })
	w.Status.AdmissionChecks = next
	return true
}
