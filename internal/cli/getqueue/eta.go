package getqueue

import (
	"context"
	"errors"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/present/queuetext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// etaTime is how long estimates may take: a table that is late is worth less
// than one without them.
const etaTime = 10 * time.Second

// estimates adds when workloads may start: those of one team, and of all where a
// duration to assume was given. Each queue has the cluster run forward once more.
func (o *Options) estimates(ctx context.Context, c *factory.Cluster, v *view, namespaces func(context.Context) ([]string, error)) error {
	if o.NoETA || o.Estimate == nil || len(v.items) == 0 || !v.narrow && o.Assume == 0 {
		return nil
	}
	if v.member() {
		return nil // the note on what is hidden says enough
	}
	if v.noETA = unreadable(v.state.Missing); v.noETA != "" {
		return nil
	}
	var queues []string
	for _, it := range v.items {
		if n := len(queues); it.Position > 0 && (n == 0 || queues[n-1] != it.ClusterQueue) {
			queues = append(queues, it.ClusterQueue)
		}
	}
	if len(queues) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, etaTime)
	defer cancel()
	etas, err := o.Estimate(limited, c, namespaces, queues, o.Assume)
	what := "no estimates"
	if len(etas) > 0 {
		what = "not all estimates"
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		o.Factory.Notef("note: %s: they take longer than %s", what, etaTime)
	case err != nil:
		o.Factory.Notef("note: %s: %v", what, err)
	}
	v.eta = err == nil || len(etas) > 0
	clusterQueues := map[string]*state.ClusterQueue{}
	for i := range v.state.ClusterQueues {
		clusterQueues[v.state.ClusterQueues[i].Name] = &v.state.ClusterQueues[i]
	}
	for i := range v.items {
		if e, ok := etas[v.items[i].Key]; ok {
			v.items[i].ETA = &e
			if q := clusterQueues[v.items[i].ClusterQueue]; q != nil && e.Reason == string(queue.NeverFits) {
				queue.Decide(&v.items[i], q)
			}
		}
	}
	queuetext.Fill(v.items)
	return nil
}

// unreadable says what an estimate needs and could not be read, "" for nothing:
// everything that get-queue reads has a part in the estimate.
func unreadable(missing []state.Missing) string {
	names := map[string][]string{}
	for _, m := range missing {
		names[m.Reason] = append(names[m.Reason], m.Resource.Plural)
	}
	for _, r := range []struct{ reason, how string }{
		{state.Failed, "could be read"}, {state.NotInFile, "are in the file"}, {state.Forbidden, "may be read"},
	} {
		if n := names[r.reason]; len(n) > 0 {
			return "not all " + factory.NameSet(n) + " " + r.how
		}
	}
	return ""
}
