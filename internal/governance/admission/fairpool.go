package admission

import (
	"cmp"
	"math"

	corev1 "k8s.io/api/core/v1"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"
)

// slots number the flavors' resources of a snapshot, so that a search for targets counts in slices. Kueue's snapshot has
// the same figures in maps.
type slots struct {
	of        map[resources.FlavorResource]int
	resource  []int // by slot: the number of its resource
	resources map[corev1.ResourceName]int
}

func newSlots() *slots {
	return &slots{of: map[resources.FlavorResource]int{}, resources: map[corev1.ResourceName]int{}}
}

func (s *slots) slot(fr resources.FlavorResource) int {
	i, known := s.of[fr]
	if !known {
		r, known := s.resources[fr.Resource]
		if !known {
			r = len(s.resources)
			s.resources[fr.Resource] = r
		}
		i = len(s.resource)
		s.of[fr], s.resource = i, append(s.resource, r)
	}
	return i
}

// figures are amounts by slot; those that were never set are 0.
type figures []resources.Amount

func (f figures) at(i int) resources.Amount {
	if i < len(f) {
		return f[i]
	}
	return resources.Amount{}
}

func (f *figures) set(i int, n resources.Amount) {
	for len(*f) <= i {
		*f = append(*f, resources.Amount{})
	}
	(*f)[i] = n
}

func (s *slots) figures(of resources.FlavorResourceQuantities) (out figures) {
	for fr, n := range of {
		out.set(s.slot(fr), n)
	}
	return out
}

// held is what a workload holds, or asks for, of one slot.
type held struct {
	slot   int
	amount resources.Amount
}

// holds is what Kueue's Info.FlavorResourceUsage counts.
func (s *slots) holds(w *workload.Info) (out []held) {
	for i := range w.TotalRequests {
		ps := &w.TotalRequests[i]
		if ps.Requests == nil {
			continue
		}
		ps.Requests.ForEach(func(res corev1.ResourceName, n int64) {
			slot := s.slot(resources.FlavorResource{Flavor: ps.Flavors[res], Resource: res})
			for k := range out {
				if out[k].slot == slot {
					out[k].amount = out[k].amount.AddInt64(n)
					return
				}
			}
			out = append(out, held{slot, resources.NewAmount(n)})
		})
	}
	return out
}

// fairPool is a cohort with neither a parent nor child cohorts.
type fairPool struct {
	quota, usage, before figures
	lendable             figures // by resource: what Kueue's calculateLendable adds up
}

// fairQueue is a queue of a snapshot in a flat cohort, or without one.
type fairQueue struct {
	*schdcache.ClusterQueueSnapshot
	slots   *slots
	pool    *fairPool // nil without a cohort
	covered []int     // slots with a quota
	quota   figures
	local   figures // the part of the quota that is never lent
	limits  []*resources.Amount
	// usage changes in the course of a search; before is what it was, where changed.
	usage, before figures
	changed       bool
	// first is the share before the search, now the present one of a changed queue; nil when not known.
	first, now *share
}

func (s *slots) queue(cq *schdcache.ClusterQueueSnapshot, pool *fairPool) *fairQueue {
	q := &fairQueue{ClusterQueueSnapshot: cq, slots: s, pool: pool, quota: s.figures(cq.ResourceNode.SubtreeQuota), usage: s.figures(cq.ResourceNode.Usage)}
	for fr, n := range cq.ResourceNode.SubtreeQuota {
		q.covered = append(q.covered, s.slot(fr))
		if most := cq.QuotaFor(fr).LendingLimit; most != nil {
			q.local.set(s.slot(fr), resources.MaxAmount(resources.Amount{}, n.Sub(*most)))
		}
		if most := cq.QuotaFor(fr).BorrowingLimit; most != nil {
			for len(q.limits) <= s.slot(fr) {
				q.limits = append(q.limits, nil)
			}
			q.limits[s.slot(fr)] = most
		}
	}
	return q
}

func (s *slots) pool(c *schdcache.CohortSnapshot) *fairPool {
	p := &fairPool{quota: s.figures(c.ResourceNode.SubtreeQuota), usage: s.figures(c.ResourceNode.Usage)}
	for fr, n := range c.ResourceNode.SubtreeQuota {
		r := s.resource[s.slot(fr)]
		p.lendable.set(r, p.lendable.at(r).Add(n))
	}
	return p
}

// change remembers the queue as it is before the first change of a search.
func (q *fairQueue) change() {
	if !q.changed {
		q.before, q.changed = append(q.before[:0], q.usage...), true
	}
	q.now = nil
}

// restore undoes the changes of a search.
func (q *fairQueue) restore() {
	q.usage, q.changed, q.now = append(q.usage[:0], q.before...), false, nil
}

