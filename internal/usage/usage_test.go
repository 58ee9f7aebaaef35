package usage

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(hours float64) time.Time { return noon.Add(time.Duration(hours * float64(time.Hour))) }

// TestSpans: what a timeline says about quota.
func TestSpans(t *testing.T) {
	moment := func(h float64, s jobs.Step) jobs.Moment { return jobs.Moment{Time: at(h), Step: s} }
	for _, c := range []struct {
		name         string
		timeline     []jobs.Moment
		held, waited float64
		incomplete   bool
	}{
		{"a job that runs", []jobs.Moment{moment(-3, jobs.Created), moment(-3, jobs.Queued), moment(-2, jobs.Admitted), moment(-1.9, jobs.Ran)}, 2, 1, false},
		{"a job that ended", []jobs.Moment{moment(-5, jobs.Created), moment(-4, jobs.Admitted), moment(-1, jobs.Finished)}, 3, 1, false},
		{"a job that was preempted and waits", []jobs.Moment{moment(-5, jobs.Created), moment(-4, jobs.Admitted), moment(-3, jobs.WasPreempted), moment(-3, jobs.Queued), moment(-2.5, jobs.Waits)}, 1, 4, false},
		{"a job that was preempted and runs again", []jobs.Moment{moment(-5, jobs.Created), moment(-4, jobs.Admitted), moment(-3, jobs.WasPreempted), moment(-2, jobs.Admitted)}, 3, 2, false},
		{"a preemption whose admission is forgotten", []jobs.Moment{moment(-5, jobs.Created), moment(-3, jobs.WasPreempted), moment(-2, jobs.Admitted)}, 2, 1, true},
		{"a job that was suspended", []jobs.Moment{moment(-5, jobs.Created), moment(-4, jobs.Admitted), moment(-3, jobs.Deactivated)}, 1, 1, false},
		{"a suspension whose admission is forgotten", []jobs.Moment{moment(-5, jobs.Created), {Time: at(-3), Step: jobs.Deactivated, HadQuota: true}, moment(-2, jobs.Queued)}, 0, 2, true},
		{"a job that was suspended before it had quota", []jobs.Moment{moment(-5, jobs.Created), moment(-3, jobs.Deactivated)}, 0, 2, false},
		{"a job that waits", []jobs.Moment{moment(-5, jobs.Created)}, 0, 5, false},
		{"what comes after the end does not count", []jobs.Moment{moment(-5, jobs.Created), moment(-4, jobs.Admitted), moment(-3, jobs.Finished), moment(-2, jobs.Ran)}, 1, 1, false},
		{"nothing", nil, 0, 0, false},
	} {
		held, waited, incomplete := Spans(c.timeline, noon)
		if sum(held) != c.held || sum(waited) != c.waited || incomplete != c.incomplete {
			t.Errorf("%s: held %v, waited %v, incomplete %v", c.name, sum(held), sum(waited), incomplete)
		}
	}
}

func sum(list []Span) (h float64) {
	for _, s := range list {
		h += s.To.Sub(s.From).Hours()
	}
	return h
}

