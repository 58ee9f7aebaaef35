package governancecmd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
)

// keepTeams leaves only some teams in a document. A plan of it leaves the others alone.
func keepTeams(doc *policy.Document, only []string) error {
	if len(only) == 0 {
		return nil
	}
	var names []string
	for _, t := range doc.Teams {
		names = append(names, t.Team)
	}
	wanted := make([]string, len(only))
	for i, given := range only {
		wanted[i] = findteam.NameOf(given)
		if err := findteam.Known(wanted[i], names); err != nil {
			return err
		}
	}
	doc.Teams = slices.DeleteFunc(doc.Teams, func(t policy.Team) bool { return !slices.Contains(wanted, t.Team) })
	return nil
}

// exportTable has a row for each team. On a terminal, only a wide table has all of many.
func exportTable(io *output.IO, doc *policy.Document, wide bool) output.Table {
	t := output.Table{Empty: "no teams", Columns: []output.Column{{Title: "TEAM", Keep: true}, {Title: "QUOTA", Wrap: true}, {Title: "STRATEGY", Yield: 2},
		{Title: "BORROWS", Right: true}, {Title: "PREEMPTS OWN", Yield: 1}, {Title: "WEIGHT", Right: true}}}
	teams := doc.Teams
	if io.Shortens(wide, len(teams)) {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more teams (see -o wide)", len(teams)-output.MostRows))
		teams = teams[:output.MostRows]
	}
	for _, team := range teams {
		t.Rows = append(t.Rows, output.T(team.Team, policytext.Quota(team), team.Shares(), policytext.Borrowing(team), cmp.Or(team.PreemptTeamTasks, "-"), strconv.Itoa(team.Weight())))
	}
	return t
}
