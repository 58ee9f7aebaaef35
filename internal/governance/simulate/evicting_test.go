package simulate_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// evictingWorld is a world in which b's job four (4 GPUs) is being evicted.
func evictingWorld(t *testing.T) simulate.World {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "four" {
			wl.Status.Conditions = append(wl.Status.Conditions, metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue,
				Reason: kueue.WorkloadEvictedByPreemption, LastTransitionTime: metav1.NewTime(w.Now.Add(-10 * time.Second))})
		}
	}
	return w
}

// TestEvictionsInProgress: a workload that is being evicted holds its quota until its
// pods have ended.
func TestEvictionsInProgress(t *testing.T) {
	simulated := func(o simulate.Options, changes ...simulate.Change) *simulate.Report {
		t.Helper()
		r, err := simulate.Run(t.Context(), evictingWorld(t), changes, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	state := func(r *simulate.Report, job string) string {
		for _, j := range r.Jobs {
			if j.Name == job {
				return j.After.State
			}
		}
		return ""
	}
	none := change(t, simulate.RemoveJob, "low")
	// In the cycles that follow, quota is as it is: 6 + 5 - 2 - 4 = 5 are left, and not 9.
	r := simulated(simulate.Options{Cycles: 1}, none, addJob("b", "new", 6))
	if got := state(r, "new"); got != simulate.Waiting || state(r, "four") != simulate.Evicting || r.Before.Evicting != 1 {
		t.Errorf("new is %s, four is %s, before %+v", got, state(r, "four"), r.Before)
	}
	var note string
	for _, n := range r.Notes {
		if n.Code == simulate.EvictionsInProgress {
			note = n.Takes.String() + " " + n.Jobs[0].Job
		}
	}
	if note != "20s b/four" { // the grace period is 30s, and 10s have gone by
		t.Errorf("note %q", note)
	}
	// Unless the pods have ended: then it queues, and is admitted again.
	if r := simulated(simulate.Options{Cycles: 1, EvictionTakes: -1}, none); state(r, "four") != simulate.Admitted || len(r.Cycles[0].Scheduled) != 1 {
		t.Errorf("%+v", r.Jobs)
	}
	// A run to the end goes on after they have: four queues again.
	r = simulated(simulate.Options{})
	if got := state(r, "four"); got != simulate.Admitted || !r.Settled || r.Before.Evicting != 0 {
		t.Errorf("four is %s, %+v", got, r.Before)
	}
	// A job that preempts does not preempt it once more.
	r = simulated(simulate.Options{Cycles: 2}, none, addJob("a", "owner", 6))
	for _, p := range r.Preempted {
		if strings.Contains(p.Name, "four") {
			t.Errorf("preempted again: %+v", p)
		}
	}
}
