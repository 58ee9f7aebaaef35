package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// groupsOf decodes resource groups from one resource's fields as the API has them.
func groupsOf(t *testing.T, fields string) []state.ResourceGroup {
	t.Helper()
	var groups []state.ResourceGroup
	data := fmt.Sprintf(`[{"coveredResources":[%q],"flavors":[{"name":"f","resources":[{"name":%q%s}]}]}]`, gpu, gpu, fields)
	if err := kube.Decode([]byte(data), &groups); err != nil {
		t.Fatal(err)
	}
	return groups
}

// TestBadQuantities: a queue with an invalid amount is left out, and named
// with the flavor and resource.
func TestBadQuantities(t *testing.T) {
	for _, c := range []struct{ fields, problem string }{
		{`,"nominalQuota":"-5"`, "Negative nominalQuota -5"},
		{`,"nominalQuota":"abc"`, "NotQuantity nominalQuota abc"},
		{`,"nominalQuota":""`, "MissingAmount nominalQuota "},
		{`,"nominalQuota":"-abc"`, "NotQuantity nominalQuota -abc"},
		{``, "MissingAmount nominalQuota "},
		{`,"nominalQuota":null`, "MissingAmount nominalQuota "},
		{`,"nominalQuota":{"a":1}`, "NotQuantity nominalQuota {\"a\":1}"},
		{`,"nominalQuota":4,"borrowingLimit":"many"`, "NotQuantity borrowingLimit many"},
		{`,"nominalQuota":"4","lendingLimit":""`, "MissingAmount lendingLimit "},
		{`,"nominalQuota":"4","lendingLimit":"-1"`, "Negative lendingLimit -1"},
		{`,"nominalQuota":"4","borrowingLimit":null,"lendingLimit":"2"`, ""},
	} {
		q := state.ClusterQueue{Meta: state.Meta{Name: "hyperpod-ns-t-clusterqueue"}, Cohort: "all", ResourceGroups: groupsOf(t, c.fields)}
		s := &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{q}, Flavors: []state.ResourceFlavor{flavor("f")}}
		for name, r := range map[string]*Report{"all": Build(s), "queues alone": FromQueues(s)} {
			var found []Problem
			for _, p := range r.Document([]string{gpu}, r.Teams).Problems {
				if p.Code == QueueFaulty {
					found = append(found, p)
				}
			}
			switch {
			case c.problem == "" && len(found) > 0, c.problem != "" && len(found) != 1:
				t.Errorf("%s: %s: problems %+v", c.fields, name, found)
			case c.problem != "" && (found[0].Subject != "t" || len(found[0].Details.Faults) == 0 || found[0].Details.Faults[0].Flavor != "f" || found[0].Details.Faults[0].Resource != gpu ||
				fmt.Sprint(found[0].Details.Faults[0].Code, " ", found[0].Details.Faults[0].Field, " ", found[0].Details.Faults[0].Value) != c.problem):
				t.Errorf("%s: %s: %+v, want %s", c.fields, name, found[0], c.problem)
			}
		}
	}
	r := Build(&state.State{Cohorts: []state.Cohort{{Meta: state.Meta{Name: "pool"}, ResourceGroups: groupsOf(t, `,"nominalQuota":"x"`)}}})
	if codes(r) != "QueueFaulty:pool" {
		t.Errorf("of a cohort: %s", codes(r))
	}
}

