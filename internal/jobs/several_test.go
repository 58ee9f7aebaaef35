package jobs

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A job with a workload for each pod or group holds what all of them hold.
func TestHoldingsOfSeveralWorkloads(t *testing.T) {
	w := func(name, uid, pod string) state.Workload {
		out := state.Workload{Meta: state.Meta{Name: name, UID: name, Namespace: "n"}, Active: true, OwnerUID: uid,
			Admission: &state.Admission{ClusterQueue: "q", PodSets: []state.PodSetAssignment{
				{Name: "main", Flavors: map[string]string{"nvidia.com/gpu": "f"}, Usage: map[string]string{"nvidia.com/gpu": "2"}}}}}
		if pod != "" {
			out.Owners = []state.Owner{{Kind: "Pod", Name: pod}}
		}
		return out
	}
	for _, c := range []struct {
		kind      kinds.Job
		workloads []state.Workload
		want      int64
	}{
		{kinds.LeaderWorkerSet, []state.Workload{w("0", "u", ""), w("1", "u", ""), w("of-another", "v", "")}, 4},
		{kinds.DeploymentKind, []state.Workload{w("0", "", "x-1a2b3c-aaaaa"), w("1", "", "x-1a2b3c-bbbbb"), w("2", "", "x-y-1a2b3c-aaaaa")}, 4},
		{kinds.Notebook, []state.Workload{w("0", "", "x-0"), w("1", "", "x-1a2b3c-aaaaa")}, 2},
		{kinds.Workspace, []state.Workload{w("0", "", "workspace-x-1a2b3c-aaaaa"), w("1", "", "x-1a2b3c-aaaaa")}, 2},
		{kinds.PyTorchJob, []state.Workload{w("0", "u", ""), w("of-another", "v", "")}, 2},
	} {
		t.Run(c.kind.Kind, func(t *testing.T) {
			j := state.Job{Kind: c.kind, Meta: state.Meta{Name: "x", UID: "u", Namespace: "n"}}
			match := Match([]state.Job{j}, c.workloads)[0]
			if match == nil {
				t.Fatal("it has no workload")
			}
			held := AllHoldings(WorkloadsOf(j, match, c.workloads), nil, c.workloads)
			if len(held) != 1 || held[0].Amount != c.want {
				t.Errorf("it holds %+v, not %d GPUs", held, c.want)
			}
		})
	}
	if all := WorkloadsOf(state.Job{Kind: kinds.PyTorchJob}, nil, []state.Workload{w("0", "u", "")}); len(all) != 0 {
		t.Errorf("a job without a workload has %d", len(all))
	}
}
