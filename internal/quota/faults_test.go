package quota

import (
	"strings"
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
		want  string
	}{
		{"weight", func(q *state.ClusterQueue) { q.FairWeight = &minus }, "fairSharing.weight -1 is negative"},
		{"least weight", func(q *state.ClusterQueue) { q.FairWeight = resource.NewScaledQuantity(1, resource.Nano) }, "fairSharing.weight 1n is too small"},
		{"quota", func(q *state.ClusterQueue) { q.ResourceGroups[0].Flavors[0].Resources[0].Nominal = minus }, "nominalQuota -1 is negative"},
		{"flavor", func(q *state.ClusterQueue) {
			g := &q.ResourceGroups[0]
			g.Flavors = append(g.Flavors, g.Flavors[0])
		}, "is listed twice"},
		{"group", func(q *state.ClusterQueue) {
			g := q.ResourceGroups[0]
			g.Flavors, g.CoveredResources = nil, []string{gpu, gpu}
			q.ResourceGroups = append(q.ResourceGroups, g)
		}, "is in two groups"},
		{"lending", func(q *state.ClusterQueue) {
			many := resource.MustParse("99")
			q.ResourceGroups[0].Flavors[0].Resources[0].LendingLimit = &many
		}, "lendingLimit 99 is more than nominalQuota 6"},
		{"selector", func(q *state.ClusterQueue) {
			q.Namespaces = &state.Selector{MatchExpressions: []state.Requirement{{Key: "a", Operator: "Like"}}}
		}, "namespaceSelector is not a label selector"},
		{"preemption", func(q *state.ClusterQueue) { q.Preemption.WithinClusterQueue = "Sometimes" }, `preemption.withinClusterQueue is "Sometimes", want Never, LowerPriority, LowerOrNewerEqualPriority`},
		{"reclaim", func(q *state.ClusterQueue) { q.Preemption.ReclaimWithinCohort = "LowerOrNewerEqualPriority" }, "preemption.reclaimWithinCohort is"},
		{"borrowing", func(q *state.ClusterQueue) { q.Preemption.BorrowWithinCohort = "Any" }, "preemption.borrowWithinCohort.policy is"},
		{"strategy", func(q *state.ClusterQueue) { q.QueueingStrategy = "LIFO" }, `queueingStrategy is "LIFO"`},
		{"stopped", func(q *state.ClusterQueue) { q.StopPolicy = "Stop" }, `stopPolicy is "Stop"`},
		{"fungibility", func(q *state.ClusterQueue) { q.Fungibility.WhenCanBorrow = "Preempt" }, "flavorFungibility.whenCanBorrow is"},
		{"no spec", func(q *state.ClusterQueue) { *q = state.ClusterQueue{Meta: q.Meta} }, "it has no spec"},
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
		if r.Teams[1].State != Faulty || !strings.Contains(r.Teams[1].Reason, c.want) {
			t.Errorf("%s: %s (%s)", c.name, r.Teams[1].State, r.Teams[1].Reason)
		}
		if len(r.Problems) == 0 || r.Problems[0].Code != QueueFaulty || !strings.Contains(r.Problems[0].Message, c.want) {
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
