package dashboardcmd

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Estimates read the cluster as a whole, so they are made where that is cheap, and seldom.
const (
	mostEstimated = 500 // workloads
	estimateEvery = time.Minute
	estimateTime  = 10 * time.Second // the most that one may take
	estimateRest  = 50               // times as long as one took
)

// followStarts estimates when pending workloads start, again after changes. Where something of the cluster is hidden, or there
// are too many workloads, it estimates nothing. Estimates of before are kept when one fails.
func (f *feed) followStarts(ctx context.Context, c *factory.Cluster, r *reading) {
	var of *state.State // what was estimated last
	for {
		f.mu.Lock()
		changed, s, rules := f.changed, r.state, r.rules
		f.mu.Unlock()
		var queues []string
		if s != nil && s != of && len(s.Missing) == 0 && len(s.Workloads) <= mostEstimated {
			queues = dashboardview.Waiting(&dashboardview.Snapshot{State: s, Rules: rules})
		}
		if len(queues) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		of = s
		began := f.now()
		limited, cancel := context.WithTimeout(ctx, estimateTime)
		starts, err := f.estimate(limited, c, queues)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err == nil || len(starts) > 0 {
			f.update(r, func() { f.starts, f.startsAt = starts, began })
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(estimateEvery, estimateRest*f.now().Sub(began))):
		}
	}
}
