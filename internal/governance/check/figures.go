package check

import (
	"cmp"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Totals returns the requests of all roles together, by resource in the order that
// people look at them.
func (v *Verdict) Totals() []Amount {
	var out []Amount
	for _, ps := range v.Job.PodSets {
		for _, r := range ps.Requests {
			if r.Amount == 0 {
				continue
			}
			i := slices.IndexFunc(out, func(a Amount) bool { return a.Resource == r.Resource && a.Flavor == r.Flavor })
			if i < 0 {
				out = append(out, r)
				continue
			}
			out[i].Amount += r.Amount
		}
	}
	slices.SortStableFunc(out, func(a, b Amount) int {
		return cmp.Compare(kinds.ResourceRank(a.Resource), kinds.ResourceRank(b.Resource))
	})
	return out
}

// LeastShort returns, for each resource, the line of the flavor with the smallest shortage.
func (v *Verdict) LeastShort() []Line {
	var out []Line
	for _, l := range v.Quota.Resources {
		i := slices.IndexFunc(out, func(o Line) bool { return o.Resource == l.Resource })
		switch {
		case i < 0:
			out = append(out, l)
		case l.shortage.Less(out[i].shortage):
			out[i] = l
		}
	}
	return out
}

// Exceeded returns the first resource whose request exceeds a limit: the line with the largest such limit, and that
// limit; false if there is none.
func (v *Verdict) Exceeded() (line Line, limit quota.Base, ok bool) {
	for _, l := range v.Quota.Resources {
		most, known := l.Most()
		if known && l.Requested > most && (!ok || l.Resource == line.Resource && most > limit) {
			line, limit, ok = l, most, true
		}
	}
	return line, limit, ok
}

// moreBorrowing reports whether the queue could hold what the job requests if it had no
// borrowing limit: others have enough to lend.
func (c *Checker) moreBorrowing(v *Verdict) bool {
	in := *c.In
	in.ClusterQueues = slices.Clone(in.ClusterQueues)
	for i, cq := range in.ClusterQueues {
		if cq.Name != v.Job.ClusterQueue {
			continue
		}
		cq = cq.DeepCopy()
		for _, g := range cq.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				for k := range f.Resources {
					f.Resources[k].BorrowingLimit = nil
				}
			}
		}
		in.ClusterQueues[i] = cq
	}
	tree := in.Quota(c.used)
	for _, a := range v.Totals() {
		enough := slices.ContainsFunc(v.Quota.Resources, func(l Line) bool {
			return l.Resource == a.Resource && quota.BaseOf(l.Resource, tree.Potential(v.Job.ClusterQueue, l.Flavor, l.Resource)) >= a.Amount
		})
		if !enough {
			return false
		}
	}
	return true
}

// Most returns the most that the queue can ever hold, or an upper bound if the quota of others is unknown; false if that
// is unknown too.
func (l *Line) Most() (quota.Base, bool) {
	switch {
	case l.Limit != nil:
		return *l.Limit, true
	case l.BorrowingLimit != nil:
		return l.Nominal + *l.BorrowingLimit, true
	}
	return 0, false
}

// kept returns the idle part of the queue's own quota that it never lends.
func (l *Line) kept() quota.Base {
	if l.LendingLimit == nil {
		return 0
	}
	return max(0, l.Nominal-*l.LendingLimit-l.Used)
}
