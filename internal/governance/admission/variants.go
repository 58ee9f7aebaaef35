package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// Concurrent admission: Kueue makes a variant of a workload for each flavor. This file follows what the scheduler does
// with variants; concurrent.go follows the controller that makes, deactivates and ungates them.

// preferred returns the place of a variant's flavor in its queue, from 0; -1 if it has none.
func preferred(w *kueue.Workload, cq *schdcache.ClusterQueueSnapshot) int {
	if len(cq.ResourceGroups) == 0 {
		return -1
	}
	return slices.Index(cq.ResourceGroups[0].Flavors, concurrentadmission.GetVariantFlavor(w))
}

// sibling returns an admitted variant of the same workload whose flavor compares as better says; nil without one
// (findAdmittedSibling in scheduler.go). Of several it is the first by its name.
func sibling(en *entry, better int) *workload.Info {
	mine := preferred(en.Obj, en.cq)
	if mine < 0 {
		return nil
	}
	var found *workload.Info
	for key, other := range en.cq.Workloads {
		theirs := preferred(other.Obj, en.cq)
		if other.Obj.UID == en.Obj.UID || concurrentadmission.GetParentWorkloadUID(other.Obj) != concurrentadmission.GetParentWorkloadUID(en.Obj) ||
			!workload.IsAdmitted(other.Obj) || theirs < 0 || cmp.Compare(mine, theirs) != better {
			continue
		}
		if found == nil || key < workload.Key(found.Obj) {
			found = other
		}
	}
	return found
}

// isVariant reports whether an entry has siblings.
func isVariant(en *entry) bool {
	return features.Enabled(features.ConcurrentAdmission) && concurrentadmission.IsVariant(en.Obj) && concurrentadmission.GetParentWorkloadUID(en.Obj) != ""
}

// migrate decides about a variant that fits. If a sibling with a worse flavor is admitted, that one is evicted first,
// unless the policy of the queue forbids it. It reports whether the entry's fate is decided.
func (en *entry) migrate() bool {
	worse := sibling(en, -1)
	if worse == nil {
		return false
	}
	if p := en.cq.ConcurrentAdmissionPolicy; p != nil && p.Migration.Constraints != nil && p.Migration.Constraints.LastAcceptableFlavorName != nil &&
		preferred(en.Obj, en.cq) > slices.Index(en.cq.ResourceGroups[0].Flavors, *p.Migration.Constraints.LastAcceptableFlavorName) {
		en.reason, en.message = kueue.WorkloadQuotaReservedReasonPendingEvaluation, "Target flavor is below LastAcceptableFlavorName"
		return true
	}
	en.fate, en.migrates, en.requeue, en.LastAssignment = migrating, worse, qcache.RequeueReasonPendingMigration, nil
	en.reason = kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads
	en.message += ". Pending the migration of 1 workload(s)"
	return true
}

// evictSibling evicts the variant in whose place another one is admitted (issueMigration in scheduler.go).
func (e *Engine) evictSibling(ctx context.Context, en *entry) []Event {
	key := workload.Key(en.migrates.Obj)
	stored := e.store.workloads[key]
	if stored == nil || !workload.HasQuotaReservation(stored) {
		return nil
	}
	ev := Event{Kind: EventEvicted, Namespace: stored.Namespace, Name: stored.Name, ClusterQueue: string(en.migrates.ClusterQueue),
		Reason: kueue.WorkloadEvictedByFlavorMigration, By: en.Obj.Namespace + "/" + en.Obj.Name,
		Message: fmt.Sprintf("Evicted to accommodate a workload (UID: %s) due to migration to more favorable resource flavor", en.Obj.UID)}
	e.evict(e.writable(key), ev.Reason, ev.Message, "")
	e.verdicts[key] = verdict{kueue.WorkloadQuotaReservedReasonPendingEvaluation, ev.Message}
	e.reconcile(ctx, key)
	return []Event{ev}
}
