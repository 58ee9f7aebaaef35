package simulate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// TestWhatKueueHasPutAside: without a change, Kueue does not try a job that it has put aside. After one it does.
func TestWhatKueueHasPutAside(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" {
			wl.Status = kueue.WorkloadStatus{Conditions: []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending",
				Message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default, 1 more needed"}}}
		}
	}
	state := func(r *simulate.Report) (before, after string) {
		for _, j := range r.Jobs {
			if j.Name == "low" {
				return j.Before.State, j.After.State
			}
		}
		return "", ""
	}
	for _, c := range []struct {
		name    string
		cycles  int
		changes []simulate.Change
		want    string
	}{
		{"no change", 0, nil, simulate.Waiting},
		{"no change, cycles", 3, nil, simulate.Waiting},
		{"a change", 0, []simulate.Change{change(t, simulate.RemoveJob, "four")}, simulate.Admitted},
	} {
		r := run(t, w, c.cycles, c.changes...)
		if before, after := state(r); after != c.want || c.changes == nil && before != c.want {
			t.Errorf("%s: %s, then %s; want %s", c.name, before, after, c.want)
		}
	}
}
