package remedy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Nearest is the number of holders that a document lists by default.
const Nearest = 10

// mostTrees limits the trees of quota that are built to compare holders.
const mostTrees = 128

// SortNearest sorts the holders by how much of the first need their end frees, most
// first, and sets Frees. Holders that free alike keep their order. It stops when the
// first most holders are known.
func SortNearest(in *inputs.Inputs, usage map[string]quota.Usage, queue string, need Need, holders []Holder, most int) {
	if need.Short <= 0 {
		return
	}
	f := freed{in: in, usage: usage, queue: queue, need: need, known: map[release]int64{}}
	f.now = in.Quota(usage).Available(queue, need.Flavor, need.Resource)
	bound := func(h *Holder) int64 { return min(need.Short, h.units(need)) }
	slices.SortStableFunc(holders, func(a, b Holder) int { return cmp.Compare(bound(&b), bound(&a)) })
	frees := make(map[string]int64, most)
	key := func(h *Holder) string { return h.Namespace + "/" + h.Workload }
	full := 0 // holders that free as much as any holder behind them can
	for i := range holders {
		h := &holders[i]
		if len(f.known) > mostTrees || i+1 < len(holders) && full >= most {
			break
		}
		n := f.by(h.ClusterQueue, h.units(need))
		frees[key(h)] = n
		h.Frees = quota.BaseOf(need.Resource, n)
		if n == bound(h) {
			full++
		}
	}
	slices.SortStableFunc(holders, func(a, b Holder) int { return cmp.Compare(frees[key(&b)], frees[key(&a)]) })
}

// units returns how much of a need the holder holds.
func (h *Holder) units(n Need) int64 {
	for _, held := range h.Holds {
		if held.Flavor == n.Flavor && held.Resource == n.Resource {
			return held.Units
		}
	}
	return 0
}

// release is an amount that a ClusterQueue gives back.
type release struct {
	queue string
	units int64
}

// freed computes how much of a need becomes available when jobs end.
type freed struct {
	in    *inputs.Inputs
	usage map[string]quota.Usage
	queue string
	need  Need
	now   int64 // available before
	known map[release]int64
}

// by returns how much of the shortage ends when a queue gives an amount back.
func (f *freed) by(queue string, units int64) int64 {
	r := release{queue, units}
	if n, ok := f.known[r]; ok {
		return n
	}
	usage := maps.Clone(f.usage)
	usage[queue] = maps.Clone(usage[queue])
	usage[queue].Add(quota.Key{Flavor: f.need.Flavor, Resource: f.need.Resource}, -units)
	after := f.in.Quota(usage).Available(f.queue, f.need.Flavor, f.need.Resource)
	f.known[r] = min(f.need.Short, max(0, after-f.now))
	return f.known[r]
}
