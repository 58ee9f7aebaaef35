package control

import (
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A RayJob with a cluster selector runs on a RayCluster that exists. Source: rayjob_controller.go
// and utils/validation.go of KubeRay v1.6.

// sharedRayStatus writes the status of such a RayJob.
func (s *sim) sharedRayStatus(j job, m map[string]any) {
	status := object.Child(m, "status")
	if object.Text(status, "jobDeploymentStatus") == "ValidationFailed" {
		return // KubeRay does not look at it again
	}
	cluster := object.Text(m, "spec", "clusterSelector", "ray.io/cluster")
	if why := refusedRay(m, cluster); why != "" {
		status["jobDeploymentStatus"], status["reason"], status["message"] = "ValidationFailed", "ValidationFailed", why
		s.event(j.o, "Warning", "InvalidRayJobSpec", fmt.Sprintf("%s/%s: %s", j.o.Namespace, j.o.Name, why))
		return
	}
	if status["startTime"] == nil {
		status["startTime"], status["jobId"] = object.Stamp(s.now), j.o.Name+"-"+j.o.UID[:5]
		status["rayClusterName"], status["jobDeploymentStatus"] = cluster, "Initializing"
	}
	ran := object.Text(status, "jobStatus")
	if ran != "" && ran != "RUNNING" {
		return
	}
	of := s.st.Get(kinds.RayCluster.FullName(), j.o.Namespace, cluster)
	if of == nil {
		s.event(j.o, "Warning", "RayClusterNotFound",
			fmt.Sprintf("RayCluster %s/%s set in the clusterSelector is not found. It must be created manually", j.o.Namespace, cluster))
		return
	}
	if ran != "" {
		return
	}
	if c := s.job(kinds.RayCluster, of); c.suspended() || !s.tally(c).ready() {
		if state := of.Copy()["status"]; state != nil {
			status["rayClusterStatus"] = state
		}
		return
	}
	status["jobDeploymentStatus"], status["jobStatus"], status["dashboardURL"] = "Running", "RUNNING", dashboard(cluster, j.o.Namespace)
	status["rayJobInfo"] = map[string]any{"startTime": object.Stamp(s.now)}
}

// refusedRay returns why KubeRay refuses a RayJob with a cluster selector.
func refusedRay(m map[string]any, cluster string) string {
	retries, _ := object.Int(m, "spec", "backoffLimit")
	const invalid = "The RayJob spec is invalid: "
	switch {
	case object.Bool(m, "spec", "suspend"):
		return invalid + "the ClusterSelector mode doesn't support the suspend operation"
	case cluster == "":
		return "cluster name in ClusterSelector should not be empty"
	case retries > 0:
		return invalid + "BackoffLimit is incompatible with ClusterSelector mode"
	}
	return ""
}

// sharedRayEnd returns the expected end of such a RayJob: its duration after its start on the cluster. Without the cluster KubeRay
// does not learn of an end.
func (s *sim) sharedRayEnd(j job) (time.Time, bool) {
	start, ok := object.Time(j.m(), "status", "rayJobInfo", "startTime")
	d, ends := s.duration(j)
	there := s.st.Get(kinds.RayCluster.FullName(), j.o.Namespace, object.Text(j.m(), "status", "rayClusterName")) != nil
	return start.Add(d), ok && ends && there
}

func dashboard(cluster, namespace string) string {
	return fmt.Sprintf("%s-head-svc.%s.svc.cluster.local:8265", cluster, namespace)
}
