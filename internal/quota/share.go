package quota

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// weightOf returns the weight in fair sharing; Kueue's default is 1.
func weightOf(q *resource.Quantity) float64 {
	if q == nil {
		return 1
	}
	return q.AsApproximateFloat64()
}

// Share is the position of a ClusterQueue in fair sharing (Kueue's dominantResourceShare).
type Share struct {
	// Weight is the queue's weight; a queue with weight 0 always comes last.
	Weight float64
	// Weighted is what it borrows, in thousandths of what its cohort can lend, for the resource that it borrows most, divided by the weight. The
	// queue with the lowest goes first. +Inf: it borrows with weight 0.
	Weighted float64
	// Resource is the resource that it borrows most; "" if it borrows nothing.
	Resource string
	// Unknown reports that the queue borrows, and that what its cohort could lend cannot be read; Weighted has no
	// meaning then.
	Unknown bool
}

// Share returns the position of the ClusterQueue in fair sharing.
func (t *Tree) Share(clusterQueue string) Share {
	n, ok := t.queues[clusterQueue]
	if !ok {
		return Share{Weight: 1}
	}
	s := Share{Weight: n.weight}
	if n.parent == nil {
		return s
	}
	borrowed := n.beyond()
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

// beyond returns what the node uses more than it has, by resource.
func (n *node) beyond() map[string]int64 {
	out := map[string]int64{}
	for k, quota := range n.subtree {
		if b := sub(n.usage[k], quota); b > 0 {
			out[k.Resource] = add(out[k.Resource], b)
		}
	}
	return out
}

// share returns where a queue stands. Without its whole cohort that is only known of a
// queue that borrows nothing; of others Kueue's status has it where fair sharing
// is on.
func (b *builder) share(q *state.ClusterQueue) Share {
	s := b.r.Tree.Share(q.Name)
	if n := b.r.Tree.queues[q.Name]; b.r.Complete || q.Cohort == "" || len(n.beyond()) == 0 {
		return s
	}
	s.Resource, s.Weighted = "", 0
	switch {
	case s.Weight == 0:
		s.Weighted = math.Inf(1)
	case q.WeightedShare > 0:
		s.Weighted = float64(q.WeightedShare)
	default:
		s.Unknown = true
	}
	return s
}

// lendable returns what a cohort could hold of each resource, over all flavors of its
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
