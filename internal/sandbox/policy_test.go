package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const inUse = "kueue.x-k8s.io/resource-in-use"

// Requests that a cluster with Kueue refuses get its answers.
func TestRefusals(t *testing.T) {
	b := newBench(t, "john-smith")
	queue := kinds.ClusterQueue.Path("", johnNS+"-clusterqueue")
	local := kinds.LocalQueue.Path(johnNS, johnNS+"-localqueue")
	flavors := "/spec/resourceGroups/0/flavors"
	resources := flavors + "/0/resources/0"
	b.create(smithNS, pytorch("running", "smith", 1, 4))
	job := kinds.PyTorchJob.Path(smithNS, "running")
	for _, c := range []struct {
		name, path, patch string
		code              int
		says              string
	}{
		{"a negative quota", queue, `[{"op":"replace","path":"` + resources + `/nominalQuota","value":"-3"}]`, 403,
			`admission webhook "vclusterqueue.kb.io" denied the request: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: "-3": must be greater than or equal to 0`},
		{"a flavor twice", queue, `[{"op":"copy","from":"` + flavors + `/0","path":"` + flavors + `/-"}]`, 422, `Duplicate value: {"name":"ml.g5.12xlarge"}`},
		{"a borrowing limit without a cohort", queue, `[{"op":"remove","path":"/spec/cohortName"}]`, 422, "spec: Invalid value: borrowingLimit must be nil when cohort is empty"},
		{"a lending limit over the quota", queue, `[{"op":"add","path":"` + resources + `/lendingLimit","value":"9000"}]`, 403, `lendingLimit: Invalid value: "9k": must be less than or equal to the nominalQuota`},
		{"an unknown strategy", queue, `[{"op":"replace","path":"/spec/queueingStrategy","value":"FIFO"}]`, 422, `spec.queueingStrategy: Unsupported value: "FIFO": supported values: "StrictFIFO", "BestEffortFIFO"`},
		{"no quantity", queue, `[{"op":"replace","path":"` + resources + `/nominalQuota","value":"abc"}]`, 422, `resources[0].nominalQuota in body should match '^`},
		{"resources that do not match", queue, `[{"op":"replace","path":"` + resources + `/name","value":"amd.com/gpu"}]`, 403, `must match the name in coveredResources`},
		{"another ClusterQueue", local, `[{"op":"replace","path":"/spec/clusterQueue","value":"other"}]`, 422, `spec.clusterQueue: Invalid value: "other": field is immutable`},
		{"the queue of a running job", job, `[{"op":"replace","path":"/metadata/labels/kueue.x-k8s.io~1queue-name","value":"other"}]`, 403,
			`admission webhook "vpytorchjob.kb.io" denied the request: metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "other": field is immutable`},
		{"a priority class for a running job without one", job, `[{"op":"add","path":"/metadata/labels/kueue.x-k8s.io~1priority-class","value":"training-priority"}]`, 403,
			`WorkloadPriorityClass cannot be added to a non-suspended workload`},
	} {
		a := b.send("PATCH", c.path, c.patch, jsonPatch)
		if message := object.Text(a.object(t), "message"); a.code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%s: %d %s, want %d %s", c.name, a.code, message, c.code, c.says)
		}
	}
	for _, c := range []struct {
		name, path, body, says string
		code                   int
	}{
		{"a topology without labels", kinds.ResourceFlavor.Path("", ""), `{"metadata":{"name":"f"},"spec":{"topologyName":"t"}}`, "at least one nodeLabel is required when topology is set", 422},
		{"a taint twice", kinds.ResourceFlavor.Path("", ""), `{"metadata":{"name":"f"},"spec":{"nodeTaints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]}}`,
			"taints must be unique by key and effect pair", 403},
		{"a topology level twice", kinds.Topology.Path("", ""), `{"metadata":{"name":"t"},"spec":{"levels":[{"nodeLabel":"a"},{"nodeLabel":"a"}]}}`, "spec.levels: Invalid value: must be unique", 422},
		{"a run time of zero", kinds.PyTorchJob.Path(smithNS, ""), mustJSON(t, pytorch("zero", "smith", 1, 1, func(m map[string]any) {
			object.Set(m, "0", "metadata", "labels", "kueue.x-k8s.io/max-exec-time-seconds")
		})), "should be greater than 0", 403},
	} {
		a := b.send("POST", c.path, c.body)
		if message := object.Text(a.object(t), "message"); a.code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%s: %d %s, want %d %s", c.name, a.code, message, c.code, c.says)
		}
	}
}

