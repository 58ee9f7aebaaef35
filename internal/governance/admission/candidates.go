package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/classical"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
	"sigs.k8s.io/kueue/pkg/workload"
)

// Candidates are the workloads that Kueue would consider for preemption.
type Candidates struct {
	// Keys are their names, "namespace/name". Variants have the name of their workload.
	Keys map[string]bool
	// MustBorrow is true when the workload exceeds its ClusterQueue's own quota even if it preempts everything there.
	// From other queues, it can then take only what borrowWithinCohort allows.
	MustBorrow bool
}

// Candidates returns the workloads that Kueue's rules (policies, priorities, who borrows) allow a workload to preempt
// for the amounts that it is short of. Of these amounts, only flavor and resource are read. Candidates does not check
// whether preempting them would be enough.
func (e *Engine) Candidates(ctx context.Context, wl *kueue.Workload, clusterQueue string, short []Quantity) (Candidates, error) {
	out := Candidates{Keys: map[string]bool{}}
	snap, err := e.snapshot(ctx)
	if err != nil {
		return out, fmt.Errorf("snapshot of the cluster: %w", err)
	}
	cq := snap.ClusterQueue(kueue.ClusterQueueReference(clusterQueue))
	if cq == nil {
		return out, nil
	}
	w := smallest(wl) // the smallest request: workloads that cannot be preempted for it are safe
	if w.CreationTimestamp.IsZero() {
		w.CreationTimestamp = metav1.NewTime(e.now())
	}
	info := e.infoOf(ctx, w)
	out.MustBorrow = true
	for _, requests := range ways(info, cq, short) {
		if e.fair {
			e.fairCandidates(w, cq, requests, out.Keys)
			out.MustBorrow = false // fair sharing compares shares instead
		} else if e.classicalCandidates(w, cq, snap, requests, out.Keys) {
			out.MustBorrow = false
		}
	}
	return out, nil
}

// mostWays is how many ways are asked about; with more, all pod sets are taken to
// choose the same flavors.
const mostWays = 256

// ways returns the ways to ask for what is short: for each pod set and each group of
// resources one of the flavors that are short, or, of several pod sets, another.
func ways(info *workload.Info, cq *schdcache.ClusterQueueSnapshot, short []Quantity) []resources.FlavorResourceQuantities {
	groups := map[*schdcache.ResourceGroup][]string{} // the flavors that are short
	var order []*schdcache.ResourceGroup
	for _, s := range short {
		g := cq.RGByResource(corev1.ResourceName(s.Resource))
		if g == nil {
			continue
		}
		if groups[g] == nil {
			order = append(order, g)
		}
		if !slices.Contains(groups[g], s.Flavor) {
			groups[g] = append(groups[g], s.Flavor)
		}
	}
	sets := [][]workload.PodSetResources{info.TotalRequests}
	if several, n := len(info.TotalRequests), 1; several > 1 {
		for _, g := range order {
			for range several {
				n = min(n*(len(groups[g])+1), mostWays+1)
			}
		}
		if n <= mostWays {
			sets = slices.Collect(slices.Chunk(info.TotalRequests, 1))
		}
	}
	out := []resources.FlavorResourceQuantities{{}}
	for _, set := range sets {
		for _, g := range order {
			var more []resources.FlavorResourceQuantities
			if len(sets) > 1 {
				more = slices.Clone(out)
			}
			for _, way := range out {
				for _, flavor := range groups[g] {
					next := maps.Clone(way)
					for _, s := range short {
						if s.Flavor == flavor && cq.RGByResource(corev1.ResourceName(s.Resource)) == g {
							demand(next, set, s)
						}
					}
					more = append(more, next)
				}
			}
			out = more
		}
	}
	return slices.DeleteFunc(out, func(way resources.FlavorResourceQuantities) bool { return len(way) == 0 })
}

