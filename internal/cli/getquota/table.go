package getquota

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// page is a report on the way to a table.
type page struct {
	io        *output.IO
	report    *quota.Report
	teams     []quota.Team
	resources []string
	short     map[string]string // names of resources
	narrow    bool              // one team's
	wide      bool
}

// line is a row of figures with a name.
type line struct {
	name   string
	style  output.Style
	flavor string
	team   *quota.Team
	row    quota.ResourceRow
	limits *quota.FlavorRow
	sum    bool
	bar    bool
}

func (p page) table(wide bool) output.Table {
	p.wide = wide
	var lines, all []line
	folded := false // some teams have a row together
	for _, resource := range p.resources {
		var own []line // of teams with quota of the resource
		for i := range p.teams {
			if row, ok := p.teams[i].Of(resource); ok {
				own = append(own, p.teamLines(&p.teams[i], row, wide)...)
			}
		}
		shown, rest := own, []quota.ResourceRow(nil)
		if !wide {
			shown, rest = mostRelevant(own)
		}
		all, lines = append(all, own...), append(lines, shown...)
		if len(rest) > 0 {
			folded = true
			lines = append(lines, line{name: fmt.Sprintf("%d more", len(rest)), style: output.Dim, row: quota.SumOf(resource, rest), sum: true})
		}
		if several(own) && !p.narrow {
			lines = append(lines, line{name: "total", style: output.Strong, row: p.report.Sum(resource), sum: true})
		}
	}
	notes := p.notes(all, wide)
	if folded {
		notes = append(notes, someTeams())
	}
	return p.render(lines, notes)
}

// someTeams is the note below a table where some teams have a row together.
func someTeams() string {
	return fmt.Sprintf("the %d teams with most PENDING and RESERVED have rows (-o wide: all teams)", output.MostRows)
}

// mostRelevant returns the [output.MostRows] lines that are shown, in their order: those of teams with a fault, then those with the largest
// requests and use. It also returns the rows of the others.
func mostRelevant(lines []line) (shown []line, rest []quota.ResourceRow) {
	if len(lines) <= output.MostRows+1 {
		return lines, nil
	}
	fault := func(l line) int {
		if l.team.State != quota.Active || over(l.row.Figures) {
			return 1
		}
		return 0
	}
	amount := func(l line) int64 {
		if l.row.Pending == nil {
			return l.row.Reserved
		}
		return l.row.Reserved + *l.row.Pending
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(fault(lines[b])-fault(lines[a]), cmp.Compare(amount(lines[b]), amount(lines[a])))
	})
	few := slices.Sorted(slices.Values(order[:output.MostRows]))
	for i, l := range lines {
		if _, ok := slices.BinarySearch(few, i); ok {
			shown = append(shown, l)
		} else {
			rest = append(rest, l.row)
		}
	}
	return shown, rest
}

// several reports whether the lines are of more than one team.
func several(lines []line) bool { return len(lines) > 0 && lines[0].team != lines[len(lines)-1].team }

// teamLines returns a team's row and, in a wide table, one for each of its flavors.
func (p page) teamLines(t *quota.Team, row quota.ResourceRow, wide bool) []line {
	// Whose quota a team uses is unknown where its nominal quota is.
	l := line{name: label(t), team: t, row: row, bar: !row.NominalHidden}
	switch {
	case t.State == quota.Deleted || over(row.Figures):
		l.style = output.Bad
	case t.State != quota.Active && t.State != quota.Hidden:
		l.style = output.Warn
	}
	if len(row.Flavors) == 1 {
		l.flavor, l.limits = row.Flavors[0].Flavor, &row.Flavors[0]
	}
	out := []line{l}
	if !wide || len(row.Flavors) < 2 {
		return out
	}
	out[0].flavor = "(all)"
	for i := range row.Flavors {
		f := &row.Flavors[i]
		out = append(out, line{name: label(t), style: output.Dim, flavor: f.Flavor, row: quota.ResourceRow{Resource: row.Resource, Figures: f.Figures}, limits: f, bar: l.bar})
	}
	return out
}

func over(f quota.Figures) bool { return f.Overcommit != nil && *f.Overcommit > 0 }

// label returns a team's name and what is unusual about it.
func label(t *quota.Team) string {
	switch {
	case t.State == quota.Deleted:
		return t.Name + " (deleted)"
	case t.State == quota.Cycle:
		return t.Name + " (cohort cycle)"
	case t.State != quota.Active && t.State != quota.Hidden:
		return t.Name + " (" + strings.ToLower(t.State) + ")"
	case t.IdleSharing:
		return t.Name + " (unreserved)"
	}
	return t.Name
}

