package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Groups counts the groups of pods that Kueue admits on their own: the groups of a
// LeaderWorkerSet, the pods of a Deployment.
type Groups struct {
	All int64
	// Starting is the number of those that would start now.
	Starting int64
}

// mostGroups is the number of groups that are tried one after another. As many as possible of
// those behind them are tried as one workload.
const mostGroups = 200

// apart completes the verdict on a job whose pods Kueue admits in groups. v is about all of
// them as one workload. If that starts now, so do the groups. If not, some or all of them
// may: they can get different flavors and places, and need no room for the others.
func (c *Checker) apart(ctx context.Context, r *Request, v *Verdict) (*Verdict, error) {
	k, _ := kinds.JobFor(kinds.Text(r.Object, "apiVersion"), kinds.Text(r.Object, "kind"))
	n, unit := k.Units(r.Object)
	if n < 2 || v.Quota.Status == StatusNotApplicable || v.Verdict == Unknown || v.barred() {
		return v, nil
	}
	v.Groups = &Groups{All: n}
	if v.Verdict == Admitted {
		v.Groups.Starting = n
		return v, nil
	}
	started, last, err := c.oneByOne(ctx, r, unit, n)
	if err != nil {
		return nil, err
	}
	for _, s := range started {
		v.Groups.Starting += s.Groups.All
	}
	switch {
	case last == nil:
		return sum(started, r, n), nil
	case v.Verdict == Never && last.Verdict == Waits:
		// All of them never fit at the same time in one flavor or place. Do they in several?
		alone := *c.In
		alone.Workloads, alone.Pods = nil, nil
		empty, err := New(ctx, &alone)
		if err != nil {
			return nil, err
		}
		if _, stuck, err := empty.oneByOne(ctx, r, unit, n); err != nil || stuck != nil {
			return v, err
		}
		last.Groups = v.Groups
		return last, nil
	}
	return v, nil
}

// oneByOne submits the groups to a copy of the cluster until one does not start. It returns
// the verdicts on those that do, each with the number of groups that it is about, and the one on the
// group that does not, nil where all start.
func (c *Checker) oneByOne(ctx context.Context, r *Request, unit map[string]any, n int64) (started []*Verdict, last *Verdict, err error) {
	fork, err := New(ctx, c.In)
	if err != nil {
		return nil, nil, err
	}
	name := kinds.Text(r.Object, "metadata", "name")
	one := *r
	one.Make, one.Queues, one.Remedies = nil, nil, false // changes are about the whole job
	for i := int64(0); i < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		v, many, err := fork.next(ctx, &one, unit, name, i, n)
		if err != nil || v.Verdict != Admitted {
			return started, v, err
		}
		started = append(started, v)
		if _, err := fork.Submit(ctx, &one, v); err != nil {
			return nil, nil, err
		}
		i += many - 1
	}
	return started, nil, nil
}

// next returns the verdict on the group of a number, or on as many as start of those behind the first
// mostGroups, and how many it is about. one becomes the request about them.
func (c *Checker) next(ctx context.Context, one *Request, unit map[string]any, name string, i, n int64) (v *Verdict, many int64, err error) {
	k, _ := kinds.JobFor(kinds.Text(unit, "apiVersion"), kinds.Text(unit, "kind"))
	try := func(many int64) (*Verdict, error) {
		if one.Object, err = clone(unit); err != nil {
			return nil, err
		}
		k.SetUnits(one.Object, many)
		kinds.Set(one.Object, fmt.Sprintf("%s-%d", name, i), "metadata", "name")
		v, err := c.whole(ctx, *one)
		if err == nil {
			v.Job.Name, v.Groups = name, &Groups{All: many}
		}
		return v, err
	}
	if i < mostGroups-1 {
		v, err = try(1)
		return v, 1, err
	}
	high := n - i
	if v, err = try(high); err != nil || v.Verdict == Admitted || high == 1 {
		return v, high, err
	}
	low, object := int64(1), one.Object // halve what may start, down to one
	var of *Verdict                     // on low groups, which object has
	for low+1 < high {
		middle := (low + high) / 2
		if v, err = try(middle); err != nil {
			return nil, 0, err
		}
		if v.Verdict == Admitted {
			low, of, object = middle, v, one.Object
		} else {
			high = middle
		}
	}
	if of == nil {
		v, err = try(1)
		return v, 1, err
	}
	one.Object = object
	return of, low, nil
}

// sum returns the verdict on groups that all start: the first one's, with what the others
// request, borrow, preempt and where they are placed.
func sum(list []*Verdict, r *Request, n int64) *Verdict {
	v := *list[0]
	v.Groups = &Groups{All: n, Starting: n}
	v.Job.PodSets, v.Quota.Resources = nil, []Line{}
	v.Quota.Preempts, v.Quota.Borrowed = nil, nil
	if v.Topology != nil {
		t := *v.Topology
		t.Domains, v.Topology = nil, &t
	}
	v.Nodes.Placements = nil
	for _, g := range list {
		for _, ps := range g.Job.PodSets {
			v.addPods(ps)
		}
		for _, l := range g.Quota.Resources { // the line of a flavor is the first group's on it: as before this job
			v.Quota.Resources = merge(v.Quota.Resources, l, func(l Line) any { return [2]string{l.Flavor, l.Resource} }, func(have *Line) { have.Requested += l.Requested })
		}
		v.Quota.Preempts = append(v.Quota.Preempts, g.Quota.Preempts...)
		for _, b := range g.Quota.Borrowed {
			v.addBorrowed(b)
		}
		if g.Topology != nil && v.Topology != nil {
			v.Topology.Domains = append(v.Topology.Domains, g.Topology.Domains...)
		}
		v.Nodes.Placements = append(v.Nodes.Placements, g.Nodes.Placements...)
	}
	v.cut(r.AllHolders)
	return &v
}

// addPods adds the pods of a group to those of the role.
func (v *Verdict) addPods(ps PodSet) {
	ps.Requests = slices.Clone(ps.Requests)
	v.Job.PodSets = merge(v.Job.PodSets, ps, func(ps PodSet) any { return ps.Name }, func(have *PodSet) {
		have.Pods += ps.Pods
		for _, a := range ps.Requests {
			have.Requests = merge(have.Requests, a, func(a Amount) any { return [2]string{a.Flavor, a.Resource} }, func(have *Amount) { have.Amount += a.Amount })
		}
	})
}

// addBorrowed adds an amount that a group borrows.
func (v *Verdict) addBorrowed(b Borrowed) {
	b.Lenders = slices.Clone(b.Lenders)
	v.Quota.Borrowed = merge(v.Quota.Borrowed, b, func(b Borrowed) any { return [2]string{b.Flavor, b.Resource} }, func(have *Borrowed) {
		have.Amount += b.Amount
		for _, l := range b.Lenders {
			have.Lenders = merge(have.Lenders, l, func(l Lender) any { return [2]string{l.ClusterQueue, l.Cohort} }, func(have *Lender) { have.Amount += l.Amount })
		}
	})
}

// merge calls add with the item of a list that has the key of another one, or appends that one.
func merge[T any](list []T, more T, key func(T) any, add func(have *T)) []T {
	for i := range list {
		if key(list[i]) == key(more) {
			add(&list[i])
			return list
		}
	}
	return append(list, more)
}
