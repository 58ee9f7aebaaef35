package queue_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	. "github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestUnread: what could not be read is null and has no sample, and is never a
// zero; the queues' status still counts.
func TestUnread(t *testing.T) {
	gone := errors.New("the server failed")
	missing := func(r kinds.Resource, reason, namespace string) state.Missing {
		return state.Missing{Resource: r, Namespace: namespace, Verb: "list", Reason: reason, Err: gone}
	}
	partly := func(r kinds.Resource, reason string) state.Missing {
		m := missing(r, reason, "")
		m.Partly = true
		return m
	}
	counted := func(s *state.State) {
		s.ClusterQueues[0].Pending, s.ClusterQueues[0].Reserving, s.ClusterQueues[0].Admitted = 3, 5, 4
	}
	for _, c := range []struct {
		name   string
		state  *state.State
		change func(*state.State)
		unread bool
		// want is of team a: running, reserving, waiting and finished.
		want   string
		source string
	}{
		{"all read", cluster(job("a", "w", 2, time.Hour)), nil, false, `"Running":0,"Reserving":0,"Waiting":1,"Preempted":0,"Held":0,"Finished":0`, "Workloads"},
		{"the list failed", cluster(), func(s *state.State) {
			s.Missing = []state.Missing{missing(kinds.Workload, state.Failed, "")}
		}, true, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"forbidden, and nothing else to read", cluster(), func(s *state.State) {
			s.LocalQueues = nil
			s.Missing = []state.Missing{missing(kinds.Workload, state.Forbidden, ""), missing(kinds.LocalQueue, state.Forbidden, "")}
		}, true, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"a member sees all of the own team", cluster(job("a", "w", 2, time.Hour)), func(s *state.State) {
			s.ClusterQueues = s.ClusterQueues[:1]
			s.ClusterQueues[0].Pending, s.ClusterQueues[0].Reserving, s.ClusterQueues[0].Admitted = 1, 0, 0
			s.Missing = []state.Missing{partly(kinds.Workload, state.Forbidden)}
		}, false, `"Running":0,"Reserving":0,"Waiting":1,"Preempted":0,"Held":0,"Finished":0`, "Workloads"},
		{"a member sees one of two namespaces", cluster(job("a", "w", 2, time.Hour)), func(s *state.State) {
			s.Missing = []state.Missing{partly(kinds.Workload, state.Forbidden)}
		}, false, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"a snapshot of one namespace, in which nothing waits", cluster(), func(s *state.State) {
			s.Missing = []state.Missing{partly(kinds.Workload, state.NotInFile)}
		}, false, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"a file without workloads", cluster(), func(s *state.State) {
			s.Missing = []state.Missing{missing(kinds.Workload, state.NotInFile, "")}
		}, true, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"a member may list LocalQueues and no workloads", cluster(), func(s *state.State) {
			s.Missing = []state.Missing{missing(kinds.Workload, state.Forbidden, "")}
		}, true, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"one namespace's failed", cluster(job("a", "w", 2, time.Hour)), func(s *state.State) {
			s.Missing = []state.Missing{partly(kinds.Workload, state.Forbidden), missing(kinds.Workload, state.Failed, "other")}
		}, false, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
		{"nobody can tell whose they are", cluster(job("a", "w", 2, time.Hour)), func(s *state.State) {
			s.LocalQueues, s.Missing = nil, []state.Missing{missing(kinds.LocalQueue, state.Failed, "")}
		}, false, `"Running":4,"Reserving":1,"Waiting":3,"Preempted":null,"Held":null,"Finished":null`, "Status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			counted(c.state)
			if c.change != nil {
				c.change(c.state)
			}
			if got := Unread(c.state) != nil; got != c.unread {
				t.Errorf("unread: %v", got)
			}
			r := quota.Build(c.state)
			items := Build(c.state, r, r.Teams, order.Rules{}, nil)
			d := NewDocument(items, r.Teams, Tallies(c.state, r), Computed, noon)
			data, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if (d.Pending == nil) != c.unread || !strings.Contains(string(data), c.want) || d.Source != c.source {
				t.Errorf("from %s, want %s in\n%s", d.Source, c.want, data)
			}
			text := string(metrics.Text(d.Metrics()))
			if strings.Contains(text, `team="a",state="finished"`) == strings.Contains(c.want, "null") {
				t.Errorf("metrics:\n%s", text)
			}
			if c.unread && strings.Contains(text, `oldest_waiting_seconds{cluster_queue="a"`) {
				t.Errorf("metrics:\n%s", text)
			}
			for _, it := range items {
				if it.ClusterQueue == "" && strings.Contains(it.Reason.Words, "does not exist") {
					t.Errorf("%+v", it.Reason)
				}
			}
		})
	}
}

// TestDecide: a resource without quota decides before quota that others use.
func TestDecide(t *testing.T) {
	q := &state.ClusterQueue{ResourceGroups: []state.ResourceGroup{{CoveredResources: []string{"nvidia.com/gpu", "cpu"}}}}
	for _, c := range []struct {
		size state.Amounts
		was  string
		want string
	}{
		{state.Amounts{"nvidia.com/gpu": 8, "hugepages-2Mi": 5 << 30}, WaitingForQuota, NoMatchingFlavor + " hugepages-2Mi"},
		{state.Amounts{"nvidia.com/gpu": 8, "cpu": 1000}, WaitingForQuota, WaitingForQuota + " nvidia.com/gpu"},
		{state.Amounts{"nvidia.com/gpu": 8, "hugepages-2Mi": 5 << 30}, ExceedsMaxQuota, ExceedsMaxQuota + " nvidia.com/gpu"},
	} {
		it := Item{Size: c.size, Reason: Reason{Code: c.was, Resource: "nvidia.com/gpu", Missing: 8}}
		Decide(&it, q)
		if got := it.Reason.Code + " " + it.Reason.Resource; got != c.want {
			t.Errorf("%v: %s, want %s", c.size, got, c.want)
		}
	}
}
