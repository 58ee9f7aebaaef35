package words

import (
	"reflect"
	"testing"
)

func TestShortages(t *testing.T) {
	message := "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a, 76 more needed, " +
		"insufficient quota for nvidia.com/gpu in flavor b, previously considered podsets requests (0) + current podset request (20) > maximum capacity (12), " +
		"insufficient unused quota for memory in flavor b, 920Gi more needed"
	want := []Shortage{{Resource: "cpu", Flavor: "a", Missing: "76"}, {Resource: "nvidia.com/gpu", Flavor: "b", Most: "12"}, {Resource: "memory", Flavor: "b", Missing: "920Gi"}}
	if got := Shortages(message); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := Shortages("Workload is waiting"); got != nil {
		t.Errorf("got %+v", got)
	}
}

func TestRulesOut(t *testing.T) {
	message := "couldn't assign flavors to pod set main: untolerated taint {a: b} in flavor one, flavor two doesn't match node affinity, insufficient quota in flavor three"
	for flavor, want := range map[string]bool{"one": true, "two": true, "three": false, "wo": false} {
		if RulesOut(message, flavor) != want {
			t.Errorf("%s: %v", flavor, !want)
		}
	}
}

func TestMessages(t *testing.T) {
	const preempted = "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort; preemptor path: /pool/vision; preemptee path: /pool/nlp"
	const unknown = "Preempted to accommodate a workload (UID: a, JobUID: UNKNOWN) due to prioritization in the ClusterQueue"
	for want, got := range map[string]string{
		"preempted for a job of vision (borrowed quota is reclaimed)": PlainPreemption(preempted),
		"preempted for a job (lower priority in the same queue)":      PlainPreemption(unknown),
		"couldn't assign flavors":                                     PlainPreemption("couldn't assign flavors"),
		"flavor x":                                                    WithoutPodSet("couldn't assign flavors to pod set main: flavor x"),
		"Waiting":                                                     WithoutPodSet("Waiting"),
		"hugepages-2Mi":                                               Uncovered("couldn't assign flavors to pod set main: resource hugepages-2Mi unavailable in ClusterQueue"),
		"gpu":                                                         Short("nvidia.com/gpu"),
		"cpu":                                                         Short("cpu"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for phrase, reason := range map[string]string{"reclamation within the cohort": "InCohortReclamation", "reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing", "a new policy": "a new policy"} {
		if p, _ := PreemptionIn("Preempted to accommodate a workload (UID: a, JobUID: b) due to " + phrase + "; preemptor path: /x"); p.Reason != reason {
			t.Errorf("%s: %+v", phrase, p)
		}
	}
	if p, ok := PreemptionIn(unknown); !ok || p != (Preemption{WorkloadUID: "a", Reason: "InClusterQueue"}) {
		t.Errorf("got %+v, %v", p, ok)
	}
	if _, ok := PreemptionIn("Evicted"); ok {
		t.Error("an eviction is not a preemption")
	}
}
