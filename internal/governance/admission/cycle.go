package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workloadslicing"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// fate is what a cycle decided about an entry.
type fate int

const (
	pending    fate = iota // evaluated, not admitted
	skipped                // lost to another entry of the cycle, or gated
	gated                  // would have to preempt but may not
	preempting             // waits for the targets it preempts
	admitted               // gets the quota
	blocked                // would get it, but the pods of others are not ready
	undecided              // behind a blocked entry
	evicted                // loses its quota: no node replaces a failed one
	migrating              // waits for the variant that it replaces
)

// entry is the head of one ClusterQueue in one cycle.
type entry struct {
	qcache.Head
	rank       rank
	rival      bool                            // in a Probe: not the workload that is asked about
	cq         *schdcache.ClusterQueueSnapshot // nil when it was not nominated
	assignment flavorassigner.Assignment
	targets    []*preemption.Target
	replaces   *preemption.Target // old slice of an elastic job
	migrates   *workload.Info     // the variant that it replaces

	fate       fate
	message    string
	reason     string // WorkloadQuotaReservedReason, also when Kueue's gate for it is off
	requeue    qcache.RequeueReason
	keepStatus bool // an internal lookup failed: Kueue leaves the status alone
	borrowed   []Quantity
	podSets    []PodSetDecision
	waitsFor   []string // of a blocked entry: the workloads whose pods are not ready
}

// nominate computes the entry's assignment; ok is false when a misconfiguration or
// the state of the queue rules it out from the start (nominate in scheduler.go).
func (e *Engine) nominate(ctx context.Context, en *entry, snap *schdcache.Snapshot) (ok bool) {
	cq := snap.ClusterQueue(en.ClusterQueue)
	switch {
	case workload.HasRetryChecks(en.Obj) || workload.HasRejectedChecks(en.Obj):
		en.message = "The workload has failed admission checks"
		en.reason = kueue.WorkloadQuotaReservedReasonPendingEvaluation
		return false
	case snap.InactiveClusterQueueSets.Has(en.ClusterQueue):
		en.message = fmt.Sprintf("ClusterQueue %s is inactive", en.ClusterQueue)
		en.reason = kueue.WorkloadQuotaReservedReasonSuspended
		return false
	case cq == nil:
		en.message = fmt.Sprintf("ClusterQueue %s not found", en.ClusterQueue)
		en.reason = kueue.WorkloadQuotaReservedReasonMisconfigured
		return false
	}
	if err := workload.ValidateAdmissibility(ctx, e.client, &en.Info, cq.NamespaceSelector); err != nil {
		en.message = err.Error()
		en.reason = kueue.WorkloadQuotaReservedReasonMisconfigured
		switch {
		case errors.Is(err, workload.ErrInternal):
			en.keepStatus = true
		case errors.Is(err, workload.ErrNamespaceMismatch):
			en.requeue = qcache.RequeueReasonNamespaceMismatch
		}
		return false
	}
	en.cq = cq
	e.assign(ctx, en, snap)
	return true
}

// decide runs one scheduling cycle over the heads in the snapshot and changes
// nothing else: steps 3 to 5 of schedule in scheduler.go. The result holds every
// entry, in the order in which they are to be applied; with last, those after it
// are left out or undecided.
func (e *Engine) decide(ctx context.Context, entries []*entry, snap *schdcache.Snapshot, flip bool, last *entry) []*entry {
	defer embedded.WithReasons()()
	r := &round{snap: snap, preempted: preemption.PreemptedWorkloads{}}
	var nominated, refused []*entry
	if last == nil {
		nominated, refused, r.freed = e.nominateAll(ctx, entries, snap)
	} else if nominated, refused = e.nominateBefore(ctx, last, entries, snap); len(nominated) == 0 {
		return []*entry{last}
	}
	if len(nominated) > 1 && r.freed == nil {
		if freed, err := e.snapshot(ctx); err == nil {
			r.freed = freed
		}
	}
	order := e.newTurns(nominated, flip)
	result := make([]*entry, 0, len(entries))
	stopped := false
	for en := order.next(); en != nil; en = order.next() {
		result = append(result, en)
		if stopped {
			en.fate, en.requeue, en.keepStatus = undecided, qcache.RequeueReasonFailedAfterNomination, true
			continue
		}
		e.process(ctx, en, r)
		if en.fate == admitted && e.heldBack(en, r) {
			en.fate, en.requeue, en.waitsFor = blocked, qcache.RequeueReasonFailedAfterNomination, r.waitsFor
			en.reason, en.message = kueue.WorkloadQuotaReservedReasonWaitingForPodsReady, waitsForPods
			// Kueue goes on with this very cycle once the pods are ready. A Probe asks what comes of it.
			stopped = last == nil
		}
		if en == last {
			break
		}
	}
	if last == nil && len(result) < len(nominated) {
		// With fair sharing one entry of each queue has a turn: the last one.
		for _, en := range nominated {
			if !slices.Contains(result, en) {
				refused = append(refused, en)
			}
		}
	}
	return append(result, refused...)
}

