package control

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// The status of the training operators' kinds: kubeflow's (training-operator
// v1.9), MPIJob (mpi-operator v0.6) and, in the same shape, HyperPodPyTorchJob.

// trainingCondition sets a condition with lastUpdateTime, which these kinds have. It
// reports whether the condition's status or reason changed.
func (s *sim) trainingCondition(status map[string]any, kind, value, reason, message string) bool {
	have := object.Condition(map[string]any{"status": status}, kind)
	if have != nil && have["status"] == value && have["reason"] == reason {
		return false
	}
	setCondition(status, map[string]any{"type": kind, "status": value, "reason": reason, "message": message,
		"lastUpdateTime": object.Stamp(s.now)}, s.now)
	return true
}

// trainingMessage returns the operator's message for a condition.
func trainingMessage(j job, what string) string {
	if j.kind.Says != nil {
		return j.kind.Says(j.o.Namespace, j.o.Name, what)
	}
	return fmt.Sprintf("%s %s is %s.", j.kind.Kind, j.o.Name, what)
}

func (s *sim) trainingStatus(j job, m map[string]any, t tally) {
	status, kind := object.Child(m, "status"), j.kind.Kind
	if s.trainingCondition(status, "Created", "True", kind+"Created", trainingMessage(j, "created")) {
		s.event(j.o, "Normal", kind+"Created", trainingMessage(j, "created"))
	}
	wasSuspended := object.True(m, "Suspended")
	if j.suspended() {
		if object.Condition(m, "Running") != nil {
			s.trainingCondition(status, "Running", "False", kind+"Suspended", trainingMessage(j, "suspended"))
		}
		if s.trainingCondition(status, "Suspended", "True", kind+"Suspended", trainingMessage(j, "suspended")) {
			s.event(j.o, "Normal", kind+"Suspended", trainingMessage(j, "suspended"))
		}
		delete(status, "startTime")
	} else {
		if wasSuspended {
			s.trainingCondition(status, "Suspended", "False", kind+"Resumed", trainingMessage(j, "resumed"))
			s.event(j.o, "Normal", kind+"Resumed", trainingMessage(j, "resumed"))
		}
		if status["startTime"] == nil {
			status["startTime"] = object.Stamp(s.now)
		}
		if t.ready() && s.trainingCondition(status, "Running", "True", kind+"Running", trainingMessage(j, "running")) {
			s.event(j.o, "Normal", kind+"Running", trainingMessage(j, "running"))
		}
	}
	replicaStatuses(status, j, t)
}

func replicaStatuses(status map[string]any, j job, t tally) {
	out := map[string]any{}
	for _, name := range t.order {
		c, r := t.roles[name], map[string]any{}
		for key, n := range map[string]int64{"active": c.running, "succeeded": c.succeeded, "failed": c.failed} {
			if n > 0 {
				r[key] = n
			}
		}
		out[name] = r
	}
	status["replicaStatuses"] = out
}

func (s *sim) trainingFinished(j job, m map[string]any, t tally, result string) string {
	status, message := object.Child(m, "status"), trainingMessage(j, "successfully completed")
	if result == "Failed" {
		message = fmt.Sprintf("%s %s is failed because %d replica(s) failed.", j.kind.Kind, j.o.Name, max(1, t.all.failed))
	}
	if c := object.Condition(m, "Running"); c != nil {
		s.trainingCondition(status, "Running", "False", object.Text(c, "reason"), object.Text(c, "message"))
	}
	s.trainingCondition(status, result, "True", j.kind.Kind+result, message)
	status["completionTime"] = object.Stamp(s.now)
	replicaStatuses(status, j, t)
	return message
}
