package quota

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestHidden: a queue that may not be read has a team with the use that its LocalQueues
// report, or without them, that its workloads hold.
func TestHidden(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	use := func(n string) []state.FlavorUsage {
		return []state.FlavorUsage{{Name: "p5", Resources: []state.ResourceUsage{{Name: gpu, Total: resource.MustParse(n)}}}}
	}
	forbidden := func(r kinds.Resource) state.Missing {
		return state.Missing{Resource: r, Verb: "list", Reason: state.Forbidden}
	}
	own := state.Workload{Meta: state.Meta{Namespace: "hyperpod-ns-a", Name: "w"}, Active: true, QueueName: "hyperpod-ns-a-localqueue",
		Conditions: []state.Condition{{Type: QuotaReserved, Status: "True"}, {Type: Admitted, Status: "True"}},
		Admission: &state.Admission{ClusterQueue: "hyperpod-ns-a-clusterqueue", PodSets: []state.PodSetAssignment{{Name: "main", Count: 1,
			Flavors: map[string]string{gpu: "p5"}, Usage: map[string]string{gpu: "8"}}}}}
	local := state.LocalQueue{Meta: state.Meta{Namespace: "hyperpod-ns-a", Name: "hyperpod-ns-a-localqueue"}, ClusterQueue: "hyperpod-ns-a-clusterqueue",
		Reservation: use("24"), Usage: use("16"), Pending: 2, Reserving: 3}
	for _, c := range []struct {
		name           string
		s              state.State
		reserved, used int64
		running        int
		pending        bool
	}{
		{"the status of the LocalQueue", state.State{LocalQueues: []state.LocalQueue{local}, Missing: []state.Missing{forbidden(kinds.ClusterQueue), forbidden(kinds.Workload)}}, 24, 16, 3, false},
		{"the workloads", state.State{Workloads: []state.Workload{own}, Missing: []state.Missing{forbidden(kinds.ClusterQueue), forbidden(kinds.LocalQueue)}}, 8, 8, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Build(&c.s)
			if len(r.Teams) != 1 || r.Complete || len(r.Problems) != 0 {
				t.Fatalf("%+v", r)
			}
			team := r.Teams[0]
			row, ok := team.Of(gpu)
			if !ok || team.Name != "a" || team.State != Hidden || team.Running != c.running || !row.NominalHidden || row.Reserved != c.reserved || row.Used != c.used ||
				row.Free != nil || row.Limit != nil || (row.Pending != nil) != c.pending {
				t.Errorf("%+v %+v", team, row)
			}
			q := r.Document([]string{gpu}, r.Teams).Quota[0]
			if q.Nominal != nil || q.Free != nil || *q.Reserved != float64(c.reserved) {
				t.Errorf("%+v", q)
			}
		})
	}
	// A queue that does not exist is not hidden.
	if r := Build(&state.State{LocalQueues: []state.LocalQueue{local}}); len(r.Teams) != 0 || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
}
