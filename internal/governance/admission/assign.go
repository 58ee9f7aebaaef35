package admission

import (
	"context"
	"slices"

	"maps"

	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// assign finds flavors for the entry in the snapshot and, if they are taken, the
// workloads to preempt (getAssignments in scheduler.go). The entry remembers
// where the flavor scan stopped, for the next cycle.
func (e *Engine) assign(ctx context.Context, en *entry, snap *schdcache.Snapshot) {
	if en.LastAssignment != nil && e.outdated(en.LastAssignment, en.cq.AllocatableResourceGeneration, en.SchedulingHash) {
		en.LastAssignment = nil
	}
	a, targets := e.flavorsAndTargets(ctx, &en.Info, snap)
	e.placeAfterPreemption(ctx, &en.Info, en.cq, snap, &a, targets)
	en.assignment, en.targets = a, targets
	en.message = en.assignment.Message()
	en.LastAssignment = &en.assignment.LastState
}

// outdated reports whether a remembered flavor scan must start over
// (lastAssignmentOutdated). Kueue's assigner does not check it itself.
func (e *Engine) outdated(last *workload.AssignmentClusterQueueState, generation int64, hash workload.EquivalenceHash) bool {
	if features.Enabled(features.FlavorFungibilityPreserveScanProgress) {
		if !last.MatchesSchedulingShape(hash) {
			return true
		}
		if e.cycle-last.SchedulingCycle <= 1 {
			return false
		}
	}
	return generation > last.ClusterQueueGeneration
}

// flavorsAndTargets tries the full request, then, if allowed, fewer pods
// (getInitialAssignments). An old slice of an elastic job is always among the
// targets, because the new one replaces it.
func (e *Engine) flavorsAndTargets(ctx context.Context, wl *workload.Info, snap *schdcache.Snapshot) (flavorassigner.Assignment, []*preemption.Target) {
	slice, replaced := workloadslicing.ReplacedWorkloadSlice(wl, snap)
	search := &searcher{e: e, kueue: preemption.NewOracle(e.preempt, snap), snap: snap, none: map[resources.FlavorResource]resources.Amount{}}
	for _, s := range e.nominating {
		if s.snap == snap {
			search.fair = s
		}
	}
	assigner := flavorassigner.New(wl, snap.ClusterQueue(wl.ClusterQueue), snap.ResourceFlavors, e.fair,
		search, replaced, e.quota, e.format, e.cycle)

	type found struct {
		flavorassigner.Assignment
		targets []*preemption.Target
	}
	try := func(counts []int32) (*found, bool) {
		clear(search.none)
		f := &found{Assignment: assigner.Assign(ctx, counts)}
		switch f.RepresentativeMode() {
		case flavorassigner.Fit:
			return f, true
		case flavorassigner.Preempt:
			f.targets = search.targets(ctx, wl, &f.Assignment)
			return f, len(f.targets) > 0
		}
		return f, false
	}

	full, ok := try(nil)
	if ok {
		return full.Assignment, append(slice, full.targets...)
	}
	if features.Enabled(features.PartialAdmission) && wl.CanBePartiallyAdmitted() {
		fewer := flavorassigner.NewPodSetReducer(wl.Obj.Spec.PodSets, try)
		if part, ok := fewer.Search(); ok {
			return part.Assignment, append(slice, part.targets...)
		}
	}
	return full.Assignment, nil
}

// placeAfterPreemption computes the topology placement of an assignment that
// needs preemption: on the cluster without the targets, or, when there are none,
// on an empty one, to reserve the place (updateAssignmentForTAS).
func (e *Engine) placeAfterPreemption(ctx context.Context, wl *workload.Info, cq *schdcache.ClusterQueueSnapshot, snap *schdcache.Snapshot, a *flavorassigner.Assignment, targets []*preemption.Target) {
	if !features.Enabled(features.TopologyAwareScheduling) || a.RepresentativeMode() != flavorassigner.Preempt ||
		!(workload.IsExplicitlyRequestingTAS(wl.Obj.Spec.PodSets...) || cq.IsTASOnly()) ||
		onFailedNode(wl.Obj) {
		return
	}
	requests := a.WorkloadsTopologyRequests(e.log, wl, cq)
	opts := []schdcache.FindTopologyAssignmentsOption{schdcache.WithWorkload(wl.Obj)}
	if len(targets) == 0 {
		opts = append(opts, schdcache.WithSimulateEmpty(true))
	} else {
		defer snap.SimulateWorkloadUsageRemoval(infos(targets))()
	}
	a.UpdateForTASResult(e.log, cq, wl, cq.FindTopologyAssignmentsForWorkload(ctx, requests, opts...))
}

func infos(targets []*preemption.Target) []*workload.Info {
	out := make([]*workload.Info, len(targets))
	for i, t := range targets {
		out[i] = t.WorkloadInfo
	}
	return out
}

// refresh checks the nominated assignment against what the entries before it in
// this cycle took, and computes it again when topology or overlapping preemption
// targets make that worthwhile (updateAssignmentIfNeeded). It returns the usage to
// book and whether that fits.
func (e *Engine) refresh(ctx context.Context, en *entry, r *round) (workload.Usage, bool) {
	snap, preempted := r.snap, r.preempted
	usage := e.netUsage(en, en.assignment.Usage.Quota)
	check := r.fits(en, usage)
	overlap := preempted.HasAny(en.targets) && features.Enabled(features.RecomputeAssignmentUponPreemptionTargetsOverlap)
	misplaced := check == schdcache.FitsCheckNoTAS && features.Enabled(features.TASRecomputeAssignmentWithinSchedulingCycle)
	if !overlap && !misplaced {
		return usage, check == schdcache.FitsCheckOk
	}
	undo := func() {}
	if overlap {
		// The workloads themselves go, not only their usage: they are no candidates any more.
		undo = snap.SimulateWorkloadRemoval(slices.Collect(maps.Values(preempted)))
	}
	en.LastAssignment = nil
	en.NominationMapping = nominated(&en.assignment)
	e.assign(ctx, en, snap)
	undo()
	if overlap && en.assignment.RepresentativeMode() == flavorassigner.Fit {
		en.assignment.SetRepresentativeMode(flavorassigner.DeferredFit)
	}
	usage = e.netUsage(en, en.assignment.Usage.Quota)
	check = r.fits(en, usage)
	en.NominationMapping = nil
	return usage, check == schdcache.FitsCheckOk
}

// nominated keeps a repeated assignment on the flavors of the first one.
func nominated(a *flavorassigner.Assignment) workload.PodSetResourcesToFlavors {
	out := make(workload.PodSetResourcesToFlavors, len(a.PodSets))
	for _, ps := range a.PodSets {
		out[ps.Name] = workload.ResourceToFlavor{}
		for res, f := range ps.Flavors {
			out[ps.Name][res] = f.Name
		}
	}
	return out
}

// fits asks whether usage fits once everything preempted so far and the entry's
// own targets are gone.
func (r *round) fits(en *entry, usage workload.Usage) schdcache.FitsCheck {
	if r.freed == nil {
		defer r.snap.SimulateWorkloadUsageRemoval(r.preempted.MergeWithTargets(en.targets).Workloads())()
		return en.cq.Fits(usage)
	}
	own := make(preemption.PreemptedWorkloads, len(en.targets))
	for _, t := range en.targets {
		if one := []*preemption.Target{t}; !r.preempted.HasAny(one) {
			own.Insert(one)
		}
	}
	defer r.freed.SimulateWorkloadUsageRemoval(own.Workloads())()
	return r.freed.ClusterQueue(en.cq.Name).Fits(usage)
}

// netUsage returns the usage an entry adds: a workload that holds quota already adds
// only what its topology placement changes (netUsage in scheduler.go).
func (e *Engine) netUsage(en *entry, quota resources.FlavorResourceQuantities) workload.Usage {
	var u workload.Usage
	if features.Enabled(features.TopologyAwareScheduling) {
		u.TAS = en.assignment.ComputeTASNetUsage(e.log, en.cq, &en.Info, en.Obj.Status.Admission)
	}
	if !workload.HasQuotaReservation(en.Obj) {
		u.Quota = quota
	}
	return u
}

// reservation returns what a workload that needs preemption but found no targets keeps
// others from taking: up to its nominal quota, or the borrowing limit when it
// borrows (quotaResourcesToReserve).
func (e *Engine) reservation(en *entry) workload.Usage {
	quota := en.assignment.Usage.Quota
	if en.assignment.RepresentativeMode() == flavorassigner.Preempt {
		quota = make(resources.FlavorResourceQuantities, len(quota))
		for fr, req := range en.assignment.Usage.Quota {
			q, used := en.cq.QuotaFor(fr), en.cq.ResourceNode.Usage[fr]
			switch {
			case en.assignment.Borrowing > 0 && q.BorrowingLimit == nil:
				quota[fr] = req
			case en.assignment.Borrowing > 0:
				quota[fr] = resources.MinAmount(req, q.Nominal.Add(*q.BorrowingLimit).Sub(used))
			default:
				quota[fr] = resources.MaxAmount(resources.NewAmount(0), resources.MinAmount(req, q.Nominal.Sub(used)))
			}
		}
	}
	return e.netUsage(en, quota)
}
