// Package order puts waiting workloads in the order in which Kueue takes them.
// Every command that shows a position uses it.
package order

import (
	"cmp"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Rules are the parts of Kueue's configuration that change the order of a queue.
// The zero value is Kueue's default.
type Rules struct {
	// RequeueByCreation: a workload that was evicted because its pods were not ready
	// in time keeps its position (waitForPodsReady.requeuingStrategy.timestamp:
	// Creation). By default it goes behind the others of its priority.
	RequeueByCreation bool
	// ReclaimedLast: a workload that was preempted by a borrower of higher priority
	// goes behind the others of its priority. Kueue has this rule only without the
	// feature gate PrioritySortingWithinCohort.
	ReclaimedLast bool
}

// Parse reads the rules from Kueue's configuration (v1beta1 or v1beta2, YAML).
func Parse(config string) (Rules, error) {
	var c struct {
		FeatureGates     map[string]bool `json:"featureGates"`
		WaitForPodsReady *struct {
			RequeuingStrategy *struct {
				Timestamp string `json:"timestamp"`
			} `json:"requeuingStrategy"`
		} `json:"waitForPodsReady"`
	}
	if err := yaml.Unmarshal([]byte(config), &c); err != nil {
		return Rules{}, err
	}
	var r Rules
	if w := c.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil {
		r.RequeueByCreation = w.RequeuingStrategy.Timestamp == "Creation"
	}
	if on, set := c.FeatureGates["PrioritySortingWithinCohort"]; set {
		r.ReclaimedLast = !on
	}
	return r, nil
}

// QueuedAt returns the time by which Kueue orders workloads of one priority: the
// creation, or an eviction that sends the workload to the end of its queue
// (Kueue's Ordering.GetQueueOrderTimestamp). A preemption does not.
func (r Rules) QueuedAt(w *state.Workload) time.Time {
	if c, _ := state.Find(w.Conditions, "Evicted"); c.True() {
		if c.Reason == "AdmissionCheck" || c.Reason == "PodsReadyTimeout" && !r.RequeueByCreation {
			return c.LastTransitionTime
		}
	}
	if c, _ := state.Find(w.Conditions, "Preempted"); r.ReclaimedLast && c.True() && c.Reason == "InCohortReclaimWhileBorrowing" {
		return c.LastTransitionTime.Add(time.Millisecond)
	}
	return w.CreationTimestamp
}

// Compare orders two workloads of one ClusterQueue as Kueue does: higher priority
// first, then by QueuedAt, then by UID.
func (r Rules) Compare(a, b *state.Workload) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), r.QueuedAt(a).Compare(r.QueuedAt(b)), cmp.Compare(a.UID, b.UID))
}

// Position returns the position of a workload among those that wait in its
// LocalQueue, from 1, and how many wait; 0, 0 when it does not wait.
func (r Rules) Position(w *state.Workload, all []state.Workload) (position, of int) {
	if w == nil || !quota.Waits(w) {
		return 0, 0
	}
	position = 1
	for i := range all {
		x := &all[i]
		if x.Namespace != w.Namespace || x.QueueName != w.QueueName || !quota.Waits(x) {
			continue
		}
		of++
		if x.UID != w.UID && r.Compare(x, w) < 0 {
			position++
		}
	}
	return min(position, of), of
}

// depends reports whether the order of some workloads depends on Kueue's
// configuration.
func depends(waiting []state.Workload) bool {
	return slices.ContainsFunc(waiting, func(w state.Workload) bool {
		evicted, _ := state.Find(w.Conditions, "Evicted")
		preempted, _ := state.Find(w.Conditions, "Preempted")
		return quota.Waits(&w) && (evicted.True() && evicted.Reason == "PodsReadyTimeout" ||
			preempted.True() && preempted.Reason == "InCohortReclaimWhileBorrowing")
	})
}
