package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// checkClusterQueue rejects quotas that the API server rejects and that quota
// arithmetic must never see; package quota leaves the same ones out.
func checkClusterQueue(cq *kueue.ClusterQueue) error {
	q := QuotaOf(cq)
	return problems("ClusterQueue", cq.Name, quota.Faults(&q))
}

func checkCohort(c *kueue.Cohort) error {
	q := CohortQuotaOf(c)
	return problems("Cohort", c.Name, quota.CohortFaults(&q))
}

func problems(kind, name string, bad []string) error {
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s: %s", kind, name, strings.Join(bad, "; "))
}

// QuotaOf is a ClusterQueue as package quota knows it: name, place in the tree,
// quota, weight and whom it takes. What its status says is left out.
func QuotaOf(cq *kueue.ClusterQueue) state.ClusterQueue {
	out := state.ClusterQueue{Meta: state.Meta{Name: cq.Name}, Cohort: string(cq.Spec.CohortName),
		ResourceGroups: groups(cq.Spec.ResourceGroups), FairWeight: fairWeight(cq.Spec.FairSharing)}
	if s := cq.Spec.NamespaceSelector; s != nil {
		out.Namespaces = &state.Selector{MatchLabels: s.MatchLabels}
		for _, r := range s.MatchExpressions {
			out.Namespaces.MatchExpressions = append(out.Namespaces.MatchExpressions, state.Requirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
		}
	}
	return out
}

// CohortQuotaOf is a cohort as package quota knows it.
func CohortQuotaOf(c *kueue.Cohort) state.Cohort {
	return state.Cohort{Meta: state.Meta{Name: c.Name}, Parent: string(c.Spec.ParentName),
		ResourceGroups: groups(c.Spec.ResourceGroups), FairWeight: fairWeight(c.Spec.FairSharing)}
}

func fairWeight(fs *kueue.FairSharing) *resource.Quantity {
	if fs == nil {
		return nil
	}
	return fs.Weight
}

func groups(gs []kueue.ResourceGroup) []state.ResourceGroup {
	out := make([]state.ResourceGroup, len(gs))
	for i, g := range gs {
		for _, r := range g.CoveredResources {
			out[i].CoveredResources = append(out[i].CoveredResources, string(r))
		}
		for _, f := range g.Flavors {
			fq := state.FlavorQuotas{Name: string(f.Name)}
			for _, r := range f.Resources {
				fq.Resources = append(fq.Resources, state.ResourceQuota{Name: string(r.Name), Nominal: r.NominalQuota,
					BorrowingLimit: r.BorrowingLimit, LendingLimit: r.LendingLimit})
			}
			out[i].Flavors = append(out[i].Flavors, fq)
		}
	}
	return out
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
