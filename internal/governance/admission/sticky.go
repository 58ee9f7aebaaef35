package admission

import (
	"context"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"
)

// Kueue tries the workload that waits for what it preempts before all others of its BestEffortFIFO queue, also those of higher
// priority, so that nobody takes the quota that becomes free (preemptorWorkload in cluster_queue.go). With admission fair
// sharing, the past use of LocalQueues comes before that.

// stuck is the workload that a queue tries again and again until what it preempts has ended.
type stuck struct {
	decision Decision
	waits    bool
}

// waitsForPreempted reports whether Kueue keeps an entry as the one that preempts.
func waitsForPreempted(en *entry) bool {
	return en.requeue == qcache.RequeueReasonPendingPreemption || en.requeue == qcache.RequeueReasonPendingMigration
}

// preemptorIn returns the workload of a BestEffortFIFO queue that waits for what it preempts, nil if there is none.
func (e *Engine) preemptorIn(cq kueue.ClusterQueueReference) *kueue.Workload {
	d := &e.derived
	if w, known := d.sticky[cq]; known {
		return w
	}
	if d.sticky == nil {
		d.sticky = map[kueue.ClusterQueueReference]*kueue.Workload{}
	}
	d.sticky[cq] = nil
	if c := e.store.cqs[string(cq)]; c == nil || c.Spec.QueueingStrategy == kueue.StrictFIFO {
		return nil
	}
	var first *kueue.Workload
	for _, lq := range e.localQueues(cq) {
		for key, w := range e.store.inQueue[lq] {
			switch {
			case !e.awaitsPreempted(w) || e.backoff[key] || !e.isQueued(w):
			case key == e.preemptors[cq]:
				d.sticky[cq] = w
				return w
			case first == nil || e.compare(w, first) < 0:
				first = w
			}
		}
	}
	d.sticky[cq] = first
	return first
}

// awaitsPreempted reports whether a workload was last found to wait for what it preempts: by this engine, or by Kueue.
func (e *Engine) awaitsPreempted(w *kueue.Workload) bool {
	if v, known := e.verdicts[workload.Key(w)]; known {
		return v.reason == kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads
	}
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
	return c != nil && c.Status == metav1.ConditionFalse && (c.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads ||
		slices.ContainsFunc([]string{"Pending the preemption of ", "Pending the migration of ", "will fit after these preemptions complete"},
			func(s string) bool { return strings.Contains(c.Message, s) }))
}

// restorePreemptor lets the queue of a workload that was loaded know that it preempts. Then the queue has it.
func (e *Engine) restorePreemptor(ctx context.Context, w *kueue.Workload) {
	lq := e.store.queueOf(w)
	if lq == nil || !e.awaitsPreempted(w) {
		return
	}
	cq := lq.Spec.ClusterQueue
	key := workload.Key(w)
	if _, known := e.preemptors[cq]; known || e.preemptorIn(cq) != w {
		return
	}
	q := e.queues.ClusterQueueForWorkloadWithoutLock(w)
	if q == nil {
		return
	}
	e.preemptors[cq] = key
	info := e.infoOf(ctx, w)
	info.LastEvaluatedGeneration = w.Generation
	q.RequeueIfNotPresent(ctx, info, qcache.RequeueReasonPendingPreemption, "")
}

// behindPreemptor changes the decision about a workload that Kueue does not try before another one of its queue that waits for
// what it preempts.
func (e *Engine) behindPreemptor(ctx context.Context, w *kueue.Workload, cq kueue.ClusterQueueReference, d Decision) (Decision, error) {
	p := e.preemptorIn(cq)
	if p == nil || same(p, w) || e.compareUse(w, p) < 0 {
		return d, nil
	}
	s := e.stuck[cq]
	if s == nil {
		c := *p
		c.Status = kueue.WorkloadStatus{ReclaimablePods: p.Status.ReclaimablePods, PreemptionGates: p.Status.PreemptionGates, Conditions: e.evictions(p)}
		decision, en, err := e.probeOnce(ctx, &c, false)
		if err != nil {
			return d, err
		}
		s = &stuck{decision, waitsForPreempted(en) || en.fate == skipped}
		if e.stuck == nil {
			e.stuck = map[kueue.ClusterQueueReference]*stuck{}
		}
		e.stuck[cq] = s
	}
	switch {
	case !s.waits:
		return d, nil
	case e.headOf(p) != p && e.headOf(p) == e.headOf(w):
		return s.decision, nil // another variant of the same job
	}
	d.Outcome, d.Reason, d.Message = Waits, kueue.WorkloadQuotaReservedReasonPendingEvaluation, ""
	d.Equivalent = ""
	d.Preemptor, d.Leaving = string(e.named(workload.Key(p))), s.decision.Leaving
	d.Borrowed, d.Preempts, d.NotReady = nil, nil, nil
	return d, nil
}
