package admission

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/workload"
)

// The second pass: a workload that holds quota gets its place in the topology. That is so when an admission check
// (a ProvisioningRequest) delays the place until its nodes exist, and when a node under the workload fails. Kueue
// tries again after 1 to 30 seconds; here every cycle tries.

// secondPass returns the workloads that take a second pass in this cycle, by name.
func (e *Engine) secondPass(ctx context.Context) []qcache.Head {
	var out []qcache.Head
	for _, key := range sortedKeys(e.store.second) {
		out = append(out, qcache.Head{Info: *workload.NewInfo(e.adjusted(ctx, e.store.workloads[key]), e.info...)})
	}
	return out
}

// secondPassBeside returns entries for the workloads that take a second pass in the same cycle as own. With fair sharing one
// workload of each queue has a turn.
func (e *Engine) secondPassBeside(ctx context.Context, own *entry) []*entry {
	var out []*entry
	for _, h := range e.secondPass(ctx) {
		if workload.Key(h.Obj) != workload.Key(own.Obj) && (!e.fair || h.ClusterQueue != own.ClusterQueue) {
			out = append(out, &entry{Head: h, rank: e.rankOf(h.Obj)})
		}
	}
	return out
}

// irreplaceable reports whether an entry is evicted because no node replaces a failed one.
func irreplaceable(en *entry) bool {
	return features.Enabled(features.TASFailedNodeReplacementFailFast) &&
		onFailedNode(en.Obj) && en.assignment.RepresentativeMode() != flavorassigner.Fit
}

// onFailedNode reports whether a workload has pods on a node that failed. One that is admitted and has no admission in its
// status has none: Kueue's function panics about it.
func onFailedNode(w *kueue.Workload) bool {
	return w.Status.Admission != nil && workload.HasTopologyAssignmentWithUnhealthyNode(w)
}

// noReplacement returns the message of that eviction (evictWorkloadAfterFailedTASReplacement in scheduler.go).
func noReplacement(w *kueue.Workload) string {
	return "Workload was evicted as there was no replacement for unhealthy node(s): " + strings.Join(workload.UnhealthyNodeNames(w), ",")
}

// evictUnreplaced evicts a workload whose failed node has no replacement.
func (e *Engine) evictUnreplaced(ctx context.Context, en *entry) Event {
	key, ev := workload.Key(en.Obj), e.event(en)
	ev.Kind, ev.Reason, ev.Message = EventEvicted, kueue.WorkloadEvictedDueToNodeFailures, noReplacement(en.Obj)
	ev.Lost = e.loses(e.store.workloads[key])
	e.evict(e.writable(key), ev.Reason, ev.Message, "")
	e.verdicts[key] = verdict{kueue.WorkloadQuotaReservedReasonPendingEvaluation, ev.Message}
	e.reconcile(ctx, key)
	return ev
}

// unmoved reports whether a second pass left everything as it was: Kueue leaves the place of a MultiKueue workload to
// the worker cluster.
func unmoved(old, w *kueue.Workload) bool {
	return workload.HasQuotaReservation(old) && equality.Semantic.DeepEqual(old.Status, w.Status)
}

// place decides about the second pass that a workload with quota needs.
func (e *Engine) place(ctx context.Context, w *kueue.Workload, d *Decision) error {
	snap, err := e.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("snapshot of the cluster: %w", err)
	}
	own := &entry{Head: qcache.Head{Info: *workload.NewInfo(e.adjusted(ctx, w), e.info...)}, rank: e.rankOf(w)}
	e.cycle++
	e.decide(ctx, append(e.secondPassBeside(ctx, own), own), snap, false, own)
	e.cycle--
	switch own.fate {
	case admitted:
		if !placed(own.podSets) {
			d.Outcome, d.Reason, d.Message = Waits, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks, "a worker cluster assigns its nodes"
			return nil
		}
		d.PodSets, d.Message = own.podSets, "Its quota is reserved; a second pass assigns its nodes"
	case evicted:
		d.Outcome, d.Reason, d.Message = Waits, kueue.WorkloadEvictedDueToNodeFailures, noReplacement(w)
	default:
		d.Outcome, d.Reason, d.Message = Waits, kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed, own.message
	}
	return nil
}

func placed(sets []PodSetDecision) bool {
	for i := range sets {
		if len(sets[i].Domains) > 0 {
			return true
		}
	}
	return false
}
