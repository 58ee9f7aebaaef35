package findteam

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// UnreadLenders returns the ClusterQueues that hold quota of workloads and could not be read, so that what was borrowed there is
// unknown, and the reason of state.Missing.
func UnreadLenders(st *state.State) (names []string, reason string) {
	missing := slices.DeleteFunc(st.MissingOf(kinds.ClusterQueue), func(m state.Missing) bool { return m.Reason == state.NotServed })
	if len(missing) == 0 {
		return nil, ""
	}
	for _, w := range st.Workloads {
		if w.Admission != nil && !slices.ContainsFunc(st.ClusterQueues, func(q state.ClusterQueue) bool { return q.Name == w.Admission.ClusterQueue }) {
			names = append(names, w.Admission.ClusterQueue)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), missing[0].Reason
}

// HiddenUsage returns notes about what the figures lack, because ClusterQueues or events could not be read.
func HiddenUsage(queues []string, reason string, events bool) (notes []string) {
	list := "clusterqueues " + words.Some(queues, 3)
	switch {
	case len(queues) == 0:
	case reason == state.Forbidden && events:
		return []string{"borrowed amounts and runs before a preemption are hidden: no permission to list events and to read " + list}
	case reason == state.Forbidden:
		notes = append(notes, "borrowed amounts are hidden: no permission to read "+list)
	case reason == state.NotInFile:
		notes = append(notes, "borrowed amounts are unknown: not in the file: "+list)
	default:
		notes = append(notes, "borrowed amounts are unknown: cannot read "+list)
	}
	if events {
		notes = append(notes, "events are hidden: runs before a preemption may be missing")
	}
	return notes
}
