package admission

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// Kueue puts a workload of a BestEffortFIFO queue aside when it does not fit, and with it all others of the queue that are
// equivalent: of the same priority, with the same pods. A new one is put aside at once (hashToBulkMoveReason in
// cluster_queue.go). Kueue tries them again when something changes in their tree of cohorts, in the order of their queues.

// bypassed is Kueue's message about a workload that was put aside with an equivalent one.
const bypassed = "Bypassed scheduling evaluation because an equivalent workload recently failed"

// AsFound tells the engine that what it has loaded is the state of a cluster in which Kueue runs: a workload that does not
// fit according to its QuotaReserved condition was put aside. This is so until something changes.
func (e *Engine) AsFound() { e.asFound = true }

// SetAside puts aside what Kueue has put aside in the cluster whose state was just loaded, see [Engine.AsFound]: [Engine.Run] tries
// it when something changes. Variants are left out, and what Kueue tries again after the last change; nil if nothing changed.
func (e *Engine) SetAside(ctx context.Context, again *Retried) {
	e.asFound = true
	started := map[kueue.ClusterQueueReference]bool{}
	for _, key := range sortedKeys(e.todo) {
		w := e.store.workloads[key]
		lq := e.store.queueOf(w)
		if lq == nil || !workload.IsAdmissible(w) || variantsOn() && concurrentadmission.IsVariant(w) || !e.putAside(w) {
			continue
		}
		if again.of(w, lq) {
			continue
		}
		name := lq.Spec.ClusterQueue
		q, cq := e.queues.ClusterQueueForWorkloadWithoutLock(w), e.store.cqs[string(name)]
		if q == nil || cq == nil || cq.Spec.QueueingStrategy == kueue.StrictFIFO || e.demandOf(ctx, w).refused.reason != "" {
			continue
		}
		if active, _ := q.Pending(); !started[name] && active > 0 {
			continue // it was looked at before
		}
		if !started[name] {
			started[name] = true
			q.Pop() // of an empty queue: what woke it was before
		}
		info := e.infoOf(ctx, w)
		info.LastEvaluatedGeneration = w.Generation
		reason, message := e.whyPending(w)
		q.RequeueIfNotPresent(ctx, info, qcache.RequeueReasonNoFit, qcache.QuotaReservedReason(reason))
		e.push(ctx, w) // it stays aside
		e.verdicts[key] = verdict{reason, message}
		delete(e.todo, key)
	}
	e.touch()
}

// Changing is to be called before changes that are undone: the result notes that they are.
func (e *Engine) Changing() (undone func()) {
	was := e.asFound
	return func() { e.asFound = was }
}

// equivalent returns the workload with which Kueue puts w aside, nil if Kueue tries w. It may be w itself. Variants are left out:
// Kueue tries one again when it opens its gate.
func (e *Engine) equivalent(ctx context.Context, w *kueue.Workload, cq kueue.ClusterQueueReference) *kueue.Workload {
	c := e.store.cqs[string(cq)]
	if c == nil || c.Spec.QueueingStrategy == kueue.StrictFIFO || e.awaitsPreempted(w) || variantsOn() && concurrentadmission.IsVariant(w) {
		return nil
	}
	var found *kueue.Workload
	var hash workload.EquivalenceHash
	for _, o := range e.waitingIn(cq) {
		if !e.similar(w, o) || !e.putAside(o) || found != nil && e.compare(o, found) > 0 {
			continue
		}
		if !same(o, w) || !equality.Semantic.DeepEqual(o.Spec, w.Spec) {
			if hash == "" {
				hash = e.hashOf(ctx, w)
			}
			if hash == workload.SchedulingHashUnknown || e.storedHash(ctx, o) != hash {
				continue
			}
		}
		found = o
	}
	return found
}

// similar reports whether two workloads may be equivalent. It is cheaper than a comparison of hashes.
func (e *Engine) similar(a, b *kueue.Workload) bool {
	return priority.EffectivePriority(e.log, a) == priority.EffectivePriority(e.log, b) &&
		slices.EqualFunc(a.Spec.PodSets, b.Spec.PodSets, func(a, b kueue.PodSet) bool { return a.Name == b.Name && a.Count == b.Count })
}

// hashOf returns the hash by which Kueue finds equivalent workloads.
func (e *Engine) hashOf(ctx context.Context, w *kueue.Workload) workload.EquivalenceHash {
	return e.infoOf(ctx, w).SchedulingHash
}

// storedHash is hashOf for a workload that is stored. A large queue has thousands, and remedies ask about them again and again.
func (e *Engine) storedHash(ctx context.Context, w *kueue.Workload) workload.EquivalenceHash {
	d := &e.derived
	hash, known := d.hashes[w]
	if !known {
		if d.hashes == nil {
			d.hashes = map[*kueue.Workload]workload.EquivalenceHash{}
		}
		hash = e.hashOf(ctx, w)
		d.hashes[w] = hash
	}
	return hash
}

// putAside reports whether a workload was found not to fit and put aside: by this engine, or by Kueue before.
func (e *Engine) putAside(w *kueue.Workload) bool {
	key := workload.Key(w)
	if _, aside := e.queues.GetNoFitReason(w); aside {
		return true
	}
	if !e.asFound || e.backoff[key] {
		return false
	}
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
	if c == nil || c.Status == metav1.ConditionTrue || c.ObservedGeneration < w.Generation {
		return false
	}
	return c.Message == bypassed || strings.HasPrefix(c.Message, "couldn't assign flavors to pod set ") && !e.awaitsPreempted(w)
}

// besideEquivalent changes the decision about a workload that fits, and that Kueue does not try because it put an equivalent
// one aside.
func (e *Engine) besideEquivalent(ctx context.Context, w *kueue.Workload, cq kueue.ClusterQueueReference, en *entry, d Decision) Decision {
	if en.fate != admitted && en.fate != preempting && en.fate != migrating && en.fate != blocked {
		return d
	}
	o := e.equivalent(ctx, w, cq)
	if o == nil {
		return d
	}
	d.Outcome, d.Reason, d.Message = Waits, kueue.WorkloadQuotaReservedReasonWaitingForQuota, bypassed
	d.Equivalent = string(e.named(workload.Key(o)))
	d.Borrowed, d.Preempts, d.Leaving, d.NotReady, d.Checks = nil, nil, nil, nil, nil
	d.NotModelled = e.notModelled(w, e.store.cqs[string(cq)], nil)
	return d
}
