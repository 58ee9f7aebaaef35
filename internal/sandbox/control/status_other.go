package control

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// condition sets a condition in the standard shape.
func (s *sim) condition(status map[string]any, kind, value, reason, message string) {
	have := object.Condition(map[string]any{"status": status}, kind)
	if have != nil && have["status"] == value && have["reason"] == reason && have["message"] == message {
		return
	}
	setCondition(status, map[string]any{"type": kind, "status": value, "reason": reason, "message": message}, s.now)
}

// batchStatus writes the status of the Job controller.
func (s *sim) batchStatus(j job, m map[string]any, t tally) {
	status := object.Child(m, "status")
	if j.suspended() {
		s.condition(status, "Suspended", "True", "JobSuspended", "Job suspended")
		delete(status, "startTime")
		delete(status, "active")
	} else {
		if object.True(m, "Suspended") {
			s.condition(status, "Suspended", "False", "JobResumed", "Job resumed")
		}
		if status["startTime"] == nil {
			status["startTime"] = object.Stamp(s.now)
		}
		status["active"] = t.all.wanted - t.all.succeeded - t.all.failed
	}
	status["ready"], status["terminating"], status["uncountedTerminatedPods"] = t.all.running, int64(0), map[string]any{}
}

func (s *sim) batchFinished(m map[string]any, t tally, result string) string {
	status := object.Child(m, "status")
	delete(status, "active")
	status["ready"] = int64(0)
	if result == "Failed" {
		message := "Job has reached the specified backoff limit"
		status["failed"] = max(1, t.all.failed)
		s.condition(status, "FailureTarget", "True", "BackoffLimitExceeded", message)
		s.condition(status, "Failed", "True", "BackoffLimitExceeded", message)
		return message
	}
	message := "Reached expected number of succeeded pods"
	n, ok := object.Int(m, "spec", "completions")
	if !ok {
		n = t.all.wanted
	}
	status["succeeded"], status["completionTime"] = n, object.Stamp(s.now)
	s.condition(status, "SuccessCriteriaMet", "True", "CompletionsReached", message)
	s.condition(status, "Complete", "True", "CompletionsReached", message)
	return message
}

// rayJobStatus writes the status of KubeRay.
func (s *sim) rayJobStatus(j job, m map[string]any, t tally) {
	if j.shares() {
		s.sharedRayStatus(j, m)
		return
	}
	status := object.Child(m, "status")
	if j.suspended() {
		status["jobDeploymentStatus"] = "Suspended"
		for _, k := range []string{"jobStatus", "rayClusterName", "startTime", "jobId", "dashboardURL"} {
			delete(status, k)
		}
		return
	}
	if status["startTime"] == nil {
		status["startTime"] = object.Stamp(s.now)
	}
	status["rayClusterName"], status["jobId"] = kinds.RayClusterOf(j.o.Name, j.o.UID, j.m()), j.o.Name+"-"+j.o.UID[:5]
	if status["jobDeploymentStatus"] = "Initializing"; t.ready() {
		status["jobDeploymentStatus"], status["jobStatus"] = "Running", "RUNNING"
		status["dashboardURL"] = dashboard(kinds.RayClusterOf(j.o.Name, j.o.UID, j.m()), j.o.Namespace)
	}
	status["rayClusterStatus"] = rayCounts(t)
}

func rayCounts(t tally) map[string]any {
	workers := roleCount{}
	for _, name := range t.order {
		if name != "head" {
			workers.wanted += t.roles[name].wanted
			workers.running += t.roles[name].running
		}
	}
	return map[string]any{"desiredWorkerReplicas": workers.wanted, "availableWorkerReplicas": workers.running, "readyWorkerReplicas": workers.running}
}

func (s *sim) rayJobFinished(j job, m map[string]any, result string) string {
	status := object.Child(m, "status")
	status["endTime"] = object.Stamp(s.now)
	if j.shares() {
		object.Set(status, status["endTime"], "rayJobInfo", "endTime")
	}
	if result == "Failed" {
		status["jobStatus"], status["jobDeploymentStatus"], status["reason"] = "FAILED", "Failed", "AppFailed"
		status["message"] = "Job entrypoint command failed with exit code 1"
		return object.Text(status, "message")
	}
	status["jobStatus"], status["jobDeploymentStatus"], status["message"] = "SUCCEEDED", "Complete", "Job finished successfully."
	return object.Text(status, "message")
}

