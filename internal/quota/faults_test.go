package quota

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestFaulty: a queue or cohort that cannot be right counts for nothing, and is
// named before anything else.
func TestFaulty(t *testing.T) {
	minus := resource.MustParse("-1")
	for _, c := range []struct {
		name  string
		spoil func(*state.ClusterQueue)
		want  Fault
	}{
		{"weight", func(q *state.ClusterQueue) { q.FairWeight = &minus }, Fault{Code: Negative, Field: "fairSharing.weight", Value: "-1"}},
		{"least weight", func(q *state.ClusterQueue) { q.FairWeight = resource.NewScaledQuantity(1, resource.Nano) }, Fault{Code: WeightTooSmall, Field: "fairSharing.weight", Value: "1n", Limit: "1n"}},
		{"quota", func(q *state.ClusterQueue) { q.ResourceGroups[0].Flavors[0].Resources[0].Nominal = minus }, Fault{Code: Negative, Field: "nominalQuota", Value: "-1"}},
		{"flavor", func(q *state.ClusterQueue) {
			g := &q.ResourceGroups[0]
			g.Flavors = append(g.Flavors, g.Flavors[0])
		}, Fault{Code: RepeatedFlavor}},
		{"group", func(q *state.ClusterQueue) {
			g := q.ResourceGroups[0]
			g.Flavors = nil
			q.ResourceGroups = append(q.ResourceGroups, g)
		}, Fault{Code: RepeatedResource, Resource: gpu}},
		{"lending", func(q *state.ClusterQueue) {
			many := resource.MustParse("99")
			q.ResourceGroups[0].Flavors[0].Resources[0].LendingLimit = &many
		}, Fault{Code: AboveNominal, Field: "lendingLimit", Value: "99", Limit: "6"}},
		{"selector", func(q *state.ClusterQueue) {
			q.Namespaces = &state.Selector{MatchExpressions: []state.Requirement{{Key: "a", Operator: "Like"}}}
		}, Fault{Code: InvalidSelector, Field: "namespaceSelector"}},
		{"preemption", func(q *state.ClusterQueue) { q.Preemption.WithinClusterQueue = "Sometimes" }, Fault{Code: UnknownWord, Field: "preemption.withinClusterQueue", Value: "Sometimes"}},
		{"reclaim", func(q *state.ClusterQueue) { q.Preemption.ReclaimWithinCohort = "LowerOrNewerEqualPriority" }, Fault{Code: UnknownWord, Field: "preemption.reclaimWithinCohort", Value: "LowerOrNewerEqualPriority"}},
		{"borrowing", func(q *state.ClusterQueue) { q.Preemption.BorrowWithinCohort = "Any" }, Fault{Code: UnknownWord, Field: "preemption.borrowWithinCohort.policy", Value: "Any"}},
		{"strategy", func(q *state.ClusterQueue) { q.QueueingStrategy = "LIFO" }, Fault{Code: UnknownWord, Field: "queueingStrategy", Value: "LIFO"}},
		{"stopped", func(q *state.ClusterQueue) { q.StopPolicy = "Stop" }, Fault{Code: UnknownWord, Field: "stopPolicy", Value: "Stop"}},
		{"fungibility", func(q *state.ClusterQueue) { q.Fungibility.WhenCanBorrow = "Preempt" }, Fault{Code: UnknownWord, Field: "flavorFungibility.whenCanBorrow", Value: "Preempt"}},
		{"no spec", func(q *state.ClusterQueue) { *q = state.ClusterQueue{Meta: q.Meta} }, Fault{Code: NoSpec}},
	} {
		s := &state.State{ClusterQueues: []state.ClusterQueue{queue("a", "pool", 5, -1, -1), queue("b", "pool", 6, -1, -1)}}
		if r := Build(s); *r.Teams[0].Resources[0].Borrowable != 6 {
			t.Fatalf("%s: %+v", c.name, r.Teams[0])
		}
		c.spoil(&s.ClusterQueues[1])
		r := Build(s)
		if got := *r.Teams[0].Resources[0].Borrowable; got != 0 {
			t.Errorf("%s: a could borrow %d of a queue that counts for nothing", c.name, got)
		}
		if bad := r.Teams[1].Faults; r.Teams[1].State != Faulty || len(bad) != 1 || bad[0].Code != c.want.Code || bad[0].Field != c.want.Field || bad[0].Value != c.want.Value || bad[0].Limit != c.want.Limit {
			t.Errorf("%s: %s %+v, want %+v", c.name, r.Teams[1].State, bad, c.want)
		}
		if len(r.Problems) == 0 || r.Problems[0].Code != QueueFaulty || r.Problems[0].Details.Object != "ClusterQueue b" || len(r.Problems[0].Details.Faults) != 1 {
			t.Errorf("%s: %+v", c.name, r.Problems)
		}
	}
	// Nor is there quota of it beside the nodes, or in v2's figures.
	spoiled := queue("a", "", 5, -1, -1)
	spoiled.FairWeight = &minus
	s := &state.State{ClusterQueues: []state.ClusterQueue{spoiled}, Cohorts: []state.Cohort{{Meta: state.Meta{Name: "pool"}, FairWeight: &minus, ResourceGroups: spoiled.ResourceGroups}},
		Nodes: []state.Node{gpuNode("n", "Schedulable", 8)}, Flavors: []state.ResourceFlavor{flavor("f")}, LocalQueues: []state.LocalQueue{local("a")}}
	if c := Build(s).Capacity; len(c) != 1 || c[0].Reserved != nil {
		t.Errorf("a faulty queue and cohort beside the nodes: %+v", c)
	}
	if d := DevicesOf(s, []string{"ns-a"}); len(d) != 1 || d[0].Namespaces["ns-a"].Total != nil {
		t.Errorf("a faulty queue in v2's figures: %+v", d)
	}
	s = &state.State{ClusterQueues: []state.ClusterQueue{queue("a", "pool", 5, -1, -1)},
		Cohorts: []state.Cohort{{Meta: state.Meta{Name: "pool"}, FairWeight: &minus, ResourceGroups: queue("x", "", 7, -1, -1).ResourceGroups}}}
	if r := Build(s); *r.Teams[0].Resources[0].Borrowable != 0 || r.Problems[0].Code != QueueFaulty {
		t.Errorf("a faulty cohort lends: %+v", r.Problems)
	}
}
