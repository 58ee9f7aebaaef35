package admission

import (
	"container/heap"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/classical"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
)

// fairState is what the searches for targets in one unchanged snapshot have in common. In a cohort without child cohorts
// the share of a queue depends on its quota and usage alone, so a share is computed once. Kueue computes the shares of all
// queues again for each target.
type fairState struct {
	snap       *schdcache.Snapshot
	slots      *slots
	queues     map[*schdcache.ClusterQueueSnapshot]*fairQueue
	pools      map[*schdcache.CohortSnapshot]*fairPool
	candidates map[*fairQueue][]*candidate
	holders    map[*fairQueue]*holders
	using      map[usedBy][]*candidate
	reach      map[reachOf]*reach
	// nameless: some candidate has no uid, and Kueue takes equal ones by chance.
	nameless bool
	// known is what searches in earlier snapshots found.
	known *fairMemory
}

type usedBy struct {
	cq *fairQueue
	fr resources.FlavorResource
}

// candidate is an admitted workload and what it holds.
type candidate struct {
	*workload.Info
	queue *fairQueue
	holds []held
	// without is the share of its queue without it, in the unchanged snapshot; nil when not known.
	without *share
}

func newFairState(snap *schdcache.Snapshot, known *fairMemory) *fairState {
	return &fairState{
		snap:       snap,
		known:      known,
		slots:      known.slots,
		queues:     map[*schdcache.ClusterQueueSnapshot]*fairQueue{},
		pools:      map[*schdcache.CohortSnapshot]*fairPool{},
		candidates: map[*fairQueue][]*candidate{},
		holders:    map[*fairQueue]*holders{},
		using:      map[usedBy][]*candidate{},
		reach:      map[reachOf]*reach{},
	}
}

func (s *fairState) queue(cq *schdcache.ClusterQueueSnapshot) *fairQueue {
	q, known := s.queues[cq]
	if !known {
		var pool *fairPool
		if cq.HasParent() {
			if pool, known = s.pools[cq.Parent()]; !known {
				pool = s.slots.pool(cq.Parent())
				s.pools[cq.Parent()] = pool
			}
		}
		q = s.slots.queue(cq, pool)
		s.queues[cq] = q
	}
	return q
}

// flat reports a queue whose cohort has neither a parent nor child cohorts.
func flat(cq *schdcache.ClusterQueueSnapshot) bool {
	return !cq.HasParent() || !cq.Parent().HasParent() && len(cq.Parent().ChildCohorts()) == 0
}

// fairSearch is Kueue's search for targets with fair sharing (fairPreemptions in preemption.go) in a flat cohort, with
// remembered shares. It ignores topology: Kueue finds nothing where this search finds nothing. It leaves the snapshot alone.
type fairSearch struct {
	e       *Engine
	state   *fairState
	cq      *fairQueue
	wl      *kueue.Workload
	flavors sets.Set[resources.FlavorResource] // that need preemption
	slots   []int                              // of flavors
	usage   resources.FlavorResourceQuantities // of the new workload
	asks    []held                             // the same

	reach   *reach                      // of the new workload
	left    map[*fairQueue][]*candidate // candidates of queues that the search has asked
	targets []*candidate
	reasons map[*candidate]string // Kueue's, of the targets
}

func (s *fairState) search(e *Engine, cq *schdcache.ClusterQueueSnapshot, wl *kueue.Workload, flavors sets.Set[resources.FlavorResource], usage resources.FlavorResourceQuantities) *fairSearch {
	f := &fairSearch{e: e, state: s, cq: s.queue(cq), wl: wl, flavors: flavors, usage: usage, asks: make([]held, 0, len(usage))}
	for fr := range flavors {
		f.slots = append(f.slots, s.slots.slot(fr))
	}
	for fr, n := range usage {
		f.asks = append(f.asks, held{s.slots.slot(fr), n})
	}
	return f
}

