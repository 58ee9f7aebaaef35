package jobs

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// ClusterNotFound is the reason of KubeRay's event about a RayJob whose RayCluster does not exist.
const ClusterNotFound = "RayClusterNotFound"

// MissingCluster returns the name of the RayCluster that a RayJob is to run on and that does not exist: no pod of it is there, and
// KubeRay has reported that. It is "" for other jobs. KubeRay (v1.6) leaves the job's status as it is when such a cluster is deleted.
func MissingCluster(j state.Job, pods []state.Pod, events []state.Event) string {
	shares := j.Kind.Submitter != "" && len(j.Roles) == 0
	there := func(p state.Pod) bool { return !submits(j, p) }
	reported := func(e state.Event) bool { return e.ObjectUID == j.UID && e.Reason == ClusterNotFound }
	if _, over := end(j, nil); over || !shares || pods == nil || slices.ContainsFunc(pods, there) || !slices.ContainsFunc(events, reported) {
		return ""
	}
	_, name, _ := strings.Cut(j.PodSelector, "=")
	return name
}
