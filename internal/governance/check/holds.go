package check

import (
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// holds sets what the team holds where only the status of its LocalQueue can be read: of
// each requested resource and flavor, accelerators first.
func (c *Checker) holds(wl *kueue.Workload, v *Verdict) {
	r, unread := v.UnreadKind()
	q := c.In.LocalQueue(wl.Namespace, string(wl.Spec.QueueName))
	if !unread || q == nil || r.FullName() != kinds.ClusterQueue.FullName() {
		return
	}
	for _, f := range q.Status.FlavorsReservation {
		for _, u := range f.Resources {
			requested := slices.ContainsFunc(v.Job.PodSets, func(p PodSet) bool {
				return slices.ContainsFunc(p.Requests, func(a Amount) bool { return a.Resource == string(u.Name) && a.Amount > 0 })
			})
			if requested {
				v.Quota.Holds = append(v.Quota.Holds, Amount{string(f.Name), string(u.Name), quantity(string(u.Name), u.Total)})
			}
		}
	}
	// The status counts what the engine could not.
	v.Rules.Notes = slices.DeleteFunc(v.Rules.Notes, func(n inputs.Note) bool {
		w := n.Warning
		return w != nil && (w.Code == admission.UncountedUnknown || w.Code == admission.UncountedInvalid) && w.Name == v.Job.ClusterQueue
	})
	slices.SortStableFunc(v.Quota.Holds, func(a, b Amount) int {
		if d := kinds.ResourceRank(a.Resource) - kinds.ResourceRank(b.Resource); d != 0 {
			return d
		}
		return strings.Compare(a.Flavor, b.Flavor)
	})
}
