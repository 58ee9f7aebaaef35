package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/util/api"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// Workload returns a copy of the current object with the status Kueue would have written: conditions QuotaReserved,
// Admitted, Evicted, Preempted and Requeued with Kueue's reasons and messages, status.admission, status.admissionChecks.
// It returns nil for an unknown workload.
func (e *Engine) Workload(namespace, name string) *kueue.Workload {
	return e.Stored(namespace, name).DeepCopy()
}

// Stored is Workload without the copy: the caller must not change it. Where the run left
// a workload as it was, it is the object that was loaded.
func (e *Engine) Stored(namespace, name string) *kueue.Workload {
	return e.store.workloads[workload.NewReference(namespace, name)]
}

// Remove forgets a workload that was deleted or has finished, and the variants of it: its quota is free and the workloads
// waiting in the same cohort tree are woken up (Delete in Kueue's workload_controller.go). It returns an error if the workload
// is unknown.
func (e *Engine) Remove(ctx context.Context, namespace, name string) error {
	w := e.Stored(namespace, name)
	if w == nil {
		return fmt.Errorf("workload %s not found", workload.NewReference(namespace, name))
	}
	e.remove(w)
	e.follow(ctx)
	e.requeue(ctx)
	return nil
}

// remove is Remove without what follows from it for others.
func (e *Engine) remove(w *kueue.Workload) {
	key := workload.Key(w)
	e.moved(w)
	e.forgetUse(w)
	e.store.remove(w)
	queued := e.everQueued(w)
	delete(e.started, key)
	delete(e.verdicts, key)
	delete(e.backoff, key)
	delete(e.todo, key)
	e.forget(key)
	e.release(key, w)
	e.wakeQueueOf(w, queued)
	e.queues.DeleteAndForgetWorkload(e.log, key)
	for _, v := range e.owned(w) {
		e.remove(v)
	}
}

// writable returns a copy of the stored workload whose status may be changed;
// metadata and spec are shared. Store it back with store.put.
func (e *Engine) writable(key workload.Reference) *kueue.Workload {
	old := e.store.workloads[key]
	w := *old
	w.Status = *old.Status.DeepCopy()
	return &w
}

// applyWorkload follows Create and Update of Kueue's workload_controller.go.
func (e *Engine) applyWorkload(ctx context.Context, w *kueue.Workload) {
	key := workload.Key(w)
	old := e.store.workloads[key]
	queued := old != nil && e.everQueued(old)
	e.store.put(w)
	delete(e.verdicts, key)
	delete(e.backoff, key)
	delete(e.todo, key)
	e.forget(key)
	e.assumeNamespace(w.Namespace)
	switch {
	case workloadfinish.IsFinished(w) || !workload.IsActive(w):
		e.queues.DeleteWorkload(e.log, key)
		if !workload.HasQuotaReservation(w) || workloadfinish.IsFinished(w) {
			e.forgetUse(w)
		}
		e.release(key, old)
		if old != nil {
			e.wakeQueueOf(old, queued)
		}
	case workload.HasQuotaReservation(w) && w.Status.Admission != nil:
		e.queues.DeleteWorkload(e.log, key)
		if !e.count(e.adjusted(ctx, w)) && !e.leads(w) {
			e.uncount(string(w.Status.Admission.ClusterQueue), string(key))
		}
		if old != nil && old.Status.Admission != nil && !sameHold(old, w) {
			e.wake(old.Status.Admission.ClusterQueue) // it may hold less than before
		}
		if e.unseeded[queueKey(w)] {
			break // the use of its LocalQueue is found once all workloads are loaded
		}
		if old == nil || !workload.HasQuotaReservation(old) {
			e.reserveUse(w, e.store.cqs[string(w.Status.Admission.ClusterQueue)])
		}
		if workload.IsAdmitted(w) && (old == nil || !workload.IsAdmitted(old)) {
			e.settleUse(w)
		}
	default:
		e.release(key, old)
		e.enqueue(w)
	}
}

// count counts what a workload holds, and reports whether its queue is known.
func (e *Engine) count(w *kueue.Workload) bool {
	defer embedded.WithoutHashes()()
	return e.cache.AddOrUpdateWorkload(e.log, w)
}

