package simulate

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Window is a time without the removed nodes, and the state when they are back.
type Window struct {
	Start, End time.Time
	// Stopped would run without the window, and do not run when it begins ("namespace/name").
	Stopped []string
	// Later is what happens in the window. Jobs without nodes make no progress.
	Later
	// Jobs are the jobs that the window leaves in another state at its end: Before is
	// without the window, After with it and all nodes back.
	Jobs []Job
}

// window follows the changed world, with its nodes and without those that are gone, to
// the end of the window, returns these nodes, and compares.
func window(ctx context.Context, base World, without, with *result, changes []Change, gone []client.Object, o Options) (*Window, error) {
	others := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind == RemoveNodes })
	if len(others) > 0 {
		a, err := change(ctx, base, others)
		if err != nil {
			return nil, err
		}
		if without, _, err = decided(ctx, a.World, 0, o.EvictionTakes); err != nil || !without.settled {
			return nil, err
		}
	}
	until := *o.Ahead
	start := base.Now
	until.At = start.Add(until.For)
	out := &Window{Start: start.UTC(), End: until.At.UTC(), Stopped: []string{}, Jobs: []Job{}}
	held := map[types.NamespacedName]bool{}
	for k, s := range with.states {
		held[k] = s.State == WaitsForNodes
		if was := without.states[k]; was != nil && was.runs() && !s.runs() {
			out.Stopped = append(out.Stopped, with.label(k.Namespace, k.Name))
		}
	}
	slices.Sort(out.Stopped)
	undisturbed, usual, err := without.goOn(ctx, until, nil, nil, o)
	if err != nil {
		return nil, err
	}
	back, later, err := with.goOn(ctx, until, held, gone, o)
	if err != nil {
		return nil, err
	}
	out.Later = *later
	for _, j := range jobs(undisturbed, back) {
		name := j.Namespace + "/" + j.Name
		if j.Before == nil && slices.Contains(usual.Ended, name) {
			j.Before = ended()
		}
		if j.After == nil && slices.Contains(later.Ended, name) {
			j.After = ended()
		}
		if (j.Before == nil) != (j.After == nil) || j.Before != nil && j.Before.State != j.After.State {
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out, nil
}

// ended returns the state of a job that has run to its end.
func ended() *JobState {
	return &JobState{State: Finished, Holds: []Amount{}, Borrowed: []Amount{}, Overcommit: []Amount{}, PodSets: []PodSet{}}
}

// goOn follows a settled side to a later time, and lets it settle with more objects.
func (r *result) goOn(ctx context.Context, until Ahead, held map[types.NamespacedName]bool, more []client.Object, o Options) (*result, *Later, error) {
	w, later, err := r.settledWorld().later(ctx, until, held)
	if err != nil {
		return nil, nil, err
	}
	w.Objects = append(w.Objects, more...)
	end, _, err := decided(ctx, w, 0, o.EvictionTakes)
	return end, later, err
}
