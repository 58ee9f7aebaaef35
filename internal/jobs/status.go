// Package jobs says what a job is doing. It holds the one function that makes a
// state of a job, its workload and its pods, and the rows commands print of it.
package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// State is what a job is doing, in one word. It is never empty.
type State string

// The states of a job.
const (
	// Pending: waiting for admission, or its queue does not take it.
	Pending State = "Pending"
	// Preempted: evicted by the scheduler and waiting again.
	Preempted State = "Preempted"
	// Suspended: held back by a user.
	Suspended State = "Suspended"
	// Starting: may run, but its pods do not yet.
	Starting State = "Starting"
	// Running: its pods run.
	Running State = "Running"
	// Restarting: ran, failed and is tried again.
	Restarting State = "Restarting"
	// Succeeded: done.
	Succeeded State = "Succeeded"
	// Failed: given up.
	Failed State = "Failed"
)

// States returns all states in the order of a job's life.
func States() []State {
	return []State{Pending, Preempted, Suspended, Starting, Running, Restarting, Succeeded, Failed}
}

// StateNames returns the names of all states.
func StateNames() []string {
	var out []string
	for _, s := range States() {
		out = append(out, string(s))
	}
	return out
}

// ParseStates returns the states of a list of names, whatever the case.
func ParseStates(names []string) ([]State, error) {
	var out []State
	for _, name := range names {
		at := slices.IndexFunc(States(), func(s State) bool { return strings.EqualFold(string(s), name) })
		if at < 0 {
			e := errs.Usagef("there is no state %q", name).WithFact("it has", strings.Join(StateNames(), ", "))
			return nil, e.WithTry("--state " + append(errs.Near(name, StateNames()), "Running")[0])
		}
		out = append(out, States()[at])
	}
	return out, nil
}

// In reports whether the state is one of a list; of an empty list every state is.
func (s State) In(list []State) bool { return len(list) == 0 || slices.Contains(list, s) }

// Finished reports a state that a job does not leave.
func (s State) Finished() bool { return s == Succeeded || s == Failed }

// Status is what is known of a job's state.
type Status struct {
	State State
	// Since is when the state began, as far as it is recorded.
	Since time.Time
	// Reason is a code (Kueue's or the operator's own word), Message a sentence.
	// Both may be empty.
	Reason, Message string
	// Wanted, Ready and Failed count pods; Restarts counts containers' restarts
	// when the pods are known, else the job's own count.
	Wanted, Ready, Failed int
	Restarts              int
	// Roles are the same numbers for each role, in the order of the job's roles.
	Roles []RoleStatus
}

// RoleStatus counts the pods of one role.
type RoleStatus struct {
	Name                  string
	Wanted, Ready, Failed int
}

// Equal reports whether nothing differs.
func (s Status) Equal(t Status) bool {
	return s.State == t.State && s.Since.Equal(t.Since) && s.Reason == t.Reason && s.Message == t.Message && s.Wanted == t.Wanted &&
		s.Ready == t.Ready && s.Failed == t.Failed && s.Restarts == t.Restarts && slices.Equal(s.Roles, t.Roles)
}

// Why is the message, else the reason, "" when there is neither.
func (s Status) Why() string { return cmp.Or(s.Message, s.Reason) }

// StatusOf works out the state of a job. w is the job's workload, nil when there
// is none or it is not known; pods are the job's pods, nil when not known.
func StatusOf(j state.Job, w *state.Workload, pods []state.Pod) Status {
	if pods != nil { // a submitter is none of the pods that the job asks for
		pods = slices.DeleteFunc(slices.Clone(pods), func(p state.Pod) bool { return submits(j, p) })
	}
	s := verdict(j, w, pods)
	if s.Since.IsZero() {
		s.Since = j.CreationTimestamp
	}
	count(&s, j, pods)
	s.Message = strings.TrimRight(s.Message, ": ")
	if s.State == Starting && s.Why() == "" {
		s.Message = "its pods are being started"
	}
	return s
}

// verdict decides in this order: an end is final; then what Kueue or a user
// hold back; then what the pods do.
func verdict(j state.Job, w *state.Workload, pods []state.Pod) Status {
	s, ok := ended(j, w)
	if ok {
		return s
	}
	if w != nil {
		if _, ok := holds(w.Conditions, "Finished"); ok {
			w = nil // given up by Kueue (out of sync with its job): there will be another
		}
	}
	if s, ok = held(j, w); !ok {
		s = refine(active(j, w), j, pods)
	}
	if j.DeletionTimestamp != nil {
		s.Reason, s.Message = "Deleting", "it is being deleted"
	}
	return s
}

// held is the state of a job that may not run.
func held(j state.Job, w *state.Workload) (Status, bool) {
	if w == nil {
		switch {
		case !j.Suspended:
			return Status{}, false
		case j.Queue() == "":
			return Status{State: Suspended, Since: since(j.Conditions, "Suspended"), Reason: "Suspended",
				Message: "its suspend field is set, and it is in no queue that would start it"}, true
		}
		return Status{State: Pending, Reason: "NoWorkload", Message: "Kueue has not taken it up: it has no Workload yet"}, true
	}
	if !w.Active {
		s := Status{State: Suspended, Reason: "Deactivated", Message: "its workload is not active"}
		if c, ok := holds(w.Conditions, "Evicted"); ok {
			s.Since, s.Reason, s.Message = c.LastTransitionTime, c.Reason, c.Message
		}
		return s, true
	}
	if c, ok := holds(w.Conditions, "Evicted"); ok {
		s := Status{State: Pending, Since: c.LastTransitionTime, Reason: c.Reason, Message: c.Message}
		if c.Reason == "Preempted" {
			s.State = Preempted
			if p, ok := holds(w.Conditions, "Preempted"); ok {
				s.Message = p.Message
			}
		}
		return s, true
	}
	if _, ok := holds(w.Conditions, "Admitted"); ok {
		return Status{}, false
	}
	if !j.Suspended && runs(j) {
		return Status{}, false // started before Kueue looked at it
	}
	return waiting(w), true
}

// waiting says why a workload is not admitted, as far as Kueue recorded it.
func waiting(w *state.Workload) Status {
	s := Status{State: Pending, Since: w.CreationTimestamp, Message: "waiting for admission"}
	if _, ok := holds(w.Conditions, "QuotaReserved"); ok {
		s.Reason, s.Message = "UnsatisfiedAdmissionChecks", "quota is reserved; "+undone(w.Checks)
		return s
	}
	if c, ok := state.Find(w.Conditions, "QuotaReserved"); ok {
		s.Reason, s.Message = c.Reason, c.Message
	}
	return s
}

// undone names the admission checks that hold a workload.
func undone(checks []state.CheckState) string {
	var names []string
	for _, c := range checks {
		if c.State != "Ready" {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return "admission checks are not done"
	}
	return "not done: " + strings.Join(names, ", ")
}

// holds returns a condition if its status is True.
func holds(conditions []state.Condition, kind string) (state.Condition, bool) {
	c, ok := state.Find(conditions, kind)
	return c, ok && c.True()
}

func since(conditions []state.Condition, kind string) time.Time {
	c, _ := holds(conditions, kind)
	return c.LastTransitionTime
}
