package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// TestPolicyRemedies: what the policy would have to allow for an added job, as the core
// confirms; each remedy is simulated, and the job runs with it.
func TestPolicyRemedies(t *testing.T) {
	set := func(text string) simulate.Change { return change(t, simulate.Set, text) }
	none := change(t, simulate.RemoveJob, "low")
	for _, c := range []struct {
		name    string
		changes []simulate.Change
		want    string
	}{
		{"a borrowing limit", []simulate.Change{none, set("b.borrow-limit=1"), addJob("b", "new", 4)}, "NoBorrowingLimit b"},
		{"another team lends nothing", []simulate.Change{none, set("a.lend-limit=0"), addJob("b", "new", 4)}, "NoLendingLimit a"},
		{"both", []simulate.Change{none, set("a.lend-limit=0"), set("b.borrow-limit=0"), addJob("b", "new", 4)}, ""},
		{"the head of a strict queue", []simulate.Change{none, set("b.queueing=StrictFIFO"), addJob("b", "huge", 7), addJob("b", "small", 1)}, "BestEffortFIFO b"},
		{"no preemption", []simulate.Change{set("a.preemption=Never"), addJob("a", "new", 4)}, "PreemptLowerPriority a preempts a/low"},
		{"too large for the cohort", []simulate.Change{none, addJob("b", "new", 99)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, world(t, "lend-three.yaml"), 0, c.changes...)
			var got []string
			for _, a := range r.PolicyRemedies {
				for _, m := range a.Remedies {
					text := m.Code + " " + m.Team
					if len(m.Preempts) > 0 {
						text += " preempts " + strings.Join(m.Preempts, " ")
					}
					got = append(got, text)
					s := suggest.PolicyRemedy(m.Code, m.Team)
					after := run(t, world(t, "lend-three.yaml"), 0, append(c.changes, set(s.Args[1]))...)
					for _, j := range after.Jobs {
						if j.Name == a.Name && j.Namespace == a.Namespace && j.After.State != simulate.Admitted {
							t.Errorf("with %s: %+v", s.Args[1], j.After)
						}
					}
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
	t.Run("a pod larger than any node", func(t *testing.T) {
		w := withNodes(world(t, "lend-three.yaml"), 2)
		r := run(t, w, 0, set("b.borrow-limit=1"), addJob("b", "new", 9))
		if len(r.PolicyRemedies) != 1 || len(r.PolicyRemedies[0].Remedies) != 0 || len(r.PolicyRemedies[0].Placements) != 1 || fmt.Sprint(r.PolicyRemedies[0].Placements[0].Reasons[0].Most) != "8" {
			t.Errorf("%+v", r.PolicyRemedies)
		}
	})
	t.Run("a job that runs needs none", func(t *testing.T) {
		if r := run(t, world(t, "lend-three.yaml"), 0, none, addJob("b", "new", 4)); r.PolicyRemedies == nil || len(r.PolicyRemedies) != 0 {
			t.Errorf("%+v", r.PolicyRemedies)
		}
	})
}
