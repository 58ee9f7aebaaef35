package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Position returns the place of a workload among those that wait in its local
// queue, from 1, and how many wait; 0, 0 when it does not wait. Kueue takes the
// highest priority first, then who has been queued the longest (an evicted
// workload since its eviction).
func Position(w *state.Workload, all []state.Workload) (place, of int) {
	if w == nil || !queues(*w) {
		return 0, 0
	}
	var line []state.Workload
	for _, x := range all {
		if x.Namespace == w.Namespace && x.QueueName == w.QueueName && queues(x) {
			line = append(line, x)
		}
	}
	slices.SortFunc(line, func(a, b state.Workload) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), queuedAt(a).Compare(queuedAt(b)), cmp.Compare(a.UID, b.UID))
	})
	at := slices.IndexFunc(line, func(x state.Workload) bool { return x.UID == w.UID && x.Name == w.Name })
	return at + 1, len(line)
}

// queues reports a workload that waits for quota.
func queues(w state.Workload) bool {
	_, done := holds(w.Conditions, "Finished")
	_, reserved := holds(w.Conditions, "QuotaReserved")
	return w.Active && !done && !reserved
}

func queuedAt(w state.Workload) time.Time {
	if c, ok := holds(w.Conditions, "Evicted"); ok {
		return c.LastTransitionTime
	}
	return w.CreationTimestamp
}