// nominateBefore nominates last, and the entries whose turn may be before it. If it is refused, nothing is nominated.
func (e *Engine) nominateBefore(ctx context.Context, last *entry, entries []*entry, snap *schdcache.Snapshot) (nominated, refused []*entry) {
	defer e.share(snap)()
	if !e.nominate(ctx, last, snap) {
		return nil, nil
	}
	for _, en := range entries {
		switch {
		case en == last:
			nominated = append(nominated, en)
		case e.surelyAfter(en, last):
		case en.rival && e.nominateRival(ctx, en, snap), !en.rival && e.nominate(ctx, en, snap):
			nominated = append(nominated, en)
		default:
			refused = append(refused, en)
		}
	}
	return nominated, refused
}

// share lets the nominations in unchanged snapshots share what their searches find.
func (e *Engine) share(snaps ...*schdcache.Snapshot) (end func()) {
	if e.fair {
		for i, snap := range snaps {
			if len(e.remembered) == i {
				e.remembered = append(e.remembered, newFairMemory())
			}
			e.nominating = append(e.nominating, newFairState(snap, e.remembered[i]))
		}
	}
	return func() { e.nominating = nil }
}

// manyHeads are nominated on two processors.
const manyHeads = 8

// nominateAll nominates the heads of a cycle. Nobody takes anything yet, so that one nomination does not change another:
// of many heads, every other one is nominated at the same time in a second snapshot of the same state, which is returned.
func (e *Engine) nominateAll(ctx context.Context, entries []*entry, snap *schdcache.Snapshot) (nominated, refused []*entry, second *schdcache.Snapshot) {
	snaps := []*schdcache.Snapshot{snap}
	if len(entries) >= manyHeads && runtime.GOMAXPROCS(0) > 1 && len(e.store.topologies) == 0 && e.recheck == nil {
		if s, err := e.snapshot(ctx); err == nil {
			second, snaps = s, append(snaps, s)
		}
	}
	defer e.share(snaps...)()
	ok := make([]bool, len(entries))
	part := func(n int) {
		for i := n; i < len(entries); i += len(snaps) {
			ok[i] = e.nominate(ctx, entries[i], snaps[n])
		}
	}
	if second == nil {
		part(0)
	} else {
		e.atOnce(part)
	}
	for i, en := range entries {
		if !ok[i] {
			refused = append(refused, en)
			continue
		}
		if i%len(snaps) > 0 {
			en.cq, en.targets = snap.ClusterQueue(en.ClusterQueue), inSnapshot(en.targets, snap)
		}
		nominated = append(nominated, en)
	}
	return nominated, refused, second
}

// atOnce runs both parts. A panic of either is one of the caller.
func (e *Engine) atOnce(part func(n int)) {
	var failed any
	func() {
		var wg crash.Group
		defer wg.Wait()
		wg.Go(func() {
			defer func() { failed = recover() }()
			part(1)
		})
		part(0)
	}()
	if failed != nil {
		panic(failed)
	}
}

// round is the state of a cycle while its entries are processed.
type round struct {
	snap      *schdcache.Snapshot
	preempted preemption.PreemptedWorkloads
	// freed is a second snapshot, from which what was preempted is gone. Whether an
	// entry fits is asked there, in place of taking all of that away from snap for
	// every entry and putting it back. Nil when it is not worth it.
	freed *schdcache.Snapshot
	// waitsFor are the workloads with pods that are not ready, nil when not known.
	waitsFor []string
}

// take books the quota that an entry gets, or that it keeps others from taking. The latter is negative in a queue that holds
// more than its borrowing limit. What Kueue finds free then depends on the order of bookings, so the second snapshot is dropped,
// and what fits is asked in Kueue's way.
func (r *round) take(en *entry, usage workload.Usage) {
	en.cq.AddUsage(usage)
	for _, amount := range usage.Quota {
		if amount.CmpInt64(0) < 0 {
			r.freed = nil
		}
	}
	if r.freed != nil {
		r.freed.ClusterQueue(en.cq.Name).AddUsage(usage)
	}
}

// preempt books targets as gone.
func (r *round) preempt(targets []*preemption.Target) {
	if r.freed != nil {
		for _, t := range targets {
			if !r.preempted.HasAny([]*preemption.Target{t}) {
				r.freed.ClusterQueue(t.WorkloadInfo.ClusterQueue).RemoveUsage(t.WorkloadInfo.Usage())
			}
		}
	}
	r.preempted.Insert(targets)
}

