package jobtext

import (
	"cmp"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

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
		return "admitted" + after(" by ", m.Queue)
	case jobs.Resumed:
		return "resumed"
	case jobs.Restarted:
		return cmp.Or(m.Message, "restarting")
	case jobs.Ran:
		return "running"
	}
	return m.Message
}
