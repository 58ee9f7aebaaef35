package jobs

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// The RayCluster of a RayJob is missing if KubeRay has reported that and no pod of it is there.
func TestMissingCluster(t *testing.T) {
	const shared = `"clusterSelector":{"ray.io/cluster":"shared"}`
	const begun = `"jobDeploymentStatus":"Initializing","rayClusterName":"shared"`
	const runs = `"jobDeploymentStatus":"Running","jobStatus":"RUNNING","rayClusterName":"shared"`
	submitter := state.Pod{Meta: state.Meta{Name: "etl-x"}, Phase: "Running"}
	head := state.Pod{Meta: state.Meta{Name: "shared-head-x", Labels: map[string]string{"ray.io/cluster": "shared"}}, Phase: "Running"}
	for _, c := range []struct {
		name, spec, status string
		pods               []state.Pod
		reason, want       string
	}{
		{"not created yet", shared, begun, []state.Pod{}, ClusterNotFound, "shared"},
		{"deleted under a running job", shared, runs, []state.Pod{submitter}, ClusterNotFound, "shared"},
		{"created again", shared, runs, []state.Pod{submitter, head}, ClusterNotFound, ""},
		{"KubeRay has not reported it", shared, begun, []state.Pod{}, "CreatedRayJobSubmitter", ""},
		{"pods are not known", shared, begun, nil, ClusterNotFound, ""},
		{"a cluster of its own", `"rayClusterSpec":{"headGroupSpec":{"template":{"spec":{}}}}`, begun, []state.Pod{}, ClusterNotFound, ""},
		{"the job is over", shared, `"jobDeploymentStatus":"Complete","jobStatus":"SUCCEEDED","rayClusterName":"shared"`, []state.Pod{}, ClusterNotFound, ""},
	} {
		j := job(t, kinds.RayJob, "", c.spec, c.status)
		events := []state.Event{{ObjectUID: "another", Reason: ClusterNotFound}, {ObjectUID: j.UID, Reason: c.reason}}
		if got := MissingCluster(j, c.pods, events); got != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
	if got := MissingCluster(job(t, kinds.RayJob, "", shared, begun), []state.Pod{}, []state.Event{{ObjectUID: "another", Reason: ClusterNotFound}}); got != "" {
		t.Errorf("the event of another job: %q", got)
	}
}
