package admission

import (
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// unfit gives a workload the condition that Kueue writes when it does not fit.
func unfit(w *kueue.Workload) {
	apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending",
		Message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 3 more needed"})
}

// TestProbeBesideEquivalent: Kueue does not try a workload like one that it put aside in the same BestEffortFIFO queue, until
// something changes.
func TestProbeBesideEquivalent(t *testing.T) {
	hashing := map[string]bool{"SchedulingEquivalenceHashing": false}
	another := prio(5)
	for _, c := range []struct {
		name   string
		job    workloadOption
		gpus   int
		aside  workloadOption
		queue  []queueOption
		gates  map[string]bool
		change func(*testing.T, *Engine)
		want   Outcome
	}{
		{name: "like one that did not fit", gpus: 4, want: Waits},
		{name: "larger", gpus: 5, want: Admitted},
		{name: "of another priority", gpus: 4, job: another, want: Admitted},
		{name: "like one that was not tried", gpus: 4, aside: func(w *kueue.Workload) { w.Status = kueue.WorkloadStatus{} }, want: Admitted},
		{name: "like one that was changed since", gpus: 4, aside: func(w *kueue.Workload) { w.Generation = 2 }, want: Admitted},
		{name: "like one that Kueue put aside with another", gpus: 4, aside: func(w *kueue.Workload) { w.Status.Conditions[0].Message = bypassed }, want: Waits},
		{name: "StrictFIFO", gpus: 4, queue: []queueOption{strict}, want: Waits}, // behind it
		{name: "without hashes", gpus: 4, gates: hashing, want: Admitted},
		{name: "after a change", gpus: 4, want: Admitted, change: func(t *testing.T, e *Engine) {
			if err := e.Remove(t.Context(), "a", "other"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().team("a", "", "8", c.queue...)
			none := func(*kueue.Workload) {}
			if c.aside == nil {
				c.aside = none
			}
			if c.job == nil {
				c.job = none
			}
			old := f.job("a", "old", 4, unfit, c.aside)
			e := f.add(f.job("a", "other", 1, running), old).engine(t, Config{Gates: c.gates})
			e.AsFound()
			if c.change != nil {
				c.change(t, e)
			}
			d := probe(t, e, f.job("a", "new", c.gpus, c.job))
			if d.Outcome != c.want || c.want == Admitted && d.Equivalent != "" || c.want == Waits && len(c.queue) == 0 && d.Equivalent != "a/old" {
				t.Errorf("%s %s %q, like %q", d.Outcome, d.Reason, d.Message, d.Equivalent)
			}
			// The workload itself waits without hashes, too.
			own := probe(t, e, old)
			if waits := c.change == nil && (old.Generation == 0 && len(old.Status.Conditions) > 0); len(c.queue) == 0 && waits != (own.Equivalent == "a/old") {
				t.Errorf("itself: %s %s %q, like %q", own.Outcome, own.Reason, own.Message, own.Equivalent)
			}
		})
	}
}

// TestSetAside: a run leaves aside what Kueue has put aside, and what is like it, until something changes.
func TestSetAside(t *testing.T) {
	for _, c := range []struct {
		name  string
		queue []queueOption
		aside bool
		want  int // that have quota after the run
	}{
		{name: "everything is tried", want: 3},
		{name: "what Kueue put aside stays so", aside: true, want: 1},
		{name: "StrictFIFO", queue: []queueOption{strict}, aside: true, want: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().team("a", "", "9", c.queue...)
			e := f.add(f.job("a", "other", 1, running), f.job("a", "old", 4, unfit), f.job("a", "new", 4)).engine(t, Config{})
			e.DelayRequeues()
			if c.aside {
				e.SetAside(t.Context(), nil)
			}
			quotas := func() (n int) {
				if _, err := e.Run(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"other", "old", "new"} {
					if w := e.Stored("a", name); w != nil && w.Status.Admission != nil {
						n++
					}
				}
				return n
			}
			if got := quotas(); got != c.want {
				t.Errorf("%d have quota, want %d", got, c.want)
			}
			if aside := e.Parked(); c.want == 1 && (!aside["a/old"] || !aside["a/new"]) {
				t.Errorf("put aside: %v", aside)
			}
			if err := e.Remove(t.Context(), "a", "other"); err != nil {
				t.Fatal(err)
			}
			if got := quotas(); got != 2 {
				t.Errorf("%d have quota after a change, want both", got)
			}
		})
	}
}
