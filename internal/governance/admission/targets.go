package admission

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/classical"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"

	afs "sigs.k8s.io/kueue/pkg/util/admissionfairsharing"
	"sigs.k8s.io/kueue/pkg/workload"
)

// searcher asks Kueue for preemption targets of one workload, unless a bound shows that there are none, or a faster
// search (fairSearch) finds them. In a busy cluster most workloads wait behind others that they may not
// preempt, and Kueue's search sorts all candidates of the cohort for each of them.
type searcher struct {
	e     *Engine
	kueue *preemption.PreemptionOracle
	snap  *schdcache.Snapshot
	// none holds the amounts for which there are no targets on a flavor, nor for more of it.
	none map[resources.FlavorResource]resources.Amount
	// fair is what searches with fair sharing have in common; nil before the first one.
	fair *fairState
}

// SimulatePreemption answers the question of Kueue's flavor assigner about one flavor.
func (s *searcher) SimulatePreemption(ctx context.Context, cq *schdcache.ClusterQueueSnapshot, wl workload.Info, fr resources.FlavorResource, quantity resources.Amount) (possible preemptioncommon.PreemptionPossibility, borrow int) {
	if s.e.searchesFairly(cq) {
		possible, borrow = s.fairly(cq, &wl, sets.New(fr), resources.FlavorResourceQuantities{fr: quantity}).possible(fr)
		if s.e.checks() {
			s.compare(ctx, cq, wl, fr, quantity, possible, borrow)
		}
		return possible, borrow
	}
	known := s.noTargets(cq, &wl, fr, quantity)
	if known {
		borrow, _ = classical.FindHeightOfLowestSubtreeThatFits(cq, fr, quantity)
		possible = preemptioncommon.NoCandidates
	}
	if !known || s.e.checks() {
		if known {
			s.compare(ctx, cq, wl, fr, quantity, possible, borrow)
		} else {
			possible, borrow = s.kueue.SimulatePreemption(ctx, cq, wl, fr, quantity)
		}
	}
	if known || possible == preemptioncommon.NoCandidates && s.e.settledAlone(cq) {
		s.none[fr] = quantity
	}
	return possible, borrow
}

// compare panics if Kueue's own search answers something else. Only tests ask for it.
func (s *searcher) compare(ctx context.Context, cq *schdcache.ClusterQueueSnapshot, wl workload.Info, fr resources.FlavorResource, quantity resources.Amount, possible preemptioncommon.PreemptionPossibility, borrow int) {
	if found, height := s.kueue.SimulatePreemption(ctx, cq, wl, fr, quantity); found != possible || height != borrow {
		panic(fmt.Sprintf("%s: %v %v without Kueue's search, %v %v with it", workload.Key(wl.Obj), possible, borrow, found, height))
	}
}

// searchesFairly reports whether [fairSearch] answers as Kueue does for a queue. With admission fair sharing, the order of
// candidates depends on LocalQueues, too.
func (e *Engine) searchesFairly(cq *schdcache.ClusterQueueSnapshot) bool {
	return e.fair && !afs.Enabled(e.use) && flat(cq)
}

// fairly runs a search with fair sharing in a flat cohort.
func (s *searcher) fairly(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, flavors sets.Set[resources.FlavorResource], usage resources.FlavorResourceQuantities) *fairSearch {
	if s.fair == nil {
		s.fair = newFairState(s.snap, newFairMemory())
	}
	return s.fair.search(s.e, cq, wl.Obj, flavors, usage)
}

// targets returns the workloads to preempt for an assignment: those that Kueue's search finds.
func (s *searcher) targets(ctx context.Context, wl *workload.Info, a *flavorassigner.Assignment) []*preemption.Target {
	found, known := s.foundWithoutKueue(wl, a)
	if known && !s.e.checks() {
		return found
	}
	all := s.e.preempt.GetTargets(ctx, *wl, *a, s.snap)
	if known && !slices.EqualFunc(found, all, sameTarget) {
		panic(fmt.Sprintf("%s: targets %s, and without Kueue's search %s", workload.Key(wl.Obj), targetNames(all), targetNames(found)))
	}
	return all
}

func sameTarget(a, b *preemption.Target) bool {
	return a.WorkloadInfo == b.WorkloadInfo && a.Reason == b.Reason && a.WorkloadCq == b.WorkloadCq
}

func targetNames(targets []*preemption.Target) (out []string) {
	for _, t := range targets {
		out = append(out, fmt.Sprint(workload.Key(t.WorkloadInfo.Obj), " ", t.Reason))
	}
	return out
}

