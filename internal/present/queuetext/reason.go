// Package queuetext words why workloads wait.
package queuetext

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the words of the reasons of items.
func Fill(items []queue.Item) {
	for i := range items {
		items[i].Reason.Words = Reason(&items[i].Reason)
	}
}

// Reason returns a reason in a few words.
func Reason(r *queue.Reason) string {
	switch r.Detail {
	case queue.LocalQueueUnread:
		return "cannot read the queue " + r.Object
	case queue.LocalQueueMissing:
		return "queue " + r.Object + " not found"
	case queue.ClusterQueueMissing:
		return "ClusterQueue " + r.Object + " not found"
	case queue.ClusterQueueInvalid:
		return "its queue is invalid: " + quotatext.Faults(r.Faults[:1])
	case queue.ReportedByKueue:
		if r.Code == queue.ExceedsMaxQuota {
			return missing(r) + " " + words.Short(r.Resource) + " above the team's limit, Kueue reported"
		}
		return missing(r) + " more " + words.Short(r.Resource) + " needed, Kueue reported"
	}
	switch r.Code {
	case queue.QueueStopped:
		return "its queue is stopped"
	case queue.QueueInactive:
		return "its queue is inactive (" + r.Object + ")"
	case queue.Requeued:
		return "retried in " + r.In.String()
	case queue.WaitingForOthers:
		return "behind " + r.Object
	case queue.NoMatchingFlavor:
		if len(r.Flavors) > 0 {
			return "the queue has only " + strings.Join(r.Flavors, ", ")
		}
		return "the queue has no quota for " + words.Short(r.Resource)
	case queue.ExceedsMaxQuota:
		return missing(r) + " " + words.Short(r.Resource) + " above the team's limit"
	case queue.WaitingForQuota:
		return missing(r) + " more " + words.Short(r.Resource) + " needed"
	case queue.PendingEvaluation:
		return "next in the queue"
	}
	return message(r.Message)
}

func missing(r *queue.Reason) string {
	return words.Number(r.Resource, quota.Number(r.Resource, r.Missing))
}

// longest is the maximum length of Kueue's sentences in a table.
const longest = 60

// message returns the part of Kueue's sentence that names the cause.
func message(text string) string {
	if text == "" {
		return "waiting"
	}
	text, _, _ = strings.Cut(words.WithoutPodSet(text), "\n")
	if runes := []rune(text); len(runes) > longest {
		// Three dots in any locale: the text is data too.
		text = strings.TrimSpace(string(runes[:longest-3])) + "..."
	}
	return text
}
