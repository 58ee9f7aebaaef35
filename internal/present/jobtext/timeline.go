package jobtext

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// TimelineRow returns a moment for the timeline of a page. by is the job that preempted this one, "" where it is unknown.
// With wide, a wait has its whole message.
func TimelineRow(m jobs.Moment, by string, wide bool) string {
	text := words.OneLine(Moment(m))
	switch {
	case m.Step == jobs.WasPreempted:
		text = Preempted(by, m.Reason, m.Message)
	case m.Step == jobs.Waits:
		text = "pending: " + Wait(m.Reason, m.Message, wide)
	case text == "" && m.Step == jobs.QuotaReserved:
		text = "quota reserved"
	case text == "":
		text = strings.ToLower(string(m.Step))
	}
	if m.Times > 1 {
		text += fmt.Sprintf(" (%d times)", m.Times)
	}
	return text
}

// Preempted returns a preemption of a timeline in words: the job that needed the quota, or its ClusterQueue, and why.
// by is "namespace/name" of that job, "" where it is unknown.
func Preempted(by, reason, message string) string {
	p, ok := words.PreemptionIn(message)
	if by == "" && p.ClusterQueue != "" {
		by = "a job of " + p.ClusterQueue
	}
	cause := cmp.Or(words.OneLine(message), words.PreemptionReason(reason))
	if ok && p.Reason != "" {
		cause = words.PreemptionReason(p.Reason)
	}
	return "PREEMPTED" + after(" for ", by) + after(": ", cause)
}

// Moment returns a moment of a timeline in words.
func Moment(m jobs.Moment) string {
	switch m.Step {
	case jobs.Created:
		return "created" + after(" by ", m.By) + after(", queue ", m.Queue) + after(", ", m.Priority)
	case jobs.Finished:
		if m.Failed {
			return "failed" + after(": ", m.Message)
		}
		return "succeeded"
	case jobs.Deactivated:
		// Kueue's bare sentence says less than the step.
		if m.Message == "" || m.Message == "The workload is deactivated" {
			return "suspended: its Workload was deactivated"
		}
		return m.Message
	case jobs.Lost:
		return words.PodsGone
	case jobs.Evicted:
		return cmp.Or(m.Message, m.Reason)
	case jobs.Stopped:
		return "suspended"
	case jobs.Queued:
		if m.Queue == "" && m.Reason != "" {
			return "queued again"
		}
		return "queued" + after(" in ", m.Queue)
	case jobs.Admitted:
		if m.Message != "" {
			return strings.ToLower(m.Message[:1]) + m.Message[1:]
		}
		return "admitted" + after(" by ClusterQueue ", m.Queue)
	case jobs.Resumed:
		return "resumed"
	case jobs.Restarted:
		return cmp.Or(m.Message, "restarting")
	case jobs.Ran:
		return "running"
	}
	return m.Message
}

// Wait returns why a job waited at a moment, in one line: Kueue's own reason, else what
// was short, else Kueue's sentence. With wide it is the whole sentence.
func Wait(reason, message string, wide bool) string {
	switch {
	case reason != "" && reason != "Pending":
		return reason
	case wide:
		return words.OneLine(message)
	case len(words.Shortages(message)) > 0:
		return Shortages(message)
	}
	return words.Clip(message, 150)
}

// Shortages returns the shortages that decide in a message of Kueue, in words.
func Shortages(message string) string {
	all, never := quota.DecidingShortages(message)
	var parts []string
	for _, s := range all {
		if never {
			parts = append(parts, fmt.Sprintf("more %s than the %s that %s can ever have", s.Resource, s.Most, s.Flavor))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s more %s needed in %s", s.Missing, s.Resource, s.Flavor))
	}
	return strings.Join(parts, " or ")
}
