package sandbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// member is a pod of group g, which has a number of pods.
func member(name string, pods, gpus int, change ...func(map[string]any)) map[string]any {
	limits := map[string]any{"nvidia.com/gpu": fmt.Sprint(gpus)}
	m := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name,
		"labels":      map[string]any{kinds.QueueLabel: smithNS + "-localqueue", "kueue.x-k8s.io/pod-group-name": "g"},
		"annotations": map[string]any{kinds.PodGroupTotal: fmt.Sprint(pods)}},
		"spec": map[string]any{"restartPolicy": "Never", "containers": []any{
			map[string]any{"name": "c", "image": "i", "resources": map[string]any{"limits": limits}}}}}
	for _, f := range change {
		f(m)
	}
	return m
}

func note(name, value string) func(map[string]any) {
	return func(m map[string]any) { object.Set(m, value, "metadata", "annotations", name) }
}

// phase returns the phase of a pod, "gated" with the gate of Kueue, "gone" without a pod.
func (b *bench) phase(name string) string {
	b.t.Helper()
	a := b.send("GET", kinds.Pod.Path(smithNS, name), "")
	if a.code == 404 {
		return "gone"
	}
	if p := a.object(b.t); !kinds.Gated(p) {
		return object.Text(p, "status", "phase")
	}
	return "gated"
}

func (b *bench) phases(want ...string) {
	b.t.Helper()
	for i, name := range []string{"leader", "one", "two"}[:len(want)] {
		if got := b.phase(name); got != want[i] {
			b.t.Fatalf("%s is %s, want %s; %v", name, got, want[i], b.reasons(smithNS, name))
		}
	}
}

func (b *bench) workloads() int {
	b.t.Helper()
	return len(b.items(kinds.Workload.Path(smithNS, "")))
}

// The pods of a group have one Workload as soon as all are there, start together, and the
// Workload ends with the last of them.
func TestPodGroup(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, member("leader", 3, 1, lasting("10m")))
	b.create(smithNS, member("one", 3, 2, lasting("30m")))
	b.phases("gated", "gated")
	if n := b.workloads(); n != 0 || !slices.Contains(b.reasons(smithNS, "leader"), "ErrWorkloadCompose") {
		t.Fatalf("%d workloads of an incomplete group; %v", n, b.reasons(smithNS, "leader"))
	}
	b.create(smithNS, member("two", 3, 2, lasting("30m")))
	b.phases("Running", "Running", "Running")
	w := b.get(kinds.Workload, smithNS, "g")
	var sizes []int64
	for _, ps := range object.List(w, "spec", "podSets") {
		n, _ := object.Int(ps, "count")
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	if n := b.workloads(); n != 1 || !slices.Equal(sizes, []int64{1, 2}) || len(object.List(w, "metadata", "ownerReferences")) != 3 || !object.True(w, "PodsReady") {
		t.Fatalf("%d workloads, pod sets of %v, %v", n, sizes, w)
	}
	p := b.get(kinds.Pod, smithNS, "one")
	if object.Text(p, "metadata", "labels", "kueue.x-k8s.io/podset") != object.Text(p, "metadata", "annotations", "kueue.x-k8s.io/role-hash") || len(object.Map(p, "spec", "nodeSelector")) == 0 {
		t.Errorf("%v %v", p["metadata"], object.At(p, "spec", "nodeSelector"))
	}
	b.advance(15 * time.Minute)
	b.phases("Succeeded", "Running", "Running")
	w = b.get(kinds.Workload, smithNS, "g")
	if object.True(w, "Finished") || len(object.List(w, "status", "reclaimablePods")) != 1 {
		t.Fatalf("%v", w["status"])
	}
	b.advance(20 * time.Minute)
	w = b.get(kinds.Workload, smithNS, "g")
	if c := object.Condition(w, "Finished"); object.Text(c, "message") != "Pods succeeded: 3/3." || object.Text(c, "reason") != "Succeeded" {
		t.Fatalf("%v", w["status"])
	}
}

// A group waits as a whole, and loses all its pods when it is preempted.
func TestPodGroupWaits(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("first", "smith", 2, 4, lasting("10m")))
	for _, name := range []string{"leader", "one"} {
		b.create(smithNS, member(name, 2, 4, lasting("1h")))
	}
	b.phases("gated", "gated")
	if w := b.get(kinds.Workload, smithNS, "g"); object.True(w, "QuotaReserved") {
		t.Fatalf("%v", w["status"])
	}
	b.create(smithNS, member("two", 2, 4)) // one more than the group has
	b.phases("gated", "gated", "gone")
	b.advance(11 * time.Minute)
	b.phases("Running", "Running")
	b.must(200, "PATCH", kinds.Workload.Path(smithNS, "g"), `{"spec":{"active":false}}`, "Content-Type: application/merge-patch+json")
	b.phases("gone", "gone")
}

