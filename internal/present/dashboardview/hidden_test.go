package dashboardview

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// gpus is a cluster with a queue of 8 GPUs, 4 of them reserved, and a node that has them.
func gpus() *state.State {
	q := state.ClusterQueue{Meta: state.Meta{Name: "hyperpod-ns-a-clusterqueue"}, ResourceGroups: []state.ResourceGroup{{
		CoveredResources: []string{"nvidia.com/gpu"},
		Flavors:          []state.FlavorQuotas{{Name: "p5", Resources: []state.ResourceQuota{{Name: "nvidia.com/gpu", Nominal: resource.MustParse("8")}}}}}}}
	runs := state.Workload{Meta: state.Meta{Name: "runs", Namespace: "ns"}, Active: true, PodSets: []state.PodSet{{Name: "main", Count: 1, Requests: state.Amounts{"nvidia.com/gpu": 4}}},
		Conditions: []state.Condition{{Type: "QuotaReserved", Status: "True"}, {Type: "Admitted", Status: "True"}},
		Admission:  &state.Admission{ClusterQueue: q.Name, PodSets: []state.PodSetAssignment{{Name: "main", Count: 1, Flavors: map[string]string{"nvidia.com/gpu": "p5"}, Usage: map[string]string{"nvidia.com/gpu": "4"}}}}}
	return &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{q}, Workloads: []state.Workload{runs},
		Nodes: []state.Node{{Meta: state.Meta{Name: "n"}, Ready: true, Capacity: state.Amounts{"nvidia.com/gpu": 8}, Allocatable: state.Amounts{"nvidia.com/gpu": 8}}}}
}

// TestHiddenIsUnknown: what may not be listed is a question mark, never 0, and the note names it.
func TestHiddenIsUnknown(t *testing.T) {
	hidden := func(rs ...kinds.Resource) (out []state.Missing) {
		for _, r := range rs {
			out = append(out, state.Missing{Resource: r, Reason: state.Forbidden})
		}
		return out
	}
	noNodes, noQueues, neither := gpus(), gpus(), &state.State{Missing: hidden(kinds.Node, kinds.ClusterQueue)}
	noNodes.Nodes, noNodes.Missing = nil, hidden(kinds.Node)
	noQueues.ClusterQueues, noQueues.Missing = nil, hidden(kinds.ClusterQueue)
	for _, c := range []struct {
		s                         *state.State
		utilization, nodes, cells string
		note                      string
	}{
		{gpus(), "4 of 8 accelerators used (50 %), 4 idle; 1 of 1 node healthy", "1 node, 0 with problems", "", ""},
		{noNodes, "4 accelerators used; nodes unknown", "nodes unknown", "(no instance type) gpu ? ? ? 8 4 ? ", "some values are hidden (?): no permission to list nodes"},
		{noQueues, "8 accelerators, use unknown; 1 of 1 node healthy", "1 node, 0 with problems", "(no instance type) gpu 1 1 8 ? ? ? ", "some values are hidden (?): no permission to list clusterqueues"},
		{neither, "accelerators and nodes unknown", "nodes unknown", "", "some values are hidden (?): no permission to list clusterqueues, nodes"},
	} {
		s := &Snapshot{Time: noon, State: c.s}
		u := Of(s, Utilization, "")
		if got := Of(s, Nodes, "").Summary; u.Summary != c.utilization || got != c.nodes || s.Note() != c.note {
			t.Errorf("%q, %q, %q; want %q, %q, %q", u.Summary, got, s.Note(), c.utilization, c.nodes, c.note)
		}
		if c.cells == "" {
			continue
		}
		var cells []string
		for _, cell := range u.Table.Rows[0] {
			cells = append(cells, cell.Text)
		}
		if got := strings.Join(cells, " "); got != c.cells {
			t.Errorf("%q, want %q", got, c.cells)
		}
	}
}

// TestReasonsAreThoseOfGetQueue: a job that waits for quota has the words of get-queue, not Kueue's sentence.
func TestReasonsAreThoseOfGetQueue(t *testing.T) {
	st := gpus()
	st.LocalQueues = []state.LocalQueue{{Meta: state.Meta{Name: "lq", Namespace: "ns"}, ClusterQueue: "hyperpod-ns-a-clusterqueue"}}
	st.Workloads = append(st.Workloads, state.Workload{Meta: state.Meta{Name: "w", Namespace: "ns"}, OwnerUID: "u", QueueName: "lq", Active: true,
		PodSets:    []state.PodSet{{Count: 1, Requests: state.Amounts{"nvidia.com/gpu": 6}}},
		Conditions: []state.Condition{{Type: "QuotaReserved", Status: "False", Message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor p5, 2 more needed"}}})
	j := state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: "j", Namespace: "ns", UID: "u"}}
	s := &Snapshot{Time: noon, State: st, Tasks: []Task{{Job: j, Status: jobs.StatusOf(j, &st.Workloads[1], nil)}}}
	row := Of(s, Tasks, "").Table.Rows[0]
	if got := row[len(row)-1].Text; got != "2 more gpu needed" {
		t.Error(got)
	}
}
