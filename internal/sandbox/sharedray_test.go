package sandbox

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// sharer is a RayJob that runs on a RayCluster of its namespace.
func sharer(name string, change ...func(map[string]any)) map[string]any {
	m := map[string]any{"apiVersion": kinds.RayJob.GroupVersion(), "kind": kinds.RayJob.Kind, "metadata": map[string]any{"name": name},
		"spec": map[string]any{"entrypoint": "python x.py", "clusterSelector": map[string]any{"ray.io/cluster": "shared"}}}
	for _, f := range change {
		f(m)
	}
	return m
}

// A RayJob with a cluster selector waits for that cluster, runs on it, and ends without taking it away.
func TestRayJobOnAnotherCluster(t *testing.T) {
	b := newBench(t, "john-smith")
	state := func(name string) string {
		j := b.get(kinds.RayJob.Resource, smithNS, name)
		return object.Text(j, "status", "jobDeploymentStatus") + "/" + object.Text(j, "status", "jobStatus")
	}
	want := func(name, what string) {
		t.Helper()
		if got := state(name); got != what {
			t.Fatalf("%s is %s, want %s; %v", name, got, what, b.reasons(smithNS, name))
		}
	}
	b.create(smithNS, sharer("j", lasting("10m")))
	want("j", "Initializing/")
	j := b.get(kinds.RayJob.Resource, smithNS, "j")
	if object.Text(j, "status", "rayClusterName") != "shared" || !slices.Contains(b.reasons(smithNS, "j"), "RayClusterNotFound") {
		t.Fatalf("%v; %v", j["status"], b.reasons(smithNS, "j"))
	}
	b.advance(20 * time.Minute)
	want("j", "Initializing/")
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(`{headGroupSpec: {rayStartParams: {}, template: {spec: `+container+`}}}`), &spec); err != nil {
		t.Fatal(err)
	}
	b.create(smithNS, map[string]any{"apiVersion": kinds.RayCluster.GroupVersion(), "kind": "RayCluster", "spec": spec,
		"metadata": map[string]any{"name": "shared", "labels": map[string]any{kinds.QueueLabel: smithNS + "-localqueue"}}})
	want("j", "Running/RUNNING")
	b.advance(9 * time.Minute)
	want("j", "Running/RUNNING")
	b.advance(2 * time.Minute)
	want("j", "Complete/SUCCEEDED")
	if n := len(b.podPhases(smithNS, "shared")); n != 1 {
		t.Errorf("%d pods of the cluster", n)
	}
	b.create(smithNS, sharer("bad", lasting("1m"), note(kinds.OwnPrefix+"sandbox-outcome", "Failed")))
	b.advance(2 * time.Minute)
	want("bad", "Failed/FAILED")

	// One whose cluster goes stays as it is.
	b.create(smithNS, sharer("left", lasting("10m")))
	want("left", "Running/RUNNING")
	b.must(200, "DELETE", kinds.RayCluster.Path(smithNS, "shared"), "")
	b.advance(20 * time.Minute)
	want("left", "Running/RUNNING")
	if !slices.Contains(b.reasons(smithNS, "left"), "RayClusterNotFound") {
		t.Errorf("events %v", b.reasons(smithNS, "left"))
	}

	// Kueue suspends one with a queue, which KubeRay refuses for ever.
	queue := func(m map[string]any) { object.Set(m, smithNS+"-localqueue", "metadata", "labels", kinds.QueueLabel) }
	b.create(smithNS, sharer("queued", queue))
	want("queued", "ValidationFailed/")
	b.create(smithNS, sharer("other", func(m map[string]any) { object.Set(m, map[string]any{"a": "b"}, "spec", "clusterSelector") }))
	want("other", "ValidationFailed/")
}
