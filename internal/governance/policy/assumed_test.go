package policy

import (
	"slices"
	"testing"

	"k8s.io/utils/ptr"
)

// TestAssumed: Assumed goes through the teams without their objects, and finds what ToKueue assumes about all of them.
func TestAssumed(t *testing.T) {
	gpus := func(n int) []Quota { return []Quota{{InstanceType: "ml.p5.48xlarge", Accelerators: &n}} }
	slices7 := []Quota{{InstanceType: "ml.p5.48xlarge", AcceleratorPartition: &Partition{Type: "mig-1g.10gb", Count: 7}}}
	for name, d := range map[string]*Document{
		"nothing": {},
		"classes": {Policy: &ClusterPolicy{PriorityClasses: []PriorityClass{{Name: "training", Weight: 70}}}},
		"one team of each kind": {Policy: &ClusterPolicy{PriorityClasses: []PriorityClass{{Name: "training", Weight: 70}}}, Teams: []Team{
			{Team: "rounded", Quota: gpus(3)},
			{Team: "lends", Quota: gpus(8), Strategy: Lend},
			{Team: "alone", Quota: gpus(8), Strategy: DontLend},
			{Team: "sliced", Quota: slices7, BorrowLimit: ptr.To(100)},
			{Team: "active", Quota: gpus(8), Activation: Disabled},
			{Team: "none"},
		}},
	} {
		objects, err := ToKueue(d, DefaultMapping())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Assumed(d, DefaultMapping())
		if err != nil || !slices.Equal(got, objects.Assumptions) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, objects.Assumptions)
		}
		if name == "one team of each kind" && len(got) < 5 {
			t.Errorf("only %v", got)
		}
	}
	bad := &Document{Teams: []Team{{Team: "a", Kueue: &TeamKueue{Spec: map[string]any{"cohortName": 7}}}}}
	_, want := ToKueue(bad, DefaultMapping())
	if _, err := Assumed(bad, DefaultMapping()); want == nil || err == nil || err.Error() != want.Error() {
		t.Errorf("got %v, want %v", err, want)
	}
}
