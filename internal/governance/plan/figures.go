package plan

import (
	"cmp"
	"maps"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// nominal returns the quota of a queue.
func nominal(q *kueue.ClusterQueue) quota.Usage {
	out := quota.Usage{}
	if q == nil {
		return out
	}
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				out.Add(quota.Key{Flavor: string(f.Name), Resource: string(r.Name)}, quota.AmountOf(string(r.Name), r.NominalQuota))
			}
		}
	}
	return out
}

// accelerators returns the flavors with quota of an accelerator.
func accelerators(u quota.Usage) map[string]bool {
	out := map[string]bool{}
	for k, n := range u {
		if kinds.Accelerator(k.Resource) && n > 0 {
			out[k.Flavor] = true
		}
	}
	return out
}

func sortedKeys(u quota.Usage) []quota.Key {
	return slices.SortedFunc(maps.Keys(u), func(a, b quota.Key) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
}
