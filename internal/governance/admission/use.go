package admission

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	queueafs "sigs.k8s.io/kueue/pkg/cache/queue/afs"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
	"sigs.k8s.io/kueue/pkg/util/resource"
	"sigs.k8s.io/kueue/pkg/workload"
)

// Admission fair sharing: past use orders the workloads of a ClusterQueue by their LocalQueues, and the candidates
// for preemption in it. Kueue keeps the use in a ledger, which the queue manager and the snapshots read. This file
// does to the ledger what localqueue_controller.go, workload_controller.go and scheduler.go do.

// byPastUse reports whether past use decides in a ClusterQueue.
func (e *Engine) byPastUse(cq *kueue.ClusterQueue) bool {
	if cq == nil {
		return false
	}
	on, _ := afs.ResourceWeights(cq.Spec.AdmissionScope, e.use)
	return on
}

// ByPastUse reports whether past use decides in the ClusterQueue of one of some workloads ("namespace/name"). Each start counts as
// use, so workloads that preempt each other again and again may settle.
func (e *Engine) ByPastUse(workloads ...string) bool {
	return slices.ContainsFunc(workloads, func(key string) bool {
		w := e.store.workloads[workload.Reference(key)]
		if w == nil {
			return false
		}
		lq := e.store.queueOf(w)
		return lq != nil && e.byPastUse(e.store.cqs[string(lq.Spec.ClusterQueue)])
	})
}

// snapshot returns the state of quota as a scheduling cycle reads it.
func (e *Engine) snapshot(ctx context.Context) (*schdcache.Snapshot, error) {
	if !afs.Enabled(e.use) {
		return e.cache.Snapshot(ctx)
	}
	return e.cache.Snapshot(ctx, schdcache.WithAfsUsageLedger(e.queues.AfsUsageLedger))
}

// sampleUse brings the ledger to the engine's time: use decays, and what is admitted now adds to it. Kueue samples
// once per interval; as decay is exponential, one step over several intervals comes to the same.
func (e *Engine) sampleUse() {
	if !afs.Enabled(e.use) {
		return
	}
	now := e.now()
	for _, key := range sortedKeys(e.store.lqs) {
		lq := e.store.lqs[key]
		cq := e.store.cqs[string(lq.Spec.ClusterQueue)]
		if !e.byPastUse(cq) {
			continue
		}
		ref := utilqueue.Key(lq)
		if e.unseeded[key] {
			e.seedUse(lq)
			delete(e.unseeded, key)
			e.reorder(cq, lq.Name)
		}
		entry, _ := e.queues.AfsUsageLedger.Get(ref)
		if now.Sub(entry.LastUpdate) < e.use.UsageSamplingInterval.Duration {
			continue
		}
		admitted := e.admittedUse(lq)
		e.queues.AfsUsageLedger.Update(ref, func(u queueafs.UsageLedgerEntry, _ bool) queueafs.UsageLedgerEntry {
			u.Resources, u.LastUpdate = e.decayed(u.Resources, admitted, now.Sub(u.LastUpdate)), now
			return u
		})
		e.reorder(cq, lq.Name)
	}
}

// seedUse starts the ledger of a LocalQueue with its status. Kueue writes the status once per interval; what was
// admitted since has added its penalty to the ledger only. What has quota and is not admitted has its penalty
// pending.
func (e *Engine) seedUse(lq *kueue.LocalQueue) {
	entry := queueafs.UsageLedgerEntry{Resources: corev1.ResourceList{}, LastUpdate: e.now(), StatusAccounted: true}
	seeded := false
	if s := lq.Status.FairSharing; s != nil && s.AdmissionFairSharingStatus != nil {
		entry.Resources, entry.LastUpdate = s.AdmissionFairSharingStatus.ConsumedResources.DeepCopy(), s.AdmissionFairSharingStatus.LastUpdate.Time
		seeded = true
	}
	type since struct {
		at time.Time
		w  *kueue.Workload
	}
	var later []since
	var pending []*kueue.Workload
	for _, w := range e.store.inQueue[lq.Namespace+"/"+lq.Name] {
		switch c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted); {
		case w.Status.Admission == nil || !workload.HasQuotaReservation(w):
		case !workload.IsAdmitted(w):
			pending = append(pending, w)
		case seeded && c.LastTransitionTime.After(entry.LastUpdate):
			later = append(later, since{c.LastTransitionTime.Time, w})
		}
	}
	slices.SortFunc(later, func(a, b since) int { return a.at.Compare(b.at) })
	admitted := e.admittedUse(lq)
	for _, s := range later {
		entry.Resources = resource.MergeResourceListKeepSum(e.decayed(entry.Resources, admitted, s.at.Sub(entry.LastUpdate)), e.penalty(s.w))
		entry.LastUpdate = s.at
	}
	ref := utilqueue.Key(lq)
	e.queues.AfsUsageLedger.Delete(ref)
	e.queues.AfsUsageLedger.Update(ref, func(queueafs.UsageLedgerEntry, bool) queueafs.UsageLedgerEntry { return entry })
	for _, w := range pending {
		e.queues.AfsUsageLedger.PushPenalty(ref, useKey(w), e.penalty(w), e.now())
	}
}

// decayed is use after a while in which some resources were admitted (reconcileConsumedUsage).
func (e *Engine) decayed(use, admitted corev1.ResourceList, elapsed time.Duration) corev1.ResourceList {
	half := e.use.UsageHalfLifeTime.Seconds()
	if half == 0 {
		return corev1.ResourceList{}
	}
	return afs.CalculateDecayedConsumed(use, admitted, max(0, elapsed.Seconds()), half)
}

