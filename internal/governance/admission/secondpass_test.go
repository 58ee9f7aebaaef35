package admission

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"
)

// onNode places a running workload with one pod on a node.
func onNode(name string) workloadOption {
	return func(w *kueue.Workload) {
		running(w)
		w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{Preferred: ptr.To("rack")}
		w.Status.Admission.PodSetAssignments[0].TopologyAssignment = &kueue.TopologyAssignment{
			Levels: []string{"kubernetes.io/hostname"},
			Slices: []kueue.TopologyAssignmentSlice{{DomainCount: 1, PodCounts: kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To[int32](1)},
				ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{Universal: ptr.To(name)}}}},
		}
	}
}

func failed(name string) workloadOption {
	return func(w *kueue.Workload) { w.Status.UnhealthyNodes = []kueue.UnhealthyNode{{Name: name}} }
}

// delayed is a workload whose admission check has passed and that waits for its place.
func delayed(w *kueue.Workload) {
	running(w)
	w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{Preferred: ptr.To("rack")}
	w.Status.Conditions = w.Status.Conditions[:1] // quota is reserved, and no more
	w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "nodes", State: kueue.CheckStateReady}}
	w.Status.Admission.PodSetAssignments[0].DelayedTopologyRequest = ptr.To(kueue.DelayedTopologyRequestStatePending)
}

// provisioned adds a team whose workloads wait for an admission check of ProvisioningRequests.
func provisioned(f *fixture, gpus string) {
	f.add(&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.ProvisioningRequestControllerName},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}})
	f.team("a", "", gpus, func(q *kueue.ClusterQueue) {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "nodes"}}}
	})
}

// TestSecondPass: what holds quota gets its place, or another one, in a second pass; if there is none for a failed
// node, it is evicted.
func TestSecondPass(t *testing.T) {
	for name, c := range map[string]struct {
		gates   map[string]bool
		nodes   int
		options []workloadOption
		want    Outcome
		reason  string
		domain  string
		events  string
	}{
		"running":                 {nil, 2, []workloadOption{onNode("n1")}, Admitted, "", "", ""},
		"delayed":                 {nil, 2, []workloadOption{delayed}, Admitted, "", "n0", "1 Placed a/held"},
		"delayed, no node":        {nil, 0, []workloadOption{delayed}, Waits, kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed, "", "1 Pending a/held"},
		"failed node":             {nil, 1, []workloadOption{onNode("n1"), failed("n1")}, Admitted, "", "n0", "1 Placed a/held"},
		"failed node, no other":   {nil, 0, []workloadOption{onNode("n1"), failed("n1")}, Waits, kueue.WorkloadEvictedDueToNodeFailures, "", "1 Evicted a/held; 2 QuotaReserved a/held"},
		"the same, not fail fast": {map[string]bool{"TASFailedNodeReplacementFailFast": false}, 0, []workloadOption{onNode("n1"), failed("n1")}, Waits, kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed, "", "1 Pending a/held"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			topology(f, c.nodes)
			provisioned(f, "8")
			w := f.job("a", "held", 1, append(c.options, func(w *kueue.Workload) {
				w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "nodes", State: kueue.CheckStateReady}}
			})...)
			e := f.add(w).engine(t, Config{Gates: c.gates})
			d := probe(t, e, w)
			if d.Outcome != c.want || d.Reason != c.reason {
				t.Errorf("%s %s %q", d.Outcome, d.Reason, d.Message)
			}
			if c.domain != "" && (len(d.PodSets[0].Domains) != 1 || d.PodSets[0].Domains[0].Levels[0] != c.domain) {
				t.Errorf("placed in %v, want %s", d.PodSets[0].Domains, c.domain)
			}
			tl := run(t, e)
			if got := short(tl); got != c.events || !tl.Settled {
				t.Errorf("%s (settled %v), want %s", got, tl.Settled, c.events)
			}
		})
	}
}

// TestEvictedTwice: of two evictions in one cycle, the later one gives the reason. Kueue's (*Scheduler).processEntry writes
// both.
func TestEvictedTwice(t *testing.T) {
	info := workload.NewInfo(&kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "held"}})
	own := &entry{Head: qcache.Head{Info: *info}, fate: evicted}
	other := &entry{fate: preempting, targets: []*preemption.Target{{WorkloadInfo: info}}}
	variant := &entry{fate: migrating, migrates: info}
	for _, order := range [][]*entry{{own, other}, {other, own}, {variant, other}, {other, variant}} {
		if got := evictionsOf(order)["a/held"]; got != order[1] {
			t.Errorf("fate %v evicts it, want the last: %v", got.fate, order[1].fate)
		}
	}
}

// TestVerdictBesideSecondPass: what takes a second pass in the next cycle gets its place before a new workload.
func TestVerdictBesideSecondPass(t *testing.T) {
	for name, c := range map[string]struct {
		options []workloadOption
		team    string
		want    Outcome
		cfg     Config
	}{
		"running":      {[]workloadOption{onNode("n9")}, "b", Admitted, Config{}},
		"failed node":  {[]workloadOption{onNode("n9"), failed("n9")}, "b", Waits, Config{}},
		"delayed":      {[]workloadOption{delayed}, "b", Waits, Config{}},
		"fair sharing": {[]workloadOption{onNode("n9"), failed("n9")}, "b", Waits, Config{FairSharing: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			topology(f, 1)
			provisioned(f, "16")
			f.team("b", "", "8")
			e := f.add(f.job("a", "held", 8, append(c.options, func(w *kueue.Workload) {
				w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "nodes", State: kueue.CheckStateReady}}
			})...)).engine(t, c.cfg)
			for range 2 {
				if d := probe(t, e, f.job(c.team, "new", 8, inRack)); d.Outcome != c.want {
					t.Errorf("%s %s %q", d.Outcome, d.Reason, d.Message)
				}
			}
		})
	}
}
