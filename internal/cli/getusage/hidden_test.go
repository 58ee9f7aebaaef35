package getusage

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A note says why borrowed amounts are unknown: only a refusal is a missing permission.
func TestHiddenBorrowing(t *testing.T) {
	in := func(queue string) state.Workload {
		return state.Workload{Admission: &state.Admission{ClusterQueue: queue}}
	}
	for _, c := range []struct {
		name      string
		missing   string
		workloads []state.Workload
		want      string
	}{
		{"all could be read", "", []state.Workload{in("a")}, ""},
		{"no permission", state.Forbidden, []state.Workload{in("c"), in("b"), in("a"), in("b"), {}}, "borrowed amounts are hidden: no permission to read clusterqueues b, c"},
		{"the server failed", state.Failed, []state.Workload{in("b")}, "borrowed amounts are unknown: cannot read clusterqueues b"},
		{"a file without them", state.NotInFile, []state.Workload{in("b")}, "borrowed amounts are unknown: not in the file: clusterqueues b"},
		{"no Kueue", state.NotServed, []state.Workload{in("b")}, ""},
		{"no workload has quota there", state.Forbidden, []state.Workload{in("a"), {}}, ""},
	} {
		st := &state.State{Workloads: c.workloads, ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "a"}}}}
		if c.missing != "" {
			st.Missing = []state.Missing{{Resource: kinds.ClusterQueue, Verb: "list", Reason: c.missing}}
		}
		if got := hiddenBorrowing(st); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
