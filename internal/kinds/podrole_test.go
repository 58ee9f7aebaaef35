package kinds

import (
	"strings"
	"testing"
)

func TestPlace(t *testing.T) {
	two := map[string]int64{"Master": 1, "Worker": 3}
	for _, tt := range []struct {
		kind   Job
		labels string
		roles  map[string]int64
		want   Place
	}{
		{PyTorchJob, replicaTypeLabel + "=master " + replicaIndexLabel + "=0", two, Place{"Master", 0, 0}},
		{PyTorchJob, replicaTypeLabel + "=worker " + replicaIndexLabel + "=2", two, Place{"Worker", 2, 3}},
		{PyTorchJob, replicaTypeLabel + "=worker " + replicaIndexLabel + "=2", map[string]int64{"Worker": 3}, Place{"Worker", 2, 2}},
		{PyTorchJob, "", two, Place{"", -1, -1}},
		{PyTorchJob, replicaTypeLabel + "=odd " + replicaIndexLabel + "=x", two, Place{"", -1, -1}},
		{MPIJob, jobRoleLabel + "=launcher", map[string]int64{"Launcher": 1, "Worker": 2}, Place{"Launcher", 0, -1}},
		{MPIJob, jobRoleLabel + "=worker " + replicaIndexLabel + "=1", map[string]int64{"Launcher": 1, "Worker": 2}, Place{"Worker", 1, 1}},
		{BatchJob, completionIndexLabel + "=1", map[string]int64{"worker": 2}, Place{"worker", 1, 1}},
		{BatchJob, "", map[string]int64{"worker": 2}, Place{"worker", -1, -1}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=1 " + jobCountLabel + "=2 " + completionIndexLabel + "=3", map[string]int64{"m": 1, "w": 8}, Place{"w", 7, 7}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=1 " + completionIndexLabel + "=3", map[string]int64{"w": 8}, Place{"w", -1, -1}},
		{JobSet, replicatedJobLabel + "=w " + jobIndexLabel + "=0 " + completionIndexLabel + "=3", map[string]int64{"w": 8}, Place{"w", 3, 3}},
		{RayJob, rayNodeTypeLabel + "=head " + rayGroupLabel + "=headgroup", map[string]int64{"head": 1, "big": 2}, Place{"head", 0, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big", map[string]int64{"head": 1, "big": 2}, Place{"big", -1, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big " + rayReplicaLabel + "=1", map[string]int64{"head": 1, "big": 2}, Place{"big", 1, -1}},
		{RayCluster, rayNodeTypeLabel + "=worker " + rayGroupLabel + "=big " + rayReplicaLabel + "=1 " + rayHostLabel + "=0", map[string]int64{"head": 1, "big": 4}, Place{"big", -1, -1}},
		{HyperPodPyTorchJob, "HPJob=x", map[string]int64{"pods": 2}, Place{"pods", -1, -1}},
	} {
		labels := map[string]string{}
		for _, l := range strings.Fields(tt.labels) {
			key, value, _ := strings.Cut(l, "=")
			labels[key] = value
		}
		if got := tt.kind.Place(labels, tt.roles); got != tt.want {
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