func (s *sim) rayClusterStatus(j job, m map[string]any, t tally) {
	status := object.Child(m, "status")
	for k, v := range rayCounts(t) {
		status[k] = v
	}
	if j.suspended() {
		status["state"] = "suspended"
		s.condition(status, "RayClusterSuspended", "True", "RayClusterSuspended", "")
		s.condition(status, "RayClusterProvisioned", "False", "RayClusterPodsProvisioning", "RayCluster is suspended")
		return
	}
	s.condition(status, "RayClusterSuspended", "False", "RayClusterResumed", "")
	if t.ready() {
		status["state"] = "ready"
		s.condition(status, "HeadPodReady", "True", "HeadPodRunningAndReady", "")
		s.condition(status, "RayClusterProvisioned", "True", "AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time")
		return
	}
	delete(status, "state")
}

// rayClusterFinished writes the end of a RayCluster with a duration. Other RayClusters
// have no end.
func (s *sim) rayClusterFinished(m map[string]any) string {
	object.Set(m, "failed", "status", "state")
	message := "the RayCluster's duration is over"
	object.Set(m, message, "status", "reason")
	return message
}

// jobSetStatus writes the status of the JobSet controller.
func (s *sim) jobSetStatus(j job, m map[string]any, t tally) {
	status := object.Child(m, "status")
	if j.kind.Runtime != nil {
		s.trainJobStatus(j, m, t)
		return
	}
	status["restarts"] = int64(0)
	if j.suspended() {
		s.condition(status, "Suspended", "True", "SuspendedJobs", "jobset is suspended")
	} else if object.True(m, "Suspended") {
		s.condition(status, "Suspended", "False", "ResumeJobs", "jobset is resumed")
	}
	status["replicatedJobsStatus"] = replicatedJobs(j, t)
}

func replicatedJobs(j job, t tally) []any {
	var out []any
	_, whole := j.kind.Whole(j.m())
	for _, name := range t.order {
		c, pods := t.roles[name], kinds.JobSetPods(whole, name)
		jobs := c.wanted / pods
		r := map[string]any{"name": name, "ready": int64(0), "active": int64(0), "succeeded": c.succeeded / pods, "failed": c.failed, "suspended": int64(0)}
		switch {
		case j.suspended():
			r["suspended"] = jobs
		case c.succeeded == 0 && c.failed == 0:
			r["active"], r["ready"] = jobs, c.running/pods
		}
		out = append(out, r)
	}
	return out
}

// trainJobStatus writes the status of Kubeflow Trainer (v2.2): no condition tells that a
// job runs, only the counts of its jobs do.
func (s *sim) trainJobStatus(j job, m map[string]any, t tally) {
	status := object.Child(m, "status")
	if j.suspended() {
		s.condition(status, "Suspended", "True", "Suspended", "TrainJob is suspended")
	} else if object.True(m, "Suspended") {
		s.condition(status, "Suspended", "False", "Resumed", "TrainJob is resumed")
	}
	status["jobsStatus"] = replicatedJobs(j, t)
}

func (s *sim) jobSetFinished(j job, m map[string]any, t tally, result string) string {
	status := object.Child(m, "status")
	if j.kind.Runtime != nil {
		status["jobsStatus"] = replicatedJobs(j, t)
		if result == "Failed" {
			s.condition(status, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures")
			return "jobset failed due to one or more job failures"
		}
		s.condition(status, "Complete", "True", "AllJobsCompleted", "jobset completed successfully")
		return "jobset completed successfully"
	}
	status["replicatedJobsStatus"] = replicatedJobs(j, t)
	if result == "Failed" {
		status["terminalState"] = "Failed"
		s.condition(status, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures")
		return "jobset failed due to one or more job failures"
	}
	status["terminalState"] = "Completed"
	s.condition(status, "Completed", "True", "AllJobsCompleted", "jobset completed successfully")
	return "jobset completed successfully"
}
