package check

import (
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// detail distinguishes causes that share one reason of Kueue. It looks at the objects, not
// at Kueue's message.
func (c *Checker) detail(wl *kueue.Workload, v *Verdict, d *admission.Decision) string {
	lq := c.In.LocalQueue(wl.Namespace, string(wl.Spec.QueueName))
	cq := c.In.ClusterQueue(v.Job.ClusterQueue)
	switch {
	case d.Preemptor != "":
		return BehindPreemptor
	case d.Equivalent == wl.Namespace+"/"+wl.Name:
		return PutAside
	case d.Equivalent != "":
		return LikePutAside
	}
	switch d.Reason {
	case kueue.WorkloadQuotaReservedReasonMisconfigured:
		switch {
		case lq == nil:
			return LocalQueueMissing
		case cq == nil:
			return ClusterQueueMissing
		case len(admission.ClusterQueueFaults(cq)) > 0:
			return ClusterQueueFaulty
		}
		switch selected, known := c.selects(cq, wl.Namespace); {
		case !selected && known:
			return NamespaceNotSelected
		case !selected:
			return NamespaceUnread
		case d.BadClaims:
			return ClaimsNotCounted
		}
		return InvalidRequests
	case kueue.WorkloadQuotaReservedReasonSuspended:
		return c.inactive(lq, cq, v)
	case kueue.WorkloadQuotaReservedReasonNoMatchingFlavor:
		for _, name := range requestedNames(d) {
			if cq != nil && !slices.Contains(covered(cq), name) {
				return ResourceNotCovered
			}
		}
		if why := c.withoutTopology(wl, cq); why != "" {
			return why
		}
		return FlavorDoesNotMatch
	case kueue.WorkloadQuotaReservedReasonExceedsMaxQuota:
		if c.typeAbsent(wl, v) {
			return InstanceTypeAbsent
		}
		return c.exceeds(v)
	case kueue.WorkloadQuotaReservedReasonWaitingForQuota:
		return waiting(v, d)
	}
	return ""
}

// withoutTopology returns why the flavors of a queue fit no pod set that requests a
// topology: none has a topology, or none of their topologies has the requested level; empty
// where one fits every pod set. Kueue's rule is checkPodSetAndFlavorMatchForTAS.
func (c *Checker) withoutTopology(wl *kueue.Workload, cq *kueue.ClusterQueue) string {
	if cq == nil {
		return ""
	}
	for _, ps := range wl.Spec.PodSets {
		t := ps.TopologyRequest
		if t == nil || t.Required == nil && t.Preferred == nil && t.Unconstrained == nil && t.PodSetSliceRequiredTopology == nil {
			continue
		}
		why := TopologyUnsupported
		for _, g := range cq.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				flavor := c.In.Flavor(string(f.Name))
				if flavor == nil || flavor.Spec.TopologyName == nil {
					continue
				}
				if why = TopologyLevelMissing; c.hasLevels(string(*flavor.Spec.TopologyName), t.Required, t.Preferred, t.PodSetSliceRequiredTopology) {
					return ""
				}
			}
		}
		return why
	}
	return ""
}

// hasLevels reports whether a topology has each level that is set.
func (c *Checker) hasLevels(topology string, levels ...*string) bool {
	i := slices.IndexFunc(c.In.Topologies, func(o *kueue.Topology) bool { return o.Name == topology })
	return i >= 0 && !slices.ContainsFunc(levels, func(level *string) bool {
		return level != nil && !slices.ContainsFunc(c.In.Topologies[i].Spec.Levels, func(l kueue.TopologyLevel) bool { return l.NodeLabel == *level })
	})
}

func requestedNames(d *admission.Decision) []string {
	var out []string
	for _, ps := range d.PodSets {
		for _, r := range ps.Requests {
			if r.Value > 0 {
				out = append(out, r.Resource)
			}
		}
	}
	return out
}

