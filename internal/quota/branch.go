package quota

// Branch is a line of the tree of cohorts and queues, for one resource.
type Branch struct {
	Depth  int
	Cohort string // set for a cohort
	Parent string // cohort above
	Team   *Team  // set for a queue
	Last   bool   // the last one below its parent
	// Row is the row of the queue, or the sum of everything below the cohort with the cohort's own quota. A cohort's
	// loans are those from and to others, not those among its members.
	Row ResourceRow
	// Own is the cohort's own quota, OwnLent the part that members use.
	Own, OwnLent int64
}

// Branches returns the tree of a resource from the roots down, each cohort
// followed by what is in it: queues first, then cohorts, by name. Queues and
// cohorts without any quota or use of the resource are left out.
func (r *Report) Branches(resource string) []Branch {
	teams := map[string]*Team{}
	for i := range r.Teams {
		teams[r.Teams[i].ClusterQueue] = &r.Teams[i]
	}
	var out []Branch
	var walk func(n *node, depth int, parent string) bool
	walk = func(n *node, depth int, parent string) bool {
		if !n.isCohort {
			t := teams[n.name]
			if t == nil {
				return false
			}
			row, ok := t.Of(resource)
			if ok {
				out = append(out, Branch{Depth: depth, Parent: parent, Team: t, Row: row})
			}
			return ok
		}
		at := len(out)
		b := Branch{Depth: depth, Cohort: n.name, Parent: parent, Row: ResourceRow{Resource: resource, Figures: zeroFigures(), Pending: new(int64)}}
		out = append(out, b)
		own := b.own(n, resource, r.Complete)
		last := -1
		for _, c := range n.children {
			begin := len(out)
			if !walk(c, depth+1, n.name) {
				continue
			}
			last = begin
			b.Row.Figures.Add(&out[begin].Row.Figures)
			b.Row.Pending = plus(b.Row.Pending, out[begin].Row.Pending)
		}
		if last < 0 && !own {
			out = out[:at]
			return false
		}
		if last >= 0 {
			out[last].Last = true
		}
		if r.Complete {
			b.outside(n, resource)
		}
		b.Row.Borrowable, b.Row.AtMost = nil, nil
		b.Row.Limit = r.cohortLimit(n, resource)
		out[at] = b
		return true
	}
	for _, n := range r.Tree.roots {
		walk(n, 0, "")
	}
	return out
}

// own adds the cohort's own quota and reports whether it has any.
func (b *Branch) own(n *node, resource string, complete bool) bool {
	found := false
	for k, q := range n.quotas {
		if k.Resource == resource {
			found = true
			b.Own = add(b.Own, q.nominal)
			b.OwnLent = add(b.OwnLent, n.loan(k).lent)
		}
	}
	b.Row.Figures.addOwn(n, resource, complete)
	return found
}

// outside turns what the members borrow and lend into what the cohort borrows from above
// and lends there: loans among its members are not counted. The rows of the cohorts below
// have done that for theirs.
func (b *Branch) outside(n *node, resource string) {
	inside, lendable := n.loansInside(resource), int64(0)
	for _, c := range n.children {
		inside = sub(inside, c.loansInside(resource))
	}
	for _, k := range n.keys() {
		if k.Resource == resource {
			lendable = add(lendable, n.offers(k))
		}
	}
	borrowed, lent := sub(*b.Row.Borrowed, inside), sub(*b.Row.Lent, inside)
	b.Row.Borrowed, b.Row.Lent, b.Row.Lendable = &borrowed, &lent, &lendable
}

// cohortLimit returns the most that the members of a cohort can ever hold of a resource
// together.
func (r *Report) cohortLimit(n *node, resource string) *int64 {
	if !r.Complete || n.cyclic {
		return nil
	}
	var sum int64
	for _, k := range r.Tree.keys {
		if k.Resource == resource {
			sum = add(sum, n.most(k))
		}
	}
	return &sum
}

func (b *Branch) json(resource string) CohortJSON {
	return CohortJSON{Cohort: b.Cohort, Parent: optional(b.Parent), Resource: resource, Own: number(resource, &b.Own), OwnLent: number(resource, &b.OwnLent),
		FiguresJSON: b.Row.Figures.json(resource), Pending: number(resource, b.Row.Pending)}
}
