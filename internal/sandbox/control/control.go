// Package control simulates what a cluster's controllers, scheduler and pods do:
// it turns jobs into Workloads, has them admitted by Kueue's own rules, makes
// and places pods, and finishes jobs when their time is over. It is a
// discrete-event simulation over a store: it runs when it is called, up to the
// moment it is told, and needs neither goroutines nor timers.
package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Config is what the simulation depends on besides the objects.
type Config struct {
	// Duration is how long a job runs that does not say so itself (an hour).
	Duration time.Duration
	// MaxCycles caps the scheduling cycles at one moment (300): some policies
	// admit and preempt the same jobs for ever.
	MaxCycles int
}

// Result tells what the caller has to know.
type Result struct {
	// Next is when something happens next by itself; zero when nothing will.
	Next time.Time
	// Warnings are for the user.
	Warnings []string
}

// maxSteps bounds one Run. Every step finishes or removes something, so only a
// mistake could reach it.
const maxSteps = 100_000

// sim is one run of the simulation.
type sim struct {
	ctx      context.Context
	st       *store.Store
	cfg      Config
	now      time.Time
	engine   *admission.Engine
	loaded   map[store.Key]int64         // workloads in the engine, at which resource version
	events   map[happening]*store.Object // see eventsKnown
	warnings []string
}

// Run lets everything happen that happens up to the moment to: from is the
// moment up to which it has happened already.
func Run(ctx context.Context, st *store.Store, from, to time.Time, cfg Config) (Result, error) {
	if cfg.Duration <= 0 {
		cfg.Duration = time.Hour
	}
	if cfg.MaxCycles <= 0 {
		cfg.MaxCycles = 300
	}
	s := &sim{ctx: ctx, st: st, cfg: cfg, now: from}
	settled := int64(-1) // the resource version that the last step left
	for range maxSteps {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		due, ok := s.nextDue()
		if !ok || due.After(to) {
			if settled == st.RV() {
				slices.Sort(s.warnings)
				return Result{Next: due, Warnings: slices.Compact(s.warnings)}, nil
			}
			due = to
		}
		if due.After(s.now) {
			s.now = due
		}
		if err := s.step(); err != nil {
			return Result{}, err
		}
		settled = st.RV()
	}
	return Result{}, fmt.Errorf("the simulation does not come to an end before %s", to.Format(time.RFC3339))
}

// step brings everything up to date at the present moment, in the order in
// which a cluster's parts act: what ends, ends; pods of nodes that are gone go;
// jobs get workloads; the scheduler admits and preempts; jobs start and stop; pods are placed; status
// follows.
func (s *sim) step() error {
	for _, f := range []func() error{s.endDue, s.dropLost, s.prepareJobs, s.schedule, s.runJobs, s.placePods, s.writeStatus, s.writeQueues} {
		if err := f(); err != nil {
			return err
		}
	}
	s.trimEvents()
	return nil
}

func (s *sim) warnf(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}
