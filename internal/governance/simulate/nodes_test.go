package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// withNodes adds nodes of 8 GPUs, and pods of jobs: "node namespace/job gpus".
func withNodes(w simulate.World, nodes int, pods ...string) simulate.World {
	for i := range nodes {
		eight := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8"), "pods": resource.MustParse("100")}
		w.Objects = append(w.Objects, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{kinds.InstanceTypeLabel: "a100"}},
			Status: corev1.NodeStatus{Capacity: eight, Allocatable: eight,
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	for i, text := range pods {
		var on, job string
		var gpus int64
		if _, err := fmt.Sscan(text, &on, &job, &gpus); err != nil {
			panic(err)
		}
		namespace, name, _ := strings.Cut(job, "/")
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", i), Namespace: namespace, Labels: map[string]string{"training.kubeflow.org/job-name": name}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI)}}}}}}
		if on != "-" {
			p.Spec.NodeName = on
		}
		w.Objects = append(w.Objects, p)
	}
	return w
}

// TestRoomOnNodes: quota alone is not enough. two (2 GPUs) runs in a, four (4) in b; low
// (4) waits in a.
func TestRoomOnNodes(t *testing.T) {
	running := []string{"n0 a/two 2", "n1 b/four 4"}
	for _, c := range []struct {
		name    string
		nodes   int
		pods    []string
		changes []simulate.Change
		want    string
	}{
		{"all fit", 2, running, nil, ""},
		{"a job that runs keeps its nodes", 2, []string{"n0 a/two 8", "n1 b/four 8"}, []simulate.Change{change(t, simulate.RemoveJob, "low")},
			"low: WaitsForNodes NodesFull > -"},
		{"pods of nobody take space", 2, append(running, "n0 x/other 6", "n1 x/other 4"), nil, ""},
		{"lost pods find another node", 2, running, []simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.RemoveNodes, "n1")},
			"low: Admitted 4/0 > -"},
		{"lost pods find no node", 2, []string{"n0 a/two 2", "n1 b/four 4", "n0 x/other 4"},
			[]simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.RemoveNodes, "n1")},
			"four: Admitted 4/0 > WaitsForNodes NodesFull; low: Admitted 4/0 > -"},
		{"more than a node has", 2, running, []simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.Set, "b.quota=30"), addJob("b", "wide", 12)},
			"low: Admitted 4/0 > -; wide: - > WaitsForNodes NodesTooSmall"},
		{"the job of a removed job's nodes", 1, []string{"n0 a/two 2", "n0 b/four 4"},
			[]simulate.Change{change(t, simulate.RemoveJob, "four")},
			"four: Admitted 4/0 > -; low: WaitsForNodes NodesFull > Admitted 4/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := withNodes(world(t, "lend-three.yaml"), c.nodes, c.pods...)
			if got := short(run(t, w, 0, c.changes...)); !equalParts(got, c.want) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
	// Without the pods the answer is unknown.
	w := withNodes(world(t, "lend-three.yaml"), 1)
	w.NoPods = true
	if got := short(run(t, w, 0, change(t, simulate.RemoveJob, "low"), addJob("b", "large", 5))); !strings.Contains(got, "large: - > Admitted") {
		t.Error(got)
	}
}

// equalParts compares reports whose jobs are in any order.
func equalParts(a, b string) bool {
	x, y := strings.Split(a, "; "), strings.Split(b, "; ")
	seen := map[string]int{}
	for _, p := range x {
		seen[p]++
	}
	for _, p := range y {
		seen[p]--
	}
	for _, n := range seen {
		if n != 0 {
			return false
		}
	}
	return len(x) == len(y)
}

// TestRemovedNodes: the nodes that go are named, with their pods; quota that the others
// do not cover is a problem.
func TestRemovedNodes(t *testing.T) {
	w := withNodes(world(t, "lend-three.yaml"), 2, "n0 a/two 2", "n1 b/four 4", "n1 b/four 1")
	for _, o := range w.Objects {
		if f, ok := o.(*kueue.ResourceFlavor); ok {
			f.Spec.NodeLabels = map[string]string{kinds.InstanceTypeLabel: "a100"}
		}
	}
	r := run(t, w, 0, change(t, simulate.RemoveNodes, "a100=1"))
	if got := fmt.Sprint(r.RemovedNodes); got != "[{n0 a100 1}]" {
		t.Error(got)
	}
	if len(r.Problems) != 1 || r.Problems[0].Code != "OverCapacity" || r.Problems[0].Change != simulate.Added {
		t.Errorf("%+v", r.Problems)
	}
	if r := run(t, w, 0); len(r.Problems) != 0 {
		t.Errorf("%+v", r.Problems)
	}
}
