package check

import (
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// detail tells the causes apart that Kueue has one word for, from the objects and
// not from its message.
func (c *Checker) detail(wl *kueue.Workload, v *Verdict, d *admission.Decision) string {
	lq := c.In.LocalQueue(wl.Namespace, string(wl.Spec.QueueName))
	cq := c.In.ClusterQueue(v.Job.ClusterQueue)
	switch d.Reason {
	case kueue.WorkloadQuotaReservedReasonMisconfigured:
		switch {
		case lq == nil:
			return LocalQueueMissing
		case cq == nil:
			return ClusterQueueMissing
		case admission.ClusterQueueFaults(cq) != "":
			return ClusterQueueFaulty
		case !c.selects(cq, wl.Namespace):
			return NamespaceNotSelected
		}
		return InvalidRequests
	case kueue.WorkloadQuotaReservedReasonSuspended:
		return c.inactive(lq, cq, v)
	case kueue.WorkloadQuotaReservedReasonNoMatchingFlavor:
		for _, name := range asked(d) {
			if cq != nil && !slices.Contains(covered(cq), name) {
				return ResourceNotCovered
			}
		}
		return FlavorDoesNotMatch
	case kueue.WorkloadQuotaReservedReasonExceedsMaxQuota:
		return c.exceeds(v)
	case kueue.WorkloadQuotaReservedReasonWaitingForQuota:
		return waiting(v, d)
	}
	return ""
}

func asked(d *admission.Decision) []string {
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

// inactive says why no job of a queue is looked at. A live cluster's own condition
// is believed where it says so; else the objects tell.
func (c *Checker) inactive(lq *kueue.LocalQueue, cq *kueue.ClusterQueue, v *Verdict) string {
	say := func(detail, format string, args ...any) string {
		v.inactive = fmt.Sprintf(format, args...)
		return detail
	}
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
				return say(FlavorMissing, "its flavor %s does not exist", f.Name)
			}
			if t := flavor.Spec.TopologyName; t != nil && !slices.ContainsFunc(c.In.Topologies, func(o *kueue.Topology) bool { return o.Name == string(*t) }) {
				return say(TopologyMissing, "the topology %s of its flavor %s does not exist", *t, f.Name)
			}
		}
	}
	if s := cq.Spec.AdmissionChecksStrategy; s != nil {
		for _, want := range s.AdmissionChecks {
			i := slices.IndexFunc(c.In.AdmissionChecks, func(a *kueue.AdmissionCheck) bool { return a.Name == string(want.Name) })
			switch {
			case i < 0:
				return say(AdmissionCheckAbsent, "its admission check %s does not exist", want.Name)
			case !apimeta.IsStatusConditionTrue(c.In.AdmissionChecks[i].Status.Conditions, kueue.AdmissionCheckActive):
				return say(AdmissionCheckAbsent, "its admission check %s is not active", want.Name)
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

// cyclic reports a cohort whose chain of parents never ends.
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

// exceeds says which limit a job is larger than, in every flavor it could have.
func (c *Checker) exceeds(v *Verdict) string {
	for _, l := range v.Quota.Resources {
		most, known := l.most()
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

// most is what the queue can ever hold, or, where what others have is not known,
// what it can hold at most; false where there is no telling.
func (l *Line) most() (quota.Base, bool) {
	switch {
	case l.Limit != nil:
		return *l.Limit, true
	case l.BorrowingLimit != nil:
		return l.Nominal + *l.BorrowingLimit, true
	}
	return 0, false
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