// A pod that failed can be replaced, unless a pod of the group says otherwise.
func TestPodGroupFailed(t *testing.T) {
	for _, final := range []bool{false, true} {
		b := newBench(t, "john-smith")
		b.create(smithNS, member("leader", 2, 1, lasting("10m"), note(kinds.OwnPrefix+"sandbox-outcome", "Failed")))
		change := []func(map[string]any){lasting("5m")}
		if final {
			change = append(change, note("kueue.x-k8s.io/retriable-in-group", "false"))
		}
		b.create(smithNS, member("one", 2, 1, change...))
		b.advance(11 * time.Minute)
		b.phases("Failed", "Succeeded")
		w := b.get(kinds.Workload, smithNS, "g")
		if object.True(w, "Finished") != final {
			t.Fatalf("final %t: %v", final, w["status"])
		}
		if final {
			continue
		}
		b.create(smithNS, member("two", 2, 1, lasting("5m")))
		b.phases("Failed", "Succeeded", "Running")
		b.advance(6 * time.Minute)
		if w := b.get(kinds.Workload, smithNS, "g"); !object.True(w, "Finished") {
			t.Fatalf("%v", w["status"])
		}
	}
}

// Groups that Kueue cannot make a Workload of.
func TestPodGroupRefused(t *testing.T) {
	queue := func(m map[string]any) { object.Set(m, "other", "metadata", "labels", kinds.QueueLabel) }
	for why, second := range map[string]map[string]any{
		"different queue names":                                   member("one", 2, 1, queue),
		"different 'kueue.x-k8s.io/pod-group-total-count' values": member("one", 1, 1, lasting("1h")),
	} {
		b := newBench(t, "john-smith")
		b.create(smithNS, member("leader", 2, 1))
		b.create(smithNS, second)
		if b.workloads() != 0 || b.phase("leader") != "gated" || !slices.Contains(b.reasons(smithNS, "leader"), "ErrWorkloadCompose") {
			t.Errorf("%s: %d workloads, %v", why, b.workloads(), b.reasons(smithNS, "leader"))
		}
	}
	b := newBench(t, "john-smith")
	b.create(smithNS, member("leader", 3, 1, note("kueue.x-k8s.io/pod-group-fast-admission", "true")))
	if n, _ := object.Int(object.List(b.get(kinds.Workload, smithNS, "g"), "spec", "podSets")[0], "count"); n != 3 || b.phase("leader") != "Running" {
		t.Errorf("fast admission: %d pods", n)
	}
}

// Limits without requests count on the nodes, too: the nodes have 4 GPUs each.
func TestLimitsCountOnNodes(t *testing.T) {
	b := newBench(t, "john-smith")
	alone := func(m map[string]any) {
		delete(object.Map(m, "metadata"), "labels")
		delete(object.Map(m, "metadata"), "annotations")
	}
	b.create(smithNS, member("leader", 1, 3, alone))
	b.create(smithNS, member("one", 1, 3, alone))
	b.create(smithNS, member("two", 1, 5, alone))
	b.phases("Running", "Running", "Pending")
	node := func(name string) string { return object.Text(b.get(kinds.Pod, smithNS, name), "spec", "nodeName") }
	if node("leader") == node("one") {
		t.Errorf("pods of 3 GPUs share node %s", node("one"))
	}
}

// The Workload of a group goes with its last pod, however the pods go: with their owner, or with their node.
func TestGroupGoesWithItsPods(t *testing.T) {
	b := newBench(t, "john-smith")
	owner := b.must(201, "POST", kinds.ConfigMap.Path(smithNS, ""), `{"metadata":{"name":"owner"}}`)
	for _, name := range []string{"leader", "one"} {
		b.create(smithNS, member(name, 2, 1))
		b.must(200, "PATCH", kinds.Pod.Path(smithNS, name), fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`,
			object.Text(owner, "metadata", "uid")), mergePatch)
	}
	if n := b.workloads(); n != 1 {
		t.Fatalf("%d workloads", n)
	}
	b.must(200, "DELETE", kinds.ConfigMap.Path(smithNS, "owner"), "")
	if b.phases("gone", "gone"); b.workloads() != 0 {
		t.Error("the Workload outlives the owner of its pods")
	}
	b.create(smithNS, member("leader", 1, 1))
	b.phases("Running")
	b.must(200, "DELETE", kinds.Node.Path("", object.Text(b.get(kinds.Pod, smithNS, "leader"), "spec", "nodeName")), "")
	if b.phases("gone"); b.workloads() != 0 {
		t.Error("the Workload outlives the node of its pod")
	}
}
