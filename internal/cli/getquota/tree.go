package getquota

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// indent is one level of the tree.
const indent = "  "

// tree returns the table with the cohorts as sums of what is in them.
func (p page) tree(wide bool) output.Table {
	p.wide = wide
	var lines []line
	for _, resource := range p.resources {
		for _, b := range p.report.Branches(resource) {
			at := strings.Repeat(indent, b.Depth)
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
	return p.render(lines, p.notes(lines, wide))
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
