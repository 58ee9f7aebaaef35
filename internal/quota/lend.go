package quota

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// loan is a node's part in lending one key.
type loan struct {
	debt int64 // what it uses beyond what it offers up: borrowed from its parent
	can  int64 // what it can still lend to others below its parent
	own  int64 // of a cohort: what is left of its own quota
	lent int64 // of a queue, or of a cohort's own quota
	over int64 // of a queue: the part of its debt that nobody lends
	from []gift
	// claims are the debts of the queues at or below the node that nobody in it lends.
	claims []claim
}

// claim is what a queue needs and has not been lent yet.
type claim struct {
	queue  *node
	amount int64
}

// gift is what a queue, or a cohort's own quota, lends.
type gift struct {
	node   *node
	amount int64
}

// Loan is what one lender lends. One of the two names is set: a cohort lends its own quota.
type Loan struct {
	ClusterQueue string `json:",omitempty"`
	Cohort       string `json:",omitempty"`
	Amount       int64
}

// loan returns the node's part in lending a key, to read.
func (n *node) loan(k Key) *loan {
	if l := n.loans[k]; l != nil {
		return l
	}
	return &loan{}
}

// booked returns the node's part in lending a key, to change.
func (n *node) booked(k Key) *loan {
	l := n.loan(k)
	if n.loans == nil {
		n.loans = map[Key]*loan{}
	}
	n.loans[k] = l
	return l
}

// settle works out all loans of the tree.
func (t *Tree) settle() {
	for _, root := range t.roots {
		keys := t.keys
		if !root.isCohort { // there can be many, and each has few of the keys
			keys = slices.SortedFunc(maps.Keys(root.subtree), compareKeys)
			for k := range root.usage {
				if _, own := root.subtree[k]; !own {
					keys = append(keys, k)
				}
			}
		}
		for _, k := range keys {
			root.settle(k)
			for _, c := range root.loan(k).claims {
				c.queue.booked(k).over = c.amount
			}
		}
	}
}

// settle works out who lends below and in this node, and what it owes and can
// lend itself.
func (n *node) settle(k Key) {
	l := n.booked(k)
	l.debt = max(0, sub(n.usage[k], n.subtree[k]))
	local := n.local(k)
	l.can = max(0, sub(sub(n.subtree[k], local), max(0, sub(n.usage[k], local))))
	if !n.isCohort {
		if l.debt > 0 {
			l.claims = []claim{{n, l.debt}}
		}
		return
	}
	l.own = n.limit(k).nominal
	var debts []int64
	for _, c := range n.children {
		c.settle(k)
		for _, claim := range c.loan(k).claims {
			l.claims, debts = append(l.claims, claim), append(debts, claim.amount)
		}
	}
	if len(debts) == 0 {
		return
	}
	lenders, weights := n.lenders(k, nil)
	met := min(total(debts), total(weights))
	var gifts []gift
	for _, g := range give(k, lenders, split(met, weights)) {
		g.take(k)
		gifts = append(gifts, g.gift)
	}
	l.meet(k, gifts, split(met, debts))
}

// meet hands the gifts to the claims, as much as each gets, and keeps what is
// left of them.
func (l *loan) meet(k Key, gifts []gift, amounts []int64) {
	left := l.claims[:0]
	for i, c := range l.claims {
		stock := make([]int64, len(gifts))
		for j, g := range gifts {
			stock[j] = g.amount
		}
		to := c.queue.booked(k)
		for j, share := range split(amounts[i], stock) {
			if share > 0 {
				gifts[j].amount -= share
				to.from = append(to.from, gift{gifts[j].node, share})
			}
		}
		if c.amount = sub(c.amount, amounts[i]); c.amount > 0 {
			left = append(left, c)
		}
	}
	l.claims = left
}

// lender is a source within one cohort: a child, or the cohort's own quota.
type lender struct {
	node *node
	own  bool
}

// lenders returns what can lend in a cohort, but for one child, and how much.
func (n *node) lenders(k Key, except *node) ([]lender, []int64) {
	var out []lender
	var weights []int64
	put := func(l lender, can int64) {
		if can > 0 {
			out, weights = append(out, l), append(weights, can)
		}
	}
	for _, c := range n.children {
		if c != except {
			put(lender{node: c}, c.loan(k).can)
		}
	}
	put(lender{node: n, own: true}, n.loan(k).own)
	return out, weights
}

