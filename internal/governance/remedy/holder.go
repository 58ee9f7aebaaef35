// Package remedy finds who holds what a waiting job needs, and what would make it
// run: fewer nodes, a higher priority, another queue or instance type, the end of
// other jobs. Every remedy is an answer of Kueue's own core to a changed question.
package remedy

import (
	"cmp"
	"context"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Need is a resource in a flavor that a job is short of.
type Need struct{ Flavor, Resource string }

// Holder is a job that has what another one needs.
type Holder struct {
	Namespace    string
	Name         string // of the job: the owner's name, else the workload's
	Kind         string `json:",omitempty"`
	Workload     string
	Team         string
	ClusterQueue string
	Owner        string `json:",omitempty"` // who made it, as far as it says
	Priority     int32
	Since        time.Time
	Holds        []Held
	// Preemptible: Kueue considers it when the waiting job has to preempt, which does
	// not say that it would be enough; Message names the policy, or what forbids it.
	Preemptible bool
	Message     string `json:",omitempty"`
	// Hidden: it stands for workloads that may not be read.
	Hidden bool `json:",omitempty"`
}

// Held is an amount that a holder has.
type Held struct {
	Flavor, Resource string
	// Amount is in base units: cores, bytes, devices.
	Amount quota.Base
	// Units is Amount in the units of package quota.
	Units int64 `json:"-"`
}

// Holders returns the workloads that hold what is needed in the ClusterQueues that
// the queue shares quota with, its own first, the largest first.
func Holders(ctx context.Context, in *inputs.Inputs, e *admission.Engine, tree *quota.Tree, wl *kueue.Workload, queue string, needs []Need) ([]Holder, error) {
	same := in.SameTree(queue)
	mine := in.ClusterQueue(queue)
	var short []admission.Quantity
	for _, n := range needs {
		short = append(short, admission.Quantity{Flavor: n.Flavor, Resource: n.Resource})
	}
	could, err := e.Candidates(ctx, wl, queue, short)
	if err != nil {
		return nil, err
	}
	var out []Holder
	for _, w := range in.Workloads {
		if !inputs.Reserves(w) || w.Namespace == wl.Namespace && w.Name == wl.Name {
			continue
		}
		at := string(w.Status.Admission.ClusterQueue)
		if !same[at] {
			continue
		}
		holds := inputs.Holds(w)
		h := Holder{}
		for _, n := range needs {
			if amount := holds[quota.Key{Flavor: n.Flavor, Resource: n.Resource}]; amount > 0 {
				h.Holds = append(h.Holds, Held{n.Flavor, n.Resource, quota.BaseOf(n.Resource, amount), amount})
			}
		}
		if len(h.Holds) == 0 {
			continue
		}
		h.Name, h.Kind = inputs.JobOf(w)
		h.Namespace, h.Workload, h.Team, h.ClusterQueue = w.Namespace, w.Name, quota.TeamOf(at), at
		h.Owner = jobs.Creator(w.Labels, w.Annotations)
		h.Priority, h.Since = priority(w), reservedSince(w)
		_, h.Hidden = w.Labels[inputs.HiddenLabel]
		h.Preemptible = could.Keys[w.Namespace+"/"+w.Name]
		h.Message = why(h.Preemptible, could.MustBorrow, tree, mine, wl, w, h.Holds)
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(rank(a, queue)-rank(b, queue), cmp.Compare(b.Holds[0].Units, a.Holds[0].Units),
			a.Since.Compare(b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload))
	})
	return out, nil
}

func rank(h Holder, queue string) int {
	if h.ClusterQueue == queue {
		return 0
	}
	return 1
}

func priority(w *kueue.Workload) int32 {
	if w.Spec.Priority != nil {
		return *w.Spec.Priority
	}
	return 0
}

func reservedSince(w *kueue.Workload) time.Time {
	for _, c := range w.Status.Conditions {
		if c.Type == kueue.WorkloadQuotaReserved {
			return c.LastTransitionTime.UTC()
		}
	}
	return w.CreationTimestamp.UTC()
}

// why names the policy by which Kueue considers a holder, or what keeps it from
// that: of its rules the first that is not met.
func why(candidate, mustBorrow bool, tree *quota.Tree, mine *kueue.ClusterQueue, wl, holder *kueue.Workload, holds []Held) string {
	p := kueue.ClusterQueuePreemption{}
	if mine != nil && mine.Spec.Preemption != nil {
		p = *mine.Spec.Preemption
	}
	at := string(holder.Status.Admission.ClusterQueue)
	own := mine != nil && at == mine.Name
	name, policy := "reclaimWithinCohort", p.ReclaimWithinCohort
	if own {
		name, policy = "withinClusterQueue", p.WithinClusterQueue
	}
	borrows := slices.ContainsFunc(holds, func(h Held) bool { return len(tree.Loans(at, h.Flavor, h.Resource)) > 0 })
	borrowing := kueue.BorrowWithinCohortPolicyNever
	if b := p.BorrowWithinCohort; b != nil {
		borrowing = b.Policy
	}
	switch {
	case candidate:
		return name + ": " + string(policy)
	case policy == "" || policy == kueue.PreemptionPolicyNever:
		return name + ": Never"
	case !own && !borrows:
		return "its queue borrows nothing"
	case own || policy == kueue.PreemptionPolicyLowerPriority && priority(holder) >= priority(wl):
		return "its priority is not lower"
	case mustBorrow:
		return "the job would have to borrow (borrowWithinCohort: " + string(borrowing) + ")"
	}
	return "its cohort borrows nothing"
}
