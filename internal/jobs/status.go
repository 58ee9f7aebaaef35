// Package jobs works out what a job is doing. StatusOf is the only function that makes
// a state of a job, its workload and its pods.
package jobs

import (
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// State is what a job is doing, in one word. It is never empty.
type State string

// The states of a job.
const (
	// Pending: waiting for admission.
	Pending State = "Pending"
	// Preempted: evicted by the scheduler and waiting again.
	Preempted State = "Preempted"
	// Suspended: stopped until a user resumes it.
	Suspended State = "Suspended"
	// ZeroReplicas: a service whose number of replicas is 0. [Stopped] is a step of a timeline.
	ZeroReplicas State = "Stopped"
	// Starting: admitted, its pods do not run yet.
	Starting State = "Starting"
	// Running: its pods run.
	Running State = "Running"
	// Restarting: failed and is being retried.
	Restarting State = "Restarting"
	// Succeeded: completed without failure.
	Succeeded State = "Succeeded"
	// Failed: ended with a failure.
	Failed State = "Failed"
)

// States returns all states in the order of a job's life.
func States() []State {
	return []State{Pending, Preempted, Suspended, ZeroReplicas, Starting, Running, Restarting, Succeeded, Failed}
}

// StateNames returns the names of all states.
func StateNames() []string {
	var out []string
	for _, s := range States() {
		out = append(out, string(s))
	}
	return out
}

// UnknownState returns the first name that does not name a state, ignoring case, and the
// state that was probably meant; ok is false where all are states.
func UnknownState(names []string) (name, near string, ok bool) {
	for _, name := range names {
		if _, known := stateNamed(name); !known {
			return name, nearState(name), true
		}
	}
	return "", "", false
}

func stateNamed(name string) (State, bool) {
	at := slices.IndexFunc(States(), func(s State) bool { return strings.EqualFold(string(s), name) })
	if at < 0 {
		return "", false
	}
	return States()[at], true
}

// synonyms are words of other tools and the states they mean.
var synonyms = map[string]State{"waiting": Pending, "queued": Pending, "evicted": Preempted, "paused": Suspended, "held": Suspended,
	"active": Running, "admitted": Running, "retrying": Restarting, "completed": Succeeded, "complete": Succeeded, "done": Succeeded, "finished": Succeeded,
	"error": Failed}

// nearState returns the name of the state that a word most likely means.
func nearState(word string) string {
	if s, ok := synonyms[strings.ToLower(word)]; ok {
		return string(s)
	}
	return append(errs.Near(word, StateNames()), string(Running))[0]
}

// Named reports whether the state is one of the names, whatever the case. Every state
// is one of an empty list.
func (s State) Named(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, string(s)) })
}

// Finished reports whether a job does not leave the state.
func (s State) Finished() bool { return s == Succeeded || s == Failed }

// HoldsDevices reports whether pods of a job may have accelerators in the state.
func (s State) HoldsDevices() bool { return s == Running || s == Starting || s == Restarting }

// Status is what is known of a job's state.
type Status struct {
	State State
	// Since is when the state began, as far as it is recorded.
	Since time.Time
	// Evicted is whether Kueue has evicted the job before, and Requeued when it queued the job again, zero if that is not
	// known.
	Evicted  bool
	Requeued time.Time
	// Reason is a code: one of the Reason constants, or the word of Kueue, the operator
	// or the kubelet. Message is the cluster's own sentence. Both may be empty.
	Reason, Message string
	// Checks are the admission checks that are not ready, with UnsatisfiedChecks.
	Checks []string
	// Pod is the pod that keeps the job from running, "" when no single pod does, and
	// Trouble why.
	Pod     string
	Trouble PodTrouble
	// Wanted, Ready and Failed count pods; Restarts counts containers' restarts
	// when the pods are known, else the job's own count.
	Wanted, Ready, Failed int
	Restarts              int
	// Roles are the same numbers for each role, in the order of the job's roles.
	Roles []RoleStatus
}

// The reasons of a status that no other component words.
const (
	Deleting          = "Deleting"                   // its deletion has begun
	ScaledToZero      = "ScaledToZero"               // it serves, and no replicas are wanted
	SuspendField      = "Suspended"                  // its suspend field is set and no queue resumes it
	NoWorkload        = "NoWorkload"                 // Kueue has not created its Workload
	DeactivatedReason = "Deactivated"                // its Workload is not active
	UnsatisfiedChecks = "UnsatisfiedAdmissionChecks" // quota is reserved, admission checks are not ready
	NoPods            = "NoPods"                     // it may run, and nothing has created a pod of it
)

// RoleStatus counts the pods of one role.
type RoleStatus struct {
	Name                  string
	Wanted, Ready, Failed int
}

