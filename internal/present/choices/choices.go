// Package choices words the notes about a namespace, a LocalQueue or a priority
// class that was chosen for the user.
package choices

import (
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Texts returns one notice per note, in order.
func Texts(notes []discovery.Note) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = text(n)
	}
	return out
}

func text(n discovery.Note) string {
	switch n.Code {
	case discovery.NamespaceFound:
		return "using namespace " + n.Name
	case discovery.NamespaceLast:
		return "using namespace " + n.Name + ", the last one that worked"
	case discovery.QueueAssumed:
		return "using queue " + n.Name + " by its usual name: " + unread(n, "localqueues in namespace "+n.Namespace)
	case discovery.QueueUnchecked:
		return "queue " + n.Name + " is not checked: " + unread(n, "localqueues in namespace "+n.Namespace)
	case discovery.QueueStopped:
		return "queue " + n.Name + " is stopped (" + n.StopPolicy + "): jobs wait until an administrator resumes it"
	case discovery.QueuesUnreadable:
		return "no queue: " + unread(n, "localqueues in namespace "+n.Namespace) + " (set " + suggest.QueueName("NAME").String() + ")"
	case discovery.NoQueue:
		return "no queue: namespace " + n.Namespace + " has none, so Kueue does not manage the job"
	case discovery.SeveralQueues:
		return "no queue: namespace " + n.Namespace + " has several (set " + suggest.QueueName("NAME").String() + ": " + words.Some(n.Available, 8) + ")"
	case discovery.NoKueue:
		return "no queue: this cluster has no Kueue"
	case discovery.NoPriority:
		return "priority not set: the job ranks lowest"
	case discovery.PriorityUnchecked:
		return "priority class " + n.Name + " is not checked, so this must be its full name: " + unread(n, "workloadpriorityclasses")
	case discovery.PriorityNoKueue:
		return "priority class " + n.Name + " has no effect: this cluster has no Kueue"
	}
	return string(n.Code)
}

// unread says why objects could not be listed.
func unread(n discovery.Note, objects string) string {
	if n.NotInFile {
		return "the snapshot has no " + objects
	}
	return "no permission to list " + objects
}
