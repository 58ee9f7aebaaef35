package explain

import (
	"strings"
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
		return state.Event{ObjectUID: uid, Object: "j", Type: kind, Reason: reason, Message: message, Last: now.Add(at)}
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

// Pods that another object creates are refused in an event about that object: the Job of a role, the cluster of a RayJob.
func TestRefusedPodsOfAnotherObject(t *testing.T) {
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name            string
		kind            kinds.Job
		roles           []string
		object          string // KIND/NAME of the event
		reason, message string
		at              time.Duration
		want            string // the role with the problem
	}{
		{"a Job of a JobSet", kinds.JobSet, []string{"leader", "workers"}, "Job/j-workers-0", "FailedCreate", "exceeded quota", time.Minute, "workers"},
		{"a Job of a TrainJob", kinds.TrainJob, []string{"node"}, "Job/j-node-0", "FailedCreate", "exceeded quota", time.Minute, "node"},
		{"the Job of a launcher", kinds.MPIJob, []string{"Launcher", "Worker"}, "Job/j-launcher", "FailedCreate", "violates PodSecurity", time.Minute, "Launcher"},
		{"workers of an MPIJob", kinds.MPIJob, []string{"Launcher", "Worker"}, "MPIJob/j", "MPIJobFailed", "worker pod created failed: exceeded quota", time.Minute, "Worker"},
		{"an MPIJob that failed", kinds.MPIJob, []string{"Launcher"}, "MPIJob/j", "MPIJobFailed", "BackoffLimitExceeded", time.Minute, ""},
		{"the cluster of a RayJob", kinds.RayJob, []string{"head", "small"}, "RayCluster/j-x7k2p", "FailedToCreateHeadPod", "denied by a webhook", time.Minute, "head"},
		{"an earlier job of the name", kinds.JobSet, []string{"workers"}, "Job/j-workers-0", "FailedCreate", "exceeded quota", -time.Minute, ""},
		{"another JobSet", kinds.JobSet, []string{"workers"}, "Job/jj-workers-0", "FailedCreate", "exceeded quota", time.Minute, ""},
		{"a pod of the name", kinds.JobSet, []string{"workers"}, "Pod/j-workers-0", "FailedCreate", "exceeded quota", time.Minute, ""},
		{"a PyTorchJob has no Jobs", kinds.PyTorchJob, []string{"Worker"}, "Job/j-worker-0", "FailedCreate", "exceeded quota", time.Minute, ""},
	} {
		j := state.Job{Meta: state.Meta{Name: "j", UID: "u", CreationTimestamp: created}, Kind: c.kind}
		for _, r := range c.roles {
			j.Roles = append(j.Roles, state.RoleCount{Name: r, Replicas: 2})
		}
		kind, object, _ := strings.Cut(c.object, "/")
		e := state.Event{Kind: kind, Object: object, ObjectUID: "another", Type: "Warning", Reason: c.reason, Message: c.message, Last: created.Add(c.at)}
		if kind == c.kind.Kind {
			e.ObjectUID = "u"
		}
		got := ""
		for _, r := range roles(j, nil, []state.Event{e}) {
			for _, p := range r.Problems {
				if p != (Problem{Pod: object, Reason: c.reason, Message: c.message, Pods: 2}) {
					t.Errorf("%s: %+v", c.name, p)
				}
				got += r.Role
			}
		}
		if got != c.want {
			t.Errorf("%s: the problem is of role %q, want %q", c.name, got, c.want)
		}
	}
}
