package dashboardview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
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

// Follow returns a trail with another point.
func Follow(trail map[history.NodeKey][]float64, shares map[history.NodeKey]float64) map[history.NodeKey][]float64 {
	out := make(map[history.NodeKey][]float64, len(shares))
	for k, share := range shares {
		points := append(slices.Clone(trail[k]), share)
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
func starvedBy(s *Snapshot, r *quota.Report) map[[2]string]string {
	out := map[[2]string]string{}
	for _, f := range audit.Find(s.State, r, queue.Build(s.State, r, r.Teams, s.Rules, nil)) {
		if f.Code != audit.Starved {
			continue
		}
		var parts []string
		for _, h := range f.Holders {
			parts = append(parts, fmt.Sprintf("%s (%g)", h.Team, h.Amount))
		}
		out[[2]string{f.Team, f.Resource}] = strings.Join(parts, ", ")
	}
	return out
}
