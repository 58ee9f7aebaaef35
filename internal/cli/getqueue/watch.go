package getqueue

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// pace is how often a change is shown at most; waiting times go on every fifth.
const (
	pace = time.Second
	idle = 5
)

// watch goes on showing the queue until Ctrl-C, in the order that is computed
// and without estimates: Kueue's own order cannot be watched.
func (o *Options) watch(ctx context.Context, c *factory.Cluster, format output.Format) error {
	f := o.Factory
	var show func(view) error
	p := state.Pace{Tick: o.Tick, Now: c.Now}
	switch {
	case format.IsTable():
		live := output.NewLiveTable(f.IO, format.Name == output.Wide, 2)
		show = func(v view) error {
			t := v.table(f.IO)
			// A task is known by its team and name; its position changes.
			live.KeyBy("TEAM", "JOB")
			return live.Update(t)
		}
		if f.IO.Cursor {
			p.Idle = idle
		}
	case format.Name == output.JSON:
		changes := output.NewLines(f.IO)
		show = func(v view) error {
			d := v.document()
			rows := make([]output.Line, len(d.Pending))
			for i, it := range d.Pending {
				rows[i] = output.Line{Key: it.Namespace + "/" + it.Workload, Value: it}
			}
			return changes.Update(rows)
		}
	default:
		return errs.Usagef("--watch has no output format %s", format.Name).WithFact("it has", "table, wide, json")
	}
	if p.Tick == nil {
		t := time.NewTicker(pace)
		defer t.Stop()
		p.Tick = t.C
	}
	said := false
	return state.Follow(ctx, c.Client, o.want(c), p, func(s *state.State) error {
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
