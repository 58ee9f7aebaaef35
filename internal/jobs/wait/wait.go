// Package wait waits until a job reaches a state. It watches and never polls, and it
// survives lost connections and restarts of the API server.
package wait

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Goal is what to wait for.
type Goal string

// The goals.
const (
	Admitted  Goal = "admitted"  // Kueue admitted it
	Running   Goal = "running"   // its pods run or have run
	Succeeded Goal = "succeeded" // it succeeded
	Finished  Goal = "finished"  // it succeeded or failed
	Deleted   Goal = "deleted"   // it no longer exists
)

// Goals returns every goal.
func Goals() []string {
	return []string{string(Admitted), string(Running), string(Succeeded), string(Finished), string(Deleted)}
}

// Verdict is what a status means for a goal.
type Verdict int

// The verdicts.
const (
	NotYet  Verdict = iota
	Reached         // the goal is reached
	Never           // the job failed
	OnHold          // not until a person resumes or scales the job
)

// Judge returns what a status means for a goal. A job that is past the goal has
// reached it.
func Judge(g Goal, s jobs.State) Verdict {
	switch {
	case g == Deleted:
		return NotYet
	case s == jobs.Succeeded, g == Finished && s == jobs.Failed:
		return Reached
	case s == jobs.Failed:
		return Never
	case s == jobs.Suspended, s == jobs.ZeroReplicas:
		return OnHold
	case g == Running && s == jobs.Running:
		return Reached
	case g == Admitted && slices.Contains([]jobs.State{jobs.Starting, jobs.Running, jobs.Restarting}, s):
		return Reached
	}
	return NotYet
}

// Request is one wait.
type Request struct {
	Kind      kinds.Job
	Namespace string
	Name      string
	// UID identifies the job: another job of the same name does not count.
	UID  string
	Goal Goal
	// Timeout is the longest time to wait, 0 for no limit. Given is the time to name in
	// messages where Timeout is only what is left of it.
	Timeout, Given time.Duration
	// Once ends the wait after the first look, as a timeout of 0 does.
	Once bool
	// UntilHeld ends the wait when the job is suspended or its number of replicas is 0.
	UntilHeld bool
	// UntilStuck ends the wait when a pod cannot start before somebody changes something.
	UntilStuck bool
	// Progress, when not nil, is called after every change.
	Progress func(Progress)
	// Missing, when not nil, is called with what cannot be followed.
	Missing func([]state.Missing)
}

// Progress is how far a job has come.
type Progress struct {
	Job    state.Job
	Status jobs.Status
	// Position is the job's position, from 1, among the Of pending workloads of its
	// queue; 0 when it is not pending.
	Position, Of int
}

// Outcome is how a wait ended that did not reach its goal.
type Outcome string

// The outcomes.
const (
	Failed   Outcome = "Failed"   // the job failed
	Held     Outcome = "Held"     // the job is suspended or has no replicas, with Request.UntilHeld
	Stuck    Outcome = "Stuck"    // a pod cannot start, with Request.UntilStuck
	Gone     Outcome = "Gone"     // the job was deleted
	TimedOut Outcome = "TimedOut" // Request.Timeout has passed
)

// Unmet is the error of a wait that did not reach its goal. What a person reads of it
// is made by package jobtext.
type Unmet struct {
	Outcome Outcome
	Request Request
	// Last is the last that was seen of the job; its Job is empty when nothing was.
	Last Progress
}

// Error implements error.
func (u *Unmet) Error() string {
	return "job " + u.Request.Name + " is not " + string(u.Request.Goal) + ": " + string(u.Outcome)
}

// Wait returns when the goal is reached, with the last that was seen of the job. A
// goal that was not reached is an *Unmet.
func Wait(ctx context.Context, c *kube.Client, r Request) (Progress, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
		defer cancel()
	}
	w := waiter{Request: r}
	scope := follow.Scope{Kinds: []kinds.Job{r.Kind}, Namespace: r.Namespace, Name: r.Name, Pods: r.Goal == Running, Missing: r.Missing}
	err := follow.Follow(ctx, c, scope, w.change)
	var unmet *Unmet // seen before the time was over
	if err != nil && !errors.As(err, &unmet) && errors.Is(context.Cause(ctx), errTimeout) {
		return w.last, w.unmet(TimedOut)
	}
	return w.last, err
}

var errTimeout = errors.New("the wait ran out of time")

type waiter struct {
	Request
	last Progress
}

func (w *waiter) unmet(o Outcome) error {
	return &Unmet{Outcome: o, Request: w.Request, Last: w.last}
}

func (w *waiter) change(ch follow.Change) error {
	gone := ch.Type == kube.Deleted || ch.Type == kube.Synced && w.last.Job.UID == ""
	switch {
	case ch.Type != kube.Synced && w.UID != "" && ch.Job.UID != w.UID:
		return nil // another job that had, or has by now, the name
	case gone && w.Goal == Deleted:
		return kube.ErrStop
	case gone:
		return w.unmet(Gone)
	case ch.Type == kube.Synced && w.Once:
		return w.unmet(TimedOut)
	case ch.Type == kube.Synced:
		return nil
	}
	w.last = Progress{Job: ch.Job, Status: ch.Status}
	w.last.Position, w.last.Of = ch.Order.Position(ch.Workload, ch.Queue)
	switch Judge(w.Goal, ch.Status.State) {
	case Reached:
		return kube.ErrStop
	case Never:
		return w.unmet(Failed)
	case OnHold:
		if w.UntilHeld {
			return w.unmet(Held)
		}
	}
	if w.UntilStuck && ch.Status.Trouble.Stuck() {
		return w.unmet(Stuck)
	}
	if w.Progress != nil {
		w.Progress(w.last)
	}
	return nil
}

// GoalNamed returns the goal that a word means: admitted, or as kubectl writes it,
// condition=Running or delete.
func GoalNamed(word string) string {
	w := strings.ToLower(strings.TrimPrefix(strings.ToLower(word), "condition="))
	switch w {
	case "delete":
		w = string(Deleted)
	case "complete", "completed":
		w = string(Succeeded)
	}
	return w
}
