package audittext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
)

// TestBlocks: what is idle for one reason is one row below the team that waits, and another finding is a block of its own.
func TestBlocks(t *testing.T) {
	waits := func(team string, idle ...audit.Finding) []audit.Finding {
		out := []audit.Finding{{Code: audit.Starved, Team: team, Resource: "nvidia.com/gpu", Amount: 8, Jobs: 1, Job: "ns/j"}}
		for _, f := range idle {
			f.Code, f.For, f.Resource, f.Flavor = audit.Idle, team, "nvidia.com/gpu", "p5"
			out = append(out, f)
		}
		return out
	}
	lends := func(team string) audit.Finding {
		return audit.Finding{Team: team, Amount: 8, Setting: audit.LendingLimit, SettingOf: team}
	}
	apart := audit.Finding{Team: "x", Amount: 16, Setting: audit.CohortName, SettingOf: "b"}
	found := append(waits("b", lends("a"), lends("c"), apart), audit.Finding{Code: audit.NeverRuns, Team: "n", Jobs: 1, Job: "ns/never"})
	Fill(found)
	blocks := Blocks(found)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	var lines []string
	for _, r := range blocks[0] {
		lines = append(lines, fmt.Sprintf("%s: %s", r.Code, r.Message))
	}
	want := `Starved: team b waits for 8 nvidia.com/gpu (1 job, ns/j)
Idle: 16 nvidia.com/gpu idle in teams a, c (p5) while team b waits: the lendingLimit of each is reached
Idle: 16 nvidia.com/gpu idle in team x (p5) while team b waits: the teams share no cohort (cohortName of b)`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s", got)
	}
	if last := blocks[1]; len(last) != 1 || last[0].Code != audit.NeverRuns {
		t.Errorf("%v", last)
	}
}
