package verdict

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
)

// TestPodsPlaced: where some pods fit, the reasons are about the nodes that have taken these.
func TestPodsPlaced(t *testing.T) {
	full := fit.Reason{Reason: fit.Insufficient, Resource: "nvidia.com/gpu", Needed: 8, Nodes: 7}
	for _, c := range []struct {
		placed int
		empty  bool
		want   string
	}{
		{0, false, "0 of 4 pods (worker) fit on the nodes now: 7 nodes have fewer than 8 free nvidia.com/gpu"},
		{3, false, "only 3 of 4 pods (worker) fit on the nodes now; for the next pod, 7 nodes have fewer than 8 free nvidia.com/gpu"},
		{0, true, "0 of 4 pods (worker) fit even on empty nodes: 7 nodes have fewer than 8 free nvidia.com/gpu"},
		{3, true, "only 3 of 4 pods (worker) fit on empty nodes; for the next pod, 7 nodes have fewer than 8 free nvidia.com/gpu"},
	} {
		g := fit.Placement{Pods: 4, PodsPlaced: c.placed, Reasons: []fit.Reason{full}}
		where := " on the nodes now"
		if c.empty {
			where = OnEmptyNodes(g)
		}
		if got := PodsPlaced(g, "worker", where); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