// TestBuild: the sums by job, by day and in total are those of a count minute by minute.
func TestBuild(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 5))
	for range 50 {
		from := noon.Add(-time.Duration(r.IntN(4*24*60)) * time.Minute)
		var list []Job
		for i := range r.IntN(6) {
			j := Job{Name: string(rune('a' + i)), Namespace: "n", Devices: map[string]int64{"nvidia.com/gpu": int64(1 + r.IntN(8))}}
			when := noon.Add(-time.Duration(r.IntN(6*24*60)) * time.Minute)
			for range r.IntN(4) {
				for _, to := range []*[]Span{&j.Waited, &j.Held} {
					end := when.Add(time.Duration(r.IntN(24*60)) * time.Minute)
					if end.After(noon) {
						end = noon
					}
					*to = append(*to, Span{when, end})
					when = end
				}
			}
			if r.IntN(2) == 0 {
				j.Loans = []Loan{{Span{noon.Add(-time.Duration(r.IntN(3*24*60)) * time.Minute), noon}, map[string]int64{"nvidia.com/gpu": 1}}}
			}
			list = append(list, j)
		}
		d := Build(list, from, noon)
		var used, waited, borrowed float64
		days := map[string]float64{}
		for at := from; at.Before(noon); at = at.Add(time.Minute) {
			for _, j := range list {
				counts := len(j.Held)+len(j.Waited) > 0
				for _, s := range j.Held {
					if !at.Before(s.From) && at.Before(s.To) {
						used += float64(j.Devices["nvidia.com/gpu"]) / 60
						days[at.Format(time.DateOnly)] += float64(j.Devices["nvidia.com/gpu"]) / 60
					}
				}
				for _, s := range j.Waited {
					if !at.Before(s.From) && at.Before(s.To) {
						waited += float64(j.Devices["nvidia.com/gpu"]) / 60
					}
				}
				if j.Loans != nil && counts && !at.Before(j.Loans[0].From) {
					borrowed += 1.0 / 60
				}
			}
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
		if !near(d.Total.Used["nvidia.com/gpu"], used) || !near(d.Total.Waited["nvidia.com/gpu"], waited) {
			t.Errorf("used %v, waited %v; counted %v, %v", d.Total.Used, d.Total.Waited, used, waited)
		}
		if d.Total.Borrowed["nvidia.com/gpu"] > borrowed+1e-6 {
			t.Errorf("borrowed %v; counted %v", d.Total.Borrowed, borrowed)
		}
		var byJob, byDay float64
		for _, j := range d.Jobs {
			byJob += j.Used["nvidia.com/gpu"]
		}
		for _, day := range d.Days {
			byDay += day.Used["nvidia.com/gpu"]
			if !near(day.Used["nvidia.com/gpu"], days[day.Date]) {
				t.Errorf("%s: %v, counted %v", day.Date, day.Used, days[day.Date])
			}
		}
		if !near(byJob, used) || !near(byDay, used) {
			t.Errorf("by job %v, by day %v, counted %v", byJob, byDay, used)
		}
	}
}

// TestUndated: a job without any time is left out, and counted.
func TestUndated(t *testing.T) {
	to := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	devices := map[string]int64{"nvidia.com/gpu": 8}
	d := Build([]Job{{Name: "undated", Devices: devices, Undated: true}, {Name: "early", Devices: devices},
		{Name: "runs", Devices: devices, Undated: true, Held: []Span{{to.Add(-time.Hour), to}}}}, to.Add(-24*time.Hour), to)
	if d.WithoutTimes != 1 || len(d.Jobs) != 1 || d.Jobs[0].Name != "runs" {
		t.Errorf("%d without times, jobs %+v", d.WithoutTimes, d.Jobs)
	}
}

// TestAJobHasFewDays: of a year, a job counts in the days from its first wait to its end.
func TestAJobHasFewDays(t *testing.T) {
	first := noon.Add(-12*time.Hour).AddDate(0, 0, -200)
	for _, c := range []struct {
		name       string
		job        Job
		begin, end int
	}{
		{"over midnight", Job{Waited: []Span{{at(-20), at(-10)}}, Held: []Span{{at(-10), at(1)}}}, 199, 201},
		{"until midnight", Job{Held: []Span{{at(-20), at(-12)}}}, 199, 200},
		{"from midnight on", Job{Held: []Span{{at(-12), at(1)}}}, 200, 201},
		{"since before the first day", Job{Held: []Span{{first.AddDate(-1, 0, 0), first.Add(time.Hour)}}}, 0, 1},
		{"until after the last day", Job{Held: []Span{{at(0), noon.AddDate(1, 0, 0)}}}, 200, 366},
		{"what it borrowed", Job{Loans: []Loan{{Span: Span{at(0), at(1)}}}}, 200, 201},
		{"all before", Job{Held: []Span{{first.AddDate(-1, 0, 0), first.Add(-time.Hour)}}}, 0, 0},
		{"all after", Job{Held: []Span{{first.AddDate(2, 0, 0), first.AddDate(3, 0, 0)}}}, 366, 366},
		{"never", Job{}, 366, 0},
	} {
		if begin, end := daysOf(c.job, first, 366); begin != c.begin || end != c.end {
			t.Errorf("%s: days %d to %d, want %d to %d", c.name, begin, end, c.begin, c.end)
		}
	}
}
