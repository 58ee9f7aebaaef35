package getquota

import (
	"context"
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/livestate"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// pace is how often a change is shown at most. A terminal is drawn again every
// sixth time all the same, as it may have been resized.
const (
	pace = 500 * time.Millisecond
	idle = 6
)

// mostWarnings are shown below a table that is redrawn: it has to fit the screen.
const mostWarnings = 5

// watch goes on showing the quota until Ctrl-C.
func (o *Options) watch(ctx context.Context, c *factory.Cluster, format output.Format) error {
	return livestate.Run(ctx, o.Factory, c, format, livestate.Watch[view]{
		Want: o.want(c), Tick: o.Tick, Pace: pace, Idle: idle, View: o.view,
		Table: func(v view, wide bool) output.Table {
			t := v.table(wide)
			for i, p := range v.problems {
				if i == mostWarnings && len(v.problems) > mostWarnings+1 {
					t.Notes = append(t.Notes, fmt.Sprintf("and %d more warnings", len(v.problems)-i))
					break
				}
				t.Notes = append(t.Notes, "warning: "+p.Message)
			}
			return t
		},
		Lines: func(v view) []output.Line { return linesOf(v.document()) },
	})
}

// linesOf are the rows of a document, for one JSON object a line.
func linesOf(document any) []output.Line {
	var out []output.Line
	switch d := document.(type) {
	case quota.Document:
		for _, q := range d.Quota {
			out = append(out, output.Line{Key: q.ClusterQueue + "\x00" + q.Resource, Value: q})
		}
	case nodesDocument:
		for _, c := range d.Capacity {
			out = append(out, output.Line{Key: c.InstanceType + "\x00" + c.NodeGroup, Value: c})
		}
	}
	return out
}
