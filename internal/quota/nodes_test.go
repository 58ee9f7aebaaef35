package quota

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func gpuPod(name, on, phase string, gpus int64, labels map[string]string) state.Pod {
	return state.Pod{Meta: state.Meta{Name: name, Labels: labels}, NodeName: on, Phase: phase, Requests: state.Amounts{gpu: gpus}}
}

func nodesState() *state.State {
	away, cordoned, old := gpuNode("away", "Schedulable", 8), gpuNode("cordoned", "Schedulable", 8), gpuNode("old", "", 8)
	away.Ready, cordoned.Unschedulable = false, true
	cpuNode := state.Node{Meta: state.Meta{Name: "cpu", Labels: map[string]string{kinds.InstanceTypeLabel: "ml.m5.2xlarge", kinds.NodeHealthLabel: "Schedulable"}}, Ready: true,
		Capacity: state.Amounts{"cpu": 8000}, Allocatable: state.Amounts{"cpu": 7900}}
	owned := gpuPod("owned", "b", "Running", 2, nil)
	owned.Owners = []state.Owner{{Kind: "Job", UID: "job-1", Controller: true}}
	w := running("a", 2)
	w.OwnerUID = "job-1"
	return &state.State{
		Nodes: []state.Node{gpuNode("a", "Schedulable", 8), gpuNode("b", "Schedulable", 8), gpuNode("bad", "UnschedulablePendingReplacement", 8), away, cordoned, old, cpuNode},
		Pods: []state.Pod{
			gpuPod("kueue", "a", "Running", 4, map[string]string{"kueue.x-k8s.io/podset": "main"}),
			gpuPod("done", "a", "Succeeded", 4, nil), gpuPod("failed", "a", "Failed", 4, nil),
			gpuPod("shell", "a", "Running", 1, map[string]string{kinds.QueueLabel: "made-up"}), owned, gpuPod("waits", "", "Pending", 8, nil), gpuPod("elsewhere", "unknown", "Running", 8, nil),
			gpuPod("starting", "old", "Pending", 3, nil), gpuPod("lost", "bad", "Running", 8, nil),
		},
		Workloads: []state.Workload{w},
		Flavors:   []state.ResourceFlavor{flavor("f")},
		ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "hyperpod-ns-t-clusterqueue"}, ResourceGroups: group(12, -1, -1),
			Reservation: []state.FlavorUsage{{Name: "f", Resources: []state.ResourceUsage{{Name: gpu, Total: *resource.NewQuantity(16, resource.DecimalSI)}}}}},
			{Meta: state.Meta{Name: "other"}, ResourceGroups: group(20, -1, -1)}},
		LocalQueues: []state.LocalQueue{{Meta: state.Meta{Name: "l", Namespace: "hyperpod-ns-t"}, ClusterQueue: "hyperpod-ns-t-clusterqueue"},
			{Meta: state.Meta{Name: "l", Namespace: "plain"}, ClusterQueue: "other"}},
	}
}

func TestCapacity(t *testing.T) {
	s := nodesState()
	for name, all := range map[string][]Capacity{"instance type": ByInstanceType(s), "node group": ByNodeGroup(s)} {
		if len(all) != 2 {
			t.Fatalf("by %s: %+v", name, all)
		}
		c := all[1]
		if name == "node group" && c.Name != "workers" || name == "instance type" && c.Name != "ml.p5.48xlarge" {
			t.Errorf("by %s: the second is %s", name, c.Name)
		}
		if got := fmt.Sprint(c.Nodes, c.Healthy, c.Unhealthy, c.Unknown, c.NotReady, c.Cordoned); got != "6 4 1 1 1 1" {
			t.Errorf("by %s: nodes, healthy, unhealthy, unknown, not ready, cordoned: %s", name, got)
		}
		if got := fmt.Sprint(c.Capacity[gpu], c.HealthyAllocatable[gpu], c.Governed[gpu], c.Ungoverned[gpu]); got != "48 32 6 12" {
			t.Errorf("by %s: capacity, healthy, governed, ungoverned: %s", name, got)
		}
		if want := int64(32); name == "instance type" && c.Reserved[gpu] != want {
			t.Errorf("reserved %d", c.Reserved[gpu])
		}
	}
	// Nodes that are in no group have the same labels as the others.
	for _, f := range CapacityMetrics(CapacityDocument(ByNodeGroup(s), true, nil), true) {
		for _, sample := range f.Samples {
			if sample.Labels[0].Name != "node_group" {
				t.Errorf("%s has labels %v", f.Name, sample.Labels)
			}
		}
	}
	s.Missing = []state.Missing{forbidden(kinds.Pod)}
	if c := ByInstanceType(s)[1]; c.Governed != nil || c.Ungoverned != nil {
		t.Errorf("use is reported although pods cannot be read: %+v", c)
	}
	if got := OverCapacities(nil); got != nil {
		t.Errorf("without nodes: %+v", got)
	}
}

