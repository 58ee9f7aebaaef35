// Package livestate is --watch of the commands that show one view of a cluster's
// state: a table that is redrawn, or a line for each change.
package livestate

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Watch is what is watched, and how it is shown.
type Watch[V any] struct {
	Want state.Want
	// Tick paces the showing; nil is every Pace.
	Tick <-chan time.Time
	Pace time.Duration
	// Idle is after how many ticks without a change a terminal is redrawn all the
	// same: ages go on, and it may have been resized; 0 is never.
	Idle int
	// View works out what is shown; an error ends the watch.
	View  func(*state.State) (V, error)
	Table func(v V, wide bool) output.Table
	// Lines are the rows of -o json.
	Lines func(V) []output.Line
}

// Run shows the view until ctx ends. What cannot be read is said once.
func Run[V any](ctx context.Context, f *factory.Factory, c *factory.Cluster, format output.Format, w Watch[V]) error {
	p := state.Pace{Tick: w.Tick, Now: c.Now}
	var show func(V) error
	switch {
	case format.IsTable():
		wide := format.Name == output.Wide
		live := output.NewLiveTable(f.IO, wide, 1)
		show = func(v V) error { return live.Update(w.Table(v, wide)) }
		if f.IO.Cursor {
			p.Idle = w.Idle
		}
	case format.Name == output.JSON:
		lines := output.NewLines(f.IO)
		show = func(v V) error { return lines.Update(w.Lines(v)) }
	default:
		return factory.NoWatch(format)
	}
	if p.Tick == nil {
		t := time.NewTicker(w.Pace)
		defer t.Stop()
		p.Tick = t.C
	}
	said := false
	return state.Follow(ctx, c.Client, w.Want, p, func(s *state.State) error {
		if !said {
			findteam.Notes(f, s.Missing)
			said = true
		}
		v, err := w.View(s)
		if err != nil {
			return err
		}
		if err := show(v); err != nil {
			return err
		}
		return f.IO.Flush()
	})
}
