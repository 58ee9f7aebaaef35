package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
)

// Options are what to sum up.
type Options struct {
	From, To time.Time
	// Source is Recorded or FromCluster.
	Source string
	// Prices are nil for a report without costs.
	Prices *Prices
	// Keep chooses jobs; nil takes all.
	Keep func(history.Job) bool
	// Busy is how busy the accelerators of pods were, by the begin of each hour; nil is unknown.
	Busy map[time.Time]map[deviceuse.Key]deviceuse.Use
}

// key is what a UsageRow is of, without its resource.
type key struct{ date, namespace, team, owner, project, instanceType string }

// cell is what jobs of a key had, by resource.
type cell map[string]*[5]float64

// Busy is the part of the measured device-hours in which the accelerators were busy.
const (
	used = iota
	borrowed
	waited
	measured
	busy
)

// builder is one Build under way.
type builder struct {
	o     Options
	d     *history.Data
	out   *Document
	cells map[key]cell
	hours [24]struct{ used, waited Amounts }
	waits []time.Duration
	runs  []time.Duration
	cause map[Cause]int
	jobs  [5]map[string]int // teams, owners, projects, namespaces, instance types
	count int
	busy  map[hourOf]deviceuse.Use
}

// Build sums up a history.
func Build(d *history.Data, o Options) *Document {
	b := &builder{o: o, d: d, cells: map[key]cell{}, cause: map[Cause]int{},
		out: &Document{Schema: Schema, Cluster: d.Cluster, Source: o.Source, From: o.From.UTC(), To: o.To.UTC(), Damaged: append([]string{}, d.Damaged...),
			Preemptions: []Cause{}, Rows: []UsageRow{}, Resources: []string{}}}
	for i := range b.hours {
		b.hours[i].used, b.hours[i].waited = Amounts{}, Amounts{}
	}
	for i := range b.jobs {
		b.jobs[i] = map[string]int{}
	}
	b.busy = b.measured()
	var oldest time.Time
	for _, t := range d.Jobs {
		if o.Keep != nil && !o.Keep(t.Job) {
			continue
		}
		if first := t.Changes[0].Time; oldest.IsZero() || first.Before(oldest) {
			oldest = first
		}
		b.job(t)
	}
	if o.Source == Recorded {
		oldest = d.First
	}
	if !oldest.IsZero() {
		b.out.KnownSince = &oldest
	}
	for _, s := range d.Covered {
		b.out.CoveredHours += within(s.From, s.To, o.From, o.To).Hours()
	}
	b.rows()
	b.groups()
	b.days()
	b.out.WaitSeconds, b.out.RunSeconds = seconds(b.waits), seconds(b.runs)
	for c, n := range b.cause {
		c.Count = n
		b.out.Preemptions = append(b.out.Preemptions, c)
	}
	slices.SortFunc(b.out.Preemptions, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), strings.Compare(x.Kind, y.Kind), strings.Compare(x.Reason, y.Reason))
	})
	b.capacity()
	return b.out
}

// within is the length of the part of a span between two times.
func within(from, to, low, high time.Time) time.Duration {
	if from.Before(low) {
		from = low
	}
	if to.After(high) {
		to = high
	}
	return max(0, to.Sub(from))
}

// job adds a job.
func (b *builder) job(t *history.Track) {
	k := key{namespace: t.Namespace, team: t.Team, owner: t.Owner, project: t.Project, instanceType: t.InstanceType}
	var queued, held time.Time // when the present wait, and the present hold, began
	counted := false
	for i, c := range t.Changes {
		end := b.d.Until
		if i+1 < len(t.Changes) {
			end = t.Changes[i+1].Time
		}
		inside := !c.Time.Before(b.o.From) && c.Time.Before(b.o.To)
		switch {
		case c.Phase.Waits():
			if queued.IsZero() {
				queued = c.Time
			}
			held = time.Time{}
			if c.Phase != history.Waiting && inside {
				b.cause[Cause{Kind: kindOf(c.Phase), Reason: c.Reason}]++
			}
			counted = b.add(k, t, nil, c.Time, end, waited) || counted
		case c.Phase == history.Holding:
			if !queued.IsZero() && inside {
				b.waits = append(b.waits, c.Time.Sub(queued))
			}
			queued = time.Time{}
			if held.IsZero() {
				held = c.Time
			}
			counted = b.add(k, t, c.Borrowed, c.Time, end, used) || counted
		default:
			if (c.Phase == history.Succeeded || c.Phase == history.Failed) && !held.IsZero() && inside {
				b.runs = append(b.runs, c.Time.Sub(held))
			}
			queued, held = time.Time{}, time.Time{}
		}
		if c.Phase.Over() {
			break
		}
	}
	if counted {
		b.count++
		for i, name := range []string{t.Team, t.Owner, t.Project, t.Namespace, t.InstanceType} {
			b.jobs[i][name]++
		}
	}
}

