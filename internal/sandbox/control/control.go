// Package control simulates a cluster's controllers, scheduler and pods. It creates
// Workloads for jobs, admits them by Kueue's own rules, creates and places pods, and
// finishes jobs when their duration is over. It is a discrete-event simulation over a
// store: each call runs up to a given time, without goroutines or timers.
package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Config holds the settings of the simulation.
type Config struct {
	// Duration is how long a job without a duration of its own runs (default 1 h).
	Duration time.Duration
	// MaxCycles limits the scheduling cycles at one moment (default 300): some policies
	// never converge.
	MaxCycles int
	// Settled is the resource version that the last run left.
	Settled int64
}

// Result is the outcome of a run.
type Result struct {
	// Next is the time of the next event without a request; zero if there is none.
	Next time.Time
	// Warnings are for the user.
	Warnings []string
}

// maxSteps limits one Run. Every step finishes or removes something, so only a bug
// reaches the limit.
const maxSteps = 100_000

// sim is one run of the simulation.
type sim struct {
	st     *store.Store
	cfg    Config
	now    time.Time
	engine *admission.Engine
	loaded map[store.Key]int64         // resource versions of the workloads in the engine
	events map[happening]*store.Object // see eventsKnown
	made   bool                        // pods that are jobs were made
	same   int64                       // see sameSince
	// podsFirst: the scheduler reads PodsReady (waitForPodsReady.blockAdmission).
	podsFirst bool
	warnings  []string
}

// Run simulates from one time to another.
func Run(ctx context.Context, st *store.Store, from, to time.Time, cfg Config) (Result, error) {
	if cfg.Duration <= 0 {
		cfg.Duration = time.Hour
	}
	if cfg.MaxCycles <= 0 {
		cfg.MaxCycles = 300
	}
	s := &sim{st: st, cfg: cfg, now: from, same: sameSince(st, cfg.Settled)}
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
		if err := s.step(ctx); err != nil {
			return Result{}, err
		}
		settled = st.RV()
	}
	return Result{}, fmt.Errorf("the simulation does not finish before %s", to.Format(time.RFC3339))
}

// step brings everything up to date at the present moment, in the order of a real
// cluster: due jobs end, pods of removed nodes disappear, deleted queues and flavors
// disappear once nothing uses them, jobs get workloads, the scheduler admits and preempts,
// jobs start and stop, pods get nodes, and status follows.
func (s *sim) step(ctx context.Context) error {
	with := func(f func(context.Context) error) func() error { return func() error { return f(ctx) } }
	for _, f := range []func() error{s.endDue, s.dropLost, s.holdPolicies, with(s.admitJobs), s.placePods, s.writeStatus, s.holdPolicies, s.writeQueues, s.writeQuotas} {
		if err := f(); err != nil {
			return err
		}
	}
	s.trimEvents()
	return nil
}

// admitJobs gives jobs their workloads, admits and starts them. New pods of a Deployment
// are jobs too, so it goes on as long as some are made.
func (s *sim) admitJobs(ctx context.Context) error {
	for range maxRounds {
		s.made = false
		for _, f := range []func(context.Context) error{s.prepareJobs, s.schedule, s.runJobs} {
			if err := f(ctx); err != nil {
				return err
			}
		}
		if !s.made {
			return nil
		}
	}
	return nil
}

// maxRounds limits the rounds of one moment: pods that preempt each other never stop.
const maxRounds = 10

func (s *sim) warnf(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}
