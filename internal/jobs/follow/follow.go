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
	// Missing, when not nil, is told once, before Synced, what may not be followed.
	Missing func([]state.Missing)
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
	f := &follower{emit: emit, report: s.Missing, waiting: len(s.Kinds) + 1, left: len(s.Kinds), jobs: map[string]entry{}, workloads: map[string]state.Workload{}}
	results := make(chan error, len(s.Kinds)+1)
	var running sync.WaitGroup
	start := func(r kinds.Resource, run func(synced func() error) error) {
		running.Go(func() {
			var once sync.Once
			synced := func() (err error) { once.Do(func() { err = f.synced() }); return err }
			err := run(synced)
			if !kube.IsNotServed(err) && !kube.IsForbidden(err) || f.last(r) {
				results <- err
				return
			}
			// The others go on without this kind.
			if kube.IsForbidden(err) {
				f.forbidden(state.Missing{Resource: r, Namespace: s.Namespace, Verb: "watch", Reason: state.Forbidden, Err: err})
			}
			if err := synced(); err != nil {
				results <- err
			}
		})
	}
	options := kube.ListOptions{LabelSelector: s.Selector}
	if s.Name != "" {
		options.FieldSelector = "metadata.name=" + s.Name
	}
	for _, k := range s.Kinds {
		start(k.Resource, func(synced func() error) error {
			return state.FollowJobs(ctx, c, k, s.Namespace, options, func(e kube.Event[state.Job]) error {
				if e.Type == kube.Synced {
					return synced()
				}
				return f.job(e)
			})
		})
	}
	start(kinds.Workload, func(synced func() error) error {
		return state.FollowWorkloads(ctx, c, s.Namespace, kube.ListOptions{}, func(e kube.Event[state.Workload]) error {
			if e.Type == kube.Synced {
				return synced()
			}
			return f.workload(e)
		})
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
	emit   func(Change) error
	report func([]state.Missing)

	mu        sync.Mutex
	waiting   int // streams that have not listed everything yet
	left      int // kinds of job that are followed
	missing   []state.Missing
	jobs      map[string]entry          // by UID
	workloads map[string]state.Workload // by the owner's UID
}

// forbidden keeps what may not be followed until everything else is listed.
func (f *follower) forbidden(m state.Missing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing = append(f.missing, m)
}

// last counts a kind of job that cannot be followed, and tells whether it was
// the last one.
func (f *follower) last(r kinds.Resource) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.FullName() != kinds.Workload.FullName() {
		f.left--
	}
	return f.left == 0
}

func (f *follower) job(e kube.Event[state.Job]) error {
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
	if f.report != nil && len(f.missing) > 0 {
		f.report(f.missing)
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
