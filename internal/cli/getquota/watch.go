package getquota

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// pace is how often a change is shown at most.
const pace = 500 * time.Millisecond

// watch goes on showing the quota until Ctrl-C.
func (o *Options) watch(ctx context.Context, c *factory.Cluster, format output.Format) error {
	f := o.Factory
	var show func(view) error
	switch {
	case format.IsTable():
		wide := format.Name == output.Wide
		live := output.NewLiveTable(f.IO, wide, 1)
		show = func(v view) error {
			t := v.table(wide)
			live.KeyBy(t.Columns[0].Title, "RESOURCE", "FLAVOR")
			for _, p := range v.problems {
				t.Notes = append(t.Notes, "warning: "+p.Message)
			}
			return live.Update(t)
		}
	case format.Name == output.JSON:
		lines := output.NewLines(f.IO)
		show = func(v view) error { return lines.Update(linesOf(v.document)) }
	default:
		return errs.Usagef("--watch has no output format %s", format.Name).WithFact("it has", "table, wide, json")
	}
	tick := o.Tick
	if tick == nil {
		t := time.NewTicker(pace)
		defer t.Stop()
		tick = t.C
	}
	said := false
	return state.Follow(ctx, c.Client, o.want(c), state.Pace{Tick: tick, Now: c.Now}, func(s *state.State) error {
		if !said {
			findteam.Notes(f, s.Missing)
			said = true
		}
		v, err := o.view(s)
		if err != nil {
			return err
		}
		if err := show(v); err != nil {
			return err
		}
		return f.IO.Flush()
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
