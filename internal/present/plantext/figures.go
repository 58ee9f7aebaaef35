package plantext

import (
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Row is a line of the figures: a team's amounts of a resource, before and after.
type Row struct {
	Team, Resource string
	// Cells are the texts of Figures, in its order.
	Cells []string
	// own reports a change of other figures than FREE and BORROWABLE, or of the team itself.
	own bool
}

// Figures are the titles of the figures of a Row.
var Figures = []string{"NOMINAL", "USED", "BORROWED", "OVERCOMMIT", "FREE", "BORROWABLE", "LIMIT", "RUNNING", "WAITING"}

// fewRows is the number of rows up to which all are shown.
const fewRows = 12

// Rows returns the figures of the teams that change, by accelerator, or cpu for teams without. Of many rows, those in which
// only FREE or BORROWABLE changes are left out, because every change moves them for all teams that share quota. If there
// are more than most rows, those of teams that lose something come first. more is the number of the rest; most 0 returns
// all.
func Rows(c *plan.Consequences, most int) (rows []Row, more int) {
	all := rowsOf(c.Teams)
	if most == 0 || len(all) <= fewRows {
		return all, 0
	}
	chosen := func(r Row) bool { return r.own }
	if !slices.ContainsFunc(all, chosen) {
		chosen = func(Row) bool { return true }
	}
	others := func(r Row) bool { return !chosen(r) }
	if rows = slices.DeleteFunc(slices.Clone(all), others); len(rows) > most+1 {
		rows = slices.DeleteFunc(rowsOf(lossesFirst(c.Teams)), others)[:most]
	}
	return rows, len(all) - len(rows)
}

// lossesFirst returns teams that lose something before the others.
func lossesFirst(teams []simulate.Team) []simulate.Team {
	var losses, others []simulate.Team
	for _, t := range teams {
		if plan.Loses(t) {
			losses = append(losses, t)
		} else {
			others = append(others, t)
		}
	}
	return slices.Concat(losses, others)
}

// rowsOf returns the rows of teams.
func rowsOf(teams []simulate.Team) []Row {
	var out []Row
	for _, t := range teams {
		for _, r := range resources(t) {
			b, a := amounts(t.Before, r), amounts(t.After, r)
			row := Row{Team: t.Team, Resource: r}
			for i, title := range Figures {
				row.Cells = append(row.Cells, arrow(t, b[i], a[i]))
				row.own = row.own || b[i] != a[i] && title != "FREE" && title != "BORROWABLE"
			}
			row.own = row.own || t.Before == nil || t.After == nil
			out = append(out, row)
		}
	}
	return out
}

func arrow(t simulate.Team, before, after string) string {
	switch {
	case t.Before == nil:
		return after
	case t.After == nil:
		return before + " -> none"
	case before == after:
		return after
	}
	return before + " -> " + after
}

// resources returns the accelerators of a team, or cpu.
func resources(t simulate.Team) []string {
	var out []string
	for _, s := range []*simulate.TeamState{t.Before, t.After} {
		if s == nil {
			continue
		}
		for _, list := range [][]simulate.Amount{s.Nominal, s.Used, s.Limit} {
			for _, a := range list {
				if kinds.Accelerator(a.Resource) && !slices.Contains(out, a.Resource) {
					out = append(out, a.Resource)
				}
			}
		}
	}
	if len(out) == 0 {
		return []string{"cpu"}
	}
	slices.Sort(out)
	return out
}

// amounts returns the texts of Figures for one side.
func amounts(s *simulate.TeamState, resource string) []string {
	if s == nil {
		s = &simulate.TeamState{}
	}
	var out []string
	for _, list := range [][]simulate.Amount{s.Nominal, s.Used, s.Borrowed, s.Overcommit, s.Free, s.Borrowable, s.Limit} {
		sum := 0.0
		for _, a := range list {
			if a.Resource == resource {
				sum += float64(a.Amount)
			}
		}
		out = append(out, words.Number(resource, sum))
	}
	return append(out, atLeast(s.Admitted+s.WaitsForNodes, s.Unknown), atLeast(s.Waiting+s.Preempted+s.Never, s.Unknown))
}

// atLeast returns a number of jobs, as a range if more jobs may be among them.
func atLeast(n, more int) string {
	if more > 0 {
		return fmt.Sprintf("%d-%d", n, n+more)
	}
	return fmt.Sprint(n)
}
