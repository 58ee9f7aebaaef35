package check

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
)

// cut counts the jobs and domains that the verdict lists, and keeps the first of each
// list unless all are wanted: a document must not grow with the cluster.
func (v *Verdict) cut(all bool) {
	v.HoldersTotal, v.Quota.PreemptsTotal = len(v.Holders), len(v.Quota.Preempts)
	if v.Topology != nil {
		v.Topology.DomainsTotal = len(v.Topology.Domains)
	}
	for i := range v.Remedies {
		v.Remedies[i].PreemptsTotal = len(v.Remedies[i].Preempts)
	}
	if all {
		return
	}
	v.cutHolders(remedy.Nearest)
	v.Quota.Preempts = first(v.Quota.Preempts, remedy.Nearest)
	if v.Topology != nil {
		v.Topology.Domains = first(v.Topology.Domains, remedy.Nearest)
	}
	for i := range v.Remedies {
		v.Remedies[i].Preempts = first(v.Remedies[i].Preempts, remedy.Nearest)
	}
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// cutHolders keeps the first holders and sums up what the others hold.
func (v *Verdict) cutHolders(most int) {
	if len(v.Holders) <= most {
		return
	}
	for _, h := range v.Holders[most:] {
		for _, held := range h.Holds {
			i := slices.IndexFunc(v.HoldersRest, func(a Amount) bool { return a.Flavor == held.Flavor && a.Resource == held.Resource })
			if i < 0 {
				v.HoldersRest = append(v.HoldersRest, Amount{held.Flavor, held.Resource, held.Amount})
				continue
			}
			v.HoldersRest[i].Amount += held.Amount
		}
	}
	v.Holders = v.Holders[:most]
}
