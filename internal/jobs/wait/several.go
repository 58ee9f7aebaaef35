package wait

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Target is one of several jobs to wait for. UID identifies it: another job of the same name
// does not count.
type Target struct {
	Kind                 kinds.Job
	Namespace, Name, UID string
}

// SeveralRequest is a wait for several jobs.
type SeveralRequest struct {
	Targets []Target
	Goal    Goal
	// Timeout is the longest time to wait, 0 for no limit; Once ends the wait after the first look.
	Timeout time.Duration
	Once    bool
	// UntilHeld ends the wait for a job when it is suspended or its number of replicas is 0.
	UntilHeld bool
	// Progress, when not nil, is called after every change.
	Progress func([]Ended)
	Missing  func([]state.Missing)
}

// Ended is one of several jobs: the last that was seen of it, and how the wait for it ended.
type Ended struct {
	Target
	Progress
	// Decided reports that the wait for the job is over; Outcome is then "" where the goal is
	// reached.
	Decided bool
	Outcome Outcome
}

// State returns the last state that was seen, "" where nothing was.
func (e Ended) State() jobs.State { return e.Status.State }

// Several returns when the wait for every job is over, in the order of the targets. A goal that
// is not reached is in the result; an error is that of a wait that could not go on.
func Several(ctx context.Context, c *kube.Client, r SeveralRequest) ([]Ended, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
		defer cancel()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := &several{SeveralRequest: r, ended: make([]Ended, len(r.Targets)), at: map[string]int{}, live: map[string]bool{}}
	kindsIn := map[string][]kinds.Job{}
	for i, t := range r.Targets {
		w.ended[i].Target, w.at[t.UID] = t, i
		if !slices.ContainsFunc(kindsIn[t.Namespace], func(k kinds.Job) bool { return k.Kind == t.Kind.Kind }) {
			kindsIn[t.Namespace] = append(kindsIn[t.Namespace], t.Kind)
		}
	}
	var group crash.Group
	var mu sync.Mutex
	var failed error
	for _, ns := range slices.Sorted(maps.Keys(kindsIn)) {
		group.Go(func() {
			scope := follow.Scope{Kinds: kindsIn[ns], Namespace: ns, Any: true, Missing: r.Missing}
			err := follow.Follow(ctx, c, scope, func(ch follow.Change) error { return w.change(ns, ch) })
			if err != nil {
				mu.Lock()
				if failed == nil {
					failed = err
				}
				mu.Unlock()
				stop()
			}
		})
	}
	group.Wait()
	if failed != nil && errors.Is(context.Cause(ctx), errTimeout) {
		failed = nil
	}
	for i := range w.ended {
		if e := &w.ended[i]; failed == nil && !e.Decided {
			e.Decided, e.Outcome = true, TimedOut
		}
	}
	return w.ended, failed
}

type several struct {
	SeveralRequest
	mu    sync.Mutex
	ended []Ended
	at    map[string]int  // by UID
	live  map[string]bool // namespaces that were listed completely
}

// change takes note of a change in a namespace, and ends its watch when all its jobs are decided.
func (w *several) change(namespace string, ch follow.Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	synced := ch.Type == kube.Synced
	if i, ours := w.at[ch.Job.UID]; ours && !synced {
		w.decide(&w.ended[i], ch)
	}
	left := 0
	for i := range w.ended {
		e := &w.ended[i]
		if e.Namespace != namespace || e.Decided {
			continue
		}
		if synced && e.Job.UID == "" {
			e.gone(w.Goal)
			continue
		}
		left++
	}
	w.live[namespace] = w.live[namespace] || synced
	if w.Progress != nil && w.live[namespace] {
		w.Progress(slices.Clone(w.ended))
	}
	if left == 0 || synced && w.Once {
		return kube.ErrStop
	}
	return nil
}

func (w *several) decide(e *Ended, ch follow.Change) {
	if e.Decided {
		return
	}
	if ch.Type == kube.Deleted {
		e.gone(w.Goal)
		return
	}
	e.Progress = Progress{Job: ch.Job, Status: ch.Status}
	switch Judge(w.Goal, ch.Status.State) {
	case Reached:
		e.Decided = true
	case Never:
		e.Decided, e.Outcome = true, Failed
	case OnHold:
		if w.UntilHeld {
			e.Decided, e.Outcome = true, Held
		}
	}
}

func (e *Ended) gone(g Goal) {
	e.Decided = true
	if g != Deleted {
		e.Outcome = Gone
	}
}
