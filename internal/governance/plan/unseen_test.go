package plan

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestForeseeUnseen: a plan promises no start that unreadable quota or jobs may prevent. An outcome that is the same in
// every case is reported.
func TestForeseeUnseen(t *testing.T) {
	for _, c := range []struct {
		name    string
		pending int32 // jobs in the queue; one is readable
		quota   string
		want    func(*Consequences) []simulate.Job
	}{
		{"all of the queue's waiting jobs are readable", 1, "8", func(c *Consequences) []simulate.Job { return c.Started }},
		{"another job waits in the queue", 2, "8", func(c *Consequences) []simulate.Job { return c.Unknown }},
		{"the priority of the job with the quota is hidden", 1, "6", func(c *Consequences) []simulate.Job { return c.Unknown }},
		{"the queue becomes too small", 2, "2", func(c *Consequences) []simulate.Job { return c.Never }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, queue := memberOf(t, c.pending)
			queue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse(c.quota)
			p := &Plan{kueue: []policy.Operation{{Action: policy.Update, Kind: "ClusterQueue", Name: queue.Name, After: queue}}}
			if err := p.Foresee(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			got := p.Consequences
			total := 0
			for _, list := range [][]simulate.Job{got.Started, got.NoNodes, got.Never, got.Unknown} {
				total += len(list)
			}
			mine := func(j simulate.Job) bool { return j.Name == "mine" }
			if !slices.ContainsFunc(c.want(got), mine) || total != 1 || got.After.Unknown != len(got.Unknown) {
				t.Errorf("started %v, never %v, unknown %v, %+v", got.Started, got.Never, got.Unknown, got.After)
			}
		})
	}
}

// memberOf returns the inputs of a member of namespace a, whose job "mine" waits for the 4 GPUs of queue a: a job of the
// hidden namespace b holds them.
func memberOf(t *testing.T, pending int32) (*inputs.Inputs, *kueue.ClusterQueue) {
	t.Helper()
	team := fixture.Team("a", "", 4, "", `"preemption":{"withinClusterQueue":"LowerPriority"}`)
	queue := &kueue.ClusterQueue{}
	if err := json.Unmarshal(team[2].(json.RawMessage), queue); err != nil {
		t.Fatal(err)
	}
	queue.Status.PendingWorkloads = pending
	queue.Status.FlavorsReservation = []kueue.FlavorUsage{{Name: "a100", Resources: []kueue.ResourceUsage{{Name: "nvidia.com/gpu", Total: resource.MustParse("4")}}}}
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""), team[0], team[1], queue, fixture.Work("a", "mine", 4, 0, time.Hour, false))
	s.Forbid = func(_, plural, namespace, _ string) bool { return plural == "workloads" && namespace != "a" }
	in, err := inputs.Load(t.Context(), s.Client(), inputs.Options{Namespaces: func(context.Context) ([]string, error) { return []string{"a"}, nil }}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return in, queue.DeepCopy()
}