// sameHold reports whether a workload holds what it held before: passing an admission
// check, for one, frees nothing.
func sameHold(old, w *kueue.Workload) bool {
	return equality.Semantic.DeepEqual(old.Spec, w.Spec) && equality.Semantic.DeepEqual(old.Status.Admission, w.Status.Admission) &&
		equality.Semantic.DeepEqual(old.Status.ReclaimablePods, w.Status.ReclaimablePods)
}

// adjusted returns the workload as the caches see it: requests completed from limits,
// limit ranges and runtime classes, as in Kueue's event handlers.
func (e *Engine) adjusted(ctx context.Context, w *kueue.Workload) *kueue.Workload {
	c := adjustable(w)
	workload.AdjustResources(ctx, e.client, c)
	return c
}

// adjustable copies a workload with what workload.AdjustResources replaces: the resources
// of containers and of pods, and the overhead of pods. The rest is shared.
func adjustable(w *kueue.Workload) *kueue.Workload {
	c := *w
	c.Status = *w.Status.DeepCopy()
	c.Spec.PodSets = slices.Clone(w.Spec.PodSets)
	for i := range c.Spec.PodSets {
		pod := &c.Spec.PodSets[i].Template.Spec
		pod.InitContainers, pod.Containers = slices.Clone(pod.InitContainers), slices.Clone(pod.Containers)
		pod.Resources = pod.Resources.DeepCopy()
	}
	return &c
}

// release takes the workload's quota away, if it holds any, and wakes up those
// who may use it. w is the object with the admission, nil when there was none.
func (e *Engine) release(key workload.Reference, w *kueue.Workload) {
	if err := e.cache.DeleteWorkload(e.log, key); err != nil || w == nil || w.Status.Admission == nil {
		return
	}
	e.wake(w.Status.Admission.ClusterQueue)
}

// wakeQueueOf wakes up the cohort tree of the workload's queue, whether it held
// quota or not: Kueue does that when a workload is deleted or has finished and its queue manager knows it
// (QueueAssociatedInadmissibleWorkloadsAfter in manager.go). queued reports that it does; else the engine's one is asked.
func (e *Engine) wakeQueueOf(w *kueue.Workload, queued bool) {
	if !queued {
		e.queues.QueueAssociatedInadmissibleWorkloadsAfter(context.Background(), workload.Key(w), nil)
	} else if lq := e.store.queueOf(w); lq != nil {
		e.wake(lq.Spec.ClusterQueue)
	}
}

// everQueued reports workloads that Kueue queued at some time, and the engine's queue manager perhaps not: those that wait for
// flush, and those with quota. Kueue never queued a workload that is gated, or whose devices it cannot count.
func (e *Engine) everQueued(w *kueue.Workload) bool {
	return e.todo[workload.Key(w)] || workload.HasQuotaReservation(w) || workloadevict.IsEvicted(w)
}

// wake requests that the waiting workloads of the whole cohort tree are tried again.
func (e *Engine) wake(cq kueue.ClusterQueueReference) {
	e.asFound = false
	qcache.NotifyRetryInadmissible(e.queues, sets.New(cq))
}

// push puts a pending workload into its queue. The queue compares requeueAt with the real clock whatever clock it is given
// (backoffWaitingTimeExpired in cluster_queue.go), so the copy in the queue carries
// none when the back-off is over in this engine's time, and one far away when not.
func (e *Engine) push(ctx context.Context, w *kueue.Workload) {
	d := e.demandOf(ctx, w)
	if d.refused.reason != "" {
		return
	}
	c := e.adjusted(ctx, w)
	if rs := c.Status.RequeueState; rs != nil && rs.RequeueAt != nil {
		if rs.RequeueAt.After(e.now()) {
			rs.RequeueAt = &metav1.Time{Time: farFuture}
		} else {
			rs.RequeueAt = nil
		}
	}
	if e.needsDevices(c) { // Kueue queues it as if it was never kept out of its queue
		c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, notRequeued)
	}
	_ = e.queues.AddOrUpdateWorkload(e.log, c, d.counts...) // missing queues are reconcile's subject
	e.knows(workload.Key(w), w, len(d.counts) > 0)
}

// notRequeued is the condition that keeps a workload that was evicted out of its queue.
func notRequeued(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && c.Type == kueue.WorkloadRequeued
}