// A ClusterQueue stays while workloads reserve its quota, and admits no new ones. Its
// flavor stays while the queue names it.
func TestDeletedWhileInUse(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("running", "smith", 1, 4, lasting("1h")))
	queue := kinds.ClusterQueue.Path("", smithNS+"-clusterqueue")
	flavor := kinds.ResourceFlavor.Path("", "ml.g5.12xlarge")
	for _, path := range []string{flavor, queue} {
		m := b.must(200, "DELETE", path, "")
		if object.Text(m, "metadata", "deletionTimestamp") == "" || object.List(m, "metadata", "finalizers")[0] != inUse {
			t.Errorf("%s: %v", path, m["metadata"])
		}
	}
	if c := object.Condition(b.get(kinds.ClusterQueue, "", smithNS+"-clusterqueue"), "Active"); object.Text(c, "reason") != "Terminating" {
		t.Errorf("condition %v", c)
	}
	b.create(smithNS, pytorch("late", "smith", 1, 1))
	if w := b.workload(smithNS, "late"); object.True(w, "QuotaReserved") {
		t.Error("the deleted queue admits a job")
	}
	if w := b.workload(smithNS, "running"); !object.True(w, "Admitted") {
		t.Error("the running job lost its quota")
	}
	b.advance(2 * time.Hour)
	if a := b.send("GET", queue, ""); a.code != 404 {
		t.Errorf("the unused queue: %d", a.code)
	}
	if a := b.send("GET", flavor, ""); a.code != 200 {
		t.Errorf("the flavor that john's queue names: %d", a.code)
	}
	b.must(200, "DELETE", kinds.ClusterQueue.Path("", johnNS+"-clusterqueue"), "")
	if a := b.send("GET", flavor, ""); a.code != 404 {
		t.Errorf("the unused flavor: %d", a.code)
	}
}

// A job without a queue gets the LocalQueue named default of its namespace.
func TestDefaultQueue(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", kinds.LocalQueue.Path(smithNS, ""), `{"metadata":{"name":"default"},"spec":{"clusterQueue":"`+smithNS+`-clusterqueue"}}`)
	j := b.create(smithNS, pytorch("j", "smith", 1, 1, func(m map[string]any) { delete(object.Map(m, "metadata"), "labels") }))
	if q := object.Text(j, "metadata", "labels", kinds.QueueLabel); q != "default" {
		t.Errorf("queue %q", q)
	}
	if w := b.workload(smithNS, "j"); !object.True(w, "Admitted") {
		t.Errorf("workload %v", w["status"])
	}
}

// Another value of a WorkloadPriorityClass is that of its workloads too, as with Kueue.
func TestValueOfPriorityClass(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("running", "smith", 1, 4, func(m map[string]any) {
		object.Set(m, "training-priority", "metadata", "labels", kinds.PriorityLabel)
	}))
	b.create(smithNS, pytorch("other", "smith", 1, 1))
	priorities := func() string {
		var out []string
		for _, w := range object.List(b.must(200, "GET", kinds.Workload.Path(smithNS, ""), ""), "items") {
			n, _ := object.Int(w, "spec", "priority")
			out = append(out, fmt.Sprintf("%s %d", object.Text(object.List(w, "metadata", "ownerReferences")[0], "name"), n))
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	before := priorities()
	if a := b.send("PATCH", kinds.WorkloadPriorityClass.Path("", "training-priority"), `[{"op":"replace","path":"/value","value":91}]`, jsonPatch); a.code != 200 {
		t.Fatalf("%d %v", a.code, a.object(t))
	}
	if got := priorities(); got != "other 0, running 91" {
		t.Errorf("%s, before %s", got, before)
	}
}
