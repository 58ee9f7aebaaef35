// Package usage sums up what jobs used of accelerators, and how long they waited for them, from
// their timelines. It is pure arithmetic.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the name and version of the JSON. Fields may be added within a version.
const Schema = "hyperpod.get-usage/v1"

// Span is a time from From to To.
type Span struct{ From, To time.Time }

// within returns the part of the span between two times, 0 for none.
func (s Span) within(from, to time.Time) time.Duration {
	return max(0, earlier(s.To, to).Sub(later(s.From, from)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Job is a job as far as the cluster knows it.
type Job struct {
	// UID is "" if it is not known.
	UID                                       string
	Namespace, Name, Kind, Team, Owner, State string
	// Devices are the accelerators of all its pods, by resource.
	Devices map[string]int64
	// Held and Waited are when it had quota, and when it waited for it.
	Held, Waited []Span
	// Incomplete reports that it had quota at times that are not recorded.
	Incomplete bool
	// Undated reports that its creation time is not known.
	Undated bool
	// Loans are what it borrowed, as far as that is known.
	Loans []Loan
}

// Loan is what a job borrowed, by resource, while it had quota.
type Loan struct {
	Span
	Devices map[string]int64
}

// Hours are device-hours by resource.
type Hours map[string]float64

func (h Hours) add(devices map[string]int64, d time.Duration) {
	for name, n := range devices {
		if hours := float64(n) * d.Hours(); hours > 0 {
			h[name] += hours
		}
	}
}

// Sums are the device-hours of jobs.
type Sums struct {
	// Used is while they had quota, Waited while they waited for it. Borrowed is the part of Used
	// that was borrowed, as far as known: of jobs with quota now, and of recorded ones.
	Used, Waited, Borrowed Hours
}

func newSums() Sums { return Sums{Hours{}, Hours{}, Hours{}} }

// add adds what a job used and waited between two times.
func (s Sums) add(j Job, from, to time.Time) {
	for _, span := range j.Held {
		s.Used.add(j.Devices, span.within(from, to))
	}
	for _, span := range j.Waited {
		s.Waited.add(j.Devices, span.within(from, to))
	}
	for _, l := range j.Loans {
		s.Borrowed.add(l.Devices, l.within(from, to))
	}
}

// Rest returns the sums of jobs together.
func Rest(rows []JobRow) Sums {
	s := newSums()
	for _, r := range rows {
		for _, x := range []struct{ to, from Hours }{{s.Used, r.Used}, {s.Waited, r.Waited}, {s.Borrowed, r.Borrowed}} {
			for _, name := range slices.Sorted(maps.Keys(x.from)) {
				x.to[name] += x.from[name]
			}
		}
	}
	return s
}

// JobRow is a job of a report.
type JobRow struct {
	Name, Namespace, Kind string
	Team, CreatedBy       *string
	State                 string
	Sums
	// Incomplete reports that the job had quota before what the cluster records.
	Incomplete bool
}

// DayRow is a day of a report, in UTC.
type DayRow struct {
	Date string // 2006-01-02
	Sums
}

// Document is the report.
type Document struct {
	Schema   string
	From, To time.Time
	// KnownSince is when the oldest job that still exists was created, null without jobs.
	KnownSince *time.Time
	// RecordedSince and RecordedUntil are the first and the last sample of a recorder, null without
	// one. Between them, deleted jobs and what ended jobs borrowed count too.
	RecordedSince, RecordedUntil *time.Time
	Total                        Sums
	Jobs                         []JobRow
	Days                         []DayRow
	// Incomplete counts the jobs that are not fully recorded, WithoutDevices those that
	// request no accelerators and are left out.
	Incomplete, WithoutDevices int
	// WithoutTimes counts the jobs that are left out because no time of theirs is known, not even that of their creation.
	WithoutTimes int
	// Missing is what could not be read. Without ClusterQueues, it is not known what was borrowed.
	Missing []state.Unread `json:",omitempty"`
}

const day = 24 * time.Hour

// daysOf returns the first day in which a job had quota or waited, and the one after the last, of a number of days from first
// on. In a year of jobs, most have a day or two.
func daysOf(j Job, first time.Time, days int) (begin, end int) {
	begin = days
	with := func(s Span) {
		begin = min(begin, max(0, int(s.From.Sub(first)/day)))
		end = max(end, min(days, int((s.To.Sub(first)+day-1)/day)))
	}
	for _, s := range j.Held {
		with(s)
	}
	for _, s := range j.Waited {
		with(s)
	}
	for _, l := range j.Loans {
		with(l.Span)
	}
	return begin, end
}

// Build sums up jobs between two times; to is now.
func Build(list []Job, from, to time.Time) *Document {
	d := &Document{Schema: Schema, From: from.UTC(), To: to.UTC(), Total: newSums(), Jobs: []JobRow{}, Days: []DayRow{}}
	first := from.UTC().Truncate(day)
	for at := first; at.Before(to); at = at.Add(day) {
		d.Days = append(d.Days, DayRow{Date: at.Format(time.DateOnly), Sums: newSums()})
	}
	for _, j := range list {
		for i, end := daysOf(j, first, len(d.Days)); i < end; i++ {
			begin := first.Add(time.Duration(i) * day)
			d.Days[i].add(j, later(begin, from), earlier(begin.Add(day), to))
		}
	}
	for _, j := range list {
		if len(j.Devices) == 0 {
			d.WithoutDevices++
			continue
		}
		row := JobRow{Name: j.Name, Namespace: j.Namespace, Kind: j.Kind, Team: jobs.OrNull(j.Team), CreatedBy: jobs.OrNull(j.Owner), State: j.State, Sums: newSums(), Incomplete: j.Incomplete}
		row.Sums.add(j, from, to)
		if len(row.Used)+len(row.Waited) == 0 {
			if j.Undated && len(j.Held)+len(j.Waited) == 0 {
				d.WithoutTimes++
			}
			continue // all before the time
		}
		if d.Total.add(j, from, to); j.Incomplete {
			d.Incomplete++
		}
		d.Jobs = append(d.Jobs, row)
	}
	slices.SortStableFunc(d.Jobs, func(a, b JobRow) int {
		return cmp.Or(cmp.Compare(total(b.Used), total(a.Used)), cmp.Compare(total(b.Waited), total(a.Waited)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return d
}

func total(h Hours) (sum float64) {
	for _, name := range slices.Sorted(maps.Keys(h)) { // the same order gives the same sum
		sum += h[name]
	}
	return sum
}

// Spans returns when a job had quota and when it waited for it, from its timeline. incomplete
// reports that it lost quota whose begin is not recorded.
func Spans(timeline []jobs.Moment, now time.Time) (held, waited []Span, incomplete bool) {
	var since, waits time.Time
	over := false
	end := func(list []Span, from *time.Time, to time.Time) []Span {
		if !from.IsZero() && to.After(*from) {
			list = append(list, Span{*from, to})
		}
		*from = time.Time{}
		return list
	}
	for _, m := range timeline {
		if over {
			break
		}
		switch m.Step {
		case jobs.Created, jobs.Queued, jobs.Waits:
			if since.IsZero() && waits.IsZero() {
				waits = m.Time
			}
		case jobs.QuotaReserved, jobs.Admitted, jobs.Resumed, jobs.Ran:
			waited = end(waited, &waits, m.Time)
			if since.IsZero() {
				since = m.Time
			}
		case jobs.WasPreempted, jobs.Evicted:
			incomplete = incomplete || since.IsZero()
			held = end(held, &since, m.Time)
			waits = m.Time
		case jobs.Deactivated, jobs.Stopped, jobs.Lost:
			if m.HadQuota && since.IsZero() && !waits.IsZero() {
				incomplete, waits = true, time.Time{}
			}
			held = end(held, &since, m.Time)
			waited = end(waited, &waits, m.Time)
		case jobs.Finished:
			held = end(held, &since, m.Time)
			waited = end(waited, &waits, m.Time)
			over = true
		}
	}
	return end(held, &since, now), end(waited, &waits, now), incomplete
}