// enqueue notes a pending workload for its queue; flush puts it there when a queue
// is looked at. Kueue hashes every workload it queues, twice, which a caller that
// only asks Probe need not wait for. A workload Kueue does not queue (gated,
// deactivated, on hold, without queue) stays out; reconcile says why.
func (e *Engine) enqueue(w *kueue.Workload) {
	if !workload.IsAdmissible(w) {
		return
	}
	key := workload.Key(w)
	e.todo[key] = true
	if rs := w.Status.RequeueState; rs != nil && rs.RequeueAt != nil && rs.RequeueAt.After(e.now()) {
		e.backoff[key] = true
	}
}

// flush queues what enqueue noted.
func (e *Engine) flush(ctx context.Context) {
	e.flushed = e.flushed || len(e.todo) > 0
	for _, key := range sortedKeys(e.todo) {
		if w := e.store.workloads[key]; w != nil && workload.IsAdmissible(w) {
			e.restorePreemptor(ctx, w)
			e.push(ctx, w)
		}
	}
	clear(e.todo)
}

// uncount notes a workload whose quota is not counted, for one warning for each
// ClusterQueue.
func (e *Engine) uncount(queue, workload string) {
	if e.uncounted == nil {
		e.uncounted = map[string]map[string]bool{}
	}
	if e.uncounted[queue] == nil {
		e.uncounted[queue] = map[string]bool{}
	}
	e.uncounted[queue][workload] = true
}

// uncountedWarnings returns the warnings about them.
func (e *Engine) uncountedWarnings() (out []Warning) {
	for queue, workloads := range e.uncounted {
		code := UncountedUnknown
		if e.faulty[queue] {
			code = UncountedInvalid
		}
		out = append(out, Warning{Code: code, Name: queue, Names: sortedKeys(workloads)})
	}
	return out
}

var farFuture = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// assumeNamespace assumes a namespace that was not loaded: a team role may have no permission to list them, and Kueue refuses workloads of namespaces it cannot read.
func (e *Engine) assumeNamespace(name string) {
	if e.store.namespaces[name] != nil {
		return
	}
	e.store.namespaces[name] = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1.LabelMetadataName: name},
	}}
	e.warn(Warning{Code: NamespaceUnknown, Name: name})
}

// blocker is getQueueBlocker of Kueue's workload_controller.go: why the queue
// itself keeps the workload from being looked at; empty when it does not.
func (e *Engine) blocker(w *kueue.Workload) verdict {
	lq := e.store.queueOf(w)
	switch {
	case lq == nil:
		return verdict{kueue.WorkloadQuotaReservedReasonMisconfigured, fmt.Sprintf("LocalQueue %s doesn't exist", w.Spec.QueueName)}
	case ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None:
		return verdict{kueue.WorkloadQuotaReservedReasonSuspended, fmt.Sprintf("LocalQueue %s is inactive", w.Spec.QueueName)}
	case e.store.cqs[string(lq.Spec.ClusterQueue)] == nil && e.faulty[string(lq.Spec.ClusterQueue)]:
		return verdict{kueue.WorkloadQuotaReservedReasonMisconfigured, fmt.Sprintf("ClusterQueue %s is invalid", lq.Spec.ClusterQueue)}
	case e.store.cqs[string(lq.Spec.ClusterQueue)] == nil:
		return verdict{kueue.WorkloadQuotaReservedReasonMisconfigured, fmt.Sprintf("ClusterQueue %s doesn't exist", lq.Spec.ClusterQueue)}
	case !e.cache.ClusterQueueActive(lq.Spec.ClusterQueue):
		return verdict{kueue.WorkloadQuotaReservedReasonSuspended, fmt.Sprintf("ClusterQueue %s is inactive", lq.Spec.ClusterQueue)}
	}
	return verdict{}
}

// inactiveWhy adds Kueue's own explanation of an inactive ClusterQueue to a message.
func (e *Engine) inactiveWhy(cq kueue.ClusterQueueReference) string {
	if e.held[string(cq)] {
		return "its cohorts form a cycle"
	}
	if _, reason, msg := e.cache.ClusterQueueReadiness(cq); reason != "Ready" {
		return msg
	}
	return ""
}

