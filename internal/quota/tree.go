package quota

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Key is a resource in a flavor, the unit of quota.
type Key struct{ Flavor, Resource string }

// Usage is the used amount of each flavor and resource.
type Usage map[Key]int64

// Add counts n more of a key, and never beyond what 64 bits hold.
func (u Usage) Add(k Key, n int64) { u[k] = add(u[k], n) }

// node is a ClusterQueue or a cohort in the tree.
type node struct {
	name     string
	isCohort bool
	parent   *node
	children []*node
	quotas   map[Key]limits
	weight   float64 // for fair sharing
	// subtree is the node's own quota with what its children offer up, as Kueue's
	// SubtreeQuota; usage is its use, for a cohort what its children use of it.
	subtree, usage map[Key]int64
	loans          map[Key]*loan
	// cyclic: it is in or below a cohort cycle; faulty: see [Faults]. Either way it
	// shares nothing.
	cyclic, faulty bool
}

// apart reports a node that neither lends nor gets anything.
func (n *node) apart() bool { return n.cyclic || n.faulty }

// limits is the quota that a node has itself.
type limits struct {
	nominal            int64
	borrowing, lending int64 // Unlimited when there is no limit
}

// Tree is the quota and the use of all ClusterQueues and of their cohorts. It does not change.
type Tree struct {
	queues  map[string]*node
	cohorts map[string]*node
	roots   []*node // cohorts without a parent, and queues without a cohort; by name
	keys    []Key
}

// NewTree builds the tree. usage is the reserved quota by ClusterQueue. Cohorts that are only named, by a queue or
// another cohort, have no quota of their own. Queues below a cohort that is its own ancestor share nothing: Kueue keeps
// them inactive. An invalid queue or cohort (see [Faults]) is ignored.
func NewTree(queues []state.ClusterQueue, cohorts []state.Cohort, usage map[string]Usage) *Tree {
	t := &Tree{queues: make(map[string]*node, len(queues)), cohorts: map[string]*node{}}
	for i := range cohorts {
		c := &cohorts[i]
		n := t.cohort(c.Name)
		if len(CohortFaults(c)) > 0 {
			continue // as if only named
		}
		n.quotas, n.weight = limitsOf(c.ResourceGroups), weightOf(c.FairWeight)
		if c.Parent != "" {
			n.parent = t.cohort(c.Parent)
		}
	}
	for i := range queues {
		q := &queues[i]
		n := &node{name: q.Name, weight: 1, usage: usage[q.Name]}
		if n.faulty = len(Faults(q)) > 0; !n.faulty {
			n.quotas, n.weight = limitsOf(q.ResourceGroups), weightOf(q.FairWeight)
			if q.Cohort != "" {
				n.parent = t.cohort(q.Cohort)
			}
		}
		t.queues[q.Name] = n
	}
	t.link()
	t.accumulate()
	t.settle()
	return t
}

func (t *Tree) cohort(name string) *node {
	n, ok := t.cohorts[name]
	if !ok {
		n = &node{name: name, isCohort: true, weight: 1}
		t.cohorts[name] = n
	}
	return n
}

// link hangs children under their parents, in the order of their names, queues
// first. What is in or below a cycle hangs nowhere.
func (t *Tree) link() {
	all := make([]*node, 0, len(t.queues)+len(t.cohorts))
	for _, n := range t.cohorts {
		all = append(all, n)
	}
	for _, n := range t.queues {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *node) int {
		if a.isCohort != b.isCohort {
			if b.isCohort {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	for _, n := range all {
		n.cyclic = endless(n, len(t.cohorts))
	}
	for _, n := range all {
		switch {
		case n.cyclic:
			n.parent = nil
			if !n.isCohort {
				t.roots = append(t.roots, n)
			}
		case n.parent == nil:
			t.roots = append(t.roots, n)
		default:
			n.parent.children = append(n.parent.children, n)
		}
	}
}

// endless reports a chain of parents longer than there are cohorts.
func endless(n *node, cohorts int) bool {
	for i := 0; n != nil; i, n = i+1, n.parent {
		if i > cohorts {
			return true
		}
	}
	return false
}

// accumulate sums quota and use up the tree (Kueue's updateCohortResourceNode)
// and collects the keys.
func (t *Tree) accumulate() {
	seen := map[Key]bool{}
	var up func(n *node)
	up = func(n *node) {
		n.subtree = make(map[Key]int64, len(n.quotas))
		for k, q := range n.quotas {
			n.subtree[k] = q.nominal
		}
		if n.isCohort {
			n.usage = map[Key]int64{}
		}
		for _, c := range n.children {
			up(c)
			for k, q := range c.subtree {
				n.subtree[k] = add(n.subtree[k], sub(q, c.local(k)))
			}
			for k, u := range c.usage {
				n.usage[k] = add(n.usage[k], max(0, sub(u, c.local(k))))
			}
		}
		for k := range n.subtree {
			seen[k] = true
		}
		for k := range n.usage {
			seen[k] = true
		}
	}
	for _, n := range t.roots {
		up(n)
	}
	for k := range seen {
		t.keys = append(t.keys, k)
	}
	slices.SortFunc(t.keys, compareKeys)
}

func compareKeys(a, b Key) int {
	if c := strings.Compare(a.Resource, b.Resource); c != 0 {
		return c
	}
	return strings.Compare(a.Flavor, b.Flavor)
}

func limitsOf(groups []state.ResourceGroup) map[Key]limits {
	out := map[Key]limits{}
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				l := limits{nominal: AmountOf(r.Name, r.Nominal), borrowing: Unlimited, lending: Unlimited}
				if r.BorrowingLimit != nil {
					l.borrowing = AmountOf(r.Name, *r.BorrowingLimit)
				}
				if r.LendingLimit != nil {
					l.lending = AmountOf(r.Name, *r.LendingLimit)
				}
				out[Key{f.Name, r.Name}] = l
			}
		}
	}
	return out
}

