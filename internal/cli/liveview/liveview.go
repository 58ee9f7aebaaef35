// Package liveview shows one view of a cluster's state: once, or with --watch as
// a table that is redrawn, or a line for each change.
package liveview

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// View is what is shown of a state, in every format. Each part is worked out only
// when it is asked for.
type View struct {
	// Document is the JSON.
	Document func() any
	// Table is for people; live is one that is drawn again and again.
	Table func(wide, live bool) output.Table
	// Names are for -o name; nil: there is no such format.
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

// Watch is what is watched, and how often it is shown.
type Watch struct {
	Want state.Want
	// Tick paces the showing; nil is every Pace.
	Tick <-chan time.Time
	Pace time.Duration
	// Idle is after how many ticks without a change a terminal is redrawn all the
	// same: ages go on, and it may have been resized; 0 is never.
	Idle int
	// View works out what is shown; an error ends the watch.
	View func(*state.State) (View, error)
}

// Run shows the view until ctx ends. What cannot be read is said once.
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
	if p.Tick == nil {
		t := time.NewTicker(w.Pace)
		defer t.Stop()
		p.Tick = t.C
	}
	said := false
	return state.Follow(ctx, c.Client, w.Want, p, func(s *state.State) error {
		if !said {
			f.MissingFigures(s.Missing)
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