// render lays the lines out. With one resource its name is the title of the
// first column, with several there is a column for it.
func (p page) render(lines []line, notes []string) output.Table {
	reserved, overcommit, lendable := 6, false, false
	for _, l := range lines {
		if l.row.Reserved != l.row.Used {
			reserved = 0
		}
		overcommit = overcommit || over(l.row.Figures)
		lendable = lendable || l.team != nil && lendsLess(l.row.Figures)
	}
	many := len(p.resources) > 1
	first := output.Column{Title: "TEAM", Keep: true}
	if !many && len(p.resources) == 1 {
		first.Title = p.resources[0]
	}
	t := output.Table{Columns: []output.Column{first}, Notes: notes, Empty: "no team has quota for accelerators, cpu or memory"}
	put := func(c output.Column) { t.Columns = append(t.Columns, c) }
	if many {
		put(output.Column{Title: "RESOURCE", Keep: true})
	}
	put(output.Column{Title: "FLAVOR", Wide: true})
	put(output.Column{Title: "NOMINAL", Right: true})
	put(output.Column{Title: "RESERVED", Right: true, Yield: reserved})
	put(output.Column{Title: "USED", Right: true})
	put(output.Column{Title: "BORROWED", Right: true})
	if overcommit {
		put(output.Column{Title: "OVERCOMMIT", Right: true})
	}
	put(output.Column{Title: "LENT", Right: true})
	put(output.Column{Title: "LIMIT", Right: true, Yield: 5})
	put(output.Column{Title: "FREE", Right: true})
	put(output.Column{Title: "BORROWABLE", Right: true, Yield: 3})
	put(output.Column{Title: "PENDING", Right: true, Yield: 2})
	put(output.Column{Title: "GPUS", Right: true, Wide: true})
	put(output.Column{Title: "BORROW-LIMIT", Right: true, Wide: true})
	put(output.Column{Title: "LEND-LIMIT", Right: true, Wide: true})
	if lendable {
		put(output.Column{Title: "LENDABLE", Right: true, Wide: true})
	}
	put(output.Column{Title: "WEIGHT", Right: true, Wide: true})
	put(output.Column{Title: "SHARE", Right: true, Wide: true})
	put(output.Column{Title: "COHORT", Wide: true})
	put(output.Column{Title: "LENDERS", Wide: true})
	put(output.Column{Bar: true, Yield: 1})
	whole := scale(lines)
	t.Rows, t.Keys = make([][]output.Cell, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		t.Rows[i] = p.cells(l, many, overcommit, lendable, whole)
		t.Keys[i] = l.name + "\x00" + l.row.Resource
		if l.team != nil {
			t.Keys[i] = l.team.ClusterQueue + "\x00" + l.row.Resource + "\x00"
		} else if l.limits != nil {
			t.Keys[i] += "\x00" + l.flavor
		}
	}
	return t
}

// called returns what a resource is called in the table.
func (p page) called(resource string) string {
	if p.wide {
		return resource
	}
	return p.short[resource]
}

// scale returns the length of the longest bar of each resource; those of different
// resources cannot be compared. Sums fill their bars.
func scale(lines []line) map[string]int64 {
	out := map[string]int64{}
	for _, l := range lines {
		if l.bar && !l.sum {
			out[l.row.Resource] = max(out[l.row.Resource], l.row.Nominal, l.row.Reserved)
		}
	}
	return out
}

func (p page) cells(l line, many, overcommit, lendable bool, whole map[string]int64) []output.Cell {
	f, name := &l.row.Figures, l.row.Resource
	amount := func(n int64) output.Cell { return output.Cell{Text: quota.Text(name, n), Style: l.style} }
	maybe := func(n *int64, unknown string) output.Cell {
		switch {
		case n == nil:
			return output.Cell{Text: unknown, Style: output.Dim}
		case *n == 0:
			return output.Cell{Text: "-", Style: output.Dim}
		}
		return amount(*n)
	}
	number := func(n *int64, unknown string) output.Cell {
		if n == nil {
			return output.Cell{Text: unknown, Style: output.Dim}
		}
		return amount(*n)
	}
	unknown := "?"
	if l.sum {
		unknown = "" // a sum of these would say nothing
	}
	out := append(make([]output.Cell, 0, 21), output.Cell{Text: l.name, Style: l.style})
	if many {
		out = append(out, output.Cell{Text: p.called(name), Style: output.Dim})
	}
	out = append(out, output.Cell{Text: l.flavor, Style: output.Dim}, number(known(f), unknown), amount(f.Reserved), amount(f.Used), maybe(f.Borrowed, unknown))
	if overcommit {
		c := maybe(f.Overcommit, "?")
		if over(*f) {
			c.Style = output.Bad
		}
		out = append(out, c)
	}
	limit, free := unknown, unknown
	if f.AtMost != nil {
		limit = "<=" + quota.Text(name, *f.AtMost)
	}
	if f.Free == nil && !l.sum && !f.NominalHidden {
		free = "<=" + quota.Text(name, f.Idle())
	}
	out = append(out, maybe(f.Lent, unknown), number(f.Limit, limit), number(f.Free, free), number(f.Borrowable, unknown), pendingCell(l, amount))
	out = append(out, p.wideCells(l, lendable, amount)...)
	bar := output.Cell{Style: l.style}
	if l.bar {
		b := barOf(f)
		if b.Whole = max(f.Nominal, f.Reserved); !l.sum {
			b.Whole = whole[name]
		}
		bar.Bar = &b
	}
	return append(out, bar)
}

