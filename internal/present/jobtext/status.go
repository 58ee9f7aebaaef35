// Package jobtext words what internal/jobs finds out about a job: its status, its
// timeline, its pods' troubles and the progress of a wait.
package jobtext

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Message returns the sentence for a status: the cluster's own if it has one. It is "" if there is nothing to
// add to the state.
func Message(s jobs.Status) string {
	switch {
	case s.Pod != "" && s.State == jobs.Restarting:
		return fmt.Sprintf("container %s of pod %s keeps failing", s.Trouble.Container, s.Pod)
	case s.Pod != "":
		return "pod " + s.Pod + after(": ", Trouble(s.Trouble))
	case s.Message != "":
		return s.Message
	}
	switch s.Reason {
	case jobs.Deleting:
		return "deletion is in progress"
	case jobs.SuspendField:
		return "its suspend field is set and no queue resumes it"
	case jobs.ScaledToZero:
		return "its number of replicas is 0"
	case jobs.NoWorkload:
		return "Kueue has not created its Workload yet"
	case jobs.DeactivatedReason:
		return "its Workload is deactivated"
	case jobs.NoPods:
		return "it has no pods yet"
	case jobs.UnsatisfiedChecks:
		if len(s.Checks) == 0 {
			return "quota is reserved; admission checks are not ready"
		}
		return "quota is reserved; admission checks that are not ready: " + strings.Join(s.Checks, ", ")
	case "":
		switch s.State {
		case jobs.Starting:
			return "its pods are starting"
		case jobs.Pending:
			return "waiting for admission"
		}
	}
	return ""
}

// Unattended returns why a job has no pods (jobs.Unattended).
func Unattended(operator string) string { return "no pods yet: is the " + operator + " running?" }

// MissingCluster returns what is known of a job whose RayCluster does not exist (jobs.MissingCluster).
func MissingCluster(name string) string { return "RayCluster " + name + " does not exist" }

// Why returns why a job is in its state, "" if that is not known: what is short if the message of Kueue names
// shortages, else the message with UIDs and paths left out, else the reason.
func Why(s jobs.Status) string {
	why := cmp.Or(Message(s), s.Reason)
	if short := Shortages(why); short != "" {
		return short
	}
	return words.PlainPreemption(why)
}

// State returns the state and why, such as "Pending: waiting for admission".
func State(s jobs.Status) string { return string(s.State) + after(": ", Why(s)) }

// VerboseRow returns the long row of a job.
func VerboseRow(j state.Job, s jobs.Status) jobs.VerboseRow {
	return jobs.VerboseRowOf(j, s, Message(s))
}

// VerboseList returns the document of list-jobs --verbose.
func VerboseList(all []state.Job, statuses []jobs.Status) jobs.List[jobs.VerboseRow] {
	out := jobs.List[jobs.VerboseRow]{Jobs: make([]jobs.VerboseRow, len(all))}
	for i := range all {
		out.Jobs[i] = VerboseRow(all[i], statuses[i])
	}
	return out
}

// Trouble returns what is known about a pod's trouble, except its reason.
func Trouble(t jobs.PodTrouble) string {
	switch {
	case t.Ended == "":
		return t.Message
	case t.Ended != t.Reason:
		return fmt.Sprintf("container %s ended with %s, exit code %d", t.Container, t.Ended, t.ExitCode)
	}
	return fmt.Sprintf("container %s, exit code %d", t.Container, t.ExitCode) + after(": ", t.Message)
}

// Cause returns the reason of a pod's trouble and what is known about it, "" if it has none.
func Cause(t jobs.PodTrouble) string { return strings.Trim(t.Reason+": "+Trouble(t), ": ") }

// after returns sep and s, "" where s is empty.
func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}
