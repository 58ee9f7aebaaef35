package queue

import (
	"math"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// The sources of an order.
const (
	FromVisibility = "Visibility" // Kueue's own, for all queues shown
	Computed       = "Computed"   // by priority and time, as Kueue orders by default
)

// Document is what waits, as JSON. Durations are whole seconds; null is not known.
type Document struct {
	// Pending is null when no workloads could be read.
	Pending []ItemJSON
	Teams   []TeamJSON
	Total   SummaryJSON
	// Order is where the positions are from.
	Order string
	// Source is where the counts are from: Workloads, or Status when not all of them
	// could be read.
	Source string
	Taken  time.Time
}

// List returns the rows of custom-columns.
func (d Document) List() any { return append([]ItemJSON{}, d.Pending...) }

// ItemJSON is a task that waits.
type ItemJSON struct {
	Position      *int
	Team          *string
	ClusterQueue  *string
	Namespace     string
	Name          string
	Kind          string
	Workload      string
	Queue         string
	Priority      int32
	PriorityClass *string
	// Size is what it asks for, by resource, in base units.
	Size         map[string]float64
	CreationTime time.Time
	WaitingSince time.Time
	Preempted    bool
	Reason       string
	Detail       string
	Message      *string
	ETA          *ETAJSON
}

// ETAJSON is an estimate in seconds from Taken.
type ETAJSON struct {
	Earliest, Latest *int64
	Reason           *string
}

// TeamJSON is a team's summary.
type TeamJSON struct {
	Team         string
	ClusterQueue string
	SummaryJSON
}

// SummaryJSON is a Summary; null is not known.
type SummaryJSON struct {
	Running, Reserving, Waiting       int
	Preempted, Held, Finished, Failed *int
	WaitSeconds, RunSeconds           *SpreadJSON
}

// SpreadJSON is a Spread.
type SpreadJSON struct {
	Count                int
	Average, Median, P90 int64
}

func (s Summary) json() SummaryJSON {
	out := SummaryJSON{Running: s.Running, Reserving: s.Reserving, Waiting: s.Waiting}
	if !s.FromStatus {
		out.Preempted, out.Held, out.Finished, out.Failed = &s.Preempted, &s.Held, &s.Finished, &s.Failed
		out.WaitSeconds, out.RunSeconds = s.Wait.json(), s.Run.json()
	}
	return out
}

func (s Spread) json() *SpreadJSON {
	if s.Count == 0 {
		return nil
	}
	return &SpreadJSON{s.Count, seconds(s.Average), seconds(s.Median), seconds(s.P90)}
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

// NewDocument is the JSON of items and of the teams' tallies; nil items could not
// be read.
func NewDocument(items []Item, teams []quota.Team, tallies map[string]*Tally, order string, taken time.Time) Document {
	d := Document{Teams: []TeamJSON{}, Order: order, Source: quota.FromWorkloads, Taken: taken.UTC().Truncate(time.Second)}
	if items != nil {
		d.Pending = []ItemJSON{}
	}
	for i := range items {
		d.Pending = append(d.Pending, items[i].json())
	}
	var all []*Tally
	for _, t := range teams {
		all = append(all, tallies[t.ClusterQueue])
		d.Teams = append(d.Teams, TeamJSON{t.Name, t.ClusterQueue, Sum(tallies[t.ClusterQueue]).json()})
	}
	sum := Sum(all...)
	if sum.FromStatus {
		d.Source = quota.FromStatus
	}
	d.Total = sum.json()
	return d
}

func (it *Item) json() ItemJSON {
	out := ItemJSON{Team: optional(it.Team), ClusterQueue: optional(it.ClusterQueue), Namespace: it.Namespace, Name: it.Job, Kind: it.Kind,
		Workload: it.Workload, Queue: it.LocalQueue, Priority: it.Priority, PriorityClass: optional(it.PriorityClass), Size: map[string]float64{},
		CreationTime: it.Created.UTC(), WaitingSince: it.Since.UTC(), Preempted: it.Preempted, Reason: it.Reason.Code, Detail: it.Reason.Words,
		Message: optional(it.Reason.Message)}
	if it.Position > 0 {
		out.Position = &it.Position
	}
	for name, n := range it.Size {
		if v := quota.Number(name, n); !math.IsInf(v, 0) {
			out.Size[name] = v
		}
	}
	if e := it.ETA; e != nil {
		out.ETA = &ETAJSON{Reason: optional(e.Code)}
		if e.Known {
			from := seconds(e.Earliest)
			out.ETA.Earliest = &from
		}
		if e.Known && !e.Open {
			to := seconds(e.Latest)
			out.ETA.Latest = &to
		}
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Metrics returns the document as metrics.
func (d Document) Metrics() []metrics.Family {
	family := func(name, help string) metrics.Family {
		return metrics.Family{Name: quota.MetricPrefix + name, Help: help}
	}
	counts := family("queue_workloads", "Workloads by what they do: running, reserving (wait for admission checks), waiting, preempted (of the waiting), held, finished, failed (of the finished).")
	wait := family("queue_wait_seconds", "From queueing to the last admission, over finished workloads.")
	run := family("queue_run_seconds", "From the last admission to the end, over finished workloads.")
	oldest := family("queue_oldest_waiting_seconds", "How long the workload has waited that waits longest.")
	since := map[string]float64{}
	for _, p := range d.Pending {
		if p.ClusterQueue != nil {
			since[*p.ClusterQueue] = max(since[*p.ClusterQueue], d.Taken.Sub(p.WaitingSince).Seconds())
		}
	}
	for _, t := range d.Teams {
		labels := []metrics.Label{{Name: "cluster_queue", Value: t.ClusterQueue}, {Name: "team", Value: t.Team}}
		with := func(name, value string) []metrics.Label {
			return append(append([]metrics.Label{}, labels...), metrics.Label{Name: name, Value: value})
		}
		for _, c := range []struct {
			state string
			n     *int
		}{{"running", &t.Running}, {"reserving", &t.Reserving}, {"waiting", &t.Waiting}, {"preempted", t.Preempted}, {"held", t.Held},
			{"finished", t.Finished}, {"failed", t.Failed}} {
			if c.n != nil {
				counts.Put(float64(*c.n), with("state", c.state)...)
			}
		}
		for f, s := range map[*metrics.Family]*SpreadJSON{&wait: t.WaitSeconds, &run: t.RunSeconds} {
			if s == nil {
				continue
			}
			f.Put(float64(s.Average), with("statistic", "average")...)
			f.Put(float64(s.Median), with("statistic", "median")...)
			f.Put(float64(s.P90), with("statistic", "p90")...)
		}
		if longest, ok := since[t.ClusterQueue]; ok || t.Waiting == 0 {
			oldest.Put(math.Round(longest), labels...)
		}
	}
	return []metrics.Family{counts, wait, run, oldest}
}
