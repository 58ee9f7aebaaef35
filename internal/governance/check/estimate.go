package check

import (
	"context"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
)

// estimatable is the number of workloads up to which every verdict has an estimate. An
// estimate runs the whole cluster forward, which takes a second for thousands.
const estimatable = 1500

// estimate sets when a pending job may start. On a large cluster it needs an assumed
// duration.
func (c *Checker) estimate(ctx context.Context, r *Request, wl *kueue.Workload, v *Verdict) error {
	if v.Verdict != Waits || !v.Complete || v.Quota.Status != StatusFailed || r.Assume == 0 && len(c.In.Workloads) > estimatable {
		return nil
	}
	if v.Detail == PutAside || v.Detail == LikePutAside {
		return nil // it starts after the next change of the cluster, whatever that is
	}
	now := c.In.Taken
	o := forecast.Options{Now: now, Assume: r.Assume}
	if r.Deadlines != nil {
		o.Deadline = r.Deadlines(ctx)
	}
	world := forecast.Of(c.In)
	world.Now = c.Engine
	e, err := forecast.Workload(ctx, world, o, wl)
	if err != nil {
		return err
	}
	v.ETA = e.Document(now)
	return nil
}
