package report

import (
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// Prices are what an hour of each instance type costs.
type Prices struct {
	Currency, Date, Source string
	// Device is the price of a device-hour, by instance type; Hour that of an instance, for types whose number of
	// accelerators is only known from nodes.
	Device, Hour map[string]float64
}

// price returns the price of a device-hour.
func (b *builder) price(instanceType, resource string) (float64, bool) {
	if b.o.Prices == nil || resource == CPU {
		return 0, false
	}
	if p, ok := b.o.Prices.Device[instanceType]; ok {
		return p, true
	}
	hour, ok := b.o.Prices.Hour[instanceType]
	if !ok {
		return 0, false
	}
	for _, s := range b.d.Nodes {
		if s.Key.InstanceType != instanceType || s.Key.Resource != resource {
			continue
		}
		for _, p := range s.Points {
			if p.Value.Nodes > 0 && p.Value.Capacity > 0 {
				return hour * float64(p.Value.Nodes) / float64(p.Value.Capacity), true
			}
		}
	}
	return 0, false
}

// sum integrates a series over the covered time, in hours.
func sum[K comparable, V any](b *builder, s history.Series[K, V], of func(V) int64) (hours float64) {
	covered := b.d.Covered
	for i, p := range s.Points {
		end := b.o.To
		if i+1 < len(s.Points) {
			end = s.Points[i+1].Time
		}
		var during []history.Span
		during, covered = between(covered, p.Time, end)
		n := of(p.Value)
		if n == 0 {
			continue
		}
		for _, c := range during {
			from, to := c.From, c.To
			if from.Before(p.Time) {
				from = p.Time
			}
			if to.After(end) {
				to = end
			}
			hours += float64(n) * within(from, to, b.o.From, b.o.To).Hours()
		}
	}
	return hours
}

// between returns the spans that have a part between two times, and those that have a part after from. Spans are in the order
// of time: a year has hundreds of thousands of values, and a span for each time that the recorder was stopped.
func between(spans []history.Span, from, to time.Time) (during, rest []history.Span) {
	for len(spans) > 0 && !spans[0].To.After(from) {
		spans = spans[1:]
	}
	n := 0
	for n < len(spans) && spans[n].From.Before(to) {
		n++
	}
	return spans[:n], spans
}

// capacity adds what teams and instance types had and did not use. A team's quota that nobody uses is the team's idle
// quota, and its cost; capacity beyond the quota of all teams is nobody's.
func (b *builder) capacity() {
	if b.o.Keep != nil || len(b.d.Covered) == 0 {
		b.prices(nil)
		return
	}
	teams, types := rowsOf(&b.out.Teams), rowsOf(&b.out.Types)
	reserved := map[string]Amounts{} // by instance type
	for _, s := range b.d.Queues {
		k := s.Key
		if k.Flavor == "" {
			continue
		}
		team := teams.of(k.Team)
		team.open()
		idle := sum(b, s, func(f history.QueueFigures) int64 { return max(0, f.Nominal-(f.Reserved-f.Borrowed)-f.Lent) })
		team.Nominal.add(k.Resource, sum(b, s, func(f history.QueueFigures) int64 { return f.Nominal }))
		team.Lent.add(k.Resource, sum(b, s, func(f history.QueueFigures) int64 { return f.Lent }))
		team.Idle.add(k.Resource, idle)
		if price, ok := b.price(k.InstanceType, k.Resource); ok {
			cost := price * idle
			team.IdleCost = plus(team.IdleCost, &cost)
		}
		if reserved[k.InstanceType] == nil {
			reserved[k.InstanceType] = Amounts{}
		}
		reserved[k.InstanceType].add(k.Resource, sum(b, s, func(f history.QueueFigures) int64 { return f.Reserved }))
	}
	for _, s := range b.d.Nodes {
		row := types.of(s.Key.InstanceType)
		row.open()
		had := sum(b, s, func(f history.NodeFigures) int64 { return f.Capacity })
		row.Nominal.add(s.Key.Resource, had)
		idle := max(0, had-reserved[s.Key.InstanceType][s.Key.Resource])
		row.Idle.add(s.Key.Resource, idle)
		if price, ok := b.price(s.Key.InstanceType, s.Key.Resource); ok {
			cost := price * idle
			row.IdleCost = plus(row.IdleCost, &cost)
		}
	}
	types.done()
	teams.done()
	b.out.Total.open()
	for _, row := range b.out.Teams {
		for _, r := range b.out.Resources {
			b.out.Total.Lent.add(r, row.Lent[r])
		}
	}
	for _, row := range b.out.Types {
		for r := range row.Nominal {
			b.out.Total.Nominal.add(r, row.Nominal[r])
			b.out.Total.Idle.add(r, row.Idle[r])
		}
		b.out.Total.IdleCost = plus(b.out.Total.IdleCost, row.IdleCost)
	}
	b.prices(b.d.Nodes)
}

func (row *Row) open() {
	if row.Nominal == nil {
		row.Nominal, row.Lent, row.Idle = Amounts{}, Amounts{}, Amounts{}
	}
}

// index finds rows by name, and adds missing ones.
type index struct {
	rows *[]Row
	at   map[string]*Row
}

func rowsOf(rows *[]Row) index {
	x := index{rows, map[string]*Row{}}
	for i := range *rows {
		x.at[(*rows)[i].Name] = &(*rows)[i]
	}
	return x
}

func (x index) of(name string) *Row {
	if x.at[name] == nil {
		x.at[name] = &Row{Name: name, Hours: newHours()}
	}
	return x.at[name]
}

// done puts all rows back, by name.
func (x index) done() {
	out := make([]Row, 0, len(x.at))
	for _, row := range x.at {
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	*x.rows = out
}

// prices says what costs rest on, and what capacity cost that is nobody's quota.
func (b *builder) prices(nodes []history.Series[history.NodeKey, history.NodeFigures]) {
	if b.o.Prices == nil {
		return
	}
	p := &PricesJSON{Currency: b.o.Prices.Currency, Date: b.o.Prices.Date, Source: b.o.Prices.Source, Unpriced: []string{}}
	for _, row := range b.out.Types {
		if row.Cost == nil && row.IdleCost == nil && len(row.Used)+len(row.Idle) > 0 {
			p.Unpriced = append(p.Unpriced, row.Name)
		}
	}
	for _, s := range nodes {
		price, ok := b.price(s.Key.InstanceType, s.Key.Resource)
		if !ok {
			continue
		}
		had := sum(b, s, func(f history.NodeFigures) int64 { return f.Capacity })
		nominal := 0.0
		for _, q := range b.d.Queues {
			if q.Key.InstanceType == s.Key.InstanceType && q.Key.Resource == s.Key.Resource {
				nominal += sum(b, q, func(f history.QueueFigures) int64 { return f.Nominal })
			}
		}
		all, rest := price*had, price*max(0, had-nominal)
		p.Total, p.Unallocated = plus(p.Total, &all), plus(p.Unallocated, &rest)
	}
	b.out.Prices = p
}
