package forecast

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// Document returns the estimate as documents have it, in seconds from now. Package
// present/estimate adds the words.
func (e ETA) Document(now time.Time) *queue.ETA {
	out := &queue.ETA{Reason: string(e.Code), Message: e.Message, Checks: e.Checks, Jobs: e.Unknown, JobsTotal: e.UnknownTotal, Horizon: e.Horizon}
	for _, b := range e.Basis {
		out.Basis = append(out.Basis, queue.Basis{Source: string(b.Source), Count: b.Count})
	}
	if !e.Known {
		return out
	}
	from, to := e.Wait(now)
	earliest := queue.Seconds(from)
	out.EarliestSeconds = &earliest
	if !e.Latest.IsZero() {
		latest := queue.Seconds(to)
		out.LatestSeconds = &latest
	}
	return out
}
