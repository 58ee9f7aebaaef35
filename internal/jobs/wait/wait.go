// Package wait waits for what becomes of a job. It watches and never polls, so
// it costs nothing while nothing changes, and it outlives lost connections and a
// restart of the API server.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Goal is what to wait for.
type Goal string

// The goals.
const (
	Admitted  Goal = "admitted"  // the scheduler lets it run
	Running   Goal = "running"   // its pods run, or ran
	Succeeded Goal = "succeeded" // it ended well
	Finished  Goal = "finished"  // it ended, well or not
	Deleted   Goal = "deleted"   // it is gone
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
	Never           // it will never be: the job failed
	Held            // not until a person lets the job go on
)

// Judge says what a status means for a goal. A job that has gone on beyond the
// goal has reached it.
func Judge(g Goal, s jobs.State) Verdict {
	switch {
	case g == Deleted:
		return NotYet
	case s == jobs.Succeeded, g == Finished && s == jobs.Failed:
		return Reached
	case s == jobs.Failed:
		return Never
	case s == jobs.Suspended:
		return Held
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
	// UID is the job that is meant: another of the same name is another job.
	UID  string
	Goal Goal
	// Timeout of 0 is none. Where it is what is left of a longer time, that one is
	// Given, and named when it is over.
	Timeout, Given time.Duration
	// UntilHeld ends the wait when a person holds the job back.
	UntilHeld bool
	// Progress, when not nil, is told every change.
	Progress func(Progress)
	// Missing, when not nil, is told what may not be followed.
	Missing func([]state.Missing)
}

// Progress is how far a job has come.
type Progress struct {
	Job    state.Job
	Status jobs.Status
	// Place is the job's place among Of that wait in its queue; 0 when it does not.
	Place, Of int
}

// Text says in a line how far a job has come.
func (p Progress) Text() string { return p.Job.Name + " is " + p.state() }

// Shorter are the same line for narrow terminals, longest first: the state, the
// place in the queue and the reason stay, what the reader knows goes.
func (p Progress) Shorter() []string {
	brief := p
	brief.Status.Message = words.WithoutPodSet(p.Status.Message)
	return []string{p.state(), brief.state()}
}

func (p Progress) state() string {
	text := string(p.Status.State)
	if p.Place > 0 && p.Of > 1 {
		text += fmt.Sprintf(", %s of %d in its queue", words.Ordinal(p.Place), p.Of)
	}
	if p.Status.State == jobs.Starting && p.Status.Wanted > 0 {
		text += fmt.Sprintf(", %d of %d pods ready", p.Status.Ready, p.Status.Wanted)
	}
	if why := p.Status.Why(); why != "" {
		text += ": " + words.Plain(why)
	}
	return text
}

// Failure is the error of a job that failed, nil for any other.
func (p Progress) Failure() error {
	if p.Status.State != jobs.Failed {
		return nil
	}
	return &errs.Error{What: "job " + p.Job.Name + " failed", Why: p.Status.Why(), Code: errs.No,
		Try: []errs.Suggestion{suggest.GetLog(p.Job.Namespace, p.Job.Name)}}
}

// Wait returns when the goal is reached, with the last that was seen of the job.
// A goal that will not be reached is an error with exit code No (the job failed),
// Pending (held back, with UntilHeld), NotFound (deleted meanwhile) or Timeout.
func Wait(ctx context.Context, c *kube.Client, r Request) (Progress, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
		defer cancel()
	}
	w := waiter{Request: r}
	scope := follow.Scope{Kinds: []kinds.Job{r.Kind}, Namespace: r.Namespace, Name: r.Name, Pods: r.Goal == Running, Missing: r.Missing}
	err := follow.Follow(ctx, c, scope, w.change)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return w.last, w.timeout()
	}
	return w.last, err
}

var errTimeout = errors.New("the wait ran out of time")

type waiter struct {
	Request
	last Progress
	told string
}

func (w *waiter) change(ch follow.Change) error {
	gone := ch.Type == kube.Deleted || ch.Type == kube.Synced && w.last.Job.UID == ""
	switch {
	case ch.Type != kube.Synced && w.UID != "" && ch.Job.UID != w.UID:
		return nil // another job that had, or has by now, the name
	case gone && w.Goal == Deleted:
		return kube.ErrStop
	case gone:
		return errs.NotFoundf("job %s is gone: it was deleted while it was waited for", w.Name)
	case ch.Type == kube.Synced:
		return nil
	}
	w.last = Progress{Job: ch.Job, Status: ch.Status}
	w.last.Place, w.last.Of = ch.Order.Position(ch.Workload, ch.Queue)
	switch Judge(w.Goal, ch.Status.State) {
	case Reached:
		return kube.ErrStop
	case Never:
		return w.last.Failure()
	case Held:
		if w.UntilHeld {
			return &errs.Error{What: "job " + w.Name + " is suspended", Why: ch.Status.Why(), Code: errs.Pending,
				Try: []errs.Suggestion{suggest.Unsuspend(w.Namespace, w.Name)}}
		}
	}
	if text := w.last.Text(); w.Progress != nil && text != w.told {
		w.told = text
		w.Progress(w.last)
	}
	return nil
}

func (w *waiter) timeout() error {
	e := &errs.Error{What: fmt.Sprintf("job %s is not %s after %s", w.Name, w.Goal, cmp.Or(w.Given, w.Timeout)), Code: errs.Timeout,
		Try: []errs.Suggestion{suggest.GetJob(w.Namespace, w.Name)}}
	if w.last.Job.UID != "" {
		e.Why = "it is " + w.last.state()
	}
	return e
}

// GoalNamed returns the goal that a word means: admitted, or as kubectl writes
// it, condition=Running or delete.
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
