// Package remedy finds who holds what a waiting job needs, and what would make it
// run: fewer nodes, a higher priority, another queue or instance type, the end of
// other jobs. Every remedy is an answer of Kueue's own core to a changed question.
package remedy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Need is a resource in a flavor that a job is short of: Short more than Available, in
// the units of package quota.
type Need struct {
	Flavor, Resource string
	Short            int64
}

// Holder is a job that holds what another one needs.
type Holder struct {
	Namespace    string
	Name         string // of the job: the owner's name, else the workload's
	Kind         string `json:",omitempty"`
	Workload     string
	Team         string
	ClusterQueue string
	Owner        string `json:",omitempty"` // who created it, where known
	Priority     int32
	Since        time.Time `json:",omitzero"`
	Holds        []Held
	// Frees is how much of the first shortage ends with this job, in base units.
	Frees quota.Base `json:",omitempty"`
	// Preemptible reports that Kueue considers the job when the pending job has to
	// preempt; this does not mean that preempting it is enough. Message names the
	// policy, or what rules it out; package present/verdict fills it in from Rule.
	Preemptible bool
	Message     string `json:",omitempty"`
	// Hidden reports that it stands for workloads that could not be read.
	Hidden bool `json:",omitempty"`
	Rule   Rule `json:"-"`
}

// Held is an amount that a holder has.
type Held struct {
	Flavor, Resource string
	// Amount is in base units: cores, bytes, devices.
	Amount quota.Base
	// Units is Amount in the units of package quota.
	Units int64 `json:"-"`
}

// Rule is the preemption policy that decides about a holder.
type Rule struct {
	// Policy is the field of ClusterQueue.spec.preemption, Value what it is set to.
	Policy, Value string
	// Obstacle is what rules the holder out, "" where the policy alone decides.
	Obstacle Obstacle
}

// Obstacle is a condition of a preemption policy that does not hold.
type Obstacle string

// The obstacles.
const (
	QueueBorrowsNothing  Obstacle = "QueueBorrowsNothing"
	CohortBorrowsNothing Obstacle = "CohortBorrowsNothing"
	PriorityNotLower     Obstacle = "PriorityNotLower"
	JobMustBorrow        Obstacle = "JobMustBorrow"
)

// Holders returns the workloads that hold what is needed in the job's own ClusterQueue
// and those that share quota with it: its own first, then the largest.
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
	jobOf := in.Jobs()
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
		h.Name, h.Kind = jobOf(w)
		h.Namespace, h.Workload, h.Team, h.ClusterQueue = w.Namespace, w.Name, quota.TeamOf(at), at
		h.Owner = jobs.Creator(w.Labels, w.Annotations)
		h.Priority, h.Since = priority(w), ReservedSince(w)
		_, h.Hidden = w.Labels[inputs.HiddenLabel]
		h.Preemptible = could.Keys[w.Namespace+"/"+w.Name]
		h.Rule = ruleFor(h.Preemptible, could.MustBorrow, tree, mine, wl, w, h.Holds)
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

// ReservedSince is when Kueue reserved the quota of a workload.
func ReservedSince(w *kueue.Workload) time.Time {
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		return c.LastTransitionTime.UTC()
	}
	return w.CreationTimestamp.UTC()
}

// ruleFor returns the policy by which Kueue considers a holder, or the first of its
// conditions that does not hold.
func ruleFor(candidate, mustBorrow bool, tree *quota.Tree, mine *kueue.ClusterQueue, wl, holder *kueue.Workload, holds []Held) Rule {
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
		return Rule{Policy: name, Value: string(policy)}
	case policy == "" || policy == kueue.PreemptionPolicyNever:
		return Rule{Policy: name, Value: string(kueue.PreemptionPolicyNever)}
	case !own && !borrows:
		return Rule{name, string(policy), QueueBorrowsNothing}
	case own || policy == kueue.PreemptionPolicyLowerPriority && priority(holder) >= priority(wl):
		return Rule{name, string(policy), PriorityNotLower}
	case mustBorrow:
		return Rule{"borrowWithinCohort", string(borrowing), JobMustBorrow}
	}
	return Rule{name, string(policy), CohortBorrowsNothing}
}

// cancellable reports a job of the namespace that cancel-job knows.
func (h *Holder) cancellable(namespace string) bool {
	_, known := kinds.JobNamed(h.Kind)
	return h.Namespace == namespace && known && !h.Hidden
}
