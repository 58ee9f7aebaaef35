package admission

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// ClusterQueueFaults returns the faults for which the API server would refuse a ClusterQueue.
func ClusterQueueFaults(cq *kueue.ClusterQueue) []quota.Fault {
	q := QuotaOf(cq)
	return quota.Faults(&q)
}

func checkCohort(c *kueue.Cohort) error {
	q := CohortQuotaOf(c)
	if bad := quota.CohortFaults(&q); len(bad) > 0 {
		return &InvalidError{"Cohort", c.Name, bad}
	}
	return nil
}

// QuotaOf converts a ClusterQueue for package quota, without its status.
func QuotaOf(cq *kueue.ClusterQueue) state.ClusterQueue {
	out := state.ClusterQueue{Meta: state.Meta{Name: cq.Name}, Cohort: string(cq.Spec.CohortName),
		ResourceGroups: groups(cq.Spec.ResourceGroups), FairWeight: fairWeight(cq.Spec.FairSharing),
		QueueingStrategy: string(cq.Spec.QueueingStrategy), StopPolicy: string(ptr.Deref(cq.Spec.StopPolicy, ""))}
	if p := cq.Spec.Preemption; p != nil {
		out.Preemption = state.Preemption{WithinClusterQueue: string(p.WithinClusterQueue), ReclaimWithinCohort: string(p.ReclaimWithinCohort)}
		if b := p.BorrowWithinCohort; b != nil {
			out.Preemption.BorrowWithinCohort, out.Preemption.MaxPriorityThreshold = string(b.Policy), b.MaxPriorityThreshold
		}
	}
	if f := cq.Spec.FlavorFungibility; f != nil {
		out.Fungibility = state.Fungibility{WhenCanBorrow: string(f.WhenCanBorrow), WhenCanPreempt: string(f.WhenCanPreempt),
			Preference: string(ptr.Deref(f.Preference, ""))}
	}
	if s := cq.Spec.AdmissionChecksStrategy; s != nil {
		for _, c := range s.AdmissionChecks {
			out.Checks = append(out.Checks, string(c.Name))
		}
	}
	if s := cq.Spec.NamespaceSelector; s != nil {
		out.Namespaces = &state.Selector{MatchLabels: s.MatchLabels}
		for _, r := range s.MatchExpressions {
			out.Namespaces.MatchExpressions = append(out.Namespaces.MatchExpressions, state.Requirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
		}
	}
	return out
}

// CohortQuotaOf converts a cohort for package quota.
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
		out[i] = state.ResourceGroup{CoveredResources: make([]string, len(g.CoveredResources)), Flavors: make([]state.FlavorQuotas, len(g.Flavors))}
		for j, r := range g.CoveredResources {
			out[i].CoveredResources[j] = string(r)
		}
		for j, f := range g.Flavors {
			quotas := make([]state.ResourceQuota, len(f.Resources))
			for k, r := range f.Resources {
				quotas[k] = state.ResourceQuota{Name: string(r.Name), Nominal: r.NominalQuota, BorrowingLimit: r.BorrowingLimit, LendingLimit: r.LendingLimit}
			}
			out[i].Flavors[j] = state.FlavorQuotas{Name: string(f.Name), Resources: quotas}
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

// ordersByUse reports a queue in which past use decides who comes first, as far as is
// known: the queue asks for it, and Kueue's configuration has it or was not read.
func (e *Engine) ordersByUse(cq *kueue.ClusterQueue) bool {
	s := cq.Spec.AdmissionScope
	return s != nil && s.AdmissionMode == kueue.UsageBasedAdmissionFairSharing && e.use == nil && (e.byUse == nil || *e.byUse)
}

// unmodelled name the queues and workloads that use what is not modelled.
func (e *Engine) unmodelled() []Warning {
	byUse := OrderedByUse
	if e.byUse == nil {
		byUse = MaybeOrderedByUse
	}
	var ordered, concurrent, claims []string
	for _, name := range sortedKeys(e.store.cqs) {
		cq := e.store.cqs[name]
		if e.ordersByUse(cq) {
			ordered = append(ordered, name)
		}
		if cq.Spec.ConcurrentAdmissionPolicy != nil && !variantsOn() && e.byUse == nil {
			concurrent = append(concurrent, name)
		}
	}
	for key, w := range e.store.workloads {
		if !workloadfinish.IsFinished(w) && e.demandOf(context.Background(), w).unknown {
			claims = append(claims, string(key))
		}
	}
	slices.Sort(claims)
	var out []Warning
	for _, w := range []Warning{{Code: byUse, Names: ordered}, {Code: ConcurrentQueues, Names: concurrent}, {Code: ClaimingWorkloads, Names: claims}} {
		if len(w.Names) > 0 {
			out = append(out, w)
		}
	}
	return out
}
