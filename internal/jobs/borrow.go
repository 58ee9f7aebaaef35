package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Hold is what a job holds of one resource of one flavor, in the units of
// state.Amounts.
type Hold struct {
	Flavor, Resource string
	Amount           int64
	// Borrowed is how much of Amount is beyond the queue's own quota. Kueue borrows
	// for a queue, not for a job: the job is charged with what those that reclaiming
	// would spare longer (a higher priority, an earlier admission) leave of the quota.
	Borrowed int64
}

// AllHoldings returns what several workloads of a job hold together (Holdings).
func AllHoldings(of []*state.Workload, queue *state.ClusterQueue, others []state.Workload) (out []Hold) {
	for _, w := range of {
		for _, h := range Holdings(w, queue, others) {
			at := slices.IndexFunc(out, func(o Hold) bool { return o.Flavor == h.Flavor && o.Resource == h.Resource })
			if at < 0 {
				out = append(out, h)
				continue
			}
			out[at].Amount += h.Amount
			out[at].Borrowed += h.Borrowed
		}
	}
	return out
}

// Borrowed returns what several workloads of a job borrow together, of the resources that count.
func Borrowed(of []*state.Workload, queue *state.ClusterQueue, others []state.Workload, counts func(resource string) bool) map[string]int64 {
	out := map[string]int64{}
	for _, h := range AllHoldings(of, queue, others) {
		if counts(h.Resource) && h.Borrowed > 0 {
			out[h.Resource] += h.Borrowed
		}
	}
	return out
}

// Holdings returns what an admitted workload holds, by flavor and resource. others
// are the workloads of its ClusterQueue. Without the queue nothing counts as
// borrowed.
func Holdings(w *state.Workload, queue *state.ClusterQueue, others []state.Workload) []Hold {
	if w == nil || w.Admission == nil {
		return nil
	}
	if _, done := holds(w.Conditions, "Finished"); done {
		return nil
	}
	first := []*state.Workload{}
	for i := range others {
		o := &others[i]
		if o.Admission != nil && o.Admission.ClusterQueue == w.Admission.ClusterQueue && o.UID != w.UID && spared(o, w) {
			if _, done := holds(o.Conditions, "Finished"); !done {
				first = append(first, o)
			}
		}
	}
	var out []Hold
	for at, n := range usage(w) {
		h := Hold{Flavor: at.flavor, Resource: at.resource, Amount: n}
		if nominal, ok := nominalOf(queue, at); ok {
			used := n
			for _, o := range first {
				used += usage(o)[at]
			}
			h.Borrowed = max(0, min(n, used-nominal))
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Flavor, b.Flavor))
	})
	return out
}

// spared reports whether a is preempted after b.
func spared(a, b *state.Workload) bool {
	reserved := func(w *state.Workload) time.Time { return since(w.Conditions, "QuotaReserved") }
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), reserved(a).Compare(reserved(b)), cmp.Compare(a.UID, b.UID)) < 0
}

type flavorResource struct{ flavor, resource string }

func usage(w *state.Workload) map[flavorResource]int64 {
	out := map[flavorResource]int64{}
	for _, ps := range w.Admission.PodSets {
		for resource, flavor := range ps.Flavors {
			if n, ok := state.Amount(resource, ps.Usage[resource]); ok {
				out[flavorResource{flavor, resource}] += n
			}
		}
	}
	return out
}

func nominalOf(q *state.ClusterQueue, at flavorResource) (int64, bool) {
	if q == nil {
		return 0, false
	}
	for _, g := range q.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				if f.Name == at.flavor && r.Name == at.resource {
					return state.Amount(r.Name, r.Nominal.String())
				}
			}
		}
	}
	return 0, false
}