// run returns the targets, or nil if the workload does not fit without all that it may preempt.
func (f *fairSearch) run() []*candidate {
	f.left = map[*fairQueue][]*candidate{}
	f.reasons = map[*candidate]string{}
	f.reach = f.others()
	own := f.own()
	if len(own)+len(f.reach.queues) == 0 {
		return nil
	}
	if p := f.cq.pool; p != nil {
		p.before = append(p.before[:0], p.usage...)
		defer func() { p.usage = append(p.usage[:0], p.before...) }()
	}
	f.cq.change()
	defer f.cq.restore()
	f.cq.add(f.asks)
	found, retry := f.first(own)
	if !found && len(f.e.strategies) > 1 && len(retry.queues) > 0 {
		f.left, f.reach = retry.lists, &reach{}
		found = f.second(retry.queues)
	}
	f.cq.remove(f.asks)
	for _, t := range f.targets {
		defer t.queue.restore()
	}
	if !found {
		return nil
	}
	f.fillBack()
	return f.targets
}

// reach are queues with workloads that a new workload may preempt, and those workloads in Kueue's order.
type reach struct {
	queues []*fairQueue
	lists  map[*fairQueue][]*candidate
}

// reachOf is what decides which workloads of other queues are in reach.
type reachOf struct {
	cohort   *schdcache.CohortSnapshot
	fr       resources.FlavorResource
	policy   kueue.PreemptionPolicy
	priority int64 // of the new workload, 0 if the policy does not look at it
}

// own is the queue of the new workload, if it has candidates. They go to f.left.
func (f *fairSearch) own() []*fairQueue {
	f.left[f.cq] = nil
	if within := f.cq.Preemption.WithinClusterQueue; within != kueue.PreemptionPolicyNever {
		f.left[f.cq] = f.candidates(f.cq, within)
	}
	if len(f.left[f.cq]) == 0 {
		return nil
	}
	return []*fairQueue{f.cq}
}

// others returns the other queues of the cohort in reach (findCandidates), those with the largest share first. Workloads that
// need the same flavor, with the same policy and priority, have the same others, but for their own queues.
func (f *fairSearch) others() *reach {
	policy := f.cq.Preemption.ReclaimWithinCohort
	if !f.cq.HasParent() || policy == kueue.PreemptionPolicyNever {
		return &reach{}
	}
	key := reachOf{cohort: f.cq.Parent(), policy: policy}
	switch policy {
	case kueue.PreemptionPolicyAny:
	case kueue.PreemptionPolicyLowerPriority:
		key.priority = priority.EffectivePriority(f.e.log, f.wl)
	default:
		return f.reachNow(policy)
	}
	if f.flavors.Len() != 1 {
		return f.reachNow(policy)
	}
	for fr := range f.flavors {
		key.fr = fr
	}
	r, known := f.state.reach[key]
	if !known {
		r = f.reachNow(policy)
		f.state.reach[key] = r
	}
	return r
}

// reachNow finds all queues of the cohort that borrow and hold candidates, also the one of the new workload.
func (f *fairSearch) reachNow(policy kueue.PreemptionPolicy) *reach {
	r := &reach{lists: map[*fairQueue][]*candidate{}}
	for _, child := range f.cq.Parent().ChildCQs() {
		cq := f.state.queue(child)
		if !cq.borrows(f.slots) || !cq.share().borrowing {
			continue
		}
		if list := f.candidates(cq, policy); len(list) > 0 {
			r.queues, r.lists[cq] = append(r.queues, cq), list
		}
	}
	now := f.e.clock.Now()
	slices.SortFunc(r.queues, func(a, b *fairQueue) int {
		if c := b.share().compare(a.share()); c != 0 {
			return c
		}
		return preemptioncommon.CandidatesOrdering(f.e.log, false, r.lists[a][0].Info, r.lists[b][0].Info, "", now)
	})
	return r
}

// of are the candidates of a queue that are left.
func (f *fairSearch) of(cq *fairQueue) []*candidate {
	if list, asked := f.left[cq]; asked {
		return list
	}
	return f.reach.lists[cq]
}

// candidates are the workloads of a queue that hold some of the flavors and that the policy allows to preempt, in Kueue's
// order.
func (f *fairSearch) candidates(cq *fairQueue, policy kueue.PreemptionPolicy) []*candidate {
	list := f.users(cq)
	if policy == kueue.PreemptionPolicyAny {
		return list
	}
	var out []*candidate
	for _, c := range list {
		if preemptioncommon.SatisfiesPreemptionPolicy(f.e.log, f.wl, c.Obj, f.e.ordering, policy) {
			out = append(out, c)
		}
	}
	return out
}

