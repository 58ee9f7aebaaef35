package dashboardview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// TrailEvery is the time between two points of a trail, and TrailPoints is how many there are: ten minutes.
const (
	TrailEvery  = 30 * time.Second
	TrailPoints = 20
)

// Shares returns the used share of the accelerators of each instance type.
func Shares(s *Snapshot) map[history.NodeKey]float64 {
	out := map[history.NodeKey]float64{}
	for k, u := range uses(s) {
		if u.all > 0 {
			out[k] = min(1, float64(u.used)/float64(u.all))
		}
	}
	return out
}

// AddPoint returns a trail with another point.
func AddPoint(trail map[history.NodeKey][]float64, shares map[history.NodeKey]float64) map[history.NodeKey][]float64 {
	out := make(map[history.NodeKey][]float64, len(shares))
	for k, share := range shares {
		points := append(slices.Clone(trail[k]), share)
		out[k] = points[max(0, len(points)-TrailPoints):]
	}
	return out
}

// Recorded returns the trail that a recorder's store knows, up to a time; points before a gap are left out.
func Recorded(d *history.Data, now time.Time) map[history.NodeKey][]float64 {
	out := map[history.NodeKey][]float64{}
	for i := TrailPoints - 1; i > 0; i-- {
		t := now.Add(-time.Duration(i) * TrailEvery)
		if !slices.ContainsFunc(d.Covered, func(s history.Span) bool { return !t.Before(s.From) && !t.After(s.To) }) {
			clear(out)
			continue
		}
		used := map[history.NodeKey]int64{}
		for _, q := range d.Queues {
			if q.Key.Flavor != "" {
				used[history.NodeKey{InstanceType: q.Key.InstanceType, Resource: q.Key.Resource}] += valueAt(q.Points, t).Reserved
			}
		}
		for _, n := range d.Nodes {
			if all := valueAt(n.Points, t).Capacity; all > 0 {
				out[n.Key] = append(out[n.Key], min(1, float64(used[n.Key])/float64(all)))
			}
		}
	}
	return out
}

// valueAt is the value of a series at a time, the zero value before the first one.
func valueAt[V any](points []history.Point[V], t time.Time) (v V) {
	for _, p := range points {
		if p.Time.After(t) {
			break
		}
		v = p.Value
	}
	return v
}

// WithPast returns a trail with what came before it.
func WithPast(before, trail map[history.NodeKey][]float64) map[history.NodeKey][]float64 {
	out := map[history.NodeKey][]float64{}
	maps.Copy(out, before)
	for k, points := range trail {
		out[k] = append(slices.Clone(before[k]), points...)
	}
	for k, points := range out {
		out[k] = points[max(0, len(points)-TrailPoints):]
	}
	return out
}

// Spark draws shares from 0 to 1, one character each.
func Spark(shares []float64, utf8 bool) string {
	levels := []rune("_.-=+*#%")
	if utf8 {
		levels = []rune("▁▂▃▄▅▆▇█")
	}
	var b strings.Builder
	for _, x := range shares {
		b.WriteRune(levels[min(len(levels)-1, max(0, int(x*float64(len(levels)))))])
	}
	return b.String()
}

// starvedBy names, for each team and resource that waits, the teams that have what it waits for beyond their own quota, as
// governance audit finds them.
func starvedBy(s *Snapshot, r *quota.Report, waiting []queue.Item) map[[2]string]string {
	out := map[[2]string]string{}
	for _, f := range audit.Find(s.State, r, waiting) {
		if f.Code != audit.Starved {
			continue
		}
		var parts []string
		for _, h := range f.Holders {
			parts = append(parts, fmt.Sprintf("%s (%g)", h.Team, h.Amount))
		}
		out[[2]string{f.Team, f.Resource}] = words.SomeOf(parts, f.HoldersTotal, 4)
	}
	return out
}
