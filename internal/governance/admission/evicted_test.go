package admission

import (
	"cmp"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestProbeLeaving: a workload that is being evicted is not preempted again. If nobody else has to make room, the job
// waits for its pods to end.
func TestProbeLeaving(t *testing.T) {
	leaving := func(w *kueue.Workload) {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedByPreemption})
	}
	for _, c := range []struct {
		gpus    int
		want    Outcome
		targets int
	}{{4, Waits, 0}, {8, AdmittedByPreempting, 1}} {
		f := newFixture().team("a", "", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
		f.add(f.job("a", "leaves", 4, running, leaving), f.job("a", "stays", 4, running))
		e := f.engine(t, Config{})
		e.KeepEvictions()
		d := probe(t, e, f.job("a", "new", c.gpus, prio(5)))
		if d.Outcome != c.want || d.Reason != kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads || len(d.Preempts) != c.targets ||
			len(d.Leaving) != 1 || d.Leaving[0] != "a/leaves" {
			t.Errorf("%d: %s %s, preempts %v, leaving %v", c.gpus, d.Outcome, d.Reason, d.Preempts, d.Leaving)
		}
	}
}

// TestProbeEvicted: a workload whose pods were not ready in time competes with the
// heads of other queues by its eviction, not by its creation, unless Kueue is configured
// otherwise; one that was preempted keeps its position.
func TestProbeEvicted(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		known        bool
		cfg          Config
		want         Outcome
	}{
		{"not ready in time", kueue.WorkloadEvictedByPodsReadyTimeout, true, Config{}, Waits},
		{"not known to the engine", kueue.WorkloadEvictedByPodsReadyTimeout, false, Config{}, Waits},
		{"an admission check", kueue.WorkloadEvictedByAdmissionCheck, true, Config{}, Waits},
		{"by creation", kueue.WorkloadEvictedByPodsReadyTimeout, true, Config{RequeueByCreation: true}, Admitted},
		{"preempted", kueue.WorkloadEvictedByPreemption, true, Config{}, Admitted},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().team("a", "all", "0").team("b", "all", "0", strict).team("c", "all", "4")
			w := f.job("a", "evicted", 4) // older than b's head
			w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: c.reason,
				LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute))}}
			f.add(f.job("b", "head", 4))
			if c.known {
				f.add(w)
			}
			if d := probe(t, f.engine(t, c.cfg), w); d.Outcome != c.want {
				t.Errorf("%s (%s: %s), want %s", d.Outcome, d.Reason, d.Message, c.want)
			}
		})
	}
}

// TestFaultyQueueIsNamed: the answer for a workload of a queue that was left out says why,
// and not that the queue does not exist.
func TestFaultyQueueIsNamed(t *testing.T) {
	f := newFixture().team("a", "", "-5")
	w := f.job("a", "waits", 4)
	e, err := New(Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(t.Context(), append(f.objs, w)...); err == nil {
		t.Error("nothing is reported")
	}
	want := "ClusterQueue a is invalid"
	if d := probe(t, e, w); d.Outcome != Never || d.Message != want {
		t.Errorf("%s: %s", d.Outcome, d.Message)
	}
	if p := e.Pending(""); len(p) != 1 || p[0].Message != want {
		t.Errorf("%+v", p)
	}
	f.team("a", "", "5")
	if err := e.Load(t.Context(), f.objs[len(f.objs)-2]); err != nil {
		t.Fatal(err)
	}
	if d := probe(t, e, w); d.Outcome != Admitted {
		t.Errorf("set right: %s: %s", d.Outcome, d.Message)
	}
}

// TestUncountable: what 64 bits do not hold is refused, whichever way it comes about,
// and the largest jobs there are are not.
func TestUncountable(t *testing.T) {
	f := newFixture()
	for _, c := range []struct {
		name string
		w    *kueue.Workload
		ok   bool
	}{
		{"one pod", f.job("a", "w", math.MaxInt64), false},
		{"many pods", f.job("a", "w", 1<<50, pods(1<<20, 0)), false},
		{"several pod sets", f.job("a", "w", 0, func(w *kueue.Workload) {
			w.Spec.PodSets = []kueue.PodSet{podSet("x", 3, 1<<61), podSet("y", 2, 1<<61)}
		}), false},
		{"what it holds", f.job("a", "w", 1, running, func(w *kueue.Workload) {
			u := w.Status.Admission.PodSetAssignments[0].ResourceUsage
			q := u[gpu]
			q.Set(1<<62 + 1<<61)
			q.Add(q)
			u[gpu] = q
		}), false},
		{"ten thousand pods of 2 TiB", f.job("a", "w", 2<<40, pods(10_000, 0)), true},
	} {
		err := cmp.Or(CheckWorkload(c.w), CheckRequests(c.w))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