// Equal reports whether nothing differs.
func (s Status) Equal(t Status) bool {
	return s.SameCause(t) && s.Since.Equal(t.Since) && s.Wanted == t.Wanted &&
		s.Ready == t.Ready && s.Failed == t.Failed && s.Restarts == t.Restarts && slices.Equal(s.Roles, t.Roles)
}

// SameCause reports whether two statuses have the same state for the same reason.
func (s Status) SameCause(t Status) bool {
	return s.State == t.State && s.Reason == t.Reason && s.Message == t.Message && s.Pod == t.Pod && s.Trouble == t.Trouble &&
		slices.Equal(s.Checks, t.Checks)
}

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
	if w != nil {
		s.Evicted, s.Requeued = quota.Requeued(w)
	}
	count(&s, j, pods)
	s.Message = strings.TrimRight(s.Message, ": ")
	return s
}

// verdict decides in this order: an end is final; then a suspension by Kueue or a user; then what the pods do.
func verdict(j state.Job, w *state.Workload, pods []state.Pod) Status {
	s, ok := ended(j, w)
	if ok {
		return s
	}
	finished := state.Condition{}
	if w != nil {
		if finished, ok = holds(w.Conditions, "Finished"); ok {
			w = nil // given up by Kueue
		}
	}
	s, ok = held(j, w)
	if s.Reason == NoWorkload && finished.Reason != "" && !quota.Replaced(finished) {
		s.Since, s.Reason, s.Message = finished.LastTransitionTime, finished.Reason, finished.Message
	}
	if !ok {
		s = refine(active(j, w), j, pods)
		if podless(s, j, w, pods) {
			s.Reason = NoPods
		}
	}
	if j.DeletionTimestamp != nil {
		s.Reason, s.Message = Deleting, ""
		s.Pod, s.Trouble = "", PodTrouble{}
	}
	return s
}

// held returns the state of a job that may not run.
func held(j state.Job, w *state.Workload) (Status, bool) {
	if j.Kind.Serves && len(j.Kind.SuspendPath) == 0 && WantedPods(j) == 0 {
		s := Status{State: ZeroReplicas, Reason: ScaledToZero}
		if j.Kind.Stop != nil { // a person resumes it
			s.State = Suspended
		}
		return s, true
	}
	if w == nil {
		switch {
		case !j.Suspended:
			return Status{}, false
		case j.Queue() == "":
			return Status{State: Suspended, Since: since(j.Conditions, "Suspended"), Reason: SuspendField}, true
		}
		return Status{State: Pending, Reason: NoWorkload}, true
	}
	if j.Kind.Apart() && runs(j) {
		return Status{}, false // some of its Workloads may wait
	}
	if !w.Active {
		s := Status{State: Suspended, Reason: DeactivatedReason}
		if c, ok := holds(w.Conditions, "Evicted"); ok {
			s.Since, s.Reason, s.Message = c.LastTransitionTime, c.Reason, c.Message
		}
		return s, true
	}
	if at, ok := reactivated(w); ok {
		s := waiting(w)
		s.Since = at
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
		return Status{}, false // started before Kueue evaluated it
	}
	return waiting(w), true
}

// waiting returns the status of a workload that is not admitted, with why as far as Kueue
// recorded it.
func waiting(w *state.Workload) Status {
	s := Status{State: Pending, Since: w.CreationTimestamp}
	if _, ok := holds(w.Conditions, "QuotaReserved"); ok {
		s.Reason, s.Checks = UnsatisfiedChecks, unready(w.Checks)
		return s
	}
	if c, ok := state.Find(w.Conditions, "QuotaReserved"); ok {
		s.Reason, s.Message = c.Reason, c.Message
	}
	return s
}

// reactivated returns since when a workload waits that was deactivated and is active again: Kueue keeps Evicted until the
// next admission (core/workload_controller.go). Of one that never had quota, only the time of the deactivation is known.
func reactivated(w *state.Workload) (time.Time, bool) {
	evicted, ok := holds(w.Conditions, "Evicted")
	if !ok || !w.Active || !deactivation(evicted.Reason) {
		return time.Time{}, false
	}
	if requeued, ok := holds(w.Conditions, "Requeued"); ok && requeued.LastTransitionTime.After(evicted.LastTransitionTime) {
		return requeued.LastTransitionTime, true
	}
	return evicted.LastTransitionTime, true
}

// unready returns the names of the admission checks that hold a workload.
func unready(checks []state.CheckState) (names []string) {
	for _, c := range checks {
		if c.State != "Ready" {
			names = append(names, c.Name)
		}
	}
	return names
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
