// Package startestimate reads a cluster and estimates when its pending workloads start.
package startestimate

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	estimatetext "github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// Of estimates when the workloads of ClusterQueues start, by running Kueue's decisions forward. With an error, it returns the
// estimates that were made before. assume is the duration of jobs without a known one; 0 assumes none.
func Of(ctx context.Context, c *factory.Cluster, namespaces func(context.Context) ([]string, error), clusterQueues []string, assume time.Duration) (map[queue.Key]queue.ETA, error) {
	now := c.Now()
	in, err := inputs.Load(ctx, c.Client, inputs.Options{Namespaces: namespaces, Finished: true}, now)
	if err != nil {
		return nil, err
	}
	world, ahead := forecast.Of(in), forecast.Options{Now: now, Assume: assume, Deadline: admissioncheck.Deadlines(ctx, c, in, nil)}
	if world.Now, _, err = in.Engine(ctx); err != nil {
		return nil, notetext.Error(err)
	}
	out := map[queue.Key]queue.ETA{}
	for _, name := range clusterQueues {
		etas, err := forecast.Queue(ctx, world, ahead, name)
		if err != nil {
			return out, err
		}
		for _, e := range etas {
			d := e.Document(now)
			estimatetext.Fill(d)
			out[queue.Key{Namespace: e.Namespace, Workload: e.Name}] = *d
		}
	}
	return out, nil
}
