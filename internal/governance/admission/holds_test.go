package admission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// TestHolds: what package inputs says a workload holds is what Kueue counts.
func TestHolds(t *testing.T) {
	count := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		name     string
		asked    int32
		admitted *int32
		back     int32
		active   bool
		finished bool
		cpu      int64 // expected, as a check on both
	}{
		{"all", 8, count(8), 0, true, false, 80},
		{"some given back", 8, count(8), 6, true, false, 20},
		{"admitted with fewer", 8, count(4), 0, true, false, 40},
		{"admitted with fewer, more left than that", 8, count(4), 3, true, false, 40},
		{"admitted with fewer, less left than that", 8, count(4), 6, true, false, 20},
		{"all given back", 8, count(8), 8, true, false, 0},
		{"no count", 8, nil, 0, true, false, 80},
		{"no count, some given back", 8, nil, 4, true, false, 40},
		{"deactivated", 8, count(8), 0, false, false, 80},
		{"finished", 8, count(8), 0, true, true, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := c.asked
			if c.admitted != nil {
				given = *c.admitted
			}
			w := &kueue.Workload{
				ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "w"},
				Spec:       kueue.WorkloadSpec{Active: &c.active, PodSets: []kueue.PodSet{{Name: "main", Count: c.asked}}},
				Status: kueue.WorkloadStatus{
					Admission: &kueue.Admission{ClusterQueue: "q", PodSetAssignments: []kueue.PodSetAssignment{{
						Name: "main", Count: c.admitted, Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": "f"},
						ResourceUsage: corev1.ResourceList{"cpu": *resource.NewQuantity(int64(given)*10, resource.DecimalSI)},
					}}},
					Conditions: []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue}},
				},
			}
			if c.back > 0 {
				w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: "main", Count: c.back}}
			}
			if c.finished {
				w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue})
			}
			if got, want := inputs.Reserves(w), workload.HasActiveQuotaReservation(w); got != want {
				t.Errorf("holds quota: %t, Kueue says %t", got, want)
			}
			have := inputs.Holds(w)
			if len(have) != 1 {
				t.Fatal(have)
			}
			for fr, want := range workload.NewInfo(w).FlavorResourceUsage() {
				for k, got := range have {
					if got != want.Int64() || got != c.cpu*1000 || k.Flavor != string(fr.Flavor) || k.Resource != string(fr.Resource) {
						t.Errorf("%v %d, Kueue counts %d, expected %d", k, got, want.Int64(), c.cpu*1000)
					}
				}
			}
		})
	}
}
