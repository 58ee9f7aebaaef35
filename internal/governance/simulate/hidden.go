package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// hideQueues corrects what a report says about ClusterQueues that could not be read, as if there were none. Their jobs have the
// state that Kueue gave them before the changes, and are Unknown after them.
func (r *Report) hideQueues(in *inputs.Inputs) {
	if !slices.ContainsFunc(in.Missing, func(m state.Missing) bool { return m.Of(kinds.ClusterQueue) && m.Refused() }) {
		return
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if in.ClusterQueue(j.ClusterQueue) != nil {
			continue
		}
		if j.Before != nil && j.Before.State != Finished {
			if j.Before.State == Never {
				j.Before.State, j.Before.Message = Waiting, pendingMessage(in.Workload(j.Namespace, j.Workload))
			}
			j.Before.Reason = NotReadable
			r.Before.Counts.add(j.Before, 1)
		}
		if j.After != nil && j.After.State != Finished {
			j.After = notReadable()
			r.After.Counts.add(j.After, 1)
		}
	}
	r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool {
		return p.Code == quota.QueueDeleted || p.Code == quota.MissingClusterQueue
	})
	r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool {
		return n.Of != nil && n.Of.Warning != nil && n.Of.Warning.Code == admission.UncountedUnknown
	})
}

// pendingMessage returns why a workload waits in the words of Kueue, "" if it has not said.
func pendingMessage(w *kueue.Workload) string {
	if w == nil {
		return ""
	}
	for _, c := range w.Status.Conditions {
		if c.Type == kueue.WorkloadQuotaReserved && c.Status == metav1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}
