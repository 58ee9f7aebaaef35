package findteam

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A note says why borrowed amounts are unknown: only a refusal is a missing permission. One note has all that is hidden.
func TestHiddenUsage(t *testing.T) {
	in := func(queue string) state.Workload {
		return state.Workload{Admission: &state.Admission{ClusterQueue: queue}}
	}
	for _, c := range []struct {
		name      string
		missing   string
		workloads []state.Workload
		events    bool // hidden
		want      string
	}{
		{"all could be read", "", []state.Workload{in("a")}, false, ""},
		{"no permission", state.Forbidden, []state.Workload{in("c"), in("b"), in("a"), in("b"), {}}, false, "borrowed amounts are hidden: no permission to read clusterqueues b, c"},
		{"no permission for both", state.Forbidden, []state.Workload{in("b")}, true, "borrowed amounts and runs before a preemption are hidden: no permission to list events and to read clusterqueues b"},
		{"no permission for events", "", []state.Workload{in("b")}, true, "events are hidden: runs before a preemption may be missing"},
		{"the server failed", state.Failed, []state.Workload{in("b")}, false, "borrowed amounts are unknown: cannot read clusterqueues b"},
		{"a file without them", state.NotInFile, []state.Workload{in("b")}, false, "borrowed amounts are unknown: not in the file: clusterqueues b"},
		{"no Kueue", state.NotServed, []state.Workload{in("b")}, false, ""},
		{"no workload has quota there", state.Forbidden, []state.Workload{in("a"), {}}, false, ""},
	} {
		st := &state.State{Workloads: c.workloads, ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "a"}}}}
		if c.missing != "" {
			st.Missing = []state.Missing{{Resource: kinds.ClusterQueue, Verb: "list", Reason: c.missing}}
		}
		queues, reason := UnreadLenders(st)
		if got := strings.Join(HiddenUsage(queues, reason, c.events), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
