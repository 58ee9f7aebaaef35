package getqueue

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/queuetext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// mostQueues is the number of LocalQueues whose order is requested. For more of them, the order is computed.
const mostQueues = 6

// order takes the positions of one team's workloads from Kueue itself, where its
// visibility API may be read.
func (o *Options) order(ctx context.Context, c *factory.Cluster, v *view) error {
	if !v.narrow && !v.member() || len(v.items) == 0 {
		return nil
	}
	queues := localQueues(v)
	if len(queues) == 0 || len(queues) > mostQueues {
		return nil
	}
	parts := make([][]state.PendingWorkload, len(queues))
	failed := make([]error, len(queues))
	var wg crash.Group
	for i, q := range queues {
		wg.Go(func() { parts[i], failed[i] = state.PendingIn(ctx, c.Client, q.Namespace, q.Workload) })
	}
	wg.Wait()
	positions := queue.Positions{}
	served := false
	for i, err := range failed {
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case kube.IsNotServed(err) || kube.IsForbidden(err) || kube.IsNotFound(err):
			if !v.member() {
				return nil
			}
			continue // there is no order to compute
		default:
			// The order is computed instead: a queue that is shown in its usual order is
			// worth more than none.
			o.Factory.Notef("note: the order is computed because Kueue's own order cannot be read: %v", err)
			return nil
		}
		served = true
		for _, p := range parts[i] {
			positions[queue.Key{Namespace: p.Namespace, Workload: p.Name}] = p.InClusterQueue + 1
		}
	}
	if !served {
		return nil
	}
	v.items = queue.Build(v.state, v.report, v.teams, v.rules, positions)
	queuetext.Fill(v.items)
	v.order = queue.FromVisibility
	return nil
}

// member reports a user who may read no ClusterQueue: the order within a queue is known
// only to Kueue.
func (v *view) member() bool {
	return len(v.state.ClusterQueues) == 0 && slices.ContainsFunc(v.state.MissingOf(kinds.ClusterQueue), func(m state.Missing) bool { return m.Reason == state.Forbidden })
}

// localQueues returns those of the teams shown; without permission to list them, those that task governance
// creates.
func localQueues(v *view) []queue.Key {
	shown := map[string]bool{}
	for _, t := range v.teams {
		shown[t.ClusterQueue] = true
	}
	var out []queue.Key
	for _, q := range v.state.LocalQueues {
		if shown[q.ClusterQueue] && (!v.member() || q.Pending > 0) {
			out = append(out, queue.Key{Namespace: q.Namespace, Workload: q.Name})
		}
	}
	if len(out) > 0 || v.report.Complete {
		return out
	}
	for _, it := range v.items {
		if k := (queue.Key{Namespace: it.Namespace, Workload: it.LocalQueue}); len(out) == 0 || out[len(out)-1] != k {
			out = append(out, k)
		}
	}
	return out
}
