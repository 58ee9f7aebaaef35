package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const gpu = "nvidia.com/gpu"

// minuteJob is what a job did in each minute: 'w', 'h', or 0, and what it borrowed.
type minuteJob struct {
	team, owner string
	gpus        int64
	did         []byte
	more        []int64
}

// TestAReportIsTheSumOfItsMinutes: a store that a recorder filled gives the same sums as a count, minute by minute, of
// what the jobs did.
func TestAReportIsTheSumOfItsMinutes(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 19))
		const minutes = 4 * 24 * 60
		var jobs []minuteJob
		for i := range 25 {
			j := minuteJob{team: fmt.Sprintf("team-%d", i%4), owner: fmt.Sprintf("owner-%d", i%7), gpus: int64(1 + r.IntN(16)), did: make([]byte, minutes), more: make([]int64, minutes)}
			at, what := r.IntN(minutes), byte('w')
			for range 1 + r.IntN(5) {
				end, more := min(minutes, at+1+r.IntN(2000)), int64(0)
				if what == 'h' {
					more = r.Int64N(j.gpus + 1)
				}
				for ; at < end; at++ {
					j.did[at], j.more[at] = what, more
				}
				what = 'w' + 'h' - what
			}
			jobs = append(jobs, j)
		}
		dir := filepath.Join(t.TempDir(), "store")
		w, err := history.Open(dir, history.Options{Cluster: "c", Pace: 30 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at <= minutes; at += 30 {
			o := history.Observation{Time: start.Add(time.Duration(at) * time.Minute), JobsComplete: true,
				Queues: map[history.QueueKey]history.QueueFigures{{Queue: "q", Team: "team-0", Flavor: "f", InstanceType: "ml.x", Resource: gpu}: {Nominal: 10, Reserved: 14, Borrowed: 6, Lent: 1}},
				Nodes:  map[history.NodeKey]history.NodeFigures{{InstanceType: "ml.x", Resource: gpu}: {Capacity: 32, Healthy: 32, Nodes: 4, HealthyNodes: 4}}}
			for i, j := range jobs {
				one := history.Observed{Job: history.Job{UID: fmt.Sprint(i), Namespace: "n-" + j.team, Name: fmt.Sprint("j", i), Team: j.team, Owner: j.owner, InstanceType: "ml.x", Devices: map[string]int64{gpu: j.gpus}}}
				last := byte(0)
				for m := range min(at, minutes) {
					if j.did[m] == last {
						continue
					}
					last = j.did[m]
					c := history.Change{Time: start.Add(time.Duration(m) * time.Minute), Phase: history.Waiting}
					switch {
					case last == 'h':
						c.Phase, c.Borrowed = history.Holding, map[string]int64{gpu: j.more[m]}
					case last == 0:
						c.Phase = history.Succeeded
					case m > 0 && j.did[m-1] == 'h':
						c.Phase, c.Reason = history.Preempted, "InCohortReclamation"
					}
					one.Phases = append(one.Phases, c)
				}
				if len(one.Phases) > 0 {
					o.Jobs = append(o.Jobs, one)
				}
			}
			if _, err := w.Append(o); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		from, to := 700+r.IntN(1000), minutes-r.IntN(1000)
		first, end := start.Add(time.Duration(from)*time.Minute), start.Add(time.Duration(to)*time.Minute)
		data, err := history.Read(dir, first, end)
		if err != nil {
			t.Fatal(err)
		}
		prices := &Prices{Currency: "USD", Device: map[string]float64{"ml.x": 2.5}}
		d := Build(data, Options{From: first, To: end, Source: Recorded, Prices: prices})

		// The count.
		want := map[string][3]float64{}
		hours, days := [24]float64{}, map[string]float64{}
		preempted := 0
		for m := from; m < to; m++ {
			now := start.Add(time.Duration(m) * time.Minute)
			for _, j := range jobs {
				for _, name := range []string{"", j.team, j.owner} {
					v := want[name]
					switch j.did[m] {
					case 'h':
						v[0] += float64(j.gpus) / 60
						v[1] += float64(j.more[m]) / 60
					case 'w':
						v[2] += float64(j.gpus) / 60
					}
					want[name] = v
				}
				if j.did[m] == 'h' {
					hours[now.Hour()] += float64(j.gpus) / 60
					days[now.Format(time.DateOnly)] += float64(j.gpus) / 60
				}
				if m > 0 && j.did[m] == 'w' && j.did[m-1] == 'h' {
					preempted++
				}
			}
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-6 {
				t.Errorf("seed %d, %s: %v, counted %v", seed, what, got, want)
			}
		}
		check := func(row Row) {
			t.Helper()
			v := want[row.Name]
			near(row.Name+" used", row.Used[gpu], v[0])
			near(row.Name+" borrowed", row.Borrowed[gpu], v[1])
			near(row.Name+" waited", row.Waited[gpu], v[2])
			if v[0] > 0 {
				near(row.Name+" cost", *row.Cost, v[0]*2.5)
			}
		}
		check(d.Total)
		for _, row := range append(d.Teams, d.Owners...) {
			check(row)
		}
		for _, row := range d.Days {
			near(row.Date, row.Used[gpu], days[row.Date])
		}
		length := float64(to-from) / 60
		var byHour, counted float64
		for _, row := range d.HoursOfDay {
			byHour += row.Used[gpu]
		}
		lengths := [24]float64{}
		for m := from; m < to; m++ {
			lengths[start.Add(time.Duration(m)*time.Minute).Hour()] += 1.0 / 60
		}
		for h := range hours {
			if lengths[h] > 0 {
				counted += hours[h] / lengths[h]
			}
		}
		near("hours of the day", byHour, counted)
		got := 0
		for _, c := range d.Preemptions {
			got += c.Count
		}
		if got != preempted {
			t.Errorf("seed %d: %d preemptions, counted %d", seed, got, preempted)
		}
		near("covered", d.CoveredHours, length)
		near("nominal", d.Teams[0].Nominal[gpu], 10*length)
		near("lent", d.Teams[0].Lent[gpu], length)
		near("idle", d.Teams[0].Idle[gpu], length) // 10 - (14 - 6) - 1
		near("unallocated", *d.Prices.Unallocated, 22*length*2.5)
		near("total", *d.Prices.Total, 32*length*2.5)
	}
}

// TestWaitAndRunTimes: a wait ends with an admission, a run with the end of the job; a preemption begins another wait.
func TestWaitAndRunTimes(t *testing.T) {
	at := func(m int) time.Time { return start.Add(time.Duration(m) * time.Minute) }
	d := &history.Data{Until: at(100), Jobs: []*history.Track{
		{Job: history.Job{Devices: map[string]int64{gpu: 1}}, Changes: []history.Change{{Time: at(0), Phase: history.Waiting}, {Time: at(10), Phase: history.Holding},
			{Time: at(20), Phase: history.Preempted, Reason: "InClusterQueue"}, {Time: at(50), Phase: history.Holding}, {Time: at(60), Phase: history.Holding, Borrowed: map[string]int64{gpu: 1}}, {Time: at(90), Phase: history.Succeeded}}},
		{Job: history.Job{Devices: map[string]int64{gpu: 1}}, Changes: []history.Change{{Time: at(0), Phase: history.Waiting}, {Time: at(20), Phase: history.Vanished}}},
	}}
	out := Build(d, Options{From: start, To: at(100)})
	if w, r := out.WaitSeconds, out.RunSeconds; w.Count != 2 || w.Average != 20*60 || w.Most != 30*60 || w.Median != 10*60 || r.Count != 1 || r.Average != 40*60 {
		t.Errorf("%+v %+v", w, r)
	}
	if len(out.Preemptions) != 1 || out.Preemptions[0] != (Cause{"Preempted", "InClusterQueue", 1}) {
		t.Error(out.Preemptions)
	}
	if got := out.Total.Used[gpu]; math.Abs(got-50.0/60) > 1e-9 || math.Abs(out.Total.Borrowed[gpu]-0.5) > 1e-9 {
		t.Error(got, out.Total.Borrowed)
	}
}

// TestParsePrices: a table, and what is wrong with others.
func TestParsePrices(t *testing.T) {
	devices := func(name string) int { return map[string]int{"ml.p5.48xlarge": 8}[name] }
	p, err := ParsePrices([]byte("currency: USD\ndate: 2026-01-31\ninstances:\n  ml.p5.48xlarge: {hour: 80}\n  ml.y: {hour: 6, devices: 2}\n  ml.z: {hour: 5}\n"), devices)
	if err != nil || p.Device["ml.p5.48xlarge"] != 10 || p.Device["ml.y"] != 3 || p.Hour["ml.z"] != 5 {
		t.Fatal(p, err)
	}
	for _, text := range []string{"", "currency: USD\ndate: 2026-01-31\n", "currency: dollars\ndate: 2026-01-31\ninstances: {a: {hour: 1}}", "currency: USD\ndate: today\ninstances: {a: {hour: 1}}",
		"currency: USD\ndate: 2026-01-31\ninstances: {a: {hour: -1}}", "currency: USD\ndate: 2026-01-31\ninstances: {a: {hours: 1}}", "["} {
		if p, err := ParsePrices([]byte(text), devices); err == nil {
			t.Errorf("%q: %v", text, p)
		}
	}
}

// TestMost: the rows with most device-hours stay in their order, and nothing of the others is lost.
func TestMost(t *testing.T) {
	cost := 1.5
	var rows []Row
	for i := range 1000 {
		rows = append(rows, Row{Name: fmt.Sprintf("%04d", i), Hours: Hours{Used: Amounts{"gpu": float64(i * 7 % 1000)}, Waited: Amounts{"gpu": 1}}, Jobs: 2, Cost: &cost})
	}
	shown, rest := Most(rows, 40)
	if len(shown) != 40 || rest == nil || !slices.IsSortedFunc(shown, func(a, b Row) int { return strings.Compare(a.Name, b.Name) }) {
		t.Fatal(len(shown), rest)
	}
	used := 0.0
	for _, r := range shown {
		if used += r.Used["gpu"]; r.Used["gpu"] < 960 {
			t.Errorf("%s used %v", r.Name, r.Used)
		}
	}
	if used+rest.Used["gpu"] != 499500 || rest.Waited["gpu"] != 960 || rest.Jobs != 1920 || *rest.Cost != 1440 || rest.Idle != nil {
		t.Error(used, rest)
	}
	if all, none := Most(rows[:41], 40); len(all) != 41 || none != nil {
		t.Error("one row is not worth a line that says one more", len(all), none)
	}
}
