// Package report sums up a history: device-hours that were used, borrowed, lent, idle and waited for, what they cost,
// and how long jobs waited and ran. It is pure arithmetic over values.
package report

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Schema is the name and version of the JSON. Fields may be added within a version.
const Schema = "hyperpod.report/v1"

// CPU is the name of the CPU in amounts: core-hours. Only Rows have it.
const CPU = "cpu"

// The sources of a report.
const (
	// Recorded: a store of record.
	Recorded = "Recorded"
	// FromCluster: what the cluster still knows.
	FromCluster = "Cluster"
)

// Amounts are device-hours by resource.
type Amounts map[string]float64

func (a Amounts) add(resource string, hours float64) {
	if hours > 0 {
		a[resource] += hours
	}
}

// Hours are what jobs had and waited for.
type Hours struct {
	// Used is while jobs had quota, Borrowed the part of it beyond the nominal quota of the queue, as far as known.
	// Waited is what waiting jobs requested.
	Used, Borrowed, Waited Amounts
}

func newHours() Hours { return Hours{Amounts{}, Amounts{}, Amounts{}} }

// Row is a team, an owner, a project, a namespace or an instance type; Name is "" for jobs without one.
type Row struct {
	Name string
	Hours
	// Nominal is the own quota of a team, or the accelerators of an instance type, over the covered time; Lent what others
	// used of it, Idle what nobody used. Left out where that is not recorded.
	Nominal, Lent, Idle Amounts `json:",omitempty"`
	// Measured are the used device-hours for which a Prometheus tells how busy the accelerators were, Unused the part of
	// them in which they were not. Left out without one.
	Measured, Unused Amounts `json:",omitempty"`
	// Jobs is the number of jobs that had quota or waited.
	Jobs int
	// Cost is what the used device-hours cost, IdleCost what the idle ones of a team or instance type cost. Null
	// without a price.
	Cost, IdleCost *float64
}

// Most returns the rows with the most device-hours, in their order, and the sums of the others; rest is nil if there are
// no more than most+1 rows.
func Most(rows []Row, most int) (shown []Row, rest *Row) {
	if len(rows) <= most+1 {
		return rows, nil
	}
	at := make([]int, len(rows))
	size := make([]float64, len(rows))
	for i, r := range rows {
		at[i], size[i] = i, r.Used.sum()+r.Waited.sum()+r.Idle.sum()
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	slices.Sort(at[:most])
	for _, i := range at[:most] {
		shown = append(shown, rows[i])
	}
	rest = &Row{Hours: newHours()}
	for _, i := range at[most:] {
		rest.join(rows[i])
	}
	return shown, rest
}

// sum adds the resources in one order, so that the same amounts give the same sum.
func (a Amounts) sum() (n float64) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		n += a[name]
	}
	return n
}

// join adds another row.
func (row *Row) join(r Row) {
	for _, x := range []struct {
		to   *Amounts
		from Amounts
	}{{&row.Used, r.Used}, {&row.Borrowed, r.Borrowed}, {&row.Waited, r.Waited}, {&row.Nominal, r.Nominal}, {&row.Lent, r.Lent}, {&row.Idle, r.Idle},
		{&row.Measured, r.Measured}, {&row.Unused, r.Unused}} {
		if *x.to == nil && x.from != nil {
			*x.to = Amounts{}
		}
		for name, hours := range x.from {
			x.to.add(name, hours)
		}
	}
	row.Jobs += r.Jobs
	row.Cost, row.IdleCost = plus(row.Cost, r.Cost), plus(row.IdleCost, r.IdleCost)
}

// DayRow is a day in UTC.
type DayRow struct {
	Date string // 2006-01-02
	Hours
	Cost *float64
}

// HourRow is an hour of the day in UTC. Amounts are averages over the days: accelerators, not device-hours.
type HourRow struct {
	Hour         int
	Used, Waited Amounts
}

// Spread is how long something took, in seconds.
type Spread struct {
	Count                           int
	Average, Median, P90, P99, Most int64
}

// Cause counts preemptions and evictions. Kind is Preempted or Evicted, Reason Kueue's word.
type Cause struct {
	Kind, Reason string
	Count        int
}

// UsageRow is the finest sum, for tables of other tools.
type UsageRow struct {
	Date, Namespace, Team, Owner, Project, InstanceType, Resource string
	Used, Borrowed, Waited                                        float64
	// Measured and Unused are those of Row; left out without a Prometheus.
	Measured, Unused *float64 `json:",omitempty"`
	Cost             *float64
}

// PricesJSON says where costs come from.
type PricesJSON struct {
	Currency, Date, Source string
	// Unpriced are the instance types that were used and have no price; "" is jobs without one.
	Unpriced []string
	// Unallocated is the cost of capacity beyond the nominal quota of all teams, Total what all capacity cost. Null where
	// nodes are not recorded.
	Unallocated, Total *float64
}

// Document is the report.
type Document struct {
	Schema   string
	Cluster  string
	Source   string
	From, To time.Time
	// KnownSince is the time of the first sample; of FromCluster that of the oldest job. Null without either.
	KnownSince *time.Time
	// CoveredHours are those for which queues and nodes are recorded.
	CoveredHours float64
	Resources    []string
	Total        Row
	Teams        []Row
	Owners       []Row
	Projects     []Row
	Namespaces   []Row
	Types        []Row `json:"InstanceTypes"`
	Days         []DayRow
	HoursOfDay   []HourRow
	// WaitSeconds is from queueing to admission, over admissions; RunSeconds from the last admission to the end, over jobs
	// that ended.
	WaitSeconds, RunSeconds Spread
	Preemptions             []Cause
	Prices                  *PricesJSON
	Rows                    []UsageRow
	// Damaged are the segments of the store that could not be read whole.
	Damaged []string
}
