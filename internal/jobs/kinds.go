package jobs

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// ended returns the state of a job that is over.
func ended(j state.Job, w *state.Workload) (Status, bool) {
	s, ok := end(j, w)
	if j.Kind.Serves && s.State == Succeeded {
		return Status{}, false // what serves runs until it is deleted
	}
	return s, ok
}

func end(j state.Job, w *state.Workload) (Status, bool) {
	for _, kind := range []string{"Succeeded", "Complete", "Completed", "SuccessCriteriaMet"} {
		if c, ok := holds(j.Conditions, kind); ok {
			return over(Succeeded, j, c), true
		}
	}
	for _, kind := range []string{"Failed", "FailureTarget"} {
		if c, ok := holds(j.Conditions, kind); ok {
			return over(Failed, j, c), true
		}
	}
	c := state.Condition{Reason: j.Reason, Message: j.Message}
	switch j.Kind.Style {
	case kinds.RayRun:
		if j.DeploymentPhase == "Retrying" {
			break // the job failed, and a try is left
		}
		switch {
		case j.Phase == "SUCCEEDED":
			return over(Succeeded, j, c), true
		case j.Phase == "STOPPED" && c.Reason == "":
			c.Reason = "Stopped"
			return over(Failed, j, c), true
		case j.Phase == "FAILED", j.Phase == "STOPPED", j.DeploymentPhase == "Failed", j.DeploymentPhase == "ValidationFailed":
			return over(Failed, j, c), true
		case j.DeploymentPhase == "Complete":
			return over(Succeeded, j, c), true
		}
	case kinds.RayNodes:
		if strings.EqualFold(j.Phase, "failed") {
			return over(Failed, j, c), true
		}
	case kinds.Described:
		switch phase := j.Kind.Status.PhaseOf(j.Phase); {
		case phase == kinds.Failed:
			return over(Failed, j, c), true
		case phase == kinds.Succeeded:
			return over(Succeeded, j, c), true
		}
	}
	if w != nil {
		switch c, _ := holds(w.Conditions, quota.Finished); {
		case c.Reason == "Succeeded" || c.Reason == "JobFinished": // the latter is of Kueue before v0.9
			return over(Succeeded, j, c), true
		case quota.Failed(c):
			return over(Failed, j, c), true
		}
	}
	return Status{}, false
}

func over(s State, j state.Job, c state.Condition) Status {
	out := Status{State: s, Since: c.LastTransitionTime, Reason: c.Reason, Message: c.Message}
	if out.Since.IsZero() && j.Completion != nil {
		out.Since = *j.Completion
	}
	return out
}

// active returns the state of a job that may run, by its own status.
func active(j state.Job, w *state.Workload) Status {
	admitted := j.CreationTimestamp
	if w != nil {
		if t := since(w.Conditions, "Admitted"); !t.IsZero() {
			admitted = t
		}
	}
	start := Status{State: Starting, Since: admitted}
	switch j.Kind.Style {
	case kinds.RayRun:
		return rayJob(j, start)
	case kinds.RayNodes:
		return rayCluster(j, start)
	case kinds.Batch, kinds.JobGroups:
		return counted(j, start)
	case kinds.Described:
		return described(j, start)
	}
	if c, ok := holds(j.Conditions, "Restarting"); ok {
		return Status{State: Restarting, Since: c.LastTransitionTime, Reason: c.Reason, Message: c.Message}
	}
	for _, kind := range []string{"Running", "PodsRunning"} {
		if c, ok := holds(j.Conditions, kind); ok && !noneRuns(j) {
			return Status{State: Running, Since: c.LastTransitionTime, Reason: c.Reason, Message: c.Message}
		}
	}
	return start
}

// noneRuns reports that the operator has counted the pods of a job, and none runs or has ended. The Running condition of the
// Kubeflow operators stays true while a pod is replaced.
func noneRuns(j state.Job) bool {
	for _, r := range j.Replicas {
		if r != (state.ReplicaStatus{}) {
			return false
		}
	}
	return len(j.Replicas) > 0
}

// runs reports a job whose own status says that its pods run or ran.
func runs(j state.Job) bool {
	s := active(j, nil).State
	return s == Running || s == Restarting
}

func rayJob(j state.Job, start Status) Status {
	at := func(s State) Status {
		out := Status{State: s, Reason: j.Reason, Message: j.Message}
		if j.Start != nil {
			out.Since = *j.Start
		}
		return out
	}
	switch {
	case j.DeploymentPhase == "Retrying":
		return at(Restarting)
	case j.DeploymentPhase == "Running" && j.Phase != "PENDING", j.Phase == "RUNNING":
		return at(Running)
	}
	start.Reason, start.Message = j.Reason, j.Message
	return start
}

func rayCluster(j state.Job, start Status) Status {
	provisioned, was := holds(j.Conditions, "RayClusterProvisioned")
	head, known := state.Find(j.Conditions, "HeadPodReady")
	switch {
	case was && known && !head.True():
		return Status{State: Restarting, Since: head.LastTransitionTime, Reason: head.Reason, Message: head.Message}
	case was:
		return Status{State: Running, Since: provisioned.LastTransitionTime}
	case strings.EqualFold(j.Phase, "ready"):
		return Status{State: Running, Since: start.Since}
	}
	if c, ok := holds(j.Conditions, "ReplicaFailure"); ok {
		start.Reason, start.Message = c.Reason, c.Message
	}
	return start
}

// described is for kinds whose description says where their status is.
func described(j state.Job, start Status) Status {
	at := Status{State: start.State, Since: start.Since, Reason: j.Reason, Message: j.Message}
	if j.Start != nil {
		at.Since = *j.Start
	}
	if len(j.Kind.Status.Ready) > 0 {
		for _, r := range j.Replicas {
			if r.Ready > 0 {
				at.State = Running
			}
		}
		return at
	}
	at.State = State(j.Kind.Status.PhaseOf(j.Phase))
	if while := j.Kind.Status.While; at.State == Running && while != "" {
		c, ready := holds(j.Conditions, while)
		if at.Since = c.LastTransitionTime; !ready {
			at.State, at.Since = Starting, start.Since
		}
	}
	return at
}

// counted is for kinds that tell by numbers: batch Jobs and JobSets.
func counted(j state.Job, start Status) Status {
	var r state.ReplicaStatus
	for _, x := range j.Replicas {
		r.Active += x.Active
		r.Ready += x.Ready
		r.Succeeded += x.Succeeded
		r.Failed += x.Failed
	}
	begun := start.Since // a JobSet has no time of its own
	if j.Start != nil {
		begun = *j.Start
	}
	switch {
	case r.Ready > 0:
		return Status{State: Running, Since: begun}
	case r.Failed > 0 && j.Kind.Style == kinds.Batch, j.Restarts > 0:
		return Status{State: Restarting, Since: begun}
	case r.Succeeded > 0:
		return Status{State: Running, Since: begun}
	}
	return start
}
