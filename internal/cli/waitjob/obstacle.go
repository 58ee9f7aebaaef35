package waitjob

import (
	"context"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/explainjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
)

// patience is how long a job is pending before the command checks whether it can start at
// all. Most jobs start sooner.
const patience = time.Second

// obstacle finds out during a wait whether the job can never start: it is larger than
// its queue allows, its queue does not exist or is stopped, or no node is large enough.
// It prints each reason once. The wait continues because quotas, queues and nodes
// change.
type obstacle struct {
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

func newObstacle(ask func(context.Context) (string, []string, error), say func([]errs.Line)) *obstacle {
	return &obstacle{ask: ask, say: say, patience: patience, changed: make(chan struct{}, 1)}
}

// see takes note of a change of the job.
func (h *obstacle) see(s jobs.State) {
	h.mu.Lock()
	h.waiting = s == jobs.Pending || s == jobs.Preempted
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

func (h *obstacle) waits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

// why returns the reason that was printed last, "" while none is known.
func (h *obstacle) why() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown
}

// run asks after every change, until ctx ends.
func (h *obstacle) run(ctx context.Context) {
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
		why, try, err := h.ask(ctx)
		if err != nil || why == h.why() || !h.waits() {
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

// explained returns a function that asks the admission checker about the job.
func explained(f *factory.Factory, c *factory.Cluster, r wait.Request) func(context.Context) (string, []string, error) {
	return func(ctx context.Context) (string, []string, error) {
		object := map[string]any{}
		if err := c.Get(ctx, r.Kind.Resource, r.Namespace, r.Name, &object); err != nil {
			return "", nil, err
		}
		e, err := explainjob.Explain(ctx, &explainjob.Options{Factory: f}, c, findjob.Job{Kind: r.Kind, Namespace: r.Namespace, Object: object})
		if err != nil {
			return "", nil, err
		}
		why := explanation.Obstacle(e)
		if why == "" {
			return "", nil, nil
		}
		return "warning: " + r.Name + " " + why + "; still waiting", append(explanation.FirstCommands(e), f.Line(errs.Run("explain-job", r.Name, "-n", r.Namespace))), nil
	}
}