func (f *fairSearch) users(cq *fairQueue) []*candidate {
	key := usedBy{cq: cq}
	if f.flavors.Len() == 1 {
		for fr := range f.flavors {
			key.fr = fr
		}
		if list, known := f.state.using[key]; known {
			return list
		}
	}
	all := f.state.sorted(f.e, cq)
	if f.flavors.Len() == 1 {
		numbers := f.state.holders[cq].users(key.fr)
		list := make([]*candidate, len(numbers))
		for i, n := range numbers {
			list[i] = all[n]
		}
		f.state.using[key] = list
		return list
	}
	list := []*candidate{}
	for _, c := range all {
		if classical.WorkloadUsesResources(c.Info, f.flavors) {
			list = append(list, c)
		}
	}
	return list
}

// sorted are all workloads of a queue. Their order is the same for each workload that looks for targets.
func (s *fairState) sorted(e *Engine, cq *fairQueue) []*candidate {
	list, found := s.candidates[cq]
	if found {
		return list
	}
	known := s.known.of(e, cq)
	s.holders[cq] = known
	all := make([]candidate, len(known.list))
	list = make([]*candidate, len(known.list))
	for i := range known.list {
		h := &known.list[i]
		all[i] = candidate{Info: h.Info, queue: cq, holds: h.holds}
		list[i] = &all[i]
		s.nameless = s.nameless || h.Obj.UID == ""
	}
	s.candidates[cq] = list
	return list
}

// shareWithout is the share of a queue without one of its candidates.
func (c *candidate) shareWithout() share {
	if c.queue.changed {
		return c.queue.shareWithout(c.holds)
	}
	if c.without == nil {
		s := c.queue.shareWithout(c.holds)
		c.without = &s
	}
	return *c.without
}

// byShare are queues with candidates; the first one has the largest share.
type byShare struct {
	f      *fairSearch
	queues []*fairQueue
}

func (h *byShare) Len() int      { return len(h.queues) }
func (h *byShare) Swap(i, k int) { h.queues[i], h.queues[k] = h.queues[k], h.queues[i] }
func (h *byShare) Push(cq any)   { h.queues = append(h.queues, cq.(*fairQueue)) }

func (h *byShare) Less(i, k int) bool { return h.before(h.queues[i], h.queues[k]) }

func (h *byShare) before(a, b *fairQueue) bool {
	if c := a.share().compare(b.share()); c != 0 {
		return c > 0
	}
	return preemptioncommon.CandidatesOrdering(h.f.e.log, false, h.f.of(a)[0].Info, h.f.of(b)[0].Info, h.f.cq.Name, h.f.e.clock.Now()) < 0
}

func (h *byShare) Pop() any {
	last := len(h.queues) - 1
	cq := h.queues[last]
	h.queues = h.queues[:last]
	return cq
}

// eligible reports a queue with candidates that borrows, or is the queue of the new workload.
func (f *fairSearch) eligible(cq *fairQueue) bool {
	return len(f.of(cq)) > 0 && (cq == f.cq || cq.share().borrowing)
}

// each yields the queue to take the next target from: the one with the largest share (nextTarget in
// fairsharing/ordering.go). These are the queues in reach, which are in this order, and more. The loop changes only the
// share and the candidates of the queue that it was given.
func (f *fairSearch) each(more []*fairQueue) iter.Seq[*fairQueue] {
	return func(yield func(*fairQueue) bool) {
		inReach := f.reach.queues
		h := &byShare{f: f}
		for _, cq := range more {
			if f.eligible(cq) {
				heap.Push(h, cq)
			}
		}
		for {
			if len(inReach) > 0 && inReach[0] == f.cq {
				inReach = inReach[1:]
			}
			var cq *fairQueue
			switch {
			case len(inReach) > 0 && (h.Len() == 0 || h.before(inReach[0], h.queues[0])):
				cq, inReach = inReach[0], inReach[1:]
			case h.Len() > 0:
				cq = heap.Pop(h).(*fairQueue)
			default:
				return
			}
			if !yield(cq) {
				return
			}
			if f.eligible(cq) {
				heap.Push(h, cq)
			}
		}
	}
}

