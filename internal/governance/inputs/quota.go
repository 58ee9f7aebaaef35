package inputs

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Quota returns the tree of quota and what is reserved of it, which is [Inputs.Usage].
func (in *Inputs) Quota(usage map[string]quota.Usage) *quota.Tree {
	queues := make([]state.ClusterQueue, len(in.ClusterQueues))
	for i, q := range in.ClusterQueues {
		queues[i] = admission.QuotaOf(q)
	}
	cohorts := make([]state.Cohort, len(in.Cohorts))
	for i, c := range in.Cohorts {
		cohorts[i] = admission.CohortQuotaOf(c)
	}
	return quota.NewTree(queues, cohorts, usage)
}

// Usage returns the quota that workloads hold, by ClusterQueue.
func (in *Inputs) Usage() map[string]quota.Usage {
	usage := map[string]quota.Usage{}
	for _, w := range in.queued() {
		if !Reserves(w) || admission.CheckWorkload(w) != nil {
			continue // the engine leaves it out, too
		}
		name := string(w.Status.Admission.ClusterQueue)
		if usage[name] == nil {
			usage[name] = quota.Usage{}
		}
		for k, n := range Holds(w) {
			usage[name].Add(k, n)
		}
	}
	return usage
}

// queued returns the workloads that Kueue queues and whose quota it counts.
func (in *Inputs) queued() []*kueue.Workload { return admission.Queued(in.Workloads, in.Variants) }

// Reserves reports a workload that holds quota (Kueue's HasActiveQuotaReservation):
// one that is finished or deactivated does not.
func Reserves(w *kueue.Workload) bool {
	return w.Status.Admission != nil && (w.Spec.Active == nil || *w.Spec.Active) && !finished(w) &&
		apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved)
}

// Holds returns the quota a workload holds, in the units of package quota: what it was
// given, less the pods it has given back (Kueue's totalRequestsFromAdmission).
// Reclaimable pods count against the pods asked for: one that was admitted with
// fewer holds all of those until fewer than that are left.
func Holds(w *kueue.Workload) quota.Usage {
	out := quota.Usage{}
	if w.Status.Admission == nil {
		return out
	}
	asked, left := map[kueue.PodSetReference]int64{}, map[kueue.PodSetReference]int64{}
	for _, ps := range w.Spec.PodSets {
		asked[ps.Name], left[ps.Name] = int64(ps.Count), int64(ps.Count)
	}
	for _, r := range w.Status.ReclaimablePods {
		left[r.Name] = max(left[r.Name]-int64(r.Count), 0)
	}
	for _, ps := range w.Status.Admission.PodSetAssignments {
		count := asked[ps.Name]
		if ps.Count != nil {
			count = int64(*ps.Count)
		}
		for res, q := range ps.ResourceUsage {
			n := quota.AmountOf(string(res), q)
			if now := left[ps.Name]; now < count {
				n = n / count * now
			}
			out.Add(quota.Key{Flavor: string(ps.Flavors[res]), Resource: string(res)}, n)
		}
	}
	return out
}

// GracePeriod returns the longest that the pods of a workload may take to end when it is
// evicted (Kubernetes' default is 30 seconds).
func GracePeriod(w *kueue.Workload) time.Duration {
	longest := int64(0)
	for i := range w.Spec.PodSets {
		longest = max(longest, ptr.Deref(w.Spec.PodSets[i].Template.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds))
	}
	return time.Duration(longest) * time.Second
}

// EvictionEnd is when the pods of a workload that is being evicted have ended at the
// latest, by their grace period, and not before now.
func EvictionEnd(w *kueue.Workload, now time.Time) time.Time {
	at := now.Add(GracePeriod(w))
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil {
		at = c.LastTransitionTime.Add(GracePeriod(w))
	}
	if at.Before(now) {
		return now
	}
	return at
}

// SameTree returns the ClusterQueues that share quota with one, itself among them.
func (in *Inputs) SameTree(queue string) map[string]bool {
	parent := map[string]string{}
	for _, c := range in.Cohorts {
		parent[c.Name] = string(c.Spec.ParentName)
	}
	root := func(cohort string) string {
		for range len(parent) + 1 { // a cycle ends somewhere, too
			up := parent[cohort]
			if up == "" {
				break
			}
			cohort = up
		}
		return cohort
	}
	out := map[string]bool{queue: true}
	mine := in.ClusterQueue(queue)
	if mine == nil || mine.Spec.CohortName == "" {
		return out
	}
	top := root(string(mine.Spec.CohortName))
	for _, q := range in.ClusterQueues {
		if q.Spec.CohortName != "" && root(string(q.Spec.CohortName)) == top {
			out[q.Name] = true
		}
	}
	return out
}
