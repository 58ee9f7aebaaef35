package follow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// followPods starts to follow the pods of a single job as soon as their selector is known, and others when it
// changes: a RayJob's pods have the name of a cluster that is created later, and again after a preemption. The
// caller holds the lock.
func (f *follower) followPods(ctx context.Context, j state.Job) {
	if !f.scope.Pods || f.podsOf == j.PodSelector || j.PodSelector == "" {
		return
	}
	if f.leavePods != nil {
		f.leavePods()
		f.pods = nil
	}
	f.podsOf = j.PodSelector
	following, leave := context.WithCancel(ctx)
	f.leavePods = leave
	if f.waiting > 0 {
		f.waiting++ // the first state to be sent has the pods in it
	}
	early := f.waiting > 0
	f.running.Go(func() {
		defer leave()
		err := state.FollowPods(following, f.c, j.Namespace, kube.Selecting(j.PodSelector), func(e kube.Event[state.Pod]) error {
			if e.Type != kube.Synced {
				return f.pod(following, e)
			}
			if err := f.havePods(following); err != nil || !early {
				return err
			}
			early = false
			return f.synced(ctx)
		})
		switch {
		case following.Err() != nil && ctx.Err() == nil: // left for others
			if early {
				if err := f.synced(ctx); err != nil {
					f.end(err)
				}
			}
		case errors.Is(err, kube.ErrStop) || !kube.IsForbidden(err):
			f.end(err)
		default:
			f.mu.Lock()
			f.lose(state.Missing{Resource: kinds.Pod, Namespace: j.Namespace, Verb: "watch", Reason: state.Forbidden, Err: err}, false)
			f.mu.Unlock()
			if early {
				if err := f.synced(ctx); err != nil {
					f.end(err)
				}
			}
		}
	})
}

// pod takes in a change, unless the pods were left (ctx) for others meanwhile.
func (f *follower) pod(ctx context.Context, e kube.Event[state.Pod]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	if f.pods == nil {
		f.pods = map[string]state.Pod{}
	}
	if e.Type == kube.Deleted {
		delete(f.pods, e.Object.UID)
	} else {
		f.pods[e.Object.UID] = e.Object
	}
	if f.waiting > 0 {
		return nil
	}
	return f.resend(ctx)
}

// havePods marks the pods as known, even if there is none.
func (f *follower) havePods(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	if f.pods == nil {
		f.pods = map[string]state.Pod{}
	}
	return f.resend(ctx)
}

// resend sends the single job again, as its pods changed.
func (f *follower) resend(ctx context.Context) error {
	for _, e := range f.jobs {
		if err := f.send(ctx, kube.Modified, f.enter(e.job)); err != nil {
			return err
		}
	}
	return nil
}

// podsNow returns the pods by name; nil while they are not known.
func (f *follower) podsNow() []state.Pod {
	if f.pods == nil {
		return nil
	}
	out := values(f.pods)
	slices.SortFunc(out, func(a, b state.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}
