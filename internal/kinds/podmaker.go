package kinds

import (
	"strconv"
	"strings"
)

// jobOfJobSet is the PodMaker of a JobSet: Jobs named JOBSET-ROLE-NUMBER.
func jobOfJobSet(job, kind, name string) (role string, ok bool) {
	rest, ok := strings.CutPrefix(name, job+"-")
	if !ok || kind != "Job" {
		return "", false
	}
	at := strings.LastIndexByte(rest, '-')
	if at < 1 {
		return "", false
	}
	_, err := strconv.ParseUint(rest[at+1:], 10, 31)
	return rest[:at], err == nil
}

// launcherJob is the PodMaker of an MPIJob: the Job of its launcher.
func launcherJob(job, kind, name string) (role string, ok bool) {
	return launcher, kind == "Job" && name == job+"-"+launcher
}

// clusterOfRay is the PodMaker of kinds that KubeRay runs on a RayCluster with the name of the job and a random end.
func clusterOfRay(job, kind, name string) (role string, ok bool) {
	return "", kind == "RayCluster" && randomEnd(job, name)
}

// replicaSet is the PodMaker of a Deployment. The end of a ReplicaSet's name is a hash.
func replicaSet(job, kind, name string) (role string, ok bool) {
	return "", kind == "ReplicaSet" && randomEnd(job, name)
}

// randomEnd reports whether a name is that of a job with one more part.
func randomEnd(job, name string) bool {
	end, ok := strings.CutPrefix(name, job+"-")
	return ok && end != "" && !strings.Contains(end, "-")
}
