package admission

import (
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func leaving(w *kueue.Workload) {
	w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedByPreemption})
}

// told gives a workload the condition that Kueue writes while it waits for what it preempts.
func told(w *kueue.Workload) {
	apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending",
		Message: "couldn't assign flavors to pod set main: insufficient unused quota. Pending the preemption of 1 workload(s)"})
}

// TestProbeBehindPreemptor: until what a workload preempts has ended, Kueue tries no other workload of a BestEffortFIFO queue,
// whatever its priority. In another queue of the cohort, a new workload does not get the quota that the first one takes.
func TestProbeBehindPreemptor(t *testing.T) {
	policy := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever)
	for _, c := range []struct {
		name      string
		evaluated bool // the engine has run; otherwise Kueue's condition says it
		ended     bool
		queue     string
		prio      int32
		gpus      int
		opts      []queueOption
		want      Outcome
		preemptor string
	}{
		{name: "lower priority", evaluated: true, queue: "a", gpus: 1, want: Waits, preemptor: "a/first"},
		{name: "higher priority", evaluated: true, queue: "a", prio: 9, gpus: 1, want: Waits, preemptor: "a/first"},
		{name: "by its condition", queue: "a", gpus: 1, want: Waits, preemptor: "a/first"},
		{name: "higher priority, by its condition", queue: "a", prio: 9, gpus: 1, want: Waits, preemptor: "a/first"},
		{name: "no longer", evaluated: true, ended: true, queue: "a", gpus: 1, want: Admitted},
		{name: "never", evaluated: true, queue: "a", gpus: 100, want: Never},
		{name: "StrictFIFO", evaluated: true, queue: "a", prio: 9, gpus: 1, opts: []queueOption{strict}, want: Admitted},
		{name: "another queue", evaluated: true, queue: "b", gpus: 1, want: Admitted},
		{name: "another queue that would borrow", evaluated: true, queue: "b", gpus: 4, want: Waits},
		{name: "another queue that would borrow, by its condition", queue: "b", gpus: 4, want: Waits},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().team("a", "all", "8", append([]queueOption{policy, borrowingLimit("0")}, c.opts...)...).team("b", "all", "1")
			f.add(f.job("a", "low", 4, running, leaving))
			first := f.job("a", "first", 7, prio(5))
			if !c.evaluated {
				told(first)
			}
			e := f.add(first).engine(t, Config{})
			e.KeepEvictions()
			if c.evaluated {
				run(t, e)
			}
			if c.ended {
				e.EndEviction(t.Context(), "a", "low")
				run(t, e)
			}
			d := probe(t, e, f.job(c.queue, "new", c.gpus, prio(c.prio)))
			if d.Outcome != c.want || d.Preemptor != c.preemptor {
				t.Errorf("%s %s %q behind %q, want %s behind %q", d.Outcome, d.Reason, d.Message, d.Preemptor, c.want, c.preemptor)
			}
			if d.Preemptor != "" && (d.Ahead != 1 || d.Reason != kueue.WorkloadQuotaReservedReasonPendingEvaluation || len(d.Leaving) != 1 || d.Leaving[0] != "a/low" || len(d.Preempts) > 0) {
				t.Errorf("%+v", d)
			}
			if got := e.Pending("a"); !c.ended && (len(got) != 1 || got[0].Name != "first") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRunBehindPreemptor: the engine tries a workload that Kueue has found to preempt before one of higher priority.
func TestRunBehindPreemptor(t *testing.T) {
	f := newFixture().team("a", "", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
	f.add(f.job("a", "low", 4, running, leaving), f.job("a", "first", 7, prio(5), told), f.job("a", "high", 1, prio(9)))
	e := f.engine(t, Config{})
	e.KeepEvictions()
	if p := e.Pending("a"); p[0].Name != "first" {
		t.Errorf("%+v", p)
	}
	if got, want := short(run(t, e)), "1 Preempting a/first; 2 Preempting a/first"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p := e.Pending("a"); p[0].Name != "first" {
		t.Errorf("after the run: %+v", p)
	}
	e.EndEviction(t.Context(), "a", "low")
	if got, want := short(run(t, e)), "1 Admitted a/first; 2 Admitted a/high; 3 Pending a/low"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
