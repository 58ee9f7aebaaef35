package queue

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Summary counts the workloads of one team, or of several.
type Summary struct {
	// Running workloads are admitted; Reserving ones hold quota and wait for their
	// admission checks; Waiting ones have no quota, Preempted of them because the
	// scheduler took it away; Held ones are deactivated by a person.
	Running, Reserving, Waiting, Preempted, Held int
	// Finished workloads that are still there, and how many of them failed.
	Finished, Failed int
	// FromStatus: not all workloads could be read. Running, Reserving and Waiting
	// are what the queues' status says, and nothing else is known.
	FromStatus bool
	// Wait is from when a workload was queued, or queued again, to its last admission;
	// Run from its last admission to its end. Both are over finished workloads.
	Wait, Run spread.Spread
}

// Tally is a Summary with the times it is made of, so that it can be added to others.
type Tally struct {
	Summary
	wait, run []time.Duration
}

// Tallies counts the workloads of each ClusterQueue; the one named "" is of
// those whose queue is unknown. A ClusterQueue not all of whose workloads could
// be read has the counts of its status.
func Tallies(s *state.State, r *quota.Report) map[string]*Tally {
	leads := r.Leads()
	out := map[string]*Tally{}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		queue := ""
		if w.Admission != nil {
			queue = w.Admission.ClusterQueue
		} else {
			queue = leads(w)
		}
		if out[queue] == nil {
			out[queue] = &Tally{}
		}
		out[queue].count(w)
	}
	whole := len(s.MissingOf(kinds.Workload)) == 0 && (out[""] == nil || len(s.MissingOf(kinds.LocalQueue)) == 0)
	for i := range s.ClusterQueues {
		q := &s.ClusterQueues[i]
		if t := out[q.Name]; !whole && (Unread(s) != nil || !t.covers(q)) {
			out[q.Name] = &Tally{Summary: Summary{Running: q.Admitted, Reserving: max(0, q.Reserving-q.Admitted), Waiting: q.Pending, FromStatus: true}}
		}
	}
	for _, team := range r.Teams {
		t := out[team.ClusterQueue]
		if team.State == quota.Hidden && (t == nil || Unread(s) != nil || t.Waiting < team.Waiting || t.Running+t.Reserving < team.Running) {
			out[team.ClusterQueue] = &Tally{Summary: Summary{Running: team.Running, Waiting: team.Waiting, FromStatus: true}}
		}
	}
	return out
}

// covers reports a tally of as many workloads as the queue's status counts; nil is
// of none.
func (t *Tally) covers(q *state.ClusterQueue) bool {
	if t == nil {
		t = &Tally{}
	}
	return t.Waiting >= q.Pending && t.Running+t.Reserving >= q.Reserving
}

// Unread returns why no workloads could be read at all, in no namespace either; nil
// when some could, or there are none.
func Unread(s *state.State) *state.Missing {
	for _, m := range s.MissingOf(kinds.Workload) {
		if m.Namespace == "" && !m.Partly {
			return &m
		}
	}
	return nil
}

// Sum returns the summary of several tallies; nil ones are of nothing.
func Sum(tallies ...*Tally) Summary {
	var sum Summary
	var wait, run []time.Duration
	for _, t := range tallies {
		if t == nil {
			continue
		}
		sum.Running, sum.Reserving, sum.Waiting = sum.Running+t.Running, sum.Reserving+t.Reserving, sum.Waiting+t.Waiting
		sum.Preempted, sum.Held, sum.Finished, sum.Failed = sum.Preempted+t.Preempted, sum.Held+t.Held, sum.Finished+t.Finished, sum.Failed+t.Failed
		sum.FromStatus = sum.FromStatus || t.FromStatus
		wait, run = append(wait, t.wait...), append(run, t.run...)
	}
	if !sum.FromStatus {
		sum.Wait, sum.Run = spread.Of(wait), spread.Of(run)
	}
	return sum
}

func (t *Tally) count(w *state.Workload) {
	finished, _ := state.Find(w.Conditions, quota.Finished)
	switch {
	case finished.True():
		if t.finish(finished) {
			wait, run := lasted(w, finished)
			t.wait, t.run = append(t.wait, wait...), append(t.run, run...)
		}
	case !w.Active:
		t.Held++
	case quota.Waits(w):
		t.Waiting++
		if _, preempted := since(w); preempted {
			t.Preempted++
		}
	default:
		if c, _ := state.Find(w.Conditions, quota.Admitted); c.True() {
			t.Running++
		} else {
			t.Reserving++
		}
	}
}

// finish counts a finished workload that was a job of its own.
func (s *Summary) finish(c state.Condition) bool {
	if quota.Replaced(c) {
		return false
	}
	if quota.Failed(c) {
		s.Failed++
	}
	s.Finished++
	return true
}

// lasted returns how long a finished workload waited for its last admission, and ran from it to its end; none of what is not known.
func lasted(w *state.Workload, finished state.Condition) (wait, run []time.Duration) {
	admitted, _ := state.Find(w.Conditions, quota.Admitted)
	at := admitted.LastTransitionTime
	if !admitted.True() || at.IsZero() || w.CreationTimestamp.IsZero() || finished.LastTransitionTime.Before(at) {
		return nil, nil
	}
	run = append(run, finished.LastTransitionTime.Sub(at))
	queued := w.CreationTimestamp
	if evicted, again := quota.Requeued(w); evicted {
		queued = again
	}
	if queued.IsZero() || queued.After(at) {
		return nil, run
	}
	return append(wait, at.Sub(queued)), run
}
