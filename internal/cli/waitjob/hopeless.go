package waitjob

import (
	"context"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/explainjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
)

// patience is how long a job waits before it is asked whether it can start at all:
// most start before that.
const patience = time.Second

// hopeless finds out, while a job is waited for, that it cannot start whatever
// ends: it is larger than all its queue may hold, its queue does not exist or is
// stopped, no node is large enough. That is said once for each reason, and the wait
// goes on, because quotas, queues and nodes change.
type hopeless struct {
	// ask returns why the job cannot start, in a line, and what to do; "" when it can.
	ask func(context.Context) (why string, try []string, err error)
	// say prints lines above the progress line.
	say      func(text string)
	patience time.Duration

	changed chan struct{} // there is something new about a job that waits
	mu      sync.Mutex
	waiting bool
	told    string
}

func newHopeless(ask func(context.Context) (string, []string, error), say func(string)) *hopeless {
	return &hopeless{ask: ask, say: say, patience: patience, changed: make(chan struct{}, 1)}
}

// see is told every change of the job.
func (h *hopeless) see(s jobs.State) {
	h.mu.Lock()
	h.waiting = s == jobs.Pending || s == jobs.Preempted
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

func (h *hopeless) waits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

// why is what was told last, "" when the job can start as far as is known.
func (h *hopeless) why() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told
}

// run asks after every change, until ctx ends.
func (h *hopeless) run(ctx context.Context) {
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
			continue // what cannot be found out is not said: the wait itself goes on
		}
		h.mu.Lock()
		h.told = why
		h.mu.Unlock()
		if why == "" {
			why = "note: it can start again, when its turn comes"
		}
		for _, t := range try {
			why += "\n  try:   " + t
		}
		h.say(why)
	}
}

// explained asks the admission checker about the job that is waited for.
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
		why := explanation.Hopeless(e)
		if why == "" {
			return "", nil, nil
		}
		return "warning: " + r.Name + " " + why + "; still waiting", append(explanation.FirstCommands(e), "hyperpod explain-job "+r.Name+" -n "+r.Namespace+f.ClusterFlags()), nil
	}
}
