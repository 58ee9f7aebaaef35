// Package liveview shows one view of a cluster's state: once, or with --watch as a table
// that is redrawn, or as a line for each change.
package liveview

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// View is a view of a state in every format. Its functions are called only if the format
// needs them.
type View struct {
	// Document is the JSON.
	Document func() any
	// Table is for people; live tables are redrawn.
	Table func(wide, live bool) output.Table
	// Names are for -o name; nil if the view does not support it.
	Names func() []string
	// Lines are the rows of --watch -o json.
	Lines func() []output.Line
}

// Print shows a view once.
func Print(f *factory.Factory, format output.Format, v View) error {
	var document any
	if !format.IsTable() {
		document = v.Document()
	}
	return output.Print(f.IO, format, document, func() output.Table { return v.Table(format.Name == output.Wide, false) }, v.Names)
}

// Watch is what to watch and how often to show it.
type Watch struct {
	Want state.Want
	// Tick triggers a redraw; nil means one every Pace.
	Tick <-chan time.Time
	Pace time.Duration
	// Idle is the number of ticks without a change after which a terminal is redrawn,
	// because ages grow and it may have been resized; 0 means never.
	Idle int
	// View returns what to show; an error ends the watch.
	View func(*state.State) (View, error)
}

// Run shows the view until ctx ends. It reports once what cannot be read.
func Run(ctx context.Context, f *factory.Factory, c *factory.Cluster, format output.Format, w Watch) error {
	p := state.Pace{Tick: w.Tick, Now: c.Now}
	var show func(View) error
	switch {
	case format.IsTable():
		wide := format.Name == output.Wide
		live := output.NewLiveTable(f.IO, wide, 1)
		show = func(v View) error { return live.Update(v.Table(wide, true)) }
		if f.IO.Cursor {
			p.Idle = w.Idle
		}
	case format.Name == output.JSON:
		lines := output.NewLines(f.IO)
		show = func(v View) error { return lines.Update(v.Lines()) }
	default:
		return factory.NoWatch(format)
	}
	tick, stop := factory.Ticks(p.Tick, w.Pace)
	defer stop()
	p.Tick = tick
	reported := false
	return state.Follow(ctx, c.Client, w.Want, p, func(s *state.State) error {
		if !reported {
			f.MissingFigures(s.Missing)
			reported = true
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