// TestShareOfMember: what a cohort could lend is not known from one queue of it, so
// neither is the share of one that borrows, unless Kueue's status says it.
func TestShareOfMember(t *testing.T) {
	uses := func(n int64) []state.FlavorUsage {
		return []state.FlavorUsage{{Name: "f", Resources: []state.ResourceUsage{{Name: gpu, Total: *resource.NewQuantity(n, resource.DecimalSI)}}}}
	}
	for _, c := range []struct {
		name   string
		change func(*state.ClusterQueue)
		want   string
		sample string
	}{
		{"it borrows", func(q *state.ClusterQueue) { q.Reservation = uses(8) }, "null Unknown", ""},
		{"Kueue says", func(q *state.ClusterQueue) { q.Reservation, q.WeightedShare = uses(8), 250 }, "250 -", " 250\n"},
		{"it borrows nothing", func(q *state.ClusterQueue) { q.Reservation = uses(4) }, "0 -", " 0\n"},
		{"weight 0", func(q *state.ClusterQueue) { q.Reservation, q.FairWeight = uses(8), &resource.Quantity{} }, "null Infinite", " +Inf\n"},
		{"in no cohort", func(q *state.ClusterQueue) { q.Reservation, q.Cohort = uses(8), "" }, "0 -", " 0\n"},
	} {
		q := queue("b", "pool", 4, -1, -1)
		c.change(&q)
		r := Build(&state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{q},
			Missing: []state.Missing{forbidden(kinds.ClusterQueue), forbidden(kinds.Cohort), forbidden(kinds.Workload)}})
		d := r.Document([]string{gpu}, r.Teams)
		got, reason := "null", "-"
		if v := d.Teams[0].FairShare; v != nil {
			got = fmt.Sprint(*v)
		}
		if v := d.Teams[0].FairShareReason; v != nil {
			reason = *v
		}
		if got += " " + reason; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		const name = `hyperpod_cluster_queue_weighted_share{cluster_queue="b",team="b"}`
		text := string(metrics.Text(d.Metrics()))
		if c.sample == "" && strings.Contains(text, name) || !strings.Contains(text, name+c.sample) && c.sample != "" {
			t.Errorf("%s: want the sample %q in\n%s", c.name, c.sample, text)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	}
}

// TestNodesUnread: nodes that may not be read are not zero nodes.
func TestNodesUnread(t *testing.T) {
	s := &state.State{ClusterQueues: []state.ClusterQueue{queue("a", "", 8, -1, -1)}, Missing: []state.Missing{forbidden(kinds.Node)}}
	if d := Build(s).Document([]string{gpu}, nil); d.Capacity != nil {
		t.Errorf("%+v", d.Capacity)
	}
	s.Missing = nil
	if d := FromQueues(s).Document([]string{gpu}, nil); d.Capacity != nil {
		t.Errorf("from queues alone: %+v", d.Capacity)
	}
	if d := Build(s).Document([]string{gpu}, nil); len(d.Capacity) != 1 || d.Capacity[0].Nodes != 0 {
		t.Errorf("no nodes: %+v", d.Capacity)
	}
}

// TestTwoNamespaces: what waits in either namespace of a team counts for it.
func TestTwoNamespaces(t *testing.T) {
	second := waiting("a", 1, 2)
	second.Namespace = "ns-other"
	s := &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{queue("a", "", 8, -1, -1)}, Flavors: []state.ResourceFlavor{flavor("f")},
		LocalQueues: []state.LocalQueue{local("a"), {Meta: state.Meta{Name: "lq", Namespace: "ns-other"}, ClusterQueue: "a"}},
		Workloads:   []state.Workload{waiting("a", 1, 4), second}}
	r := Build(s)
	row, _ := r.Teams[0].Of(gpu)
	if row.Pending == nil || *row.Pending != 6 || r.Teams[0].Waiting != 2 || !slices.Equal(r.Teams[0].Namespaces, []string{"ns-a", "ns-other"}) {
		t.Errorf("%+v, %+v", row, r.Teams[0])
	}
	// Without the LocalQueues nobody can tell whose they are: that is not zero.
	s.LocalQueues, s.Missing, s.ClusterQueues[0].Pending = nil, []state.Missing{forbidden(kinds.LocalQueue)}, 2
	r = Build(s)
	if row, _ := r.Teams[0].Of(gpu); row.Pending != nil || r.Teams[0].Waiting != 2 {
		t.Errorf("without LocalQueues: %+v, %+v", row, r.Teams[0])
	}
}
