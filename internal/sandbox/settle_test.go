package sandbox

import (
	"context"
	"slices"
	"strings"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/control"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// When the scheduler does not settle within its cycles, it stops, with a warning to
// the user and an event.
func TestDoesNotSettle(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("borrower", "smith", 2, 4))
	now := b.s.Now()
	st := b.s.store.Clone()
	m := map[string]any{}
	if err := kjson.Unmarshal([]byte(mustJSON(t, pytorch("owner", "john", 3, 4))), &m); err != nil {
		t.Fatal(err)
	}
	object.Set(m, johnNS, "metadata", "namespace")
	if _, err := api.NewServer(fixed{now: now}).Insert(st, m); err != nil {
		t.Fatal(err)
	}
	// One cycle is enough to preempt, not to admit.
	r, err := control.Run(context.Background(), st, now, now, control.Config{MaxCycles: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the policy never converges: after 1 scheduling cycles") {
		t.Errorf("warnings %q", r.Warnings)
	}
	told := slices.ContainsFunc(st.List(kinds.Event.FullName(), smithNS), func(e *store.Object) bool {
		return object.Text(e.Map(), "reason") == "DoesNotSettle" && object.Text(e.Map(), "involvedObject", "kind") == "Workload"
	})
	if !told {
		t.Error("there is no event about it")
	}
	if j := st.Get(kinds.PyTorchJob.FullName(), smithNS, "borrower"); !object.True(j.Map(), "Suspended") {
		t.Errorf("the preempted job: %v", object.At(j.Map(), "status"))
	}
	// With enough cycles the same state settles.
	if r, err = control.Run(context.Background(), st, now, now, control.Config{}); err != nil || len(r.Warnings) != 0 {
		t.Errorf("%v, warnings %q", err, r.Warnings)
	}
	if j := st.Get(kinds.PyTorchJob.FullName(), johnNS, "owner"); !object.True(j.Map(), "Running") {
		t.Errorf("the owner: %v", object.At(j.Map(), "status"))
	}
}

// A priority that does not exist keeps the job suspended and is reported.
func TestUnknownPriority(t *testing.T) {
	b := newBench(t, "john-smith")
	a := b.send("POST", kinds.PyTorchJob.Path(smithNS, ""), mustJSON(t, pytorch("j", "smith", 1, 4, priority("urgent"))))
	if a.code != 201 || !strings.Contains(a.header.Get("Warning"), "urgent") {
		t.Errorf("%d %v", a.code, a.header)
	}
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); !object.Bool(j, "spec", "runPolicy", "suspend") || len(b.podPhases(smithNS, "j")) != 0 {
		t.Errorf("it is not suspended: %v", j)
	}
	b.must(200, "PATCH", kinds.PyTorchJob.Path(smithNS, "j"), `{"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"inference-priority"}}}`, mergePatch)
	if w := b.workload(smithNS, "j"); object.At(w, "spec", "priority") != int64(100) || !object.True(w, "Admitted") {
		t.Errorf("workload %v", object.At(w, "spec", "priority"))
	}
	// A change of priority follows to the workload of a running job.
	b.must(200, "PATCH", kinds.PyTorchJob.Path(smithNS, "j"), `{"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"training-priority"}}}`, mergePatch)
	if w := b.workload(smithNS, "j"); object.At(w, "spec", "priority") != int64(40) || !object.True(w, "Admitted") {
		t.Errorf("workload %v", w)
	}
}

// Deleting a workload restarts its job, as Kueue makes a new one.
func TestWorkloadDeleted(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4))
	w := b.workload(smithNS, "j")
	b.must(200, "DELETE", kinds.Workload.Path(smithNS, object.Text(w, "metadata", "name")), "")
	again := b.workload(smithNS, "j")
	if object.Text(again, "metadata", "uid") == object.Text(w, "metadata", "uid") || !object.True(again, "Admitted") {
		t.Errorf("workload %v", again["metadata"])
	}
	if p := b.podPhases(smithNS, "j"); p["j-worker-0"] != "Running" {
		t.Errorf("pods %v", p)
	}
}

// A node that goes takes its pods with it: they wait for another.
func TestNodes(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4))
	node := object.Text(b.get(kinds.Pod, smithNS, "j-worker-0"), "spec", "nodeName")
	b.must(200, "DELETE", kinds.Node.Path("", node), "")
	moved := b.get(kinds.Pod, smithNS, "j-worker-0")
	if n := object.Text(moved, "spec", "nodeName"); n == node || n == "" || object.Text(moved, "status", "phase") != "Running" {
		t.Errorf("the pod is on %q", n)
	}
	for _, n := range b.items(kinds.Node.Path("", "")) {
		b.must(200, "PATCH", kinds.Node.Path("", object.Text(n, "metadata", "name")), `{"spec":{"unschedulable":true}}`, mergePatch)
	}
	b.must(200, "DELETE", kinds.Pod.Path(smithNS, "j-worker-0"), "")
	waits := b.get(kinds.Pod, smithNS, "j-worker-0")
	if c := object.Condition(waits, "PodScheduled"); object.Text(c, "message") != "0/3 nodes are available: 3 node(s) were unschedulable." {
		t.Errorf("condition %v", c)
	}
	b.must(201, "POST", kinds.Node.Path("", ""), `{"metadata":{"name":"new","labels":{"node.kubernetes.io/instance-type":"ml.g5.12xlarge","beta.kubernetes.io/instance-type":"ml.g5.12xlarge","sagemaker.amazonaws.com/compute-type":"hyperpod"}},`+
		`"status":{"capacity":{"cpu":"48","memory":"192Gi","nvidia.com/gpu":"4","pods":"100"}}}`)
	if p := b.get(kinds.Pod, smithNS, "j-worker-0"); object.Text(p, "spec", "nodeName") != "new" {
		t.Errorf("pod %v", object.At(p, "status"))
	}
}
