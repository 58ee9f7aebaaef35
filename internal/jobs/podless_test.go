package jobs

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A job whose age is unknown has had no minute yet.
func TestUnattendedNeedsATime(t *testing.T) {
	j := job(t, kinds.PyTorchJob, "", workers, "")
	j.CreationTimestamp = time.Time{}
	s := StatusOf(j, nil, []state.Pod{})
	if s.Reason != NoPods || !s.Since.IsZero() {
		t.Fatalf("it is %s %s since %s", s.State, s.Reason, s.Since)
	}
	if Unattended(j, s, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("it is unattended since a time that is unknown")
	}
}

// A job without pods has no operator if nothing reports on it for a minute.
func TestUnattended(t *testing.T) {
	none := []state.Pod{}
	away := &state.Workload{Active: true, Conditions: []state.Condition{{Type: "Admitted", Status: "True"}}, Cluster: "worker1"}
	for _, c := range []struct {
		name   string
		kind   kinds.Job
		spec   string
		status string
		pods   []state.Pod
		w      *state.Workload
		after  time.Duration
		want   bool
	}{
		{"nothing for a minute", kinds.PyTorchJob, workers, "", none, nil, time.Minute, true},
		{"nothing for a moment", kinds.PyTorchJob, workers, "", none, nil, 59 * time.Second, false},
		{"the operator reports on it", kinds.PyTorchJob, workers, conds("Created=True:C"), none, nil, time.Hour, false},
		{"a Ray cluster has begun", kinds.RayJob, `"rayClusterSpec":{"headGroupSpec":{"template":{"spec":{}}}}`, `"jobDeploymentStatus":"Initializing"`, none, nil, time.Hour, false},
		{"it has a pod", kinds.PyTorchJob, workers, "", []state.Pod{{Phase: "Pending"}}, nil, time.Hour, false},
		{"pods are not known", kinds.PyTorchJob, workers, "", nil, nil, time.Hour, false},
		{"it asks for no pods", kinds.RayJob, `"clusterSelector":{"ray.io/cluster":"shared"}`, "", none, nil, time.Hour, false},
		{"its pods are on a worker cluster", kinds.PyTorchJob, workers, "", none, away, time.Hour, false},
		{"a kind of Kubernetes", kinds.BatchJob, `"parallelism":2,"template":{"spec":{}}`, "", none, nil, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job(t, c.kind, "", c.spec, c.status)
			s := StatusOf(j, c.w, c.pods)
			if s.State != Starting {
				t.Fatalf("it is %s %s", s.State, s.Reason)
			}
			if got := Unattended(j, s, s.Since.Add(c.after)); got != c.want {
				t.Errorf("unattended is %v; reason %q", got, s.Reason)
			}
		})
	}
}