// known returns the nominal quota; nil where it may not be read.
func known(f *quota.Figures) *int64 {
	if f.NominalHidden {
		return nil
	}
	return &f.Nominal
}

// pendingCell is empty where it belongs to another row.
func pendingCell(l line, amount func(int64) output.Cell) output.Cell {
	switch {
	case l.row.Pending != nil:
		return amount(*l.row.Pending)
	case l.team == nil && !l.sum:
		return output.Cell{}
	}
	return output.Cell{Text: "?", Style: output.Dim}
}

func (p page) wideCells(l line, lendable bool, amount func(int64) output.Cell) (out []output.Cell) {
	out = make([]output.Cell, 7, 8)
	if lendable {
		defer func() { out = slices.Insert(out, 3, p.lendableCell(l, amount)) }()
	}
	if !p.wide {
		return out
	}
	if worth, ok := quota.GPUs(l.row.Resource); ok && !l.row.NominalHidden {
		out[0].Text = fmt.Sprint(math.Round(worth*float64(l.row.Nominal)*100) / 100)
	}
	limit := func(n *int64) output.Cell {
		if n == nil {
			return output.Cell{Text: "-", Style: output.Dim}
		}
		return amount(*n)
	}
	switch {
	case l.row.NominalHidden:
		out[1].Text, out[2].Text = "?", "?"
	case l.limits != nil:
		out[1], out[2] = limit(l.limits.BorrowingLimit), limit(l.limits.LendingLimit)
	}
	if l.team != nil {
		out[3].Text, out[4] = fmt.Sprint(l.team.Share.Weight), shareCell(l.team.Share)
		if l.team.State == quota.Hidden {
			out[3] = out[4]
		}
		out[5].Text = l.team.Cohort
		if p.report.Complete {
			out[6].Text = p.lenders(l)
		}
	}
	return out
}

// lendableCell is empty where it belongs to another row.
func (p page) lendableCell(l line, amount func(int64) output.Cell) output.Cell {
	switch {
	case l.row.Lendable != nil:
		return amount(*l.row.Lendable)
	case l.sum:
		return output.Cell{}
	}
	return output.Cell{Text: "?", Style: output.Dim}
}

// lendsLess reports a team whose free quota others cannot all borrow, or that lends
// although it is not free for the team itself.
func lendsLess(f quota.Figures) bool {
	return f.Lendable != nil && f.Free != nil && *f.Lendable != *f.Free
}

func shareCell(s quota.Share) output.Cell {
	switch {
	case s.Unknown:
		return output.Cell{Text: "?", Style: output.Dim}
	case math.IsInf(s.Weighted, 1):
		return output.Cell{Text: "infinite", Style: output.Warn}
	}
	return output.Cell{Text: fmt.Sprint(math.Ceil(s.Weighted))}
}

// lenders names who lends a team what it borrows.
func (p page) lenders(l line) string {
	sum := map[string]int64{}
	var order []string
	for _, f := range l.row.Flavors {
		for _, loan := range p.report.Tree.Loans(l.team.ClusterQueue, f.Flavor, l.row.Resource) {
			name := quota.TeamOf(loan.ClusterQueue)
			if loan.Cohort != "" {
				name = "cohort " + loan.Cohort
			}
			if sum[name] == 0 {
				order = append(order, name)
			}
			sum[name] += loan.Amount
		}
	}
	for i, name := range order {
		order[i] = name + " " + quota.Text(l.row.Resource, sum[name])
	}
	return strings.Join(order, ", ")
}

// barOf returns what a team holds: of its own, borrowed, overcommitted, and of its own
// what others use and what is idle.
func barOf(f *quota.Figures) output.Bar {
	b := output.Bar{Full: f.Reserved, Dotted: f.Idle()}
	if f.Borrowed != nil {
		b.Shaded = *f.Borrowed
	}
	if f.Overcommit != nil {
		b.Alarm = *f.Overcommit
	}
	if f.Lent != nil {
		b.Light = min(*f.Lent, b.Dotted)
	}
	b.Full -= b.Shaded + b.Alarm
	b.Dotted -= b.Light
	return b
}