// process decides about one entry, given what the earlier ones took
// (processEntry in scheduler.go).
func (e *Engine) process(ctx context.Context, en *entry, r *round) {
	snap, preempted := r.snap, r.preempted
	variant := isVariant(en)
	if variant && sibling(en, 1) != nil {
		en.skip("A more favorable variant is already admitted")
		en.reason = kueue.WorkloadQuotaReservedReasonPendingEvaluation
		return
	}
	usage, fit := e.refresh(ctx, en, r)
	mode := en.assignment.RepresentativeMode()
	switch {
	case irreplaceable(en):
		en.fate = evicted
		return
	case mode == flavorassigner.NoFit:
		en.requeue = qcache.RequeueReasonNoFit
		en.reason = e.noFitReason(en)
		return
	case mode == flavorassigner.Preempt && len(en.targets) == 0:
		en.requeue = qcache.RequeueReasonPreemptionNoCandidates
		en.reason = kueue.WorkloadQuotaReservedReasonWaitingForQuota
		if !preemption.CanAlwaysReclaim(en.cq) || (features.Enabled(features.PrioritizePreemptorWorkloads) && en.IsPreemptor) {
			r.take(en, e.reservation(en))
		}
		return
	case mode == flavorassigner.Preempt && workload.HasClosedPreemptionGate(en.Obj) &&
		(features.Enabled(features.ConcurrentAdmission) || features.Enabled(features.MultiKueueOrchestratedPreemption)):
		en.fate, en.requeue = gated, qcache.RequeueReasonPreemptionGated
		en.message = "Workload requires preemption, but it's gated"
		en.reason = kueue.WorkloadAdmissionGated
		en.LastAssignment = nil
		return
	case mode == flavorassigner.DeferredFit:
		en.message = "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete"
		en.reason = kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads
		en.requeue = qcache.RequeueReasonPendingPreemption
		en.LastAssignment = nil
		r.take(en, usage)
		return
	case preempted.HasAny(en.targets):
		en.skip("Workload has overlapping preemption targets with another workload")
		return
	case !fit:
		en.skip("Workload no longer fits after processing another workload")
		return
	}

	others, replaces := workloadslicing.FindReplacedSliceTarget(en.Obj, slices.Clone(en.targets))
	if !en.rival { // nobody asks what a rival gets
		undo := snap.SimulateWorkloadUsageRemoval(infos(en.targets))
		en.borrowed = e.quantities(borrowed(en.cq, whole(usage.Quota, replaces)))
		undo()
		en.podSets = e.podSets(&en.Info, &en.assignment)
	}
	r.preempt(en.targets)
	r.take(en, usage)
	en.targets, en.replaces = others, replaces

	if mode != flavorassigner.Preempt {
		if !variant || !en.migrate() {
			en.fate = admitted
		}
		return
	}
	en.reason = kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads
	en.LastAssignment = nil
	if n := len(en.targets); n > 0 {
		en.fate, en.requeue = preempting, qcache.RequeueReasonPendingPreemption
		en.message += fmt.Sprintf(". Pending the preemption of %d workload(s)", n)
	}
}

// whole returns what a workload holds once it is admitted: of an elastic job's new slice
// Kueue's usage is only what it asks for beyond the old one.
func whole(usage resources.FlavorResourceQuantities, old *preemption.Target) resources.FlavorResourceQuantities {
	if old == nil || usage == nil {
		return usage
	}
	sum := maps.Clone(usage)
	for fr, n := range old.WorkloadInfo.FlavorResourceUsage() {
		sum[fr] = sum[fr].Add(n)
	}
	return sum
}

// noFitReason is Kueue's reason. It has none when the queue offers only some of the resources, and when the
// chosen flavors have no topology to request. That stays so if the queue has no other flavors.
func (e *Engine) noFitReason(en *entry) string {
	if r := en.assignment.NoFitReason; r != "" {
		return r
	}
	for i := range en.TotalRequests {
		if en.TotalRequests[i].Requests == nil {
			continue
		}
		for res, n := range en.TotalRequests[i].Requests.Iter() {
			if n != 0 && en.cq.RGByResource(res) == nil && !flavorassigner.IgnoreUndeclaredResources(e.quota) {
				return kueue.WorkloadQuotaReservedReasonNoMatchingFlavor
			}
		}
	}
	if !slices.ContainsFunc(en.assignment.PodSets, func(ps flavorassigner.PodSetAssignment) bool { return ps.Status.IsError() }) {
		return kueue.WorkloadQuotaReservedReasonWaitingForQuota
	}
	if slices.ContainsFunc(en.cq.ResourceGroups, func(g schdcache.ResourceGroup) bool { return len(g.Flavors) > 1 }) {
		return kueue.WorkloadQuotaReservedReasonPendingEvaluation
	}
	return kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed
}

// skip marks an entry that lost to another one. It keeps its place in the flavor
// scan unless the gate for that is off (markSkipped).
func (en *entry) skip(message string) {
	en.fate, en.message = skipped, message
	en.reason = kueue.WorkloadQuotaReservedReasonWaitingForQuota
	if !features.Enabled(features.FlavorFungibilityPreserveScanProgress) {
		en.LastAssignment = nil
	}
}
