package audittext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
)

// TestRows: what is idle for one reason is one row below the team that waits, and many teams that wait hide nothing else.
func TestRows(t *testing.T) {
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
	text := func(found []audit.Finding, most int) (string, string) {
		Fill(found)
		rows, left := Rows(found, most)
		var lines []string
		for _, r := range rows {
			lines = append(lines, fmt.Sprintf("%s: %s", r.Code, r.Message))
		}
		return strings.Join(lines, "\n"), left
	}
	got, left := text(waits("b", lends("a"), lends("c"), apart), 40)
	want := `Starved: team b waits for 8 nvidia.com/gpu (1 job, ns/j for 0s)
Idle: 16 nvidia.com/gpu idle in teams a, c (p5) while team b waits: the lendingLimit of each is reached
Idle: 16 nvidia.com/gpu idle in team x (p5) while team b waits: the teams share no cohort (cohortName of b)`
	if got != want || left != "" {
		t.Errorf("%s\n%q", got, left)
	}
	var many []audit.Finding
	for i := range 100 {
		many = append(many, waits(fmt.Sprintf("t%d", i), lends("a"))...)
	}
	many = append(many, audit.Finding{Code: audit.NeverRuns, Team: "n", Jobs: 1, Job: "ns/never"})
	got, left = text(many, 40)
	if n := strings.Count(got, "\n") + 1; n != 21 || !strings.Contains(got, "ns/never") || left != "90 more Starved" {
		t.Errorf("%d rows, %q: %s", n, left, got)
	}
}
