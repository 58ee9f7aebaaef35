package remedy

import (
	"context"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// The codes of a PolicyRemedy: one setting of a ClusterQueue.
const (
	// NoBorrowingLimit: the job's queue may borrow without limit.
	NoBorrowingLimit = "NoBorrowingLimit"
	// NoLendingLimit: another queue of the cohort lends all it does not use.
	NoLendingLimit = "NoLendingLimit"
	// PreemptLowerPriority: the job's queue preempts its own jobs of lower priority.
	PreemptLowerPriority = "PreemptLowerPriority"
	// ReclaimAny: the job's queue reclaims its quota from jobs of any priority.
	ReclaimAny = "ReclaimAny"
	// BestEffortFIFO: jobs that wait do not block those behind them.
	BestEffortFIFO = "BestEffortFIFO"
)

// PolicyRemedy is a setting with which a job would run now, as Kueue's core confirms.
type PolicyRemedy struct {
	Code         string
	ClusterQueue string // whose setting it is
	// Preempts are the jobs that the job would then preempt.
	Preempts []Evicted
}

// mostLenders is how many queues of a cohort are asked to lend more.
const mostLenders = 16

// Policy returns the single settings with which a workload that does not run would run
// now. queue is its ClusterQueue, peers the others of its cohort tree. The engine has
// loaded all of them, and is left as it was. fits may be nil; see Question.
func Policy(ctx context.Context, e *admission.Engine, w *kueue.Workload, queue *kueue.ClusterQueue, peers []*kueue.ClusterQueue,
	fits func(w *kueue.Workload, d *admission.Decision) Fit) ([]PolicyRemedy, error) {
	var out []PolicyRemedy
	try := func(code string, old *kueue.ClusterQueue, change func(q *kueue.ClusterQueue) bool) error {
		q := old.DeepCopy()
		if q.Spec.Preemption == nil {
			q.Spec.Preemption = &kueue.ClusterQueuePreemption{}
		}
		if !change(q) || ctx.Err() != nil {
			return ctx.Err()
		}
		if err := e.Load(ctx, q); err != nil {
			return e.Load(ctx, old) // Kueue refuses the setting
		}
		d, err := e.Probe(ctx, w)
		if err := e.Load(context.WithoutCancel(ctx), old); err != nil {
			return err
		}
		if err != nil || !d.Outcome.Starts() || fits != nil && fits(w, &d) == FitsNever {
			return nil
		}
		r := PolicyRemedy{Code: code, ClusterQueue: old.Name, Preempts: []Evicted{}}
		for _, p := range d.Preempts {
			r.Preempts = append(r.Preempts, Evicted{Namespace: p.Namespace, Name: p.Name, Workload: p.Name, Priority: p.Priority, JobLost: p.Lost})
		}
		out = append(out, r)
		return nil
	}
	own := []struct {
		code   string
		change func(q *kueue.ClusterQueue) bool
	}{
		{NoBorrowingLimit, func(q *kueue.ClusterQueue) bool { return eachQuota(q, noBorrowingLimit) }},
		{BestEffortFIFO, func(q *kueue.ClusterQueue) bool {
			strict := q.Spec.QueueingStrategy == kueue.StrictFIFO
			q.Spec.QueueingStrategy = kueue.BestEffortFIFO
			return strict
		}},
		{PreemptLowerPriority, func(q *kueue.ClusterQueue) bool {
			never := q.Spec.Preemption.WithinClusterQueue == "" || q.Spec.Preemption.WithinClusterQueue == kueue.PreemptionPolicyNever
			q.Spec.Preemption.WithinClusterQueue = kueue.PreemptionPolicyLowerPriority
			return never
		}},
		{ReclaimAny, func(q *kueue.ClusterQueue) bool {
			less := q.Spec.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyAny
			q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicyAny
			return less && q.Spec.CohortName != ""
		}},
	}
	for _, c := range own {
		if err := try(c.code, queue, c.change); err != nil {
			return nil, err
		}
	}
	peers = slices.SortedFunc(slices.Values(peers), func(a, b *kueue.ClusterQueue) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range peers[:min(len(peers), mostLenders)] {
		if err := try(NoLendingLimit, p, func(q *kueue.ClusterQueue) bool { return eachQuota(q, noLendingLimit) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachQuota changes all quotas of a queue and reports whether any changed.
func eachQuota(q *kueue.ClusterQueue, change func(*kueue.ResourceQuota) bool) (changed bool) {
	for gi := range q.Spec.ResourceGroups {
		for fi := range q.Spec.ResourceGroups[gi].Flavors {
			for ri := range q.Spec.ResourceGroups[gi].Flavors[fi].Resources {
				changed = change(&q.Spec.ResourceGroups[gi].Flavors[fi].Resources[ri]) || changed
			}
		}
	}
	return changed
}

func noBorrowingLimit(r *kueue.ResourceQuota) bool {
	limited := r.BorrowingLimit != nil
	r.BorrowingLimit = nil
	return limited
}

func noLendingLimit(r *kueue.ResourceQuota) bool {
	limited := r.LendingLimit != nil
	r.LendingLimit = nil
	return limited
}
