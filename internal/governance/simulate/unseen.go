package simulate

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// NotReadable is the reason of a job whose state depends on what could not be read.
const NotReadable = "NotReadable"

// RunSeen runs as Run does, on inputs that may lack what the user has no permission to read. A job that starts in the best
// case of it, and not in the worst, is Unknown. So is one that starts with quota that unseen jobs wait for.
func RunSeen(ctx context.Context, in *inputs.Inputs, changes []Change, o Options) (*Report, error) {
	r, err := Run(ctx, Of(in), changes, o)
	if err != nil || len(in.Missing) == 0 {
		return r, err
	}
	r.hideQueues(in)
	moving, frees := r.moving(), frees(slices.Concat(changes, o.Then))
	as := o
	as.asIs = true // Kueue has decided about the jobs that wait, and knew what could not be read
	for _, cq := range in.ClusterQueues {
		if !moving[cq.Name] {
			continue
		}
		u := in.Unseen(cq.Name)
		if !u.Any() && !u.Others {
			continue
		}
		best, worst := r, r // without other quota or holders, both cases are what was read
		if len(u.Tree) > 0 || u.Holders {
			if best, err = Run(ctx, Of(in.Bound(cq.Name, true)), changes, as); err != nil {
				return nil, err
			}
			if worst, err = Run(ctx, Of(in.Bound(cq.Name, false)), changes, as); err != nil {
				return nil, err
			}
		}
		b := bounds{queue: cq.Name, highs: best.after(cq.Name), lows: worst.after(cq.Name)}
		b.overtaken = u.Waiting && (frees || cq.Spec.QueueingStrategy == kueue.StrictFIFO)
		b.contested = u.Others && frees
		b.reclaims = cq.Spec.Preemption != nil && cq.Spec.Preemption.ReclaimWithinCohort == kueue.PreemptionPolicyAny
		r.between(in, &b)
	}
	return r, nil
}

func notReadable() *JobState {
	return &JobState{State: Unknown, Reason: NotReadable, Holds: []Amount{}, Borrowed: []Amount{}, Overcommit: []Amount{}, PodSets: []PodSet{}}
}

// frees reports changes after which jobs that Kueue has put aside may start. A new job alone leaves them where they are.
func frees(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Kind != AddJob })
}

// bounds are what can become of the jobs of a queue.
type bounds struct {
	queue       string
	highs, lows map[types.NamespacedName]*JobState // in the best and the worst case
	// overtaken: jobs that could not be read wait in the queue and may start first. contested: such jobs wait in queues that
	// share quota with it. reclaims: the queue takes its own quota back from any of them.
	overtaken, contested, reclaims bool
}

// certain reports whether a job has its quota in the worst case, too.
func (b *bounds) certain(j *Job, low *JobState) bool {
	switch {
	case !starts(low):
		return false
	case j.Before != nil && starts(j.Before): // it has its quota already
		return true
	case b.contested && (!b.reclaims || len(low.Borrowed) > 0):
		return false
	}
	return !b.overtaken
}

// moving returns the queues with a job that is new, does not run, or changes its state.
func (r *Report) moving() map[string]bool {
	out := map[string]bool{}
	for _, j := range r.Jobs {
		if j.After != nil && (j.Before == nil || !starts(j.After) || j.Changed()) {
			out[j.ClusterQueue] = true
		}
	}
	return out
}

// between sets the states after the changes of the jobs of a queue where what could not be read may decide.
func (r *Report) between(in *inputs.Inputs, b *bounds) {
	unknown := map[types.NamespacedName]bool{}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.ClusterQueue != b.queue || j.After == nil || j.After.State == Finished || j.After.State == Unknown {
			continue
		}
		if _, hidden := in.HiddenTeam(j.Namespace, j.Workload); hidden {
			continue
		}
		key := types.NamespacedName{Namespace: j.Namespace, Name: j.Workload}
		high, low := b.highs[key], b.lows[key]
		switch {
		case high == nil || low == nil:
		case !starts(high): // it waits for, or exceeds, what was read
			r.set(j, high)
		case !b.certain(j, low):
			unknown[key] = true
			r.set(j, notReadable())
		}
	}
	r.Preempted = slices.DeleteFunc(r.Preempted, func(p Preemption) bool {
		return unknown[types.NamespacedName{Namespace: p.Namespace, Name: p.Workload}]
	})
	r.PolicyRemedies = slices.DeleteFunc(r.PolicyRemedies, func(p JobRemedies) bool {
		return slices.ContainsFunc(r.Jobs, func(j Job) bool {
			return j.Namespace == p.Namespace && j.Name == p.Name && j.After != nil && j.After.Reason == NotReadable
		})
	})
}

// set gives a job another state after the changes, and updates the counts.
func (r *Report) set(j *Job, s *JobState) {
	move := func(c *Counts) {
		c.add(j.After, -1)
		c.add(s, 1)
	}
	move(&r.After.Counts)
	for i := range r.Teams {
		if t := &r.Teams[i]; t.ClusterQueue == j.ClusterQueue && t.After != nil {
			move(&t.After.Counts)
		}
	}
	j.After = s
}

// after returns the states after the changes of the jobs of a queue, by the namespace and name of their workloads.
func (r *Report) after(queue string) map[types.NamespacedName]*JobState {
	out := map[types.NamespacedName]*JobState{}
	for _, j := range r.Jobs {
		if j.ClusterQueue == queue {
			out[types.NamespacedName{Namespace: j.Namespace, Name: j.Workload}] = j.After
		}
	}
	return out
}

// starts reports a job that has its quota.
func starts(s *JobState) bool {
	return slices.Contains([]string{Admitted, QuotaReserved, WaitsForNodes}, s.State)
}
