package admission

import (
	"context"
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestEndlessRequest: a workload that asks for more than 64 bits count is pending like
// any other that exceeds its quota, and blocks a StrictFIFO queue as its head.
func TestEndlessRequest(t *testing.T) {
	f := newFixture().team("a", "", "8", strict)
	f.add(f.job("a", "endless", math.MaxInt64, pods(4, 0)), f.job("a", "small", 1))
	e := f.engine(t, Config{})
	if tl := run(t, e); short(tl) != "1 Pending a/endless" {
		t.Error(short(tl))
	}
	p := e.Pending("a")
	if len(p) != 2 || p[0].Name != "endless" || p[0].Reason != kueue.WorkloadQuotaReservedReasonExceedsMaxQuota {
		t.Errorf("%+v", p)
	}
	if d := probe(t, e, f.job("a", "later", 1)); d.Outcome != Waits || d.Behind != 2 {
		t.Errorf("%+v", d)
	}
}

// TestTwoTopologies: where Kueue chooses flavors of two topologies, it gives no reason.
// The workload does not wait for quota.
func TestTwoTopologies(t *testing.T) {
	f := newFixture()
	topology(f, 2)
	f.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "cpus"}, Spec: kueue.ResourceFlavorSpec{
		NodeLabels: map[string]string{"pool": "a100"}, TopologyName: ptr.To(kueue.TopologyReference("racks")),
	}})
	f.team("a", "", "8", func(cq *kueue.ClusterQueue) {
		cq.Spec.ResourceGroups = append(cq.Spec.ResourceGroups, kueue.ResourceGroup{
			CoveredResources: []corev1.ResourceName{corev1.ResourceCPU},
			Flavors:          []kueue.FlavorQuotas{{Name: "cpus", Resources: []kueue.ResourceQuota{{Name: corev1.ResourceCPU, NominalQuota: resource.MustParse("8")}}}},
		})
	})
	d := probe(t, f.engine(t, Config{}), f.job("a", "w", 1, inRack, func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
	}))
	if d.Outcome != Never || d.Reason != kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed || !strings.Contains(d.Message, "more than one TAS flavor") {
		t.Errorf("%+v", d)
	}
}

// TestPreemptedWithoutQueue: a preempted workload whose LocalQueue is gone is
// misconfigured, not pending evaluation.
func TestPreemptedWithoutQueue(t *testing.T) {
	f := newFixture().team("a", "", "4", preempts(kueue.PreemptionPolicyLowerPriority, ""))
	gone := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "gone", Namespace: "a"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "a"}}
	f.add(gone, f.job("a", "low", 4, running, func(w *kueue.Workload) { w.Spec.QueueName = "gone" }))
	e := f.engine(t, Config{})
	if err := e.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if err := e.Load(t.Context(), f.job("a", "high", 4, prio(10))); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	p := e.Pending("")
	if len(p) != 1 || p[0].Name != "low" || p[0].Reason != kueue.WorkloadQuotaReservedReasonMisconfigured {
		t.Errorf("%+v", p)
	}
}

// TestAdmittedWithoutAdmission: a variant that says it is admitted, but not to what, admits nobody.
func TestAdmittedWithoutAdmission(t *testing.T) {
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionTryPreferredFlavors, ""))
	f.add(f.job("a", "parent", 4, func(w *kueue.Workload) { w.UID = "parent" }), f.job("a", "odd", 4, variant("a100"), running, func(w *kueue.Workload) { w.Status.Admission = nil }))
	e := f.engine(t, Config{Gates: concurrentOn})
	if got, want := households(e, "a/parent"), "pending, a100 admitted, spare pending"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := short(run(t, e)); got != "1 Admitted a/parent" {
		t.Error(got)
	}
}

// TestMalformedTopology: what the API server would never store is reported.
func TestMalformedTopology(t *testing.T) {
	f := newFixture()
	topology(f, 2)
	f.team("a", "", "8")
	for name, c := range map[string]struct {
		object func() error
		want   string
	}{
		"a Topology without levels": {func() error {
			return f.engine(t, Config{}).Load(t.Context(), &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "flat"}})
		}, "Topology flat: it has no levels"},
		"an assignment without values": {func() error {
			w := f.job("a", "placed", 8, running, inRack)
			w.Status.Admission.PodSetAssignments[0].TopologyAssignment = &kueue.TopologyAssignment{
				Levels: []string{corev1.LabelHostname}, Slices: []kueue.TopologyAssignmentSlice{{DomainCount: 1, PodCounts: kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To[int32](1)}}},
			}
			if Placed(&w.Status.Admission.PodSetAssignments[0]) != nil {
				t.Error("it has a place")
			}
			return f.engine(t, Config{}).Load(t.Context(), w)
		}, "slice 0 has values of 0 of 1 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.object(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestBeyondBorrowingLimit: a queue that has more than its borrowing limit reserves less than nothing, so that in Kueue a
// preemption in it frees less.
func TestBeyondBorrowingLimit(t *testing.T) {
	f := newFixture().team("idle", "all", "11").team("a", "all", "9", preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)).
		team("over", "all", "4", borrowingLimit("3")).team("c", "all", "4")
	f.add(f.job("over", "big", 16, running, prio(-1)), f.job("c", "runs", 8, running, prio(5)),
		f.job("a", "reclaims", 9), f.job("over", "small", 3), f.job("c", "more", 4))
	e := f.engine(t, Config{})
	tl, err := e.Run(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := short(tl); got != "1 Preempting a/reclaims; 1 Pending over/small; 1 Skipped c/more; 1 Preempted over/big by a/reclaims" {
		t.Error(got)
	}
}