// foundWithoutKueue returns the targets of an assignment, if they are known without Kueue's search. With fair sharing in a flat
// cohort a search of our own finds them, unless pods are placed by topology. Otherwise it is known that there are none for an
// assignment that needs preemption on one flavor only, where there are none for as much or less: the other resources make the
// search no easier.
func (s *searcher) foundWithoutKueue(wl *workload.Info, a *flavorassigner.Assignment) (targets []*preemption.Target, known bool) {
	need := sets.New[resources.FlavorResource]()
	for i := range a.PodSets {
		for res, f := range a.PodSets[i].Flavors {
			if f.Mode == flavorassigner.Preempt {
				need.Insert(resources.FlavorResource{Flavor: f.Name, Resource: res})
			}
		}
	}
	usage := a.TotalRequestsFor(s.e.log, wl)
	if cq := s.snap.ClusterQueue(wl.ClusterQueue); s.e.searchesFairly(cq) {
		search := s.fairly(cq, wl, need, usage)
		found := search.run()
		if len(found) == 0 {
			return nil, true
		}
		if s.fair.nameless || features.Enabled(features.TopologyAwareScheduling) && len(a.WorkloadsTopologyRequests(s.e.log, wl, cq)) > 0 {
			return nil, false
		}
		for _, c := range found {
			targets = append(targets, &preemption.Target{WorkloadInfo: c.Info, Reason: search.reasons[c], WorkloadCq: s.snap.ClusterQueue(c.ClusterQueue)})
		}
		return targets, true
	}
	if need.Len() != 1 {
		return nil, false
	}
	for fr := range need {
		least, asked := s.none[fr]
		known = asked && least.Cmp(usage[fr]) <= 0
	}
	return nil, known
}

// settledAlone reports a queue for which Kueue's classical search goes through one list
// of other queues' workloads and takes them only where the queue itself does not borrow.
func (e *Engine) settledAlone(cq *schdcache.ClusterQueueSnapshot) bool {
	if e.fair {
		return false
	}
	alone, _ := classical.IsBorrowingWithinCohortForbidden(cq)
	return alone && (!cq.HasParent() || !cq.Parent().HasParent())
}

// noTargets reports whether no preemption frees an amount: the queue would borrow
// even without all workloads that the new one may preempt there, so workloads of others
// are out of reach, and without its own candidates the amount is not available either.
func (s *searcher) noTargets(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, fr resources.FlavorResource, quantity resources.Amount) bool {
	if s.e.fair {
		return s.noFairTargets(cq, wl, fr, quantity)
	}
	if !s.e.settledAlone(cq) {
		return false
	}
	_, own := s.e.preemptible(cq, wl, fr)
	others := cq.HasParent() && cq.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever
	if others && !cq.BorrowingWith(fr, quantity.Sub(own)) {
		return false
	}
	return quantity.Cmp(cq.Available(fr).Add(own)) > 0
}

// noFairTargets is noTargets with fair sharing (preemption.go, fairPreemptions), for cohorts that are not flat. Kueue preempts workloads of another queue
// only where the share of the new workload's queue is not above that queue's, before or after. A removal lowers only the
// share of its own queue. So nothing of others is in reach if the share is higher than all others even without the
// queue's own candidates, and the queue is not within its nominal quota, where Kueue compares no shares.
func (s *searcher) noFairTargets(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, fr resources.FlavorResource, quantity resources.Amount) bool {
	if cq.HasParent() && cq.Parent().HasParent() { // shares of cohorts are compared too
		return false
	}
	candidates, own := s.e.preemptible(cq, wl, fr)
	if quantity.Cmp(cq.Available(fr).Add(own)) <= 0 {
		return false
	}
	if !cq.HasParent() || cq.Preemption.ReclaimWithinCohort == kueue.PreemptionPolicyNever {
		return true
	}
	if !cq.BorrowingWith(fr, quantity) {
		return false
	}
	if len(candidates) > 0 {
		defer s.snap.SimulateWorkloadUsageRemoval(candidates)()
	}
	defer cq.SimulateUsageAddition(workload.Usage{Quota: resources.FlavorResourceQuantities{fr: quantity}})()
	share := cq.DominantResourceShare()
	below := func(other schdcache.DRS) bool {
		return !other.IsBorrowing() || schdcache.CompareDRS(share, other) > 0
	}
	for _, other := range cq.Parent().ChildCQs() {
		if other != cq && !below(other.DominantResourceShare()) {
			return false
		}
	}
	for _, cohort := range cq.Parent().ChildCohorts() {
		if !below(cohort.DominantResourceShare()) {
			return false
		}
	}
	return true
}

// preemptible returns the workloads of a queue on a flavor that a new workload of the queue may preempt, and what they hold
// of it.
func (e *Engine) preemptible(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, fr resources.FlavorResource) (candidates []*workload.Info, sum resources.Amount) {
	sum = resources.NewAmount(0)
	policy := cq.Preemption.WithinClusterQueue
	if policy == kueue.PreemptionPolicyNever {
		return nil, sum
	}
	for _, w := range cq.Workloads {
		if !preemptioncommon.SatisfiesPreemptionPolicy(e.log, wl.Obj, w.Obj, e.ordering, policy) {
			continue
		}
		uses := false
		for i := range w.TotalRequests {
			ps := &w.TotalRequests[i]
			if ps.Flavors[fr.Resource] != fr.Flavor {
				continue
			}
			uses = true
			if ps.Requests == nil {
				continue
			}
			ps.Requests.ForEach(func(res corev1.ResourceName, q int64) {
				if res == fr.Resource {
					sum = sum.AddInt64(q)
				}
			})
		}
		if uses {
			candidates = append(candidates, w)
		}
	}
	return candidates, sum
}

// checks counts a conclusion that a test has compared with Kueue's search.
func (e *Engine) checks() bool {
	if e.recheck != nil {
		*e.recheck++
	}
	return e.recheck != nil
}