// add is Kueue's addUsage.
func (q *fairQueue) add(list []held) {
	for _, h := range list {
		free := resources.MaxAmount(resources.Amount{}, q.local.at(h.slot).Sub(q.usage.at(h.slot)))
		q.usage.set(h.slot, q.usage.at(h.slot).Add(h.amount))
		if q.pool != nil && h.amount.Cmp(free) > 0 {
			q.pool.usage.set(h.slot, q.pool.usage.at(h.slot).Add(h.amount.Sub(free)))
		}
	}
}

// remove is Kueue's removeUsage.
func (q *fairQueue) remove(list []held) {
	for _, h := range list {
		stored := q.usage.at(h.slot).Sub(q.local.at(h.slot))
		q.usage.set(h.slot, q.usage.at(h.slot).Sub(h.amount))
		if q.pool != nil && stored.CmpInt64(0) > 0 {
			q.pool.usage.set(h.slot, q.pool.usage.at(h.slot).Sub(resources.MinAmount(h.amount, stored)))
		}
	}
}

// available is Kueue's Available.
func (q *fairQueue) available(slot int) resources.Amount {
	if q.pool == nil {
		return resources.MaxAmount(resources.Amount{}, q.quota.at(slot).Sub(q.usage.at(slot)))
	}
	local, used := q.local.at(slot), q.usage.at(slot)
	above := q.pool.quota.at(slot).Sub(q.pool.usage.at(slot))
	if slot < len(q.limits) && q.limits[slot] != nil {
		stored := q.quota.at(slot).Sub(local)
		lent := resources.MaxAmount(resources.Amount{}, used.Sub(local))
		above = resources.MinAmount(stored.Sub(lent).Add(*q.limits[slot]), above)
	}
	free := resources.MaxAmount(resources.Amount{}, local.Sub(used))
	return resources.MaxAmount(resources.Amount{}, free.Add(above))
}

func (q *fairQueue) fits(list []held) bool {
	for _, h := range list {
		if h.amount.Cmp(q.available(h.slot)) > 0 {
			return false
		}
	}
	return true
}

// borrows reports use above the quota in one of the slots.
func (q *fairQueue) borrows(some []int) bool {
	for _, slot := range some {
		if q.quota.at(slot).Cmp(q.usage.at(slot)) < 0 {
			return true
		}
	}
	return false
}

// share is the dominant resource share of a queue, Kueue's DRS.
type share struct {
	weight, ratio float64
	borrowing     bool
}

// share is the present share.
func (q *fairQueue) share() share {
	known := &q.first
	if q.changed {
		known = &q.now
	}
	if *known == nil {
		s := q.shareNow()
		*known = &s
	}
	return **known
}

// shareWithout is the share without what a workload holds. A share depends on the usage of the queue alone.
func (q *fairQueue) shareWithout(list []held) share {
	for _, h := range list {
		q.usage.set(h.slot, q.usage.at(h.slot).Sub(h.amount))
	}
	s := q.shareNow()
	for _, h := range list {
		q.usage.set(h.slot, q.usage.at(h.slot).Add(h.amount))
	}
	return s
}

// shareNow is Kueue's dominantResourceShare.
func (q *fairQueue) shareNow() share {
	s := share{weight: q.FairWeight}
	if q.pool == nil {
		return s
	}
	var few [8]resources.Amount
	borrowed := few[:]
	if n := len(q.slots.resources); n > len(few) {
		borrowed = make([]resources.Amount, n)
	}
	for _, slot := range q.covered {
		if over := q.usage.at(slot).Sub(q.quota.at(slot)); over.CmpInt64(0) > 0 {
			r := q.slots.resource[slot]
			borrowed[r] = borrowed[r].Add(over)
			s.borrowing = true
		}
	}
	if !s.borrowing {
		return s
	}
	for r, n := range borrowed {
		if lendable := q.pool.lendable.at(r); n.CmpInt64(0) > 0 && lendable.CmpInt64(0) > 0 {
			s.ratio = max(s.ratio, float64(n.Int64())*1000.0/float64(lendable.Int64()))
		}
	}
	return s
}

// unweighted reports a share that is above all with a weight.
func (s share) unweighted() bool { return s.weight == 0 && s.ratio != 0 }

func (s share) weighted() float64 {
	switch {
	case s.ratio == 0:
		return 0
	case s.weight == 0:
		return math.Inf(1)
	}
	return s.ratio / s.weight
}

// compare is Kueue's CompareDRS.
func (s share) compare(to share) int {
	switch a, b := s.unweighted(), to.unweighted(); {
	case a && b:
		return cmp.Compare(s.ratio, to.ratio)
	case a:
		return 1
	case b:
		return -1
	}
	return cmp.Compare(s.weighted(), to.weighted())
}
