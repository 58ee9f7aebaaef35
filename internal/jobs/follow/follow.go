// Package follow keeps an eye on jobs: it joins the changes of jobs and of their
// Workloads into changes of one status.
package follow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Scope is what to follow.
type Scope struct {
	Kinds     []kinds.Job
	Namespace string // "" is all
	Selector  string // label selector of the jobs
	Name      string // one job only
}

// Change is a job whose status changed. Type is kube.Added, Modified or Deleted;
// a last Synced, without a job, follows those that existed at the start.
type Change struct {
	Type   string
	Job    state.Job
	Status jobs.Status
}

// Follow calls emit for the jobs in scope, by namespace and name, and then for
// every change of a status, until ctx ends or emit returns an error
// (kube.ErrStop is a clean end). A cluster without Kueue, or one that does not
// show its Workloads, is followed by the jobs' own status.
func Follow(ctx context.Context, c *kube.Client, s Scope, emit func(Change) error) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{emit: emit, waiting: len(s.Kinds) + 1, jobs: map[string]entry{}, workloads: map[string]state.Workload{}}
	results := make(chan error, len(s.Kinds)+1)
	var running sync.WaitGroup
	start := func(run func() error) {
		running.Add(1)
		go func() { defer running.Done(); results <- run() }()
	}
	options := kube.ListOptions{LabelSelector: s.Selector}
	if s.Name != "" {
		options.FieldSelector = "metadata.name=" + s.Name
	}
	for _, k := range s.Kinds {
		start(func() error { return state.FollowJobs(ctx, c, k, s.Namespace, options, f.job) })
	}
	start(func() error {
		err := state.FollowWorkloads(ctx, c, s.Namespace, kube.ListOptions{}, f.workload)
		if err != nil && !errors.Is(err, kube.ErrStop) && ctx.Err() == nil && (kube.IsNotServed(err) || kube.IsForbidden(err)) {
			if err := f.synced(); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		return err
	})
	err := <-results
	cancel()
	running.Wait()
	if errors.Is(err, kube.ErrStop) {
		return nil
	}
	return err
}

type entry struct {
	job    state.Job
	status jobs.Status
}

// follower joins the streams; its methods are called from several goroutines.
type follower struct {
	emit func(Change) error

	mu        sync.Mutex
	waiting   int                       // streams that have not listed everything yet
	jobs      map[string]entry          // by UID
	workloads map[string]state.Workload // by the owner's UID
}

func (f *follower) job(e kube.Event[state.Job]) error {
	if e.Type == kube.Synced {
		return f.synced()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j := e.Object
	before, known := f.jobs[j.UID]
	if e.Type == kube.Deleted {
		delete(f.jobs, j.UID)
		return f.send(Change{kube.Deleted, j, before.status})
	}
	now := entry{j, f.status(j)}
	f.jobs[j.UID] = now
	switch {
	case !known:
		return f.send(Change{kube.Added, j, now.status})
	case before.status != now.status:
		return f.send(Change{kube.Modified, j, now.status})
	}
	return nil
}

func (f *follower) workload(e kube.Event[state.Workload]) error {
	if e.Type == kube.Synced {
		return f.synced()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w := e.Object
	if e.Type == kube.Deleted {
		delete(f.workloads, w.OwnerUID)
	} else {
		f.workloads[w.OwnerUID] = w
	}
	before, known := f.jobs[w.OwnerUID]
	if !known {
		return nil
	}
	status := f.status(before.job)
	if status == before.status {
		return nil
	}
	f.jobs[w.OwnerUID] = entry{before.job, status}
	return f.send(Change{kube.Modified, before.job, status})
}

func (f *follower) status(j state.Job) jobs.Status {
	if w, ok := f.workloads[j.UID]; ok {
		return jobs.StatusOf(j, &w, nil)
	}
	return jobs.StatusOf(j, nil, nil)
}

// synced counts the streams that have listed everything; after the last one the
// jobs that exist are sent in order.
func (f *follower) synced() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting--; f.waiting != 0 {
		return nil
	}
	all := make([]entry, 0, len(f.jobs))
	for _, e := range f.jobs {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int {
		if c := strings.Compare(a.job.Namespace, b.job.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.job.Name, b.job.Name)
	})
	for _, e := range all {
		if err := f.emit(Change{kube.Added, e.job, e.status}); err != nil {
			return err
		}
	}
	return f.emit(Change{Type: kube.Synced})
}

// send passes a change on once everything has been listed.
func (f *follower) send(c Change) error {
	if f.waiting > 0 {
		return nil
	}
	return f.emit(c)
}
