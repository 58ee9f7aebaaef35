package getquota

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// indent is one level of the tree.
const indent = "  "

// tree returns the table with the cohorts as sums of what is in them.
func (p page) tree(wide bool) output.Table {
	p.wide = wide
	var lines, all []line
	for _, resource := range p.resources {
		branches := p.report.Branches(resource)
		together := map[int][]quota.ResourceRow{}
		if !wide {
			together = p.lessRelevant(branches)
		}
		for i, b := range branches {
			at := strings.Repeat(indent, b.Depth)
			if rest, hidden := together[i]; hidden {
				all = append(all, p.teamLines(b.Team, b.Row, wide)...)
				if len(rest) > 0 {
					lines = append(lines, line{name: fmt.Sprintf("%s%d more", at, len(rest)), style: output.Dim, row: quota.SumOf(resource, rest), sum: true})
				}
				continue
			}
			if b.Team != nil {
				for i, l := range p.teamLines(b.Team, b.Row, wide) {
					if i == 0 && l.flavor == "" && len(l.row.Flavors) > 1 {
						l.flavor = "(all)"
					}
					l.name = at + l.name
					lines = append(lines, l)
				}
				continue
			}
			lines = append(lines, line{name: at + b.Cohort, style: output.Strong, row: b.Row, sum: true, bar: true})
			if b.Own > 0 {
				free := b.Own - b.OwnLent
				zero := int64(0)
				own := quota.ResourceRow{Resource: resource, Pending: &zero, Figures: quota.Figures{Nominal: b.Own, Borrowed: &zero, Overcommit: &zero,
					Lent: &b.OwnLent, Free: &free, Lendable: &free}}
				if !p.report.Complete {
					own.Lent, own.Free, own.Lendable = nil, nil, nil
				}
				lines = append(lines, line{name: at + indent + "(own of the cohort)", style: output.Dim, row: own, sum: true, bar: true})
			}
		}
		lines = append(lines, p.gone(resource)...)
	}
	notes := p.notes(append(all, lines...), wide)
	if len(all) > 0 {
		notes = append(notes, someTeams())
	}
	return p.render(lines, notes)
}

// lessRelevant returns the teams that have no row of their own in a long tree, by their index. Those of a cohort have one row together,
// in place of the last of them, which has the rows of all; the others have none. One team alone keeps its row.
func (p page) lessRelevant(branches []quota.Branch) map[int][]quota.ResourceRow {
	var teams []line
	for _, b := range branches {
		if b.Team != nil {
			teams = append(teams, p.teamLines(b.Team, b.Row, false)...)
		}
	}
	shown, _ := mostRelevant(teams)
	relevant := map[*quota.Team]bool{}
	for _, l := range shown {
		relevant[l.team] = true
	}
	out, last := map[int][]quota.ResourceRow{}, map[string]int{} // last: by cohort
	for i, b := range branches {
		if b.Team == nil || relevant[b.Team] {
			continue
		}
		var rest []quota.ResourceRow
		if before, ok := last[b.Parent]; ok {
			rest, out[before] = out[before], nil
		}
		out[i], last[b.Parent] = append(rest, b.Row), i
	}
	maps.DeleteFunc(out, func(_ int, rest []quota.ResourceRow) bool { return len(rest) == 1 })
	return out
}

// gone returns the teams that are in no tree.
func (p page) gone(resource string) []line {
	var out []line
	for i := range p.teams {
		if t := &p.teams[i]; t.State == quota.Deleted {
			if row, ok := t.Of(resource); ok {
				out = append(out, p.teamLines(t, row, false)...)
			}
		}
	}
	return out
}
