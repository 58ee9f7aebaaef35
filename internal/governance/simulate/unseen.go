package simulate

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// NotReadable is the reason of a job whose state depends on what could not be read.
const NotReadable = "NotReadable"

// RunSeen runs as Run does, on inputs that may lack what the user has no permission to read. A job that starts in the best
// case of it, and not in the worst, is Unknown.
func RunSeen(ctx context.Context, in *inputs.Inputs, changes []Change, o Options) (*Report, error) {
	r, err := Run(ctx, Of(in), changes, o)
	if err != nil || len(in.Missing) == 0 {
		return r, err
	}
	moving := r.moving()
	for _, cq := range in.ClusterQueues {
		if !moving[cq.Name] {
			continue
		}
		if u := in.Unseen(cq.Name); !u.Any() {
			continue
		}
		best, err := Run(ctx, Of(in.Bound(cq.Name, true)), changes, o)
		if err != nil {
			return nil, err
		}
		worst, err := Run(ctx, Of(in.Bound(cq.Name, false)), changes, o)
		if err != nil {
			return nil, err
		}
		r.between(cq.Name, best, worst)
	}
	return r, nil
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
func (r *Report) between(queue string, best, worst *Report) {
	highs, lows := best.after(queue), worst.after(queue)
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.ClusterQueue != queue || j.After == nil || j.After.State == Finished || j.After.State == Unknown {
			continue
		}
		key := types.NamespacedName{Namespace: j.Namespace, Name: j.Workload}
		high, low := highs[key], lows[key]
		switch {
		case high == nil || low == nil:
		case !starts(high): // it waits for, or exceeds, what was read
			r.set(j, high)
		case !starts(low):
			r.set(j, &JobState{State: Unknown, Reason: NotReadable, Holds: []Amount{}, Borrowed: []Amount{}, Overcommit: []Amount{}, PodSets: []PodSet{}})
		}
	}
	r.PolicyRemedies = slices.DeleteFunc(r.PolicyRemedies, func(p JobRemedies) bool {
		return slices.ContainsFunc(r.Jobs, func(j Job) bool {
			return j.Namespace == p.Namespace && j.Name == p.Name && j.After != nil && j.After.Reason == NotReadable
		})
	})
}

// set gives a job another state after the changes, and updates the counts.
func (r *Report) set(j *Job, s *JobState) {
	move := func(c *Counts) {
		c.add(j.After.State, -1)
		c.add(s.State, 1)
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
