package simulate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// TestNotModelled: a job whose state depends on what is not followed is Unknown, and the
// report names it. Jobs of other queues, and those that can never run, have an answer.
func TestNotModelled(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == "b" {
			q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{}
		}
	}
	r := run(t, w, 0, addJob("b", "new", 1), addJob("b", "huge", 99), addJob("a", "other", 1))
	got := map[string]string{}
	for _, j := range r.Jobs {
		got[j.Name] = fmt.Sprint(j.After.State, j.After.NotModelled)
	}
	for job, want := range map[string]string{"new": "Unknown[ConcurrentAdmission]", "huge": "Never[]", "other": "Admitted[]", "four": "Admitted[]"} {
		if got[job] != want {
			t.Errorf("%s: %s, want %s", job, got[job], want)
		}
	}
	if fmt.Sprint(r.NotModelled) != "[ConcurrentAdmission]" || r.After.Unknown != 1 {
		t.Errorf("%v, %+v", r.NotModelled, r.After)
	}
	if r := run(t, w, 0); len(r.NotModelled) != 0 {
		t.Errorf("nothing waits in the queue: %v", r.NotModelled)
	}
}

// TestCyclesDocument: Cycles is a list when cycles are requested, though none run, and
// absent otherwise; Inadmissible is what Kueue puts aside.
func TestCyclesDocument(t *testing.T) {
	w := world(t, "lend-three.yaml")
	rest := change(t, simulate.RemoveJob, "low")
	for steps, want := range map[int]bool{0: false, 3: true} {
		data, err := json.Marshal(run(t, w, steps, rest))
		if err != nil || strings.Contains(string(data), `"Cycles":[]`) != want {
			t.Errorf("%d cycles: %v %s", steps, err, data)
		}
	}
	// low waits at the head of a BestEffortFIFO queue: it is put aside, though it may
	// start when others end. In a StrictFIFO queue it stays.
	for strategy, want := range map[string]string{"BestEffortFIFO": "0 1", "StrictFIFO": "1 0"} {
		r := run(t, w, 1, rest, change(t, simulate.Set, "b.queueing="+strategy), addJob("b", "new", 6))
		c := r.Cycles[0]
		if got := fmt.Sprint(len(c.Pending), len(c.Inadmissible)); got != want {
			t.Errorf("%s: %s, want %s", strategy, got, want)
		}
	}
	// A job whose queue does not exist is in none.
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" {
			wl.Spec.QueueName = "nowhere"
		}
	}
	r := run(t, w, 1, addJob("a", "other", 1))
	if c := r.Cycles[0]; len(c.NotQueued) != 1 || len(c.Inadmissible)+len(c.Pending) != 0 {
		t.Errorf("%+v", c)
	}
	if ps := r.Cycles[0].Scheduled[0].PodSets; len(ps) != 1 || figure(ps[0].Holds) != "1" {
		t.Errorf("%+v", ps)
	}
}