// limit returns the node's own quota of a key; without any there is no limit.
func (n *node) limit(k Key) limits {
	if l, ok := n.quotas[k]; ok {
		return l
	}
	return limits{borrowing: Unlimited, lending: Unlimited}
}

// local returns the part of the node's quota that is never lent (Kueue's localQuota).
func (n *node) local(k Key) int64 {
	if l := n.limit(k); l.lending != Unlimited {
		return max(0, sub(n.subtree[k], l.lending))
	}
	return 0
}

// available returns what the node can still take without preempting; below zero when
// it, or a cohort above it, is over its quota (Kueue's available).
func (n *node) available(k Key) int64 {
	if n.parent == nil {
		return sub(n.subtree[k], n.usage[k])
	}
	above := n.parent.available(k)
	local := n.local(k)
	if l := n.limit(k); l.borrowing != Unlimited {
		stored := sub(n.subtree[k], local)
		used := max(0, sub(n.usage[k], local))
		above = min(above, add(sub(stored, used), l.borrowing))
	}
	return add(max(0, sub(local, n.usage[k])), above)
}

// potential returns what the node could take if nothing was used anywhere (Kueue's
// potentialAvailable).
func (n *node) potential(k Key) int64 {
	if n.parent == nil {
		return n.subtree[k]
	}
	all := add(n.local(k), n.parent.potential(k))
	if l := n.limit(k); l.borrowing != Unlimited {
		all = min(all, add(n.subtree[k], l.borrowing))
	}
	return all
}

// most returns the most that a queue, or all queues of a cohort together, can ever hold: no
// more than each of them, and no more than what reaches the cohort and what its members
// keep to themselves.
func (n *node) most(k Key) int64 {
	if !n.isCohort {
		return n.potential(k)
	}
	var members int64
	for _, c := range n.children {
		members = add(members, c.most(k))
	}
	return min(members, add(n.potential(k), n.kept(k)))
}

// kept returns what the members of a cohort never lend.
func (n *node) kept(k Key) int64 {
	var sum int64
	for _, c := range n.children {
		sum = add(sum, add(c.local(k), c.kept(k)))
	}
	return sum
}

// Available returns what the ClusterQueue can get now without preemption: its own free quota and what it can borrow. It
// is 0 for a queue that is not in the tree or in a cohort cycle.
func (t *Tree) Available(clusterQueue, flavor, resource string) int64 {
	n, ok := t.queues[clusterQueue]
	if !ok || n.apart() {
		return 0
	}
	return max(0, n.available(Key{flavor, resource}))
}

// Potential returns the most that the ClusterQueue can ever hold: what it would
// get if nobody used anything.
func (t *Tree) Potential(clusterQueue, flavor, resource string) int64 {
	n, ok := t.queues[clusterQueue]
	if !ok || n.apart() {
		return 0
	}
	return n.potential(Key{flavor, resource})
}

// Free returns two parts of the ClusterQueue's own quota: free is neither used nor lent, lent is what others use.
func (t *Tree) Free(clusterQueue, flavor, resource string) (free, lent int64) {
	n, ok := t.queues[clusterQueue]
	if !ok {
		return 0, 0
	}
	k := Key{flavor, resource}
	return n.free(k), n.loan(k).lent
}
