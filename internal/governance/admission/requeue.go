package admission

import (
	"context"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/util/api"
	"sigs.k8s.io/kueue/pkg/workload"
)

// A large cluster evaluates the same waiting workloads again and again. Kueue's RequeueWorkload copies each of them,
// completes its requests, adds them up and hashes their JSON, although only the status can have changed. This file puts
// such a workload back with what is known of it.

// queued is what the queue manager knows of a waiting workload.
type queued struct {
	// podSets is the first pod set of the stored workload when its requests and its hash were computed. Pod sets are never
	// changed in place: another pointer means another spec.
	podSets *kueue.PodSet
	// rules is Engine.rules at that time.
	rules int
	// status is the stored workload whose status the queue has.
	status *kueue.Workload
	// told is the stored workload whose status has the requests.
	told *kueue.Workload
}

// knows notes what the queue manager was given: the stored workload, with requests that follow from its pod sets alone.
func (e *Engine) knows(key workload.Reference, w *kueue.Workload, counted bool) {
	delete(e.unlisted, key)
	if counted || len(w.Spec.PodSets) == 0 {
		delete(e.queued, key)
		return
	}
	e.queued[key] = queued{podSets: &w.Spec.PodSets[0], rules: e.rules}
}

// forget drops what is known of a workload that was deleted or loaded again.
func (e *Engine) forget(key workload.Reference) {
	delete(e.queued, key)
	delete(e.unlisted, key)
}

// requeueHead is Kueue's RequeueWorkload.
func (e *Engine) requeueHead(ctx context.Context, en *entry, stored *kueue.Workload) {
	reason := qcache.QuotaReservedReason(en.reason)
	key := workload.Key(en.Obj)
	q, known := e.queued[key]
	if !known || stored == nil || !e.onlyStatusDiffers(&q, &en.Info, stored) {
		e.queues.RequeueWorkload(ctx, &en.Info, en.requeue, reason)
		return
	}
	cq := e.queues.ClusterQueueForWorkloadWithoutLock(stored)
	if cq == nil {
		e.queues.RequeueWorkload(ctx, &en.Info, en.requeue, reason)
		return
	}
	if q.status != stored {
		w := *stored
		w.Spec.PodSets = en.Obj.Spec.PodSets // with completed requests
		en.Obj = &w
		q.status = stored
		e.queued[key] = q
	}
	en.ClusterQueue = ""
	cq.RequeueIfNotPresent(ctx, &en.Info, en.requeue, reason)
	e.unlisted[key] = true
}

// onlyStatusDiffers reports whether requests and hash of a workload that was taken off its queue are those of the stored
// workload.
func (e *Engine) onlyStatusDiffers(q *queued, info *workload.Info, stored *kueue.Workload) bool {
	return q.rules == e.rules && len(stored.Spec.PodSets) > 0 && q.podSets == &stored.Spec.PodSets[0] &&
		workload.IsAdmissible(stored) && stored.Status.Admission == nil && info.Obj.Status.Admission == nil &&
		len(stored.Status.ReclaimablePods) == 0 && len(info.Obj.Status.ReclaimablePods) == 0 &&
		(stored.Status.RequeueState == nil || stored.Status.RequeueState.RequeueAt == nil) &&
		(info.SchedulingHash != workload.SchedulingHashUnknown) == features.Enabled(features.SchedulingEquivalenceHashing) &&
		features.Enabled(features.FlavorFungibilityPreserveScanProgress)
}

// relist gives the queue manager the workloads that requeueHead put back. It has lists of the workloads of each LocalQueue,
// which it needs when queues change, and only RequeueWorkload and AddOrUpdateWorkload add to them.
func (e *Engine) relist(ctx context.Context) {
	for _, key := range sortedKeys(e.unlisted) {
		if w := e.store.workloads[key]; w != nil && !e.todo[key] && workload.IsAdmissible(w) {
			e.push(ctx, w)
		}
	}
	clear(e.unlisted)
}

// toldAlready reports whether a waiting workload has the requests and the QuotaReserved condition that it would get.
func (e *Engine) toldAlready(w *kueue.Workload, reason, message string) bool {
	if e.queued[workload.Key(w)].told != w || w.Status.Admission != nil {
		return false
	}
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == reason && c.ObservedGeneration == w.Generation &&
		c.Message == api.TruncateConditionMessage(message)
}

// tell notes that the status of a stored workload has its requests.
func (e *Engine) tell(w *kueue.Workload) {
	key := workload.Key(w)
	if q, known := e.queued[key]; known {
		q.told = w
		e.queued[key] = q
	}
}
