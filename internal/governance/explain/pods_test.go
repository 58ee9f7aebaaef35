package explain

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Pods that the API server refuses are a problem of the role that lacks them, with the last reason.
func TestRefusedPods(t *testing.T) {
	j := state.Job{Meta: state.Meta{Name: "j", UID: "u"}, Kind: kinds.PyTorchJob, Roles: []state.RoleCount{{Name: "Worker", Replicas: 2}}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	event := func(uid, kind, reason, message string, at time.Duration) state.Event {
		return state.Event{ObjectUID: uid, Type: kind, Reason: reason, Message: message, Last: now.Add(at)}
	}
	events := []state.Event{
		event("u", "Warning", "FailedCreatePod", "exceeded quota", time.Minute),
		event("u", "Warning", "FailedCreatePod", "violates PodSecurity", time.Hour),
		event("u", "Normal", "SuccessfulCreatePod", "Created pod: j-worker-0", 2*time.Hour),
		event("other", "Warning", "FailedCreate", "another job's", 3*time.Hour),
	}
	if got := roles(j, nil, events[2:]); got != nil {
		t.Errorf("nothing is refused: %+v", got)
	}
	got := roles(j, nil, events)
	if len(got) != 1 || len(got[0].Problems) != 1 || got[0].Problems[0] != (Problem{Pod: "j", Reason: "FailedCreatePod", Message: "violates PodSecurity", Pods: 2}) {
		t.Fatalf("%+v", got)
	}
	pods := []state.Pod{{Meta: state.Meta{Name: "j-worker-0", Labels: map[string]string{"training.kubeflow.org/replica-type": "worker"}}, Ready: true},
		{Meta: state.Meta{Name: "j-worker-1", Labels: map[string]string{"training.kubeflow.org/replica-type": "worker"}}, Ready: true}}
	if got := roles(j, pods[:1], events); len(got[0].Problems) != 1 || got[0].Problems[0].Pods != 1 {
		t.Errorf("one is missing: %+v", got)
	}
	if got := roles(j, pods, events); len(got[0].Problems) != 0 {
		t.Errorf("all pods exist: %+v", got)
	}
}
