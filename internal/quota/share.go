package quota

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// weightOf is the weight in fair sharing; Kueue's default is 1.
func weightOf(q *resource.Quantity) float64 {
	if q == nil {
		return 1
	}
	return q.AsApproximateFloat64()
}

// Share is where a ClusterQueue stands in fair sharing (Kueue's
// dominantResourceShare).
type Share struct {
	// Weight is the queue's weight; 0 always loses.
	Weight float64
	// Weighted is what it borrows, in thousandths of what there is to lend in its
	// cohort, of the resource of which it borrows most, divided by the weight. The
	// queue with the lowest goes first. +Inf: it borrows with weight 0.
	Weighted float64
	// Resource is the resource it borrows most of; "" when it borrows nothing.
	Resource string
}

// Share returns where the ClusterQueue stands in fair sharing.
func (t *Tree) Share(clusterQueue string) Share {
	n, ok := t.queues[clusterQueue]
	if !ok {
		return Share{Weight: 1}
	}
	s := Share{Weight: n.weight}
	if n.parent == nil {
		return s
	}
	borrowed := map[string]int64{}
	for k, quota := range n.subtree {
		if b := sub(n.usage[k], quota); b > 0 {
			borrowed[k.Resource] = add(borrowed[k.Resource], b)
		}
	}
	if len(borrowed) == 0 {
		return s
	}
	ratio := 0.0
	lendable := n.parent.lendable()
	for name, b := range borrowed {
		if lendable[name] <= 0 {
			continue
		}
		r := float64(b) * 1000 / float64(lendable[name])
		if r > ratio || r == ratio && name < s.Resource {
			ratio, s.Resource = r, name
		}
	}
	switch {
	case ratio == 0:
	case s.Weight == 0:
		s.Weighted = math.Inf(1)
	default:
		s.Weighted = ratio / s.Weight
	}
	return s
}

// lendable is what a cohort could hold of each resource, over all flavors of its
// tree (Kueue's calculateLendable).
func (n *node) lendable() map[string]int64 {
	root := n
	for root.parent != nil {
		root = root.parent
	}
	out := map[string]int64{}
	for k := range root.subtree {
		out[k.Resource] = add(out[k.Resource], n.potential(k))
	}
	return out
}
