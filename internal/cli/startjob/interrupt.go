package startjob

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
)

// interrupted does what --on-interrupt says if err is the end by Ctrl-C of a wait for a job. last is its state
// when it was last seen.
func (r *run) interrupted(ctx context.Context, err error, t wait.Target, last jobs.State) error {
	return r.options.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{t}, Goal: wait.Goal(r.options.Wait), State: last, Cancel: interrupt.OnKubernetes(r.factory, r.cluster.Client)})
}

// interruptedSweep does what --on-interrupt says to the jobs of a sweep that have not ended.
func (r *run) interruptedSweep(ctx context.Context, err error, s *series, unfinished []wait.Target) error {
	return r.options.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: unfinished, Sweep: s.name, Goal: wait.Goal(r.options.Wait), Cancel: interrupt.OnKubernetes(r.factory, r.cluster.Client)})
}
