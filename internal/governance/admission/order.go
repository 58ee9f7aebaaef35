package admission

import (
	"cmp"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
)

// turns hands out the entries of a cycle one by one; nil when there are no more.
// The next one may depend on what the ones before did to the snapshot.
type turns interface{ next() *entry }

// newTurns chooses the order of a cycle. Where Kueue leaves the order to chance
// (map iteration), names decide, backwards when flip is true.
func (e *Engine) newTurns(entries []*entry, flip bool) turns {
	if e.fair {
		f := &fairTurns{e: e, flip: flip, left: make(map[*schdcache.ClusterQueueSnapshot]*entry, len(entries)), sorted: map[*schdcache.CohortSnapshot][]*entry{}, below: map[*schdcache.CohortSnapshot]children{}}
		for _, en := range entries {
			f.left[en.cq] = en
		}
		return f
	}
	list := slices.Clone(entries)
	slices.SortStableFunc(list, e.compareClassical)
	return &listTurns{list}
}

type listTurns struct{ list []*entry }

func (t *listTurns) next() *entry {
	if len(t.list) == 0 {
		return nil
	}
	en := t.list[0]
	t.list = t.list[1:]
	return en
}

// compareClassical compares in the order of makeClassicalIterator in scheduler.go: holders
// of quota first, then (behind a gate) workloads waiting for their preemptions,
// less borrowing, higher priority, older.
func (e *Engine) compareClassical(a, b *entry) int {
	if c := first(a.rank.reserved, b.rank.reserved); c != 0 {
		return c
	}
	if features.Enabled(features.PrioritizePreemptorWorkloads) {
		if c := first(a.IsPreemptor, b.IsPreemptor); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a.assignment.Borrows(), b.assignment.Borrows()); c != 0 {
		return c
	}
	return e.comparePriorityAge(a, b)
}

// surelyAfter reports whether the turn of en comes after that of the nominated entry, whatever its own
// assignment will be: an entry that does not borrow comes before those that do. With fair sharing the order is known only once all are nominated.
func (e *Engine) surelyAfter(en, nominated *entry) bool {
	return !e.fair && nominated.assignment.Borrows() == 0 &&
		en.rank.reserved == nominated.rank.reserved &&
		en.IsPreemptor == nominated.IsPreemptor && e.comparePriorityAge(nominated, en) < 0
}

func (e *Engine) comparePriorityAge(a, b *entry) int {
	if c := cmp.Compare(b.rank.priority, a.rank.priority); c != 0 && features.Enabled(features.PrioritySortingWithinCohort) {
		return c
	}
	return a.rank.queued.Compare(b.rank.queued)
}

// rank is what of a workload itself decides its turn. It is found once: entries are
// compared many times.
type rank struct {
	reserved bool // it holds quota
	priority int64
	queued   time.Time
}

