package simulate_test

import (
	"context"
	"encoding/json"
	"testing"

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
