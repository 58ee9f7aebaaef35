package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// settings notes which settings of Kueue's configuration could change the answer, where the configuration is unknown and the
// defaults are assumed. Few members of a team have permission to read it, so the answer itself stands.
func (c *Checker) settings(r *Request, wl *kueue.Workload, v *Verdict) {
	i := slices.IndexFunc(v.Rules.Notes, func(n inputs.Note) bool { return n.Code == inputs.ConfigurationUnknown })
	if i < 0 {
		return
	}
	q := &v.Quota
	cq := c.In.ClusterQueue(v.Job.ClusterQueue)
	starts := admission.Outcome(q.Outcome).Starts()
	requests := slices.Contains([]string{kueue.WorkloadQuotaReservedReasonNoMatchingFlavor, kueue.WorkloadQuotaReservedReasonExceedsMaxQuota, kueue.WorkloadQuotaReservedReasonWaitingForQuota}, q.Reason)
	settings := []string{}
	add := func(name string, matters bool) {
		if matters {
			settings = append(settings, name)
		}
	}
	switch q.Skipped {
	case "":
		add("integrations.frameworks", r.Workload == nil && v.Existing == nil && !c.governs(v.Job.Kind))
		add("fairSharing", cq != nil && cq.Spec.CohortName != "" && (starts || q.Reason == kueue.WorkloadQuotaReservedReasonWaitingForQuota) &&
			(!starts || len(q.Borrowed) > 0 || len(q.Preempts) > 0 || q.Unseen != nil || c.othersPending(wl, cq.Name)))
		add("admissionFairSharing", cq != nil && cq.Spec.AdmissionScope != nil)
		add("resources.excludeResourcePrefixes", requests)
		add("resources.quotaCheckStrategy", q.Detail == ResourceNotCovered)
		add("resources.transformations", requests || starts && cq != nil && coversMore(cq, v))
		add("resources.deviceClassMappings", slices.ContainsFunc(wl.Spec.PodSets, func(p kueue.PodSet) bool { return len(p.Template.Spec.ResourceClaims) > 0 }))
		add("waitForPodsReady.blockAdmission", starts && c.podsNotReady())
	case NoQueue:
		add("manageJobsWithoutQueueName", true)
	}
	// The notes of all verdicts are one list.
	v.Rules.Notes = slices.Clone(v.Rules.Notes)
	v.Rules.Notes[i].Settings = settings
}

// governs reports whether Kueue has made a workload of a job of the kind, so that its integration is on.
func (c *Checker) governs(kind string) bool {
	return slices.ContainsFunc(c.In.Workloads, func(w *kueue.Workload) bool {
		return slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == kind })
	})
}

// othersPending reports whether workloads of other ClusterQueues wait for quota.
func (c *Checker) othersPending(wl *kueue.Workload, queue string) bool {
	return slices.ContainsFunc(c.In.Workloads, func(w *kueue.Workload) bool {
		if w.Status.Admission != nil || w.Namespace == wl.Namespace && w.Name == wl.Name {
			return false
		}
		q := c.In.LocalQueue(w.Namespace, string(w.Spec.QueueName))
		return q == nil || string(q.Spec.ClusterQueue) != queue
	})
}

// coversMore reports whether a ClusterQueue has quota for a resource that the job does not request: a transformation could
// request it.
func coversMore(cq *kueue.ClusterQueue, v *Verdict) bool {
	return slices.ContainsFunc(covered(cq), func(name string) bool {
		return name != string(corev1.ResourcePods) && !slices.ContainsFunc(v.Job.PodSets, func(p PodSet) bool {
			return slices.ContainsFunc(p.Requests, func(a Amount) bool { return a.Resource == name })
		})
	})
}

// podsNotReady reports whether pods of an admitted workload may not be ready, for which Kueue can keep other jobs waiting. Only
// with waitForPodsReady does Kueue set the condition, so a workload without it shows that the setting is off.
func (c *Checker) podsNotReady() bool {
	unready, unseen := false, c.unread(kinds.Workload)
	for _, w := range c.In.Workloads {
		if _, hidden := w.Labels[inputs.HiddenLabel]; hidden {
			unseen = true
			continue
		}
		if !apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted) {
			continue
		}
		ready := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPodsReady)
		if ready == nil {
			return false
		}
		unready = unready || ready.Status != metav1.ConditionTrue
	}
	return unready || unseen
}
