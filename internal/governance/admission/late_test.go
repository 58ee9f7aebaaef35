package admission

import (
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
)

// TestDelayRequeues: a guest that was put aside is not tried before the job that preempts, also if the run ends and goes on in between.
func TestDelayRequeues(t *testing.T) {
	for name, late := range map[string]bool{"delayed": true, "at once": false} {
		rules := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny)
		f := newFixture().team("a", "pool", "6", rules).team("b", "pool", "2", rules).team("c", "pool", "0", rules)
		f.add(f.job("a", "base", 2, prio(4), running), f.job("a", "small", 4, running), f.job("c", "guest", 4, prio(5)))
		f.add(f.job("a", "big", 6, prio(2)))
		e := f.engine(t, Config{})
		if late {
			e.DelayRequeues()
		}
		settled := false
		for range 40 {
			timeline, err := e.Run(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if settled = timeline.Settled; settled {
				break
			}
		}
		if settled != late {
			t.Errorf("%s: settled %v", name, settled)
		}
	}
}

// TestSubmitPutAside: a guest that was put aside is tried after the job that preempts, and those that are preempted in the end are
// not those of a loop with the guest.
func TestSubmitPutAside(t *testing.T) {
	rules := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny)
	f := newFixture().team("a", "pool", "6", rules).team("b", "pool", "2", rules).team("c", "pool", "0", rules)
	f.add(f.job("a", "base", 2, prio(4), running), f.job("a", "small", 4, running), f.job("c", "guest", 4, prio(5)))
	e := f.engine(t, Config{})
	after, err := e.Submit(t.Context(), f.job("a", "big", 6, prio(2)))
	if err != nil || len(after.Loop) > 0 || len(after.Evicted) != 1 || after.Evicted[0].Name != "small" {
		t.Errorf("%+v, %v", after, err)
	}
	if guest := e.Workload("c", "guest"); workload.HasQuotaReservation(guest) || workloadevict.IsEvicted(guest) {
		t.Errorf("guest has run: %+v", guest.Status.Conditions)
	}
}
