package kinds

import (
	"strings"
	"testing"
)

func TestPodRole(t *testing.T) {
	two := map[string]int64{"Master": 1, "Worker": 3}
	for _, tt := range []struct {
		kind   Job
		labels string
		roles  map[string]int64
		want   PodRole
	}{
		{PyTorchJob, replicaTypeLabel + "=master " + replicaIndexLabel + "=0", two, PodRole{"Master", 0, 0}},
		{PyTorchJob, replicaTypeLabel + "=worker " + replicaIndexLabel + "=2", two, PodRole{"Worker", 2, 3}},
		{PyTorchJob, replicaTypeLabel + "=worker " + replicaIndexLabel + "=2", map[string]int64{"Worker": 3}, PodRole{"Worker", 2, 2}},
		{PyTorchJob, "", two, PodRole{"", -1, -1}},
		{PyTorchJob, replicaTypeLabel + "=odd " + replicaIndexLabel + "=x", two, PodRole{"", -1, -1}},
		{MPIJob, jobRoleLabel + "=launcher", map[string]int64{"Launcher": 1, "Worker": 2}, PodRole{"Launcher", 0, -1}},
		{MPIJob, jobRoleLabel + "=worker " + replicaIndexLabel + "=1", map[string]int64{"Launcher": 1, "Worker": 2}, PodRole{"Worker", 1, 1}},
		{BatchJob, completionIndexLabel + "=1", map[string]int64{"worker": 2}, PodRole{"worker", 1, 1}},
		{BatchJob, "", map[string]int64{"worker": 2}, PodRole{"worker", -1, -1}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=1 " + jobCountLabel + "=2 " + completionIndexLabel + "=3", map[string]int64{"m": 1, "w": 8}, PodRole{"w", 7, 7}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=1 " + completionIndexLabel + "=3", map[string]int64{"w": 8}, PodRole{"w", -1, -1}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=0 " + completionIndexLabel + "=3", map[string]int64{"w": 8}, PodRole{"w", 3, 3}},
		{RayJob, rayNodeTypeLabel + "=head " + rayGroupLabel + "=headgroup", map[string]int64{"head": 1, "big": 2}, PodRole{"head", 0, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big", map[string]int64{"head": 1, "big": 2}, PodRole{"big", -1, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big " + rayReplicaLabel + "=1", map[string]int64{"head": 1, "big": 2}, PodRole{"big", 1, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big " + rayReplicaLabel + "=1 " + rayHostLabel + "=0", map[string]int64{"head": 1, "big": 4}, PodRole{"big", -1, -1}},
		{HyperPodPyTorchJob, "HPJob=x", map[string]int64{"pods": 2}, PodRole{"pods", -1, -1}},
	} {
		labels := map[string]string{}
		for _, l := range strings.Fields(tt.labels) {
			key, value, _ := strings.Cut(l, "=")
			labels[key] = value
		}
		if got := tt.kind.PodRole(labels, tt.roles); got != tt.want {
			t.Errorf("%s %s: got %+v, want %+v", tt.kind.Kind, tt.labels, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	object := map[string]any{"metadata": map[string]any{"name": "x", "generation": int64(1)}}
	if Text(object, "metadata", "name") != "x" || Text(object, "metadata", "generation") != "" || Text(object, "status", "a", "b") != "" || Text(nil, "a") != "" {
		t.Error("wrong text")
	}
	if At(object, "metadata", "generation") != int64(1) || At(object, "metadata", "name", "x") != nil {
		t.Error("wrong value")
	}
}
