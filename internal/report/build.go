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

// key is what a UsageRow is of, without its day and resource.
type key struct{ namespace, team, owner, project, instanceType string }

// usage is what the jobs of a key had, for each day.
type usage struct {
	key
	days []cell
}

// cell is what jobs had on a day: a few resources.
type cell []hoursOf

// hoursOf are device-hours of a resource.
type hoursOf struct {
	resource string
	hours    [5]float64
}

// The kinds of hours. busy is the part of measured in which the accelerators were busy.
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
	cells map[key]*usage
	// first is the day of From, as the number of days since 1970, and days how many there are.
	first, days int
	hours       [24]struct{ used, waited Amounts }
	waits       []time.Duration
	runs        []time.Duration
	cause       map[Cause]int
	jobs        [5]map[string]int // teams, owners, projects, namespaces, instance types
	count       int
	busy        map[hourOf]deviceuse.Use
}

// Build sums up a history.
func Build(d *history.Data, o Options) *Document {
	b := &builder{o: o, d: d, cells: map[key]*usage{},
		first: dayOf(o.From), days: dayOf(o.To) - dayOf(o.From) + 1, cause: map[Cause]int{},
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
	b.daily()
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

// within returns the length of the part of a span between two times.
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
	var in *usage              // of the job's key, from its first hours on
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
			counted = b.add(&in, t, nil, c.Time, end, waited) || counted
		case c.Phase == history.Holding:
			if !queued.IsZero() && inside {
				b.waits = append(b.waits, c.Time.Sub(queued))
			}
			queued = time.Time{}
			if held.IsZero() {
				held = c.Time
			}
			counted = b.add(&in, t, c.Borrowed, c.Time, end, used) || counted
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

// day is the length of a day.
const day = 24 * time.Hour

// dayOf is the number of days from 1970 to a time.
func dayOf(t time.Time) int { return int(t.Unix() / int64(day/time.Second)) }

// usageOf finds what the jobs with the key of a job had.
func (b *builder) usageOf(t *history.Track) *usage {
	k := key{t.Namespace, t.Team, t.Owner, t.Project, t.InstanceType}
	u := b.cells[k]
	if u == nil {
		u = &usage{k, make([]cell, b.days)}
		b.cells[k] = u
	}
	return u
}

// add adds a phase, day by day and hour by hour, and reports whether any of it is in the time. in is what the jobs with the
// same key had, nil until it is needed.
func (b *builder) add(in **usage, t *history.Track, more map[string]int64, from, to time.Time, what int) bool {
	if from.Before(b.o.From) {
		from = b.o.From
	}
	if to.After(b.o.To) {
		to = b.o.To
	}
	if !from.Before(to) || len(t.Devices) == 0 {
		return false
	}
	if *in == nil {
		*in = b.usageOf(t)
	}
	for at := from.UTC(); at.Before(to); {
		next := at.Truncate(day).Add(day)
		if next.After(to) {
			next = to
		}
		c, length := &(*in).days[dayOf(at)-b.first], next.Sub(at).Hours()
		for resource, n := range t.Devices {
			h := c.of(resource)
			h[what] += amount(resource, n) * length
			if m := more[resource]; m > 0 {
				h[borrowed] += amount(resource, m) * length
			}
		}
		at = next.UTC()
	}
	var perHour [24]float64 // of the day
	for at := from.UTC(); at.Before(to); {
		begin := at.Truncate(time.Hour)
		next := begin.Add(time.Hour)
		if next.After(to) {
			next = to
		}
		length := next.Sub(at).Hours()
		perHour[at.Hour()] += length
		if use, known := b.busy[hourOf{t.UID, begin}]; known && what == used && use.Devices > 0 {
			c := &(*in).days[dayOf(at)-b.first]
			for resource, n := range t.Devices {
				if resource != CPU {
					h := c.of(resource)
					h[measured] += float64(n) * length
					h[busy] += use.Share() * float64(n) * length
				}
			}
		}
		at = next.UTC()
	}
	for resource, n := range t.Devices {
		if resource == CPU {
			continue
		}
		for i, length := range perHour {
			if length == 0 {
				continue
			}
			if what == used {
				b.hours[i].used[resource] += float64(n) * length
			} else {
				b.hours[i].waited[resource] += float64(n) * length
			}
		}
	}
	return true
}

// of returns the hours of a resource.
func (c *cell) of(resource string) *[5]float64 {
	for i := range *c {
		if (*c)[i].resource == resource {
			return &(*c)[i].hours
		}
	}
	*c = append(*c, hoursOf{resource: resource})
	return &(*c)[len(*c)-1].hours
}

// amount returns a number of devices; the CPU is recorded in thousandths of a core.
func amount(resource string, n int64) float64 {
	if resource == CPU {
		return float64(n) / 1000
	}
	return float64(n)
}

// rows makes the finest rows, in order.
func (b *builder) rows() {
	all := slices.SortedFunc(maps.Values(b.cells), func(x, y *usage) int {
		return cmp.Or(strings.Compare(x.namespace, y.namespace), strings.Compare(x.team, y.team), strings.Compare(x.owner, y.owner),
			strings.Compare(x.project, y.project), strings.Compare(x.instanceType, y.instanceType))
	})
	for i := range b.days {
		date := time.Unix(0, 0).UTC().AddDate(0, 0, b.first+i).Format(time.DateOnly)
		for _, u := range all {
			c := u.days[i]
			slices.SortFunc(c, func(x, y hoursOf) int { return strings.Compare(x.resource, y.resource) })
			for _, h := range c {
				b.out.Rows = append(b.out.Rows, b.row(date, u, h))
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range b.out.Rows {
		if r.Resource != CPU {
			seen[r.Resource] = true
		}
	}
	b.out.Resources = append(b.out.Resources, slices.Sorted(maps.Keys(seen))...)
}

func (b *builder) row(date string, u *usage, h hoursOf) UsageRow {
	r := UsageRow{Date: date, Namespace: u.namespace, Team: u.team, Owner: u.owner, Project: u.project, InstanceType: u.instanceType, Resource: h.resource,
		Used: h.hours[used], Borrowed: h.hours[borrowed], Waited: h.hours[waited]}
	if b.busy != nil && h.resource != CPU {
		unused := h.hours[measured] - h.hours[busy]
		r.Measured, r.Unused = &h.hours[measured], &unused
	}
	if price, ok := b.price(u.instanceType, h.resource); ok {
		cost := price * r.Used
		r.Cost = &cost
	}
	return r
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

// daily makes a row for each day, also those without use, and the averages of hours.
func (b *builder) daily() {
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

// seconds returns the spread of durations in seconds.
func seconds(d []time.Duration) Spread {
	s := spread.Of(d)
	in := func(d time.Duration) int64 { return int64(d / time.Second) }
	return Spread{Count: s.Count, Average: in(s.Average), Median: in(s.Median), P90: in(s.P90), P99: in(s.P99), Most: in(s.Most)}
}