func (e *Engine) rankOf(w *kueue.Workload) rank {
	return rank{workload.HasQuotaReservation(w), priority.EffectivePriority(e.log, w), e.ordering.GetQueueOrderTimestamp(w).Time}
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// fairTurns is the order of fair_sharing_iterator.go: in each cohort tree a
// tournament from the leaves up, repeated for every turn, because each admission
// changes the shares.
type fairTurns struct {
	e    *Engine
	left map[*schdcache.ClusterQueueSnapshot]*entry
	flip bool
	// sorted are the entries of flat cohorts that are left, in their order: an admission there changes only the share of
	// a queue whose turn is over, so one order does for all turns.
	sorted map[*schdcache.CohortSnapshot][]*entry
	below  map[*schdcache.CohortSnapshot]children
}

// children are the cohorts and queues below a cohort, by name.
type children struct {
	cohorts []*schdcache.CohortSnapshot
	queues  []*schdcache.ClusterQueueSnapshot
}

// shareAt is the share of the child of a cohort through which a workload comes,
// as if the workload had been admitted.
type shareAt struct {
	cohort kueue.CohortReference
	entry  *entry
}

type shares struct {
	drs       map[shareAt]schdcache.DRS
	requested map[*entry]resources.FlavorResourceQuantities
}

func (f *fairTurns) next() *entry {
	if len(f.left) == 0 {
		return nil
	}
	// Cohort trees are independent of one another, so any may go first.
	var cq *schdcache.ClusterQueueSnapshot
	for c := range f.left {
		if cq == nil || c.Name < cq.Name {
			cq = c
		}
	}
	en := f.left[cq]
	if cq.HasParent() {
		if root := cq.Parent().Root(); flat(cq) {
			en = f.first(root)
		} else {
			en = f.winner(root, f.shares(root))
		}
	}
	delete(f.left, en.cq)
	return en
}

// first is winner in a flat cohort.
func (f *fairTurns) first(cohort *schdcache.CohortSnapshot) *entry {
	list, known := f.sorted[cohort]
	if !known {
		s := f.shares(cohort)
		for _, cq := range f.children(cohort).queues {
			if en := f.left[cq]; en != nil {
				list = append(list, en)
			}
		}
		slices.SortStableFunc(list, func(a, b *entry) int {
			switch {
			case f.less(a, b, cohort.GetName(), s):
				return -1
			case f.less(b, a, cohort.GetName(), s):
				return 1
			}
			return 0
		})
	}
	f.sorted[cohort] = list[1:]
	return list[0]
}

// shares computes, for every entry below root, the dominant resource share of
// each node on its way up (computeDRS).
func (f *fairTurns) shares(root *schdcache.CohortSnapshot) shares {
	s := shares{drs: map[shareAt]schdcache.DRS{}, requested: map[*entry]resources.FlavorResourceQuantities{}}
	for _, cq := range root.SubtreeClusterQueues() {
		en := f.left[cq]
		if en == nil {
			continue
		}
		usage := f.e.netUsage(en, en.assignment.Usage.Quota)
		undo := cq.SimulateUsageAddition(usage)
		s.requested[en] = usage.Quota
		share := cq.DominantResourceShare()
		for up := range cq.PathParentToRoot() {
			s.drs[shareAt{up.GetName(), en}] = share
			share = up.DominantResourceShare()
		}
		undo()
	}
	return s
}

// winner runs the tournament of one cohort (runTournament); nil when nobody below
// it has an entry left.
func (f *fairTurns) winner(cohort *schdcache.CohortSnapshot, s shares) *entry {
	var best *entry
	consider := func(en *entry) {
		if en != nil && (best == nil || f.less(en, best, cohort.GetName(), s)) {
			best = en
		}
	}
	below := f.children(cohort)
	for _, child := range below.cohorts {
		consider(f.winner(child, s))
	}
	for _, cq := range below.queues {
		consider(f.left[cq])
	}
	return best
}

// children are found and sorted once: a cohort has as many turns as entries.
func (f *fairTurns) children(cohort *schdcache.CohortSnapshot) children {
	below, known := f.below[cohort]
	if known {
		return below
	}
	below = children{cohort.ChildCohorts(), cohort.ChildCQs()}
	slices.SortFunc(below.cohorts, func(a, b *schdcache.CohortSnapshot) int { return f.byName(string(a.GetName()), string(b.GetName())) })
	slices.SortFunc(below.queues, func(a, b *schdcache.ClusterQueueSnapshot) int { return f.byName(string(a.Name), string(b.Name)) })
	f.below[cohort] = below
	return below
}

func (f *fairTurns) byName(a, b string) int {
	if f.flip {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// less compares two contenders of one cohort (entryComparer.less): a waiting
// preemptor (behind a gate), one whose side does not borrow on the flavors it
// asks for, the smaller share, higher priority, older.
func (f *fairTurns) less(a, b *entry, cohort kueue.CohortReference, s shares) bool {
	if features.Enabled(features.PrioritizePreemptorWorkloads) && a.IsPreemptor != b.IsPreemptor {
		return a.IsPreemptor
	}
	da, db := s.drs[shareAt{cohort, a}], s.drs[shareAt{cohort, b}]
	if features.Enabled(features.FairSharingPrioritizeNonBorrowing) {
		ba, bb := da.IsBorrowingOn(s.requested[a]), db.IsBorrowingOn(s.requested[b])
		if ba != bb {
			return bb
		}
	}
	if c := schdcache.CompareDRS(da, db); c != 0 {
		return c < 0
	}
	return f.e.comparePriorityAge(a, b) < 0
}
