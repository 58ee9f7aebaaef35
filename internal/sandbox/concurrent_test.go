package sandbox

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// TestConcurrentAdmission: with a policy of concurrent admission a job has a variant for each flavor. It keeps its quota
// when the sandbox is opened again, and the variants end with it.
func TestConcurrentAdmission(t *testing.T) {
	b := newBench(t, "john-smith")
	config := kinds.ConfigMap.Path("kueue-system", "kueue-manager-config")
	old := object.Text(b.must(200, "GET", config, ""), "data", "controller_manager_config.yaml")
	b.must(200, "PATCH", config, mustJSON(t, map[string]any{"data": map[string]any{"controller_manager_config.yaml": old + "\nfeatureGates: {ConcurrentAdmission: true}\n"}}), mergePatch)
	queue := smithNS + "-clusterqueue"
	b.must(201, "POST", kinds.ResourceFlavor.Path("", ""), `{"metadata":{"name":"spare"}}`)
	// The policy is immutable: another queue of the same name.
	spec := b.get(kinds.ClusterQueue, "", queue)["spec"].(map[string]any)
	spec["queueingStrategy"], spec["concurrentAdmissionPolicy"] = "BestEffortFIFO", map[string]any{"migration": map[string]any{"mode": "TryPreferredFlavors"}}
	groups := mustJSON(t, spec["resourceGroups"])
	group := spec["resourceGroups"].([]any)[0].(map[string]any)
	flavors := group["flavors"].([]any)
	spare := maps.Clone(flavors[0].(map[string]any))
	spare["name"] = "spare"
	group["flavors"] = append(slices.Clone(flavors), spare)
	b.must(200, "DELETE", kinds.ClusterQueue.Path("", queue), "")
	b.must(201, "POST", kinds.ClusterQueue.Path("", ""), mustJSON(t, map[string]any{"metadata": map[string]any{"name": queue}, "spec": spec}))
	b.create(smithNS, pytorch("one", "smith", 1, 4))
	states := func() (parents, variants int) {
		for _, w := range b.items(kinds.Workload.Path(smithNS, "")) {
			if !object.True(w, "Admitted") {
				continue
			}
			if object.Text(object.List(w, "metadata", "ownerReferences")[0], "kind") == "Workload" {
				variants++
			} else {
				parents++
			}
		}
		return parents, variants
	}
	if p, v := states(); p != 1 || v != 1 {
		t.Errorf("%d jobs and %d variants are admitted: %v", p, v, b.items(kinds.Workload.Path(smithNS, "")))
	}
	reserving := func(want int64) {
		t.Helper()
		if n, _ := object.Int(b.get(kinds.ClusterQueue, "", queue), "status", "reservingWorkloads"); n != want {
			t.Errorf("%d workloads reserve quota, want %d", n, want)
		}
	}
	reserving(1)
	s, err := Open(b.path, b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.s, b.url = s, serve(t, s)
	b.advance(time.Minute)
	if p, v := states(); p != 1 || v != 1 {
		t.Errorf("opened again: %d jobs and %d variants are admitted", p, v)
	}
	for _, r := range b.reasons(smithNS, object.Text(b.workload(smithNS, "one"), "metadata", "name")) {
		if strings.Contains(r, "Evicted") {
			t.Errorf("event %s", r)
		}
	}
	all := func() int { return len(b.items(kinds.Workload.Path(smithNS, ""))) }
	before := all()
	b.must(200, "PATCH", kinds.ClusterQueue.Path("", queue), `{"spec":{"resourceGroups":`+groups+`}}`, mergePatch)
	b.advance(time.Minute)
	if n := all(); n != 1+len(flavors) || n != before-1 {
		t.Errorf("%d workloads without the flavor, %d with it", n, before)
	}
	if p, v := states(); p != 1 || v != 1 {
		t.Errorf("without the flavor: %d jobs and %d variants are admitted", p, v)
	}
	b.advance(48 * time.Hour)
	reserving(0)
	if n := len(b.items(kinds.Workload.Path(smithNS, ""))); n != 1 {
		t.Errorf("%d workloads are left", n)
	}
}