// demand adds what some pod sets ask for of what is short.
func demand(way resources.FlavorResourceQuantities, set []workload.PodSetResources, s Quantity) {
	name := corev1.ResourceName(s.Resource)
	if n := asks(set, name); n.CmpInt64(0) > 0 {
		fr := resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(s.Flavor), Resource: name}
		way[fr] = way[fr].Add(n)
	}
}

// asks returns how much of a resource some pod sets ask for.
func asks(sets []workload.PodSetResources, name corev1.ResourceName) (n resources.Amount) {
	for i := range sets {
		if sets[i].Requests == nil {
			continue
		}
		for res, more := range sets[i].Requests.Iter() {
			if res == name {
				n = n.AddInt64(more)
			}
		}
	}
	return n
}

// fairCandidates follows findCandidates in preemption.go.
func (e *Engine) fairCandidates(w *kueue.Workload, cq *schdcache.ClusterQueueSnapshot, requests resources.FlavorResourceQuantities, found map[string]bool) {
	frs := sets.KeySet(requests)
	note := func(from *schdcache.ClusterQueueSnapshot, policy kueue.PreemptionPolicy) {
		if policy == kueue.PreemptionPolicyNever {
			return
		}
		for _, c := range from.Workloads {
			if preemptioncommon.SatisfiesPreemptionPolicy(e.log, w, c.Obj, e.ordering, policy) && classical.WorkloadUsesResources(c, frs) {
				found[string(e.named(workload.Key(c.Obj)))] = true
			}
		}
	}
	note(cq, cq.Preemption.WithinClusterQueue)
	if !cq.HasParent() {
		return
	}
	for _, other := range cq.Parent().Root().SubtreeClusterQueues() {
		if other != cq && slices.ContainsFunc(frs.UnsortedList(), other.Borrowing) {
			note(other, cq.Preemption.ReclaimWithinCohort)
		}
	}
}

// classicalCandidates follows classicalPreemptions in preemption.go, and reports
// whether the workload could do without borrowing: only then those that may be
// preempted only without it are looked at.
func (e *Engine) classicalCandidates(w *kueue.Workload, cq *schdcache.ClusterQueueSnapshot, snap *schdcache.Snapshot, requests resources.FlavorResourceQuantities, found map[string]bool) bool {
	frs := sets.KeySet(requests)
	it := classical.NewCandidateIterator(&classical.HierarchicalPreemptionCtx{
		Log: e.log, Wl: w, Cq: cq, FrsNeedPreemption: frs, Requests: requests, WorkloadOrdering: e.ordering,
	}, afs.Enabled(e.use), frs, snap, e.clock, preemptioncommon.CandidatesOrdering)
	var own []*workload.Info
	for c, _ := it.Next(true); c != nil; c, _ = it.Next(true) {
		found[string(e.named(workload.Key(c.Obj)))] = true
		if c.ClusterQueue == cq.Name {
			own = append(own, c)
		}
	}
	if !withinQuota(cq, snap, requests, own) {
		return false
	}
	it.Reset()
	for c, _ := it.Next(false); c != nil; c, _ = it.Next(false) {
		found[string(e.named(workload.Key(c.Obj)))] = true
	}
	return true
}

// withinQuota reports whether a request fits without borrowing once all workloads of the own queue that may be
// preempted are gone.
func withinQuota(cq *schdcache.ClusterQueueSnapshot, snap *schdcache.Snapshot, requests resources.FlavorResourceQuantities, own []*workload.Info) bool {
	if forbidden, _ := classical.IsBorrowingWithinCohortForbidden(cq); forbidden {
		for fr := range requests { // queueUnderNominalInResourcesNeedingPreemption
			if cq.QuotaFor(fr).Nominal.Cmp(cq.ResourceNode.Usage[fr]) <= 0 {
				return false
			}
		}
	}
	for _, w := range own {
		snap.RemoveWorkload(w)
		defer snap.AddWorkload(w)
	}
	for fr, n := range requests {
		if cq.BorrowingWith(fr, n) {
			return false
		}
	}
	return true
}
