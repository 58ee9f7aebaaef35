package policy

import (
	"maps"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// V1Beta1 returns an object of an Operation as v1beta1 of Kueue's API has it: cohortName
// and parentName have other names there, and so do the words of flavorFungibility.
func V1Beta1(object map[string]any) map[string]any {
	out := maps.Clone(object)
	out["apiVersion"] = kinds.KueueGroup + "/v1beta1"
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return out
	}
	spec = maps.Clone(spec)
	rename := func(from, to string) {
		if v, has := spec[from]; has {
			delete(spec, from)
			spec[to] = v
		}
	}
	rename("cohortName", "cohort")
	rename("parentName", "parent")
	if f, has := spec["flavorFungibility"].(map[string]any); has {
		f = maps.Clone(f)
		for key, word := range map[string]string{"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"} {
			if f[key] == "MayStopSearch" {
				f[key] = word
			}
		}
		spec["flavorFungibility"] = f
	}
	out["spec"] = spec
	return out
}
