package quota

import (
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// flavor works out a queue's figures for one key.
func (b *builder) flavor(q *state.ClusterQueue, teamState string, k Key) FlavorRow {
	n := b.r.Tree.queues[q.Name]
	l := n.limit(k)
	row := FlavorRow{Flavor: k.Flavor, BorrowingLimit: limited(l.borrowing), LendingLimit: limited(l.lending)}
	row.Figures = Figures{Nominal: l.nominal, Reserved: b.reserved[q.Name][k], Used: b.used[q.Name][k]}
	switch {
	case b.r.Complete || q.Cohort == "":
		row.Figures.whole(n, k, teamState)
	default:
		row.Figures.alone(l)
	}
	return row
}

func limited(n int64) *int64 {
	if n == Unlimited {
		return nil
	}
	return &n
}

// whole fills in what follows from the whole tree.
func (f *Figures) whole(n *node, k Key, teamState string) {
	l := n.loan(k)
	borrowed := sub(l.debt, l.over)
	available, limit := int64(0), int64(0)
	if !n.apart() {
		available, limit = max(0, n.available(k)), n.potential(k)
	}
	free := n.free(k)
	borrowable := sub(available, free)
	if teamState != Active {
		// Kueue admits nothing through this queue, whatever there is.
		free, borrowable = 0, 0
	}
	// One allocation for all: a report has a row for each flavor of each team.
	v := &[...]int64{borrowed, l.over, l.lent, free, borrowable, limit, n.offers(k)}
	f.Borrowed, f.Overcommit, f.Lent, f.Free, f.Borrowable, f.Limit, f.Lendable = &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]
}

// free returns the part of the node's own quota that is neither used nor lent, and is available.
func (n *node) free(k Key) int64 {
	if n.apart() {
		return 0
	}
	idle := max(0, sub(sub(n.limit(k).nominal, n.usage[k]), n.loan(k).lent))
	return min(idle, max(0, n.available(k)))
}

// alone fills in what a queue in a cohort tells without its cohort.
func (f *Figures) alone(l limits) {
	zero := int64(0)
	borrowed := max(0, sub(f.Reserved, f.Nominal))
	f.Borrowed = &borrowed
	if borrowed == 0 {
		f.Overcommit = &zero
	}
	idle := max(0, sub(f.Nominal, f.Reserved))
	if idle == 0 || l.lending == 0 {
		f.Lent, f.Lendable = &zero, &zero
		f.Free = &idle
	}
	if l.borrowing == 0 {
		nominal := f.Nominal
		f.Borrowable, f.Limit = &zero, &nominal
	}
	if l.borrowing != Unlimited {
		most := add(f.Nominal, l.borrowing)
		f.AtMost = &most
	}
}

// sumFlavors adds up the flavors of a resource.
func sumFlavors(rows []FlavorRow) Figures {
	f := zeroFigures()
	for i := range rows {
		f.add(&rows[i].Figures, increase)
	}
	return f
}

// zeroFigures returns figures to add to.
func zeroFigures() Figures {
	v := new([8]int64)
	return Figures{Borrowed: &v[0], Overcommit: &v[1], Lent: &v[2], Free: &v[3], Borrowable: &v[4], Limit: &v[5], AtMost: &v[6], Lendable: &v[7]}
}

// Add adds other figures. An amount that is unknown in one of them is unknown in the sum.
func (f *Figures) Add(o *Figures) { f.add(o, plus) }

func (f *Figures) add(o *Figures, plus func(a, b *int64) *int64) {
	f.NominalHidden = f.NominalHidden || o.NominalHidden
	f.Nominal, f.Reserved, f.Used = add(f.Nominal, o.Nominal), add(f.Reserved, o.Reserved), add(f.Used, o.Used)
	most := o.AtMost
	if most == nil {
		most = o.Limit
	}
	f.Borrowed, f.Overcommit, f.Lent = plus(f.Borrowed, o.Borrowed), plus(f.Overcommit, o.Overcommit), plus(f.Lent, o.Lent)
	f.Free, f.Borrowable, f.Limit, f.AtMost = plus(f.Free, o.Free), plus(f.Borrowable, o.Borrowable), plus(f.Limit, o.Limit), plus(f.AtMost, most)
	f.Lendable = plus(f.Lendable, o.Lendable)
}

func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := add(*a, *b)
	return &n
}

// increase is plus for a sum that nothing else refers to: it changes a.
func increase(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	*a = add(*a, *b)
	return a
}

// Idle returns the part of Nominal that the team does not use, lent or not.
func (f *Figures) Idle() int64 { return max(0, sub(f.Nominal, f.Reserved)) }

// Sum returns the figures of a resource over all teams, with the cohorts' own
// quota. Limit and Borrowable are not summed: several teams would get the same.
func (r *Report) Sum(resource string) ResourceRow {
	rows := make([]ResourceRow, 0, len(r.Teams))
	for i := range r.Teams {
		if row, ok := r.Teams[i].Of(resource); ok {
			rows = append(rows, row)
		}
	}
	out := SumOf(resource, rows)
	for _, c := range r.Tree.cohorts {
		out.Figures.addOwn(c, resource, r.Complete)
	}
	return out
}

// SumOf adds up rows of a resource. Figures that depend on the team, such as the limit, are nil.
func SumOf(resource string, rows []ResourceRow) ResourceRow {
	out := ResourceRow{Resource: resource, Figures: zeroFigures(), Pending: new(int64)}
	for i := range rows {
		out.Figures.Add(&rows[i].Figures)
		out.Pending = plus(out.Pending, rows[i].Pending)
	}
	out.Limit, out.AtMost, out.Borrowable = nil, nil, nil
	return out
}

// addOwn adds a cohort's own quota to a sum.
func (f *Figures) addOwn(c *node, resource string, complete bool) {
	for k, q := range c.quotas {
		if k.Resource != resource {
			continue
		}
		f.Nominal = add(f.Nominal, q.nominal)
		if !complete || c.cyclic {
			continue
		}
		l := c.loan(k)
		f.Lent, f.Free, f.Lendable = plus(f.Lent, &l.lent), plus(f.Free, &l.own), plus(f.Lendable, &l.own)
	}
}
