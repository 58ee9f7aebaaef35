package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/classical"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/workload"
)

// searcher asks Kueue for preemption targets of one workload, unless a bound shows that
// there are none. In a busy cluster most workloads wait behind others that they may not
// preempt, and Kueue's search sorts all candidates of the cohort for each of them.
type searcher struct {
	e     *Engine
	kueue *preemption.PreemptionOracle
	snap  *schdcache.Snapshot
	// none holds the amounts for which there are no targets on a flavor.
	none map[resources.FlavorResource]resources.Amount
}

// SimulatePreemption is the question of Kueue's flavor assigner about one flavor.
func (s *searcher) SimulatePreemption(ctx context.Context, cq *schdcache.ClusterQueueSnapshot, wl workload.Info, fr resources.FlavorResource, quantity resources.Amount) (possible preemptioncommon.PreemptionPossibility, borrow int) {
	known := s.e.noTargets(cq, &wl, fr, quantity)
	if known {
		borrow, _ = classical.FindHeightOfLowestSubtreeThatFits(cq, fr, quantity)
		possible = preemptioncommon.NoCandidates
	}
	if !known || s.e.checks() {
		found, height := s.kueue.SimulatePreemption(ctx, cq, wl, fr, quantity)
		if known && (found != possible || height != borrow) {
			panic(fmt.Sprintf("%s: %v %v without a search, %v %v with it", workload.Key(wl.Obj), possible, borrow, found, height))
		}
		possible, borrow = found, height
	}
	if possible == preemptioncommon.NoCandidates {
		s.none[fr] = quantity
	}
	return possible, borrow
}

// targets are the workloads to preempt for an assignment.
func (s *searcher) targets(ctx context.Context, wl *workload.Info, a *flavorassigner.Assignment) []*preemption.Target {
	known := s.e.settledAlone(s.snap.ClusterQueue(wl.ClusterQueue)) && s.noneFor(wl, a)
	if known && !s.e.checks() {
		return nil
	}
	found := s.e.preempt.GetTargets(ctx, *wl, *a, s.snap)
	if known && len(found) > 0 {
		panic(fmt.Sprintf("%s: %d targets, and none on its only flavor", workload.Key(wl.Obj), len(found)))
	}
	return found
}

// noneFor reports an assignment that needs preemption on one flavor only, where there
// are no targets for as much or less: the other resources make the search no easier.
func (s *searcher) noneFor(wl *workload.Info, a *flavorassigner.Assignment) bool {
	var need resources.FlavorResource
	n := 0
	for i := range a.PodSets {
		for res, f := range a.PodSets[i].Flavors {
			if fr := (resources.FlavorResource{Flavor: f.Name, Resource: res}); f.Mode == flavorassigner.Preempt && (n == 0 || fr != need) {
				need = fr
				n++
			}
		}
	}
	if n != 1 {
		return false
	}
	least, asked := s.none[need]
	return asked && least.Cmp(a.TotalRequestsFor(s.e.log, wl)[need]) <= 0
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

// noTargets reports that no preemption makes room for an amount: the queue would borrow
// even without all workloads that the new one may preempt there, so workloads of others
// are out of reach, and without its own candidates the amount is not available either.
func (e *Engine) noTargets(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, fr resources.FlavorResource, quantity resources.Amount) bool {
	if !e.settledAlone(cq) {
		return false
	}
	own := e.preemptible(cq, wl, fr)
	others := cq.HasParent() && cq.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever
	if others && !cq.BorrowingWith(fr, quantity.Sub(own)) {
		return false
	}
	return quantity.Cmp(cq.Available(fr).Add(own)) > 0
}

// preemptible is what the workloads of a queue hold on a flavor that a new workload of
// the queue may preempt.
func (e *Engine) preemptible(cq *schdcache.ClusterQueueSnapshot, wl *workload.Info, fr resources.FlavorResource) resources.Amount {
	sum := resources.NewAmount(0)
	policy := cq.Preemption.WithinClusterQueue
	if policy == kueue.PreemptionPolicyNever {
		return sum
	}
	for _, w := range cq.Workloads {
		if !preemptioncommon.SatisfiesPreemptionPolicy(e.log, wl.Obj, w.Obj, e.ordering, policy) {
			continue
		}
		for i := range w.TotalRequests {
			ps := &w.TotalRequests[i]
			if ps.Requests == nil || ps.Flavors[fr.Resource] != fr.Flavor {
				continue
			}
			ps.Requests.ForEach(func(res corev1.ResourceName, q int64) {
				if res == fr.Resource {
					sum = sum.AddInt64(q)
				}
			})
		}
	}
	return sum
}

// checks counts a conclusion that a test has compared with Kueue's search.
func (e *Engine) checks() bool {
	if e.recheck != nil {
		*e.recheck++
	}
	return e.recheck != nil
}
