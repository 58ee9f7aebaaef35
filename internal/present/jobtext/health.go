package jobtext

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// NodesUnread returns why the health of nodes is unknown, for a reason of package state.
func NodesUnread(reason string) string {
	switch reason {
	case state.NotInFile:
		return "the file has no nodes"
	case state.Failed:
		return "nodes could not be read"
	}
	return "no permission to list nodes"
}

// Health returns what is wrong with a node, such as "NotReady" or
// "pending replacement (NvidiaGPU, XID 79)".
func Health(h jobs.NodeHealth) string {
	text := h.Health
	if h.Pending != "" {
		text = "pending " + strings.ToLower(string(h.Pending))
	}
	var why []string
	for _, more := range []string{h.Types, h.Reasons} {
		if more = plain(more); more != "" {
			why = append(why, more)
		}
	}
	if h.DeepCheck == "Failed" || h.DeepCheck == "InProgress" {
		why = append(why, "deep health check "+h.DeepCheck)
	}
	switch {
	case len(why) == 0:
		return text
	case text == "":
		return strings.Join(why, ", ")
	}
	return text + " (" + strings.Join(why, ", ") + ")"
}

// AwaitingRepair says that nodes of a job are pending replacement or a reboot, such as "1 of 2
// nodes is pending replacement", "" for none.
func AwaitingRepair(r jobs.Resilience) string {
	count := map[jobs.Recovery]int{}
	for _, h := range r.AwaitingRepair() {
		count[h.Pending]++
	}
	var parts []string
	for _, p := range []jobs.Recovery{jobs.Replacement, jobs.Reboot} {
		switch n := count[p]; {
		case n == 0:
		case r.Nodes == 1:
			parts = append(parts, "its node is pending "+strings.ToLower(string(p)))
		case n == 1:
			parts = append(parts, fmt.Sprintf("1 of its %d nodes is pending %s", r.Nodes, strings.ToLower(string(p))))
		default:
			parts = append(parts, fmt.Sprintf("%d of its %d nodes are pending %s", n, r.Nodes, strings.ToLower(string(p))))
		}
	}
	return strings.Join(parts, ", ")
}

// Retries says how often a job was restarted and whether HyperPod resumes it, "" where
// neither is known.
func Retries(r jobs.Resume) string {
	if !r.On && r.Used == 0 {
		return ""
	}
	text := fmt.Sprintf("%d recorded", r.Used)
	if r.Most > 0 {
		text = fmt.Sprintf("%d of %d recorded", r.Used, r.Most)
	}
	if r.On {
		text += "; auto-resume is on"
	}
	return text
}

// JobFault returns the last fault of a job, such as "12m ago on NODE: NvidiaGPU, XID 79:
// GPU has fallen off the bus", "" for none.
func JobFault(f jobs.JobFault, now time.Time) string {
	if f == (jobs.JobFault{}) {
		return ""
	}
	text := "on " + f.Node
	if !f.Time.IsZero() {
		text = words.Age(now.Sub(f.Time)) + " ago " + text
	}
	if f.Pod != "" {
		text += ", pod " + f.Pod
	}
	if what := FaultName(f.Type, f.Reason); what != "" {
		text += ": " + what
	}
	return text + after(": ", words.OneLine(f.Message))
}

// FaultName returns the type and the reason of a fault, such as "NvidiaGPU, XID 79".
func FaultName(kind, reason string) string {
	return strings.Trim(plain(kind)+", "+plain(reason), ", ")
}

// plain writes the value of a label as words.
func plain(label string) string { return strings.ReplaceAll(label, "_", " ") }
