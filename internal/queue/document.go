package queue

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// The sources of an order.
const (
	FromVisibility = "Visibility" // Kueue's own, for all queues shown
	Computed       = "Computed"   // by priority and time, as Kueue orders by default
)

// Schema is the name and version of the JSON. Fields may be added within a version.
const Schema = "hyperpod.get-queue/v1"

// Document is what waits, as JSON. Durations are whole seconds; null is not known.
type Document struct {
	Schema string
	// Pending is left out when no workloads could be read.
	Pending []ItemJSON `json:",omitzero"`
	Teams   []TeamJSON
	Total   SummaryJSON
	// Order is where the positions are from.
	Order string
	// Source is where the counts are from: Workloads, or Status when not all of them
	// could be read.
	Source string
	// Missing is what could not be read.
	Missing []state.Unread `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time
}

// List returns the rows of custom-columns.
func (d Document) List() any { return append([]ItemJSON{}, d.Pending...) }

// ItemJSON is a workload that waits.
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
	// Requests are of all its pods together.
	Requests     []AmountJSON
	CreationTime time.Time `json:",omitzero"`
	// Since is when it began to wait: its creation, or the last eviction.
	Since     time.Time `json:",omitzero"`
	Preempted bool
	Reason    string
	// Summary is Reason in a few words, Message Kueue's own sentence.
	Summary string
	Message *string
	ETA     *ETA
}

// AmountJSON is a quantity in base units.
type AmountJSON struct {
	Resource string
	Amount   float64
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

// SpreadJSON is a spread in seconds.
type SpreadJSON struct {
	Count                int
	Average, Median, P90 int64
}

func (s Summary) json() SummaryJSON {
	out := SummaryJSON{Running: s.Running, Reserving: s.Reserving, Waiting: s.Waiting}
	if !s.FromStatus {
		out.Preempted, out.Held, out.Finished, out.Failed = &s.Preempted, &s.Held, &s.Finished, &s.Failed
		out.WaitSeconds, out.RunSeconds = spreadJSON(s.Wait), spreadJSON(s.Run)
	}
	return out
}

func spreadJSON(s spread.Spread) *SpreadJSON {
	if s.Count == 0 {
		return nil
	}
	return &SpreadJSON{s.Count, Seconds(s.Average), Seconds(s.Median), Seconds(s.P90)}
}

// NewDocument returns the JSON of items and of the teams' tallies; nil items could not
// be read.
func NewDocument(items []Item, teams []quota.Team, tallies map[string]*Tally, order string, at time.Time) Document {
	d := Document{Schema: Schema, Teams: []TeamJSON{}, Order: order, Source: quota.FromWorkloads, Time: at.UTC().Truncate(time.Second)}
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
		Workload: it.Workload, Queue: it.LocalQueue, Priority: it.Priority, PriorityClass: optional(it.PriorityClass), Requests: []AmountJSON{},
		CreationTime: it.Created.UTC(), Since: it.Since.UTC(), Preempted: it.Preempted, Reason: it.Reason.Code, Summary: it.Reason.Words,
		Message: optional(it.Reason.Message), ETA: it.ETA}
	if it.Position > 0 {
		out.Position = &it.Position
	}
	for _, name := range slices.SortedFunc(maps.Keys(it.Size), acceleratorsFirst) {
		if v := quota.Number(name, it.Size[name]); !math.IsInf(v, 0) {
			out.Requests = append(out.Requests, AmountJSON{name, v})
		}
	}
	return out
}

// acceleratorsFirst orders resources, those that a workload is spoken of in first.
func acceleratorsFirst(a, b string) int {
	if x, y := kinds.Accelerator(a), kinds.Accelerator(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
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
			since[*p.ClusterQueue] = max(since[*p.ClusterQueue], spread.Between(p.Since, d.Time).Seconds())
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