// given is a gift and the cohorts between it and where it is given.
type given struct {
	gift
	through []*node
}

// give tells what each queue and cohort lends when lenders give amounts: what a
// cohort lends upward is lent by its members in turn.
func give(k Key, lenders []lender, amounts []int64) []given {
	var out []given
	for i, from := range lenders {
		amount := amounts[i]
		switch {
		case amount == 0:
		case from.own || !from.node.isCohort:
			out = append(out, given{gift: gift{from.node, amount}})
		default:
			inner, weights := from.node.lenders(k, nil)
			for _, g := range give(k, inner, split(amount, weights)) {
				g.through = append(g.through, from.node)
				out = append(out, g)
			}
		}
	}
	return out
}

// take books a gift.
func (g given) take(k Key) {
	for _, c := range g.through {
		l := c.booked(k)
		l.can = sub(l.can, g.amount)
	}
	l := g.node.booked(k)
	if l.lent = add(l.lent, g.amount); g.node.isCohort {
		l.own = sub(l.own, g.amount)
	} else {
		l.can = sub(l.can, g.amount)
	}
}

// offers returns what others can still borrow of the node's quota: within its lending limit,
// and not beyond what is left in the cohorts above it.
func (n *node) offers(k Key) int64 {
	if n.apart() || n.parent == nil || n.alone() {
		return 0
	}
	return max(0, min(n.loan(k).can, n.parent.available(k)))
}

// loansInside returns what the queues of a cohort borrow of a resource from one another and
// from its own quota.
func (n *node) loansInside(resource string) int64 {
	var sum int64
	if !n.isCohort {
		return 0
	}
	for _, q := range n.queuesBelow() {
		for k, l := range q.loans {
			for _, g := range l.from {
				if k.Resource == resource && g.node.within(n) {
					sum = add(sum, g.amount)
				}
			}
		}
	}
	return sum
}

// queuesBelow returns the queues at or below the node.
func (n *node) queuesBelow() []*node {
	if !n.isCohort {
		return []*node{n}
	}
	var out []*node
	for _, c := range n.children {
		out = append(out, c.queuesBelow()...)
	}
	return out
}

// within reports a node at or below another.
func (n *node) within(top *node) bool {
	for at := n; at != nil; at = at.parent {
		if at == top {
			return true
		}
	}
	return false
}

// keys returns what the node has counted loans of.
func (n *node) keys() []Key { return slices.SortedFunc(maps.Keys(n.loans), compareKeys) }

func total(amounts []int64) int64 {
	var sum int64
	for _, a := range amounts {
		sum = add(sum, a)
	}
	return sum
}

// Lenders returns who would lend if the ClusterQueue borrowed amount more than it does now, beyond its own free quota,
// by the convention of this package: the nearest cohort is asked first. The largest loans come first. The sum is less
// than amount if the others cannot lend so much. Borrowing limits do not count (see [Tree.Available]).
func (t *Tree) Lenders(clusterQueue, flavor, resource string, amount int64) []Loan {
	n, ok := t.queues[clusterQueue]
	if !ok || n.apart() {
		return nil
	}
	k := Key{flavor, resource}
	var gifts []gift
	for at := n; at.parent != nil && amount > 0; at = at.parent {
		lenders, weights := at.parent.lenders(k, at)
		met := min(amount, total(weights))
		for _, g := range give(k, lenders, split(met, weights)) {
			gifts = append(gifts, g.gift)
		}
		amount = sub(amount, met)
	}
	return loans(gifts)
}

// Loans returns who lends the ClusterQueue what it borrows now, the largest loans
// first. Over all queues they add up to what each lender lends.
func (t *Tree) Loans(clusterQueue, flavor, resource string) []Loan {
	n, ok := t.queues[clusterQueue]
	if !ok {
		return nil
	}
	return loans(n.loan(Key{flavor, resource}).from)
}

func loans(gifts []gift) []Loan {
	sum := map[*node]int64{}
	for _, g := range gifts {
		sum[g.node] = add(sum[g.node], g.amount)
	}
	var out []Loan
	for from, amount := range sum {
		l := Loan{ClusterQueue: from.name, Amount: amount}
		if from.isCohort {
			l = Loan{Cohort: from.name, Amount: amount}
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Loan) int {
		return cmp.Or(cmp.Compare(b.Amount, a.Amount), strings.Compare(a.Cohort, b.Cohort), strings.Compare(a.ClusterQueue, b.ClusterQueue))
	})
	return out
}