// setCondition sets one condition, stamped with the engine's time.
func (e *Engine) setCondition(w *kueue.Workload, kind, reason, message string, status bool) bool {
	c := metav1.Condition{
		Type: kind, Status: metav1.ConditionFalse, Reason: reason,
		Message:            api.TruncateConditionMessage(message),
		ObservedGeneration: w.Generation,
		LastTransitionTime: metav1.NewTime(e.now()),
	}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return apimeta.SetStatusCondition(&w.Status.Conditions, c)
}

// evict is what eviction comes to once the pods are gone: Kueue's evict.Evict
// followed by step 6 of the job reconciler, which drops the reservation and
// allows a preempted workload to be queued again. preempted is the preemption
// reason, empty for another eviction. w is changed and stored.
func (e *Engine) evict(w *kueue.Workload, reason, message, preempted string) {
	e.evictParent(w)
	now, key := e.now(), workload.Key(w)
	held, lost := w.Status.Admission, e.loses(w)
	if preempted != "" {
		workload.SetPreemptedCondition(w, now, preempted, message)
	}
	if !workloadevict.IsEvicted(w) {
		workloadevict.SetEvictedCondition(w, now, reason, message)
		countEviction(w, reason)
		w.Status.ClusterName, w.Status.NominatedClusterNames, w.Status.UnhealthyNodes = nil, nil, nil
	}
	for i := range w.Status.AdmissionChecks {
		resetCheck(&w.Status.AdmissionChecks[i], now)
	}
	if workload.BlockedOnPreemptionGatesCondition(w) != nil {
		e.setCondition(w, kueue.WorkloadBlockedOnPreemptionGates, reason, message, false)
	}
	for i := range w.Status.PreemptionGates {
		w.Status.PreemptionGates[i].Position = kueue.PreemptionGatePositionClosed
		w.Status.PreemptionGates[i].LastTransitionTime = metav1.NewTime(now)
	}
	if workload.HasQuotaReservation(w) {
		again := reason == kueue.WorkloadEvictedByPreemption || reason == kueue.WorkloadEvictedDueToNodeFailures
		e.setCondition(w, kueue.WorkloadRequeued, reason, message, again)
		pending := e.pendingReason(kueue.WorkloadQuotaReservedReasonPendingEvaluation)
		workload.UnsetQuotaReservationWithCondition(w, pending, message, now)
	}
	if lost {
		e.lose(w, reason, message)
	}
	e.store.put(w)
	if !workload.IsActive(w) {
		e.forgetUse(w)
	}
	_ = e.cache.DeleteWorkload(e.log, key)
	if held != nil {
		e.wake(held.ClusterQueue)
	}
	e.enqueue(w)
}

// resetCheck puts an admission check back to Pending (resetChecksOnEviction in Kueue's evict.go).
func resetCheck(c *kueue.AdmissionCheckState, now time.Time) {
	if c.State == kueue.CheckStatePending {
		return
	}
	next := kueue.AdmissionCheckState{
		Name:                c.Name,
		State:               kueue.CheckStatePending,
		Message:             "Reset to Pending after eviction. Previously: " + string(c.State),
		LastTransitionTime:  metav1.NewTime(now),
		RequeueAfterSeconds: c.RequeueAfterSeconds,
	}
	if c.State == kueue.CheckStateRetry {
		next.RetryCount = ptr.To(ptr.Deref(c.RetryCount, 0) + 1)
	}
	*c = next
}

// countEviction counts in status.schedulingStats, as Kueue does once per eviction.
func countEviction(w *kueue.Workload, reason string) {
	if w.Status.SchedulingStats == nil {
		w.Status.SchedulingStats = &kueue.SchedulingStats{}
	}
	stats := w.Status.SchedulingStats.Evictions
	for i := range stats {
		if stats[i].Reason == reason && stats[i].UnderlyingCause == "" {
			stats[i].Count++
			return
		}
	}
	w.Status.SchedulingStats.Evictions = append(stats, kueue.WorkloadSchedulingStatsEviction{Reason: reason, Count: 1})
}

// pendingReason returns the reason of a QuotaReserved condition that is false: the
// fine-grained one where the gate UnadmittedWorkloadsObservability is on, else
// "Pending", as in Kueue's pkg/workload.
func (*Engine) pendingReason(fine string) string {
	//lint:ignore SA1019 Kueue's own fallback, in force as long as the gate is off
	return workload.UnadmittedWorkloadReasonWithFallback(fine, kueue.WorkloadPending)
}
