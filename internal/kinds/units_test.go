package kinds

import "testing"

// TestUnits: one Workload for each group of a LeaderWorkerSet and for each pod of a Deployment,
// one for the objects of other kinds.
func TestUnits(t *testing.T) {
	object := func(spec map[string]any) map[string]any { return map[string]any{"spec": spec} }
	template := map[string]any{"spec": map[string]any{}}
	for _, c := range []struct {
		kind   Job
		object map[string]any
		units  int64
		pods   []int64 // of one
	}{
		{LeaderWorkerSet, object(map[string]any{"replicas": int64(3), "leaderWorkerTemplate": map[string]any{"size": int64(4), "leaderTemplate": template, "workerTemplate": template}}), 3, []int64{1, 3}},
		{LeaderWorkerSet, object(map[string]any{"leaderWorkerTemplate": map[string]any{"size": int64(4), "workerTemplate": template}}), 1, []int64{4}},
		{DeploymentKind, object(map[string]any{"replicas": int64(2), "template": template}), 2, []int64{1}},
		{DeploymentKind, object(map[string]any{"replicas": int64(0), "template": template}), 0, []int64{1}},
		{StatefulSetKind, object(map[string]any{"replicas": int64(5), "template": template}), 1, []int64{5}},
		{InferenceEndpointConfig, object(map[string]any{"replicas": int64(2), "worker": map[string]any{"image": "i"}}), 2, []int64{1}},
		{Workspace, object(map[string]any{"image": "i"}), 1, []int64{1}},
	} {
		before := copyOf(c.object)
		n, unit := c.kind.Units(c.object)
		parts := c.kind.Parts(unit)
		if n != c.units || len(parts) != len(c.pods) || !alike(before, c.object) {
			t.Errorf("%s: %d, %v, %v", c.kind.Kind, n, parts, c.object)
			continue
		}
		for i, p := range parts {
			if p.Replicas != c.pods[i] {
				t.Errorf("%s: %s has %d pods, want %d", c.kind.Kind, p.Name, p.Replicas, c.pods[i])
			}
		}
	}
}

// TestFramework: what Kueue's configuration calls the integrations, and which of them bring others.
func TestFramework(t *testing.T) {
	for _, c := range []struct {
		kind       Job
		frameworks string
		governs    bool
	}{
		{PyTorchJob, "kubeflow.org/pytorchjob", true},
		{PyTorchJob, "batch/job", false},
		{HyperPodPyTorchJob, "batch/job", true},
		{PodKind, "statefulset", true},
		{PodKind, "batch/job", false},
		{DeploymentKind, "pod", false},
		{Workspace, "deployment", true},
		{Notebook, "pod", true},
		{SparkApplication, "sparkoperator.k8s.io/sparkapplication", true},
	} {
		if got := c.kind.Governs([]string{c.frameworks}); got != c.governs {
			t.Errorf("%s under %s: %t", c.kind.Kind, c.frameworks, got)
		}
	}
}

// The pods of a RayService are those of the cluster that serves, and of the one that is made until one does.
func TestPodsOfRayService(t *testing.T) {
	for want, status := range map[string]map[string]any{
		"":                    {},
		"ray.io/cluster=next": {"pendingServiceStatus": map[string]any{"rayClusterName": "next"}, "activeServiceStatus": map[string]any{}},
		"ray.io/cluster=now":  {"pendingServiceStatus": map[string]any{"rayClusterName": "next"}, "activeServiceStatus": map[string]any{"rayClusterName": "now"}},
	} {
		if got := RayService.PodSelector(map[string]any{"status": status}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
