package getqueue

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/livestate"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// pace is how often a change is shown at most; waiting times go on every fifth.
const (
	pace = time.Second
	idle = 5
)

// watch goes on showing the queue until Ctrl-C, in the order that is computed
// and without estimates: Kueue's own order cannot be watched.
func (o *Options) watch(ctx context.Context, c *factory.Cluster, format output.Format) error {
	return livestate.Run(ctx, o.Factory, c, format, livestate.Watch[view]{
		Want: o.want(c), Tick: o.Tick, Pace: pace, Idle: idle, View: o.view,
		Table: func(v view, _ bool) output.Table { return v.table() },
		Lines: func(v view) []output.Line {
			var rows []output.Line
			for _, it := range v.document().Pending {
				rows = append(rows, output.Line{Key: it.Namespace + "/" + it.Workload, Value: it})
			}
			return rows
		},
	})
}