// TestPlainFlavor: a flavor that selects no instance type is for every node: its
// quota is held against all of them.
func TestPlainFlavor(t *testing.T) {
	for labels, selects := range map[string]map[string]string{"no": nil, "other": {"zone": "a"}} {
		for quota, want := range map[int64]int{16: 0, 17: 1} {
			s := &state.State{Nodes: []state.Node{gpuNode("n", "", 8), gpuNode("m", "", 8)},
				Flavors:       []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}, NodeLabels: selects}, flavor("typed")},
				ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "q"}, ResourceGroups: group(quota, -1, -1)}}}
			if got := OverCapacities(ByInstanceType(s)); len(got) != want || want > 0 && got[0].Subject != "f" {
				t.Errorf("%s labels, quota of %d on 16: %+v", labels, quota, got)
			}
		}
	}
}

// TestPlainFlavorBesideAnother: a flavor that selects no type has no problem when nodes of another type are missing.
func TestPlainFlavorBesideAnother(t *testing.T) {
	other := gpuNode("m", "", 8)
	other.Labels[kinds.InstanceTypeLabel] = "ml.g5.48xlarge"
	s := &state.State{Nodes: []state.Node{gpuNode("n", "", 8), other},
		Flavors: []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}, flavor("typed")}}
	queues := func(plain, typed int64) {
		groups := append(group(plain, -1, -1), group(typed, -1, -1)...)
		groups[1].Flavors[0].Name = "typed"
		s.ClusterQueues = []state.ClusterQueue{{Meta: state.Meta{Name: "a"}, ResourceGroups: groups[:1]}, {Meta: state.Meta{Name: "b"}, ResourceGroups: groups[1:]}}
	}
	for _, test := range []struct {
		plain, typed int64
		want         string
	}{{8, 8, ""}, {8, 100, "ml.p5.48xlarge"}, {9, 8, "f"}, {9, 100, "f ml.p5.48xlarge"}} {
		queues(test.plain, test.typed)
		var got []string
		for _, p := range OverCapacities(ByInstanceType(s)) {
			got = append(got, p.Subject)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("quota of %d beside %d: %q, want %q", test.plain, test.typed, text, test.want)
		}
	}
}

// TestDevices: v2's three figures, where v2 was wrong: every pod counts whoever
// started it, finished ones do not, nodes that take no jobs offer nothing, a team
// that borrows has 0 left and not less, types without accelerators have none.
func TestDevices(t *testing.T) {
	s := nodesState()
	all := DevicesOf(s, []string{"hyperpod-ns-t", "plain", "no-queue"})
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	m5, p5 := all[0], all[1]
	if m5.InstanceType != "ml.m5.2xlarge" || m5.Available != nil || m5.Namespaces["hyperpod-ns-t"].Total != nil || m5.TotalNodes != 1 || m5.Schedulable != 1 {
		t.Errorf("%+v", m5)
	}
	// a: 8-5, b: 8-2, old: 8-3; bad, away and cordoned offer nothing.
	if p5.Available == nil || *p5.Available != 14 || p5.TotalNodes != 6 || p5.Schedulable != 4 || p5.DeepHealthPassed != nil {
		t.Errorf("%+v", p5)
	}
	for ns, want := range map[string]string{"hyperpod-ns-t": "12 0", "plain": "20 20", "no-queue": "<nil> <nil>"} {
		d := p5.Namespaces[ns]
		got := "<nil> <nil>"
		if d.Total != nil {
			got = fmt.Sprint(*d.Total, *d.Available)
		}
		if got != want {
			t.Errorf("%s: total and available %s, want %s", ns, got, want)
		}
	}
	// Trainium: one resource under two names on a node counts once.
	trn := state.Node{Meta: state.Meta{Name: "n", Labels: map[string]string{kinds.InstanceTypeLabel: "ml.trn1.32xlarge", kinds.DeepHealthLabel: "Passed"}}, Ready: true}
	trn.Capacity = state.Amounts{"aws.amazon.com/neurondevice": 16, "aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 32}
	trn.Allocatable = trn.Capacity
	got := DevicesOf(&state.State{Nodes: []state.Node{trn}, Pods: []state.Pod{{NodeName: "n", Phase: "Running", Requests: state.Amounts{"aws.amazon.com/neuron": 4}}}}, nil)
	if len(got) != 1 || *got[0].Available != 12 || *got[0].DeepHealthPassed != 1 {
		t.Errorf("%+v", got)
	}
}
