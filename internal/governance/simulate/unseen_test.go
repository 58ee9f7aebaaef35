package simulate_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestUnseen: what could not be read may lend quota, or may have borrowed it. A job whose start depends on that is Unknown;
// one that exceeds the queue's own limits never runs.
func TestUnseen(t *testing.T) {
	s := fixture.JohnSmith()
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "cohorts" }
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	job := func(name string, pods int) simulate.Change {
		data, err := json.Marshal(fixture.Job(name, pods, 4, ""))
		if err != nil {
			t.Fatal(err)
		}
		return simulate.NewJob(name+".yaml", data, "smith")
	}
	for pods, want := range map[int]string{2: simulate.Unknown, 3: simulate.Never} {
		r, err := simulate.RunSeen(context.Background(), in, []simulate.Change{job("j", pods)}, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range r.Jobs {
			if j.Name == "j" && (j.After.State != want || (want == simulate.Unknown) != (j.After.Reason == simulate.NotReadable)) {
				t.Errorf("%d pods: %s %s, want %s", pods, j.After.State, j.After.Reason, want)
			}
		}
		if unknown := r.After.Unknown; (unknown == 1) != (want == simulate.Unknown) || unknown > 1 {
			t.Errorf("%d pods: %+v", pods, r.After)
		}
	}
}

// TestUnseenCompetitors: a pending job starts for certain with its queue's own quota, if the queue takes that back from
// any other. A job that could not be read may be quicker to borrow.
func TestUnseenCompetitors(t *testing.T) {
	for _, c := range []struct{ reclaim, quota, want string }{
		{"Any", "8", simulate.Admitted},
		{"Any", "6", simulate.Unknown},
		{"LowerPriority", "8", simulate.Unknown},
		{"Any", "2", simulate.Never},
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 16, ""), fixture.Work("x", "mine", 8, 0, time.Hour, false))
		s.Add(fixture.Team("x", "all", 3, "", `"preemption":{"reclaimWithinCohort":"`+c.reclaim+`"}`)...)
		other := fixture.Team("y", "all", 4, "", "")
		queue := &kueue.ClusterQueue{}
		if err := json.Unmarshal(other[2].(json.RawMessage), queue); err != nil {
			t.Fatal(err)
		}
		queue.Status.PendingWorkloads = 1
		s.Add(other[0], other[1], queue)
		s.Forbid = func(_, plural, namespace, _ string) bool { return plural == "workloads" && namespace != "x" }
		in, err := inputs.Load(t.Context(), s.Client(), inputs.Options{Namespaces: func(context.Context) ([]string, error) { return []string{"x"}, nil }}, fixture.Noon)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.RunSeen(t.Context(), in, []simulate.Change{change(t, simulate.Set, "x.quota/nvidia.com/gpu="+c.quota)}, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Jobs) != 1 || r.Jobs[0].After.State != c.want {
			t.Errorf("reclaim %s, quota %s: %+v, want %s", c.reclaim, c.quota, r.Jobs[0].After, c.want)
		}
	}
}