// inactive returns why Kueue admits no job of a queue, from the objects and, failing
// that, the ClusterQueue's condition.
func (c *Checker) inactive(lq *kueue.LocalQueue, cq *kueue.ClusterQueue, v *Verdict) string {
	if lq != nil && lq.Spec.StopPolicy != nil && *lq.Spec.StopPolicy != kueue.None {
		return LocalQueueStopped
	}
	if cq == nil {
		return ClusterQueueInactive
	}
	if cq.Spec.StopPolicy != nil && *cq.Spec.StopPolicy != kueue.None {
		return ClusterQueueStopped
	}
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			flavor := c.In.Flavor(string(f.Name))
			if flavor == nil {
				v.Inactive.Flavor = string(f.Name)
				return FlavorMissing
			}
			if t := flavor.Spec.TopologyName; t != nil && !slices.ContainsFunc(c.In.Topologies, func(o *kueue.Topology) bool { return o.Name == string(*t) }) {
				v.Inactive.Flavor, v.Inactive.Topology = string(f.Name), string(*t)
				return TopologyMissing
			}
		}
	}
	if s := cq.Spec.AdmissionChecksStrategy; s != nil {
		for _, want := range s.AdmissionChecks {
			i := slices.IndexFunc(c.In.AdmissionChecks, func(a *kueue.AdmissionCheck) bool { return a.Name == string(want.Name) })
			if i < 0 || !apimeta.IsStatusConditionTrue(c.In.AdmissionChecks[i].Status.Conditions, kueue.AdmissionCheckActive) {
				v.Inactive.AdmissionCheck, v.Inactive.Exists = string(want.Name), i >= 0
				return AdmissionCheckAbsent
			}
		}
	}
	if c.cyclic(string(cq.Spec.CohortName)) {
		return CohortCycle
	}
	if active := apimeta.FindStatusCondition(cq.Status.Conditions, kueue.ClusterQueueActive); active != nil && active.Status == metav1.ConditionFalse {
		return ClusterQueueInactive + ": " + active.Reason
	}
	return ClusterQueueInactive
}

// cyclic reports whether a cohort's chain of parents has a cycle.
func (c *Checker) cyclic(cohort string) bool {
	parents := map[string]string{}
	for _, o := range c.In.Cohorts {
		parents[o.Name] = string(o.Spec.ParentName)
	}
	for range len(parents) + 1 {
		if cohort == "" {
			return false
		}
		cohort = parents[cohort]
	}
	return cohort != ""
}

// typeAbsent reports pods that select an instance type where each flavor that they could use is of another one. Kueue does
// not rule such a flavor out if the pods and the flavor name the type by different labels.
func (c *Checker) typeAbsent(wl *kueue.Workload, v *Verdict) bool {
	selected := remedy.InstanceTypes(wl)
	lines := v.Quota.Resources
	return len(selected) > 0 && len(lines) > 0 && !slices.ContainsFunc(lines, func(l Line) bool {
		f := c.In.Flavor(l.Flavor)
		if f == nil || l.Resource != lines[0].Resource {
			return f == nil
		}
		t := quota.InstanceType(f.Spec.NodeLabels)
		return t == "" || slices.Contains(selected, t)
	})
}

// exceeds returns the limit that the job exceeds in every flavor.
func (c *Checker) exceeds(v *Verdict) string {
	for _, l := range v.Quota.Resources {
		most, known := l.Most()
		if !known || l.Requested <= most {
			continue
		}
		switch {
		case !v.Quota.Shared:
			return ExceedsNominal
		case l.BorrowingLimit != nil && most >= l.Nominal+*l.BorrowingLimit:
			return ExceedsBorrowing
		}
		return ExceedsCohort
	}
	return ""
}

func waiting(v *Verdict, d *admission.Decision) string {
	lowered, short := false, false
	for _, l := range v.Quota.Resources {
		limit := l.Nominal
		if l.BorrowingLimit != nil {
			limit += *l.BorrowingLimit
		}
		lowered = lowered || l.Used > limit && (l.BorrowingLimit != nil || !v.Quota.Shared)
		short = short || l.Short > 0
	}
	switch {
	case lowered:
		return QuotaLowered
	case d.Behind > 0:
		return BehindOthers
	case !short && v.Quota.Ahead > 0:
		return BehindOthers
	}
	return QuotaInUse
}
