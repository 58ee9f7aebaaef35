// Package obstacle warns during a wait that a job can never start as things are.
package obstacle

import (
	"context"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// patience is how long a job is pending before the command checks whether it can start at
// all. Most jobs start sooner.
const patience = time.Second

// Watch finds out during a wait whether the job can never start: it is larger than
// its queue allows, its queue does not exist or is stopped, or no node is large enough.
// It prints each reason once. The wait continues because quotas, queues and nodes
// change.
type Watch struct {
	// ask returns one line on why the job cannot start, "" when it can, and what to do.
	ask func(context.Context) (why string, try []string, err error)
	// say prints lines above the progress line.
	say      func([]errs.Line)
	patience time.Duration

	changed chan struct{} // signals a change of the job
	mu      sync.Mutex
	waiting bool
	shown   string // the reason that was printed last
}

// New returns a watch that asks with one function and prints with the other.
func New(ask func(context.Context) (string, []string, error), say func([]errs.Line)) *Watch {
	return &Watch{ask: ask, say: say, patience: patience, changed: make(chan struct{}, 1)}
}

// See takes note of a change of the job.
func (h *Watch) See(s jobs.State) {
	h.mu.Lock()
	h.waiting = s == jobs.Pending || s == jobs.Preempted
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

func (h *Watch) waits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

// Why returns the reason that was printed last, "" while none is known.
func (h *Watch) Why() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown
}

// answer asks while no other part of the process makes decisions of Kueue.
func (h *Watch) answer(ctx context.Context) (string, []string, error) {
	ctx, next, err := turn.Take(ctx)
	if err != nil {
		return "", nil, err
	}
	defer next()
	return h.ask(ctx)
}

// Run asks after every change, until ctx ends.
func (h *Watch) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.changed:
		}
		timer := time.NewTimer(h.patience)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if !h.waits() {
			continue
		}
		why, try, err := h.answer(ctx)
		if err != nil || why == h.Why() || !h.waits() {
			continue // unknown: print nothing and keep waiting
		}
		h.mu.Lock()
		h.shown = why
		h.mu.Unlock()
		if why == "" {
			why = "note: the job can start again"
		}
		lines := []errs.Line{{Text: why}}
		for _, t := range try {
			lines = append(lines, errs.Line{Head: "  try:   ", Text: t, Pasted: true})
		}
		h.say(lines)
	}
}
