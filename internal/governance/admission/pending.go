package admission

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// Pending lists the workloads waiting in a ClusterQueue in the order the scheduler
// takes them. With an empty name it lists those that are in no queue at all: gated,
// deactivated, with devices that Kueue cannot count, or their LocalQueue or ClusterQueue is missing or stopped.
func (e *Engine) Pending(clusterQueue string) []PendingWorkload {
	ctx := context.Background()
	out := []PendingWorkload{}
	if clusterQueue != "" {
		for _, w := range e.headsOf(e.inOrder(ctx, kueue.ClusterQueueReference(clusterQueue))) {
			out = append(out, e.pendingWorkload(w))
		}
		return out
	}
	queued := map[workload.Reference]bool{}
	for name := range e.cqs {
		for _, w := range e.headsOf(e.inOrder(ctx, kueue.ClusterQueueReference(name))) {
			queued[workload.Key(w)] = true
		}
	}
	for _, key := range sortedKeys(e.store.workloads) {
		w := e.store.workloads[key]
		if e.parentOf(w) != nil {
			continue
		}
		if !queued[key] && !workloadfinish.IsFinished(w) && !workload.HasQuotaReservation(w) {
			out = append(out, e.pendingWorkload(w))
		}
	}
	return out
}

func (e *Engine) pendingWorkload(w *kueue.Workload) PendingWorkload {
	p := PendingWorkload{Namespace: w.Namespace, Name: w.Name, Priority: priority.EffectivePriority(e.log, w), BacksOff: e.backoff[workload.Key(w)]}
	p.Reason, p.Message = e.whyPending(w)
	return p
}

// whyPending returns the best known reason a workload waits: this engine's own verdict,
// else that of an equal workload that failed just before (Kueue does not look at it
// again until something changes), else the condition it was loaded with.
func (e *Engine) whyPending(w *kueue.Workload) (reason, message string) {
	key := workload.Key(w)
	if v, ok := e.verdicts[key]; ok {
		return v.reason, v.message
	}
	if e.leads(w) {
		if v := e.tells(w); v.reason != "" {
			return v.reason, v.message
		}
	}
	if e.backoff[key] {
		return kueue.WorkloadQuotaReservedReasonPendingEvaluation, "Waiting for the back-off to end at " + w.Status.RequeueState.RequeueAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	if r, ok := e.queues.GetNoFitReason(w); ok {
		return r, bypassed
	}
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionFalse {
		return cmp.Or(c.Reason, kueue.WorkloadQuotaReservedReasonPendingEvaluation), c.Message
	}
	return kueue.WorkloadQuotaReservedReasonPendingEvaluation, "Workload is pending evaluation in the scheduling queue"
}

// evictedBecause returns the reason and message of the Evicted condition.
func evictedBecause(w *kueue.Workload) (reason, message string) {
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil {
		return c.Reason, c.Message
	}
	return "", ""
}

// Parked returns the workloads ("namespace/name") that Kueue has put aside in their queues
// until something changes (its inadmissible workloads).
func (e *Engine) Parked() map[string]bool {
	out := map[string]bool{}
	for _, list := range e.queues.DumpInadmissible() {
		for _, key := range list {
			out[string(key)] = true
		}
	}
	if !variantsOn() {
		return out
	}
	for key := range maps.Clone(out) { // a family, once all its variants are put aside
		if p := e.parentOf(e.store.workloads[workload.Reference(key)]); p != nil {
			out[string(workload.Key(p))] = !slices.ContainsFunc(e.Variants(p.Namespace, p.Name), func(v *kueue.Workload) bool {
				return workload.IsAdmissible(v) && !out[string(workload.Key(v))]
			})
		}
	}
	return out
}

// NotModelled names the parts of Kueue that affect decisions about a workload and that this package does not follow:
// NotModelled constants, sorted.
func (e *Engine) NotModelled(namespace, name string) []string {
	w := e.store.workloads[workload.NewReference(namespace, name)]
	if w == nil {
		return nil
	}
	var out []string
	var cq *kueue.ClusterQueue
	if w.Status.Admission != nil {
		cq = e.store.cqs[string(w.Status.Admission.ClusterQueue)]
	} else if lq := e.store.queueOf(w); lq != nil {
		cq = e.store.cqs[string(lq.Spec.ClusterQueue)]
	}
	var checks []string
	if w.Status.Admission != nil {
		checks = waitingChecks(w)
	}
	if cq != nil {
		out = append(out, e.notModelled(w, cq, checks)...)
	}
	slices.Sort(out)
	return out
}

// Readiness reports whether Kueue admits workloads through a ClusterQueue. If it does not, reason and message are those
// of the Active condition.
func (e *Engine) Readiness(clusterQueue string) (active bool, reason, message string) {
	status, reason, message := e.cache.ClusterQueueReadiness(kueue.ClusterQueueReference(clusterQueue))
	return status == metav1.ConditionTrue, reason, message
}
