package startjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// startInTurn creates the jobs for --max-parallel: as many as may be pending or running at a time,
// and another one whenever one of the sweep has ended or was deleted. Kueue has no such limit, so
// the command stays until the last job is created.
func (r *run) startInTurn(ctx context.Context, s *series, missing []*swept, answer *sweepAnswer) error {
	kind, known := kindOf(missing[0])
	if !known {
		return errs.Usagef("--max-parallel requires a job of a known kind")
	}
	progress := output.NewProgress(r.factory.IO)
	defer progress.Done("")
	active := map[string]wait.Target{} // by UID
	created := 0
	var made []map[string]any
	synced := false
	next := func() error {
		for len(active) < r.options.MaxParallel && created < len(missing) {
			j := missing[created]
			var objects []map[string]any
			var err error
			progress.Above(func() { objects, err = r.create(ctx, j.job) })
			if err != nil {
				return r.notAll(s, missing, created, err)
			}
			uid := kinds.Text(objects[j.Job], "metadata", "uid")
			active[uid] = wait.Target{Kind: kind, Namespace: j.namespace, Name: j.name(), UID: uid}
			made = append(made, objects...)
			if created++; created == min(r.options.MaxParallel, len(missing)) {
				progress.Above(func() { r.reportSweep(answer) })
			}
		}
		if created == len(missing) {
			return kube.ErrStop
		}
		progress.Update(fmt.Sprintf("sweep %s: %d of %s created, %d have not ended", s.name, created, words.Count(len(missing), "job", "jobs"), len(active)))
		return nil
	}
	scope := follow.Scope{Kinds: []kinds.Job{kind}, Namespace: missing[0].namespace, Selector: kinds.SweepLabel + "=" + s.name, Any: true,
		Missing: func(m []state.Missing) { progress.Above(func() { r.factory.Missing(m) }) }}
	err := follow.Follow(ctx, r.cluster.Client, scope, func(ch follow.Change) error {
		switch {
		case ch.Type == kube.Synced:
			synced = true
		case ch.Type == kube.Deleted || ch.Status.State.Finished():
			delete(active, ch.Job.UID)
		default:
			active[ch.Job.UID] = wait.Target{Kind: kind, Namespace: ch.Job.Namespace, Name: ch.Job.Name, UID: ch.Job.UID}
		}
		if !synced {
			return nil
		}
		return next()
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) && created < len(missing) {
			if r.options.OnInterrupt == interrupt.Cancel {
				return r.interruptedSweep(ctx, err, s, slices.Collect(maps.Values(active)))
			}
			return r.notAll(s, missing, created, factory.Interrupted("the jobs that were created continue"))
		}
		return err
	}
	progress.Done("")
	if r.factory.Global.Output != "" {
		return r.print(made, "")
	}
	return nil
}

// awaitSeries waits for all jobs as --wait says.
func (r *run) awaitSeries(ctx context.Context, s *series, all []*swept) error {
	if r.options.Wait == "" || r.options.DryRun != factory.DryRunNone {
		return nil
	}
	end := r.factory.Deadline(r.options.Timeout)
	goal := wait.Goal(r.options.Wait)
	last, err := r.awaitJobs(ctx, s, all, goal, end)
	if s.manifest != "" {
		r.options.Notify.AllEnded(ctx, r.factory, last, goal, cmp.Or(err, waitjob.Unreached(last, goal, end)))
	}
	switch {
	case ctx.Err() != nil:
		return r.interruptedSweep(ctx, cmp.Or(err, ctx.Err()), s, interrupt.Unfinished(last))
	case err != nil:
		return err
	}
	output.NewProgress(r.factory.IO).Done(s.title() + ": " + jobtext.StatesOfAll(last, goal))
	return waitjob.Unreached(last, goal, end)
}

// awaitJobs waits for the jobs of a sweep, or those of a manifest.
func (r *run) awaitJobs(ctx context.Context, s *series, all []*swept, goal wait.Goal, end factory.Deadline) ([]wait.Ended, error) {
	if s.manifest == "" {
		return waitjob.OfSweep(ctx, r.factory, r.cluster, all[0].namespace, s.name, goal, end)
	}
	var targets []wait.Target
	for _, j := range all {
		object := j.Objects[j.Job]
		kind, _ := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
		res, err := discovery.ResourceOf(ctx, r.cluster.Client, object)
		if err != nil {
			return nil, err
		}
		kind.Resource = res
		var found member
		if err := r.cluster.Get(ctx, res, j.namespace, j.name(), &found); err != nil && !kube.IsNotFound(err) {
			return nil, err
		}
		targets = append(targets, wait.Target{Kind: kind, Namespace: j.namespace, Name: j.name(), UID: found.Metadata.UID})
	}
	return waitjob.OfJobs(ctx, r.factory, r.cluster, targets, goal, end)
}