// admittedUse returns what the admitted workloads of a LocalQueue use now.
func (e *Engine) admittedUse(lq *kueue.LocalQueue) corev1.ResourceList {
	cached, err := e.cache.GetCacheLocalQueue(lq.Spec.ClusterQueue, utilqueue.Key(lq))
	if err != nil {
		return nil
	}
	return cached.GetAdmittedUsage()
}

// penalty returns what a workload adds to the use of its LocalQueue when it gets its quota (updateEntryPenalty).
func (e *Engine) penalty(w *kueue.Workload) corev1.ResourceList {
	asked := *w // all pods, also of one that was admitted with fewer
	asked.Status.Admission = nil
	ctx := context.Background()
	info := workload.NewInfo(e.adjusted(ctx, &asked), slices.Concat(e.info, e.devicesOf(ctx, &asked).counts)...)
	total := info.SumTotalRequests(e.format)
	if lq := e.store.queueOf(w); lq != nil && e.quota == config.QuotaCheckIgnoreUndeclared {
		if cq := e.store.cqs[string(lq.Spec.ClusterQueue)]; cq != nil {
			maps.DeleteFunc(total, func(name corev1.ResourceName, _ apiresource.Quantity) bool { return !covers(cq, name) })
		}
	}
	return afs.CalculateEntryPenalty(total, e.use)
}

func covers(cq *kueue.ClusterQueue, name corev1.ResourceName) bool {
	return slices.ContainsFunc(cq.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool { return slices.Contains(g.CoveredResources, name) })
}

func useKey(w *kueue.Workload) queueafs.WorkloadReference {
	return queueafs.WorkloadReference(workload.Key(w))
}

// reserveUse adds the penalty of a workload that gets its quota, until it is admitted.
func (e *Engine) reserveUse(w *kueue.Workload, cq *kueue.ClusterQueue) {
	if !e.byPastUse(cq) {
		return
	}
	e.queues.AfsUsageLedger.PushPenalty(utilqueue.KeyFromWorkload(w), useKey(w), e.penalty(w), e.now())
	e.reorder(cq, string(w.Spec.QueueName))
}

// settleUse makes the penalty of a workload that was admitted part of the use (updateAfsConsumedUsage).
func (e *Engine) settleUse(w *kueue.Workload) {
	if w.Status.Admission == nil {
		return
	}
	cq := e.store.cqs[string(w.Status.Admission.ClusterQueue)]
	lq := e.store.queueOf(w)
	if !e.byPastUse(cq) || lq == nil {
		return
	}
	now, admitted := e.now(), e.admittedUse(lq)
	e.queues.AfsUsageLedger.Update(utilqueue.Key(lq), func(old queueafs.UsageLedgerEntry, found bool) queueafs.UsageLedgerEntry {
		last := old.LastUpdate
		if !found {
			last = now
		}
		next, penalty := old.WithoutPenalty(useKey(w))
		next.Resources = resource.MergeResourceListKeepSum(e.decayedSince(old.Resources, admitted, last, now), penalty)
		if next.LastUpdate = now; last.After(now) {
			next.LastUpdate = last
		}
		return next
	})
	e.reorder(cq, lq.Name)
}

// decayedSince does not reset use at a half-life of 0, as Kueue does only when it samples.
func (e *Engine) decayedSince(use, admitted corev1.ResourceList, last, now time.Time) corev1.ResourceList {
	return afs.CalculateDecayedConsumed(use, admitted, max(0, now.Sub(last).Seconds()), e.use.UsageHalfLifeTime.Seconds())
}

// forgetUse drops the penalty of a workload that will not be admitted.
func (e *Engine) forgetUse(w *kueue.Workload) {
	if !afs.Enabled(e.use) {
		return
	}
	dropped := e.queues.AfsUsageLedger.SubPenalty(utilqueue.KeyFromWorkload(w), useKey(w))
	lq := e.store.queueOf(w)
	if len(dropped) == 0 || lq == nil {
		return
	}
	if cq := e.store.cqs[string(lq.Spec.ClusterQueue)]; e.byPastUse(cq) {
		e.reorder(cq, lq.Name)
	}
}

// reorder puts the waiting workloads of a LocalQueue where its use has them.
func (e *Engine) reorder(cq *kueue.ClusterQueue, localQueue string) {
	e.touch()
	_ = e.queues.RebuildClusterQueue(cq, localQueue) // an unknown queue has no order
}

// pastUse returns the use of a workload's LocalQueue by which it is ordered; 0 where use does not decide.
func (e *Engine) pastUse(w *kueue.Workload) float64 {
	lq := e.store.queueOf(w)
	if lq == nil {
		return 0
	}
	cq := e.store.cqs[string(lq.Spec.ClusterQueue)]
	if !e.byPastUse(cq) {
		return 0
	}
	key := queueKey(w)
	if n, known := e.derived.use[key]; known {
		return n
	}
	_, weights := afs.ResourceWeights(cq.Spec.AdmissionScope, e.use)
	var consumed, penalty corev1.ResourceList
	if entry, found := e.queues.AfsUsageLedger.Get(utilqueue.Key(lq)); found {
		consumed, penalty = entry.Resources, entry.PendingPenalty()
	}
	n := afs.CalculateUsage(consumed, penalty, afs.LQWeightAsFloat64(lq), weights)
	if e.derived.use == nil {
		e.derived.use = map[string]float64{}
	}
	e.derived.use[key] = n
	return n
}
