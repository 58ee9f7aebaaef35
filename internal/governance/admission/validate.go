package admission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// checkClusterQueue rejects quotas that the API server rejects and that quota
// arithmetic must never see.
func checkClusterQueue(cq *kueue.ClusterQueue) error {
	bad := badQuotas(cq.Spec.ResourceGroups, cq.Spec.CohortName != "", true)
	if _, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector); err != nil {
		bad = append(bad, fmt.Sprintf("namespaceSelector: %v", err))
	}
	bad = append(bad, badWeight(cq.Spec.FairSharing)...)
	return problems("ClusterQueue", cq.Name, bad)
}

func checkCohort(c *kueue.Cohort) error {
	return problems("Cohort", c.Name, append(badQuotas(c.Spec.ResourceGroups, c.Spec.ParentName != "", false), badWeight(c.Spec.FairSharing)...))
}

func problems(kind, name string, bad []string) error {
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s: %s", kind, name, strings.Join(bad, "; "))
}

func badWeight(fs *kueue.FairSharing) []string {
	if fs != nil && fs.Weight != nil && fs.Weight.Sign() < 0 {
		return []string{fmt.Sprintf("fairSharing.weight %s is negative", fs.Weight.String())}
	}
	return nil
}

func badQuotas(groups []kueue.ResourceGroup, parent, lendWithinNominal bool) []string {
	var bad []string
	seenResource, seenFlavor := map[corev1.ResourceName]bool{}, map[kueue.ResourceFlavorReference]bool{}
	for _, g := range groups {
		for _, r := range g.CoveredResources {
			if seenResource[r] {
				bad = append(bad, fmt.Sprintf("resource %s is in two groups", r))
			}
			seenResource[r] = true
		}
		for _, f := range g.Flavors {
			if seenFlavor[f.Name] {
				bad = append(bad, fmt.Sprintf("flavor %s is listed twice", f.Name))
			}
			seenFlavor[f.Name] = true
			for _, r := range f.Resources {
				at := fmt.Sprintf("flavor %s, %s", f.Name, r.Name)
				if r.NominalQuota.Sign() < 0 {
					bad = append(bad, fmt.Sprintf("%s: nominalQuota %s is negative", at, r.NominalQuota.String()))
				}
				if l := r.BorrowingLimit; l != nil {
					if l.Sign() < 0 {
						bad = append(bad, fmt.Sprintf("%s: borrowingLimit %s is negative", at, l.String()))
					}
					if !parent {
						bad = append(bad, at+": borrowingLimit without a cohort to borrow from")
					}
				}
				if l := r.LendingLimit; l != nil {
					if l.Sign() < 0 {
						bad = append(bad, fmt.Sprintf("%s: lendingLimit %s is negative", at, l.String()))
					}
					if !parent {
						bad = append(bad, at+": lendingLimit without a cohort to lend to")
					}
					if lendWithinNominal && l.Cmp(r.NominalQuota) > 0 {
						bad = append(bad, fmt.Sprintf("%s: lendingLimit %s is more than nominalQuota %s", at, l.String(), r.NominalQuota.String()))
					}
				}
			}
		}
	}
	return bad
}

// withDefaults returns the queue as the API server would have stored it. A
// manifest from a file lacks the defaults, and an empty preemption policy is not
// the same as Never to Kueue's preemption code.
func withDefaults(cq *kueue.ClusterQueue) *kueue.ClusterQueue {
	c := *cq
	if c.Spec.QueueingStrategy == "" {
		c.Spec.QueueingStrategy = kueue.BestEffortFIFO
	}
	p := kueue.ClusterQueuePreemption{}
	if c.Spec.Preemption != nil {
		p = *c.Spec.Preemption
	}
	if p.ReclaimWithinCohort == "" {
		p.ReclaimWithinCohort = kueue.PreemptionPolicyNever
	}
	if p.WithinClusterQueue == "" {
		p.WithinClusterQueue = kueue.PreemptionPolicyNever
	}
	b := kueue.BorrowWithinCohort{}
	if p.BorrowWithinCohort != nil {
		b = *p.BorrowWithinCohort
	}
	if b.Policy == "" {
		b.Policy = kueue.BorrowWithinCohortPolicyNever
	}
	p.BorrowWithinCohort = &b
	c.Spec.Preemption = &p
	return &c
}

// warnClusterQueue notes features of the queue that are not modelled.
func (e *Engine) warnClusterQueue(cq *kueue.ClusterQueue) {
	if s := cq.Spec.AdmissionScope; s != nil && s.AdmissionMode == kueue.UsageBasedAdmissionFairSharing {
		e.warnf("ClusterQueue %s uses admission fair sharing: the order within it is not modelled", cq.Name)
	}
	if cq.Spec.ConcurrentAdmissionPolicy != nil {
		e.warnf("ClusterQueue %s uses concurrent admission, which is not modelled", cq.Name)
	}
}
