// Package remedy finds who holds what a waiting job needs, and what would make it
// run: fewer nodes, a higher priority, another queue or instance type, the end of
// other jobs. Every remedy is an answer of Kueue's own core to a changed question.
package remedy

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Need is a resource in a flavor that a job is short of, in the units of package
// quota.
type Need struct {
	Flavor, Resource string
	Short            int64
}

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
	// Preemptible: the waiting job's ClusterQueue may evict it, by its policies and
	// the priorities; Message names the policy, or what forbids it.
	Preemptible bool
	Message     string `json:",omitempty"`
	// Hidden: it stands for workloads that may not be read.
	Hidden bool `json:",omitempty"`
}

// Held is an amount that a holder has.
type Held struct {
	Flavor, Resource string
	// Amount is in base units: cores, bytes, devices.
	Amount float64
	// Units is Amount in the units of package quota.
	Units int64 `json:"-"`
}

// Value turns an amount of package quota into base units.
func Value(resource string, n int64) float64 {
	if resource == "cpu" {
		return float64(n) / 1000
	}
	return float64(n)
}

// JobOf is the name and kind of the job a workload belongs to.
func JobOf(w *kueue.Workload) (name, kind string) {
	if c := metav1.GetControllerOf(w); c != nil {
		return c.Name, c.Kind
	}
	return w.Name, ""
}

// Holders returns the workloads that hold what is needed in the ClusterQueues that
// the queue shares quota with, its own first, the largest first.
func Holders(in *inputs.Inputs, tree *quota.Tree, wl *kueue.Workload, queue string, needs []Need) []Holder {
	same := in.SameTree(queue)
	mine := in.ClusterQueue(queue)
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
				h.Holds = append(h.Holds, Held{n.Flavor, n.Resource, Value(n.Resource, amount), amount})
			}
		}
		if len(h.Holds) == 0 {
			continue
		}
		h.Name, h.Kind = JobOf(w)
		h.Namespace, h.Workload, h.Team, h.ClusterQueue = w.Namespace, w.Name, quota.TeamOf(at), at
		h.Owner = jobs.Creator(w.Labels, w.Annotations)
		h.Priority, h.Since = priority(w), reservedSince(w)
		_, h.Hidden = w.Labels[inputs.HiddenLabel]
		h.Preemptible, h.Message = preemptible(tree, mine, wl, w, h.Holds)
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(rank(a, queue)-rank(b, queue), cmp.Compare(b.Holds[0].Units, a.Holds[0].Units),
			a.Since.Compare(b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload))
	})
	return out
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

// preemptible follows the candidate rules of Kueue's preemption (WithinClusterQueue
// and ReclaimWithinCohort in pkg/scheduler/preemption): whether the victim may be
// considered at all, not whether evicting it would be enough.
func preemptible(tree *quota.Tree, mine *kueue.ClusterQueue, wl, victim *kueue.Workload, holds []Held) (bool, string) {
	p := kueue.ClusterQueuePreemption{}
	if mine != nil && mine.Spec.Preemption != nil {
		p = *mine.Spec.Preemption
	}
	lower := priority(victim) < priority(wl)
	if mine != nil && string(victim.Status.Admission.ClusterQueue) == mine.Name {
		switch p.WithinClusterQueue {
		case kueue.PreemptionPolicyLowerPriority:
			if lower {
				return true, "withinClusterQueue: LowerPriority"
			}
			return false, "its priority is not lower"
		case kueue.PreemptionPolicyLowerOrNewerEqualPriority:
			newer := priority(victim) == priority(wl) && wl.CreationTimestamp.Before(&victim.CreationTimestamp) && !wl.CreationTimestamp.IsZero()
			if lower || newer {
				return true, "withinClusterQueue: LowerOrNewerEqualPriority"
			}
			return false, "its priority is not lower"
		}
		return false, "withinClusterQueue: Never"
	}
	borrows := false
	for _, h := range holds {
		borrows = borrows || len(tree.Loans(string(victim.Status.Admission.ClusterQueue), h.Flavor, h.Resource)) > 0
	}
	switch {
	case p.ReclaimWithinCohort == kueue.PreemptionPolicyAny && borrows:
		return true, "reclaimWithinCohort: Any"
	case p.ReclaimWithinCohort == kueue.PreemptionPolicyLowerPriority && borrows && lower:
		return true, "reclaimWithinCohort: LowerPriority"
	case p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == kueue.PreemptionPolicyNever:
		return false, "reclaimWithinCohort: Never"
	case !borrows:
		return false, "its queue borrows nothing"
	}
	return false, "its priority is not lower"
}