func kindOf(p history.Phase) string {
	if p == history.Preempted {
		return "Preempted"
	}
	return "Evicted"
}

// add adds a phase, day by day, and reports whether any of it is in the time.
func (b *builder) add(k key, t *history.Track, more map[string]int64, from, to time.Time, what int) bool {
	devices := t.Devices
	if from.Before(b.o.From) {
		from = b.o.From
	}
	if to.After(b.o.To) {
		to = b.o.To
	}
	if !from.Before(to) || len(devices) == 0 {
		return false
	}
	for at := from; at.Before(to); {
		next := at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		if next.After(to) {
			next = to
		}
		k.date = at.UTC().Format(time.DateOnly)
		c := b.cells[k]
		if c == nil {
			c = cell{}
			b.cells[k] = c
		}
		for resource, n := range devices {
			c.of(resource)[what] += amount(resource, n) * next.Sub(at).Hours()
			if m := more[resource]; m > 0 {
				c.of(resource)[borrowed] += amount(resource, m) * next.Sub(at).Hours()
			}
		}
		at = next
	}
	for at := from; at.Before(to); { // hours of the day
		next := at.UTC().Truncate(time.Hour).Add(time.Hour)
		if next.After(to) {
			next = to
		}
		h := &b.hours[at.UTC().Hour()]
		use, known := b.busy[hourOf{t.UID, at.UTC().Truncate(time.Hour)}]
		known = known && what == used && use.Devices > 0
		for resource, n := range devices {
			if resource == CPU {
				continue
			}
			if known {
				k.date = at.UTC().Format(time.DateOnly)
				v := b.cells[k].of(resource)
				v[measured] += float64(n) * next.Sub(at).Hours()
				v[busy] += use.Share() * float64(n) * next.Sub(at).Hours()
			}
			if what == used {
				h.used[resource] += float64(n) * next.Sub(at).Hours()
			} else {
				h.waited[resource] += float64(n) * next.Sub(at).Hours()
			}
		}
		at = next
	}
	return true
}

func (c cell) of(resource string) *[5]float64 {
	v := c[resource]
	if v == nil {
		v = &[5]float64{}
		c[resource] = v
	}
	return v
}

// amount is a number of devices; the CPU is recorded in thousandths of a core.
func amount(resource string, n int64) float64 {
	if resource == CPU {
		return float64(n) / 1000
	}
	return float64(n)
}

// rows makes the finest rows, in order.
func (b *builder) rows() {
	for k, c := range b.cells {
		for resource, v := range c {
			r := UsageRow{Date: k.date, Namespace: k.namespace, Team: k.team, Owner: k.owner, Project: k.project, InstanceType: k.instanceType, Resource: resource,
				Used: v[used], Borrowed: v[borrowed], Waited: v[waited]}
			if b.busy != nil && resource != CPU {
				unused := v[measured] - v[busy]
				r.Measured, r.Unused = &v[measured], &unused
			}
			if price, ok := b.price(k.instanceType, resource); ok {
				cost := price * r.Used
				r.Cost = &cost
			}
			b.out.Rows = append(b.out.Rows, r)
		}
	}
	slices.SortFunc(b.out.Rows, func(x, y UsageRow) int {
		return cmp.Or(strings.Compare(x.Date, y.Date), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Team, y.Team), strings.Compare(x.Owner, y.Owner),
			strings.Compare(x.Project, y.Project), strings.Compare(x.InstanceType, y.InstanceType), strings.Compare(x.Resource, y.Resource))
	})
	seen := map[string]bool{}
	for _, r := range b.out.Rows {
		if r.Resource != CPU {
			seen[r.Resource] = true
		}
	}
	b.out.Resources = append(b.out.Resources, slices.Sorted(maps.Keys(seen))...)
}