// first applies the first strategy (runFirstFsStrategy) to the queues in reach and more. It returns whether the workload
// fits, and the candidates that failed.
func (f *fairSearch) first(more []*fairQueue) (found bool, retry reach) {
	retry.lists = map[*fairQueue][]*candidate{}
	within := features.Enabled(features.FairSharingPreemptWithinNominal) && !f.cq.borrows(f.slots)
	for cq := range f.each(more) {
		if cq == f.cq || within {
			reason := kueue.InCohortReclamationReason
			if cq == f.cq {
				reason = kueue.InClusterQueueReason
			}
			if f.take(cq, f.pop(cq), reason) {
				return true, reach{}
			}
			continue
		}
		mine, old := f.cq.share(), cq.share()
		// The queues that are left have no larger share than cq, and f.cq is not among them: its share was larger. A removal
		// does not raise a share, so both strategies fail for all of them.
		if mine.compare(old) > 0 {
			return false, retry
		}
		for len(f.of(cq)) > 0 {
			c := f.pop(cq)
			if !f.allows(mine, old, c) {
				if len(retry.lists[cq]) == 0 {
					retry.queues = append(retry.queues, cq)
				}
				retry.lists[cq] = append(retry.lists[cq], c)
				continue
			}
			if f.take(cq, c, kueue.InCohortFairSharingReason) {
				return true, reach{}
			}
			break
		}
	}
	return false, retry
}

// allows is the first strategy: whether a workload may be taken from a queue with the share old.
func (f *fairSearch) allows(mine, old share, c *candidate) bool {
	if f.e.strategies[0] == config.LessThanInitialShare {
		return mine.compare(old) < 0
	}
	return mine.compare(c.shareWithout()) <= 0
}

// second tries one more candidate of each queue (runSecondFsStrategy).
func (f *fairSearch) second(queues []*fairQueue) bool {
	for cq := range f.each(queues) {
		c := f.pop(cq)
		f.left[cq] = nil
		if f.cq.share().compare(cq.share()) >= 0 {
			return false // as for the queues that are left, whose shares are not larger
		}
		if f.take(cq, c, kueue.InCohortFairSharingReason) {
			return true
		}
	}
	return false
}

func (f *fairSearch) pop(cq *fairQueue) *candidate {
	list := f.of(cq)
	f.left[cq] = list[1:]
	return list[0]
}

// take makes a candidate a target, and reports whether the workload fits now.
func (f *fairSearch) take(cq *fairQueue, c *candidate, reason string) bool {
	f.reasons[c] = reason
	cq.change()
	cq.remove(c.holds)
	f.targets = append(f.targets, c)
	f.cq.remove(f.asks)
	defer f.cq.add(f.asks)
	return f.cq.fits(f.asks)
}

// fillBack keeps the targets without which the workload does not fit (fillBackWorkloads).
func (f *fairSearch) fillBack() {
	for i := len(f.targets) - 2; i >= 0; i-- {
		t := f.targets[i]
		t.queue.add(t.holds)
		if f.cq.fits(f.asks) {
			last := len(f.targets) - 1
			f.targets[i] = f.targets[last]
			f.targets = f.targets[:last]
		} else {
			t.queue.remove(t.holds)
		}
	}
}

// possible answers what Kueue's PreemptionOracle answers about one flavor.
func (f *fairSearch) possible(fr resources.FlavorResource) (preemptioncommon.PreemptionPossibility, int) {
	targets := f.run()
	for _, t := range targets {
		defer t.queue.SimulateUsageRemoval(workload.Usage{Quota: t.FlavorResourceUsage()})()
	}
	borrow, _ := classical.FindHeightOfLowestSubtreeThatFits(f.cq.ClusterQueueSnapshot, fr, f.usage[fr])
	switch {
	case len(targets) == 0:
		return preemptioncommon.NoCandidates, borrow
	case slices.ContainsFunc(targets, func(t *candidate) bool { return t.queue == f.cq }):
		return preemptioncommon.Preempt, borrow
	}
	return preemptioncommon.Reclaim, borrow
}