// groups sums the rows by each of their names.
func (b *builder) groups() {
	b.out.Total = Row{Hours: newHours(), Jobs: b.count}
	names := []func(UsageRow) string{
		func(r UsageRow) string { return r.Team }, func(r UsageRow) string { return r.Owner }, func(r UsageRow) string { return r.Project },
		func(r UsageRow) string { return r.Namespace }, func(r UsageRow) string { return r.InstanceType }}
	for i, to := range []*[]Row{&b.out.Teams, &b.out.Owners, &b.out.Projects, &b.out.Namespaces, &b.out.Types} {
		sums := map[string]*Row{}
		for _, r := range b.out.Rows {
			if r.Resource == CPU {
				continue
			}
			name := names[i](r)
			if sums[name] == nil {
				sums[name] = &Row{Name: name, Hours: newHours(), Jobs: b.jobs[i][name]}
			}
			sums[name].add(r)
			if i == 0 {
				b.out.Total.add(r)
			}
		}
		*to = []Row{}
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			*to = append(*to, *sums[name])
		}
	}
}

func (h Hours) add(r UsageRow) {
	h.Used.add(r.Resource, r.Used)
	h.Borrowed.add(r.Resource, r.Borrowed)
	h.Waited.add(r.Resource, r.Waited)
}

func (row *Row) add(r UsageRow) {
	row.Hours.add(r)
	if r.Measured != nil {
		if row.Measured == nil {
			row.Measured, row.Unused = Amounts{}, Amounts{}
		}
		row.Measured.add(r.Resource, *r.Measured)
		row.Unused.add(r.Resource, *r.Unused)
	}
	row.Cost = plus(row.Cost, r.Cost)
}

// plus adds amounts of money; null is none.
func plus(sum, more *float64) *float64 {
	if more == nil {
		return sum
	}
	v := *more
	if sum != nil {
		v += *sum
	}
	return &v
}

// days makes a row for each day, also those without use, and the averages of hours.
func (b *builder) days() {
	b.out.Days = []DayRow{}
	at := map[string]int{}
	for day := b.o.From.UTC().Truncate(24 * time.Hour); day.Before(b.o.To); day = day.Add(24 * time.Hour) {
		at[day.Format(time.DateOnly)] = len(b.out.Days)
		b.out.Days = append(b.out.Days, DayRow{Date: day.Format(time.DateOnly), Hours: newHours()})
	}
	for _, r := range b.out.Rows {
		if r.Resource != CPU {
			day := &b.out.Days[at[r.Date]]
			day.Hours.add(r)
			day.Cost = plus(day.Cost, r.Cost)
		}
	}
	var length [24]float64
	for t := b.o.From; t.Before(b.o.To); {
		next := t.UTC().Truncate(time.Hour).Add(time.Hour)
		if next.After(b.o.To) {
			next = b.o.To
		}
		length[t.UTC().Hour()] += next.Sub(t).Hours()
		t = next
	}
	b.out.HoursOfDay = []HourRow{}
	for i, h := range b.hours {
		if length[i] == 0 {
			continue
		}
		row := HourRow{Hour: i, Used: Amounts{}, Waited: Amounts{}}
		for resource, n := range h.used {
			row.Used.add(resource, n/length[i])
		}
		for resource, n := range h.waited {
			row.Waited.add(resource, n/length[i])
		}
		b.out.HoursOfDay = append(b.out.HoursOfDay, row)
	}
}

// seconds is the spread of durations in seconds.
func seconds(d []time.Duration) Spread {
	s := spread.Of(d)
	in := func(d time.Duration) int64 { return int64(d / time.Second) }
	return Spread{Count: s.Count, Average: in(s.Average), Median: in(s.Median), P90: in(s.P90), P99: in(s.P99), Most: in(s.Most)}
}
