// Package follow joins the changes of jobs, of their Workloads and, for a single job, of its pods into changes
// of one status.
package follow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Scope is what to follow.
type Scope struct {
	Kinds     []kinds.Job
	Namespace string // "" is all
	// Namespaces names the namespaces to follow one by one where all of them may
	// not be followed at once; it is called at most once. Nil: no fallback.
	Namespaces func(context.Context) ([]string, error)
	Selector   string // label selector of the jobs
	// Name chooses one job.
	Name string
	// Any shows all objects of the kinds. Without it and Name, only those that count as
	// jobs are shown (state.Counts): one that loses its queue label is gone.
	Any bool
	// Pods, for a single job, follows its pods too, so that the status is as exact
	// as it can be.
	Pods bool
	// Missing, when not nil, gets once, before Synced, what cannot be followed,
	// and after that each lost permission.
	Missing func([]state.Missing)
}

// Change is a job whose status changed. Type is kube.Added, Modified or Deleted;
// a last Synced, without a job, follows those that existed at the start.
type Change struct {
	Type   string
	Job    state.Job
	Status jobs.Status
	// Workload is the job's, nil where there is none; Queue are all workloads that
	// are followed. Pods are the job's where Scope.Pods asks for them, else nil.
	Workload *state.Workload
	Queue    []state.Workload
	// Order is how Kueue orders Queue.
	Order order.Rules
	Pods  []state.Pod
}

// Follow calls emit for the jobs in scope, by namespace and name, and then for
// every change of a status, until ctx ends or emit returns an error
// (kube.ErrStop is a clean end). A cluster without Kueue, or one that does not
// show its Workloads, is followed by the jobs' own status.
func Follow(ctx context.Context, c *kube.Client, s Scope, emit func(Change) error) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{c: c, scope: s, results: make(chan error, 1), jobs: map[string]*entry{},
		workloads: map[string]map[string]state.Workload{}}
	f.emit = func(c Change) error {
		err := emit(c)
		if err != nil && f.refused == nil {
			f.refused = err
		}
		return err
	}
	options := kube.ListOptions{LabelSelector: s.Selector}
	if s.Name != "" {
		options.FieldSelector = "metadata.name=" + s.Name
	}
	f.waiting = len(s.Kinds) + 1
	f.left = len(s.Kinds)
	for _, k := range s.Kinds {
		f.start(ctx, k.Resource, s.Namespace, func(ns string, synced func() error) error {
			options := options
			if f.counting() {
				options.LabelSelector = state.CountingSelector(k, s.Selector)
			}
			return state.FollowJobs(ctx, c, k, ns, options, func(e kube.Event[state.Job]) error {
				if e.Type == kube.Synced {
					return synced()
				}
				return f.job(ctx, e)
			})
		})
	}
	f.start(ctx, kinds.Workload, s.Namespace, func(ns string, synced func() error) error {
		return state.FollowWorkloads(ctx, c, ns, kube.ListOptions{}, func(e kube.Event[state.Workload]) error {
			if e.Type == kube.Synced {
				return synced()
			}
			return f.workload(ctx, e)
		})
	})
	err := <-f.results
	cancel()
	f.running.Wait()
	if f.refused != nil {
		err = f.refused // another stream may have ended first, with ctx
	}
	if errors.Is(err, kube.ErrStop) {
		return nil
	}
	return err
}

// counting reports whether only objects that count as jobs are shown.
func (f *follower) counting() bool { return f.scope.Name == "" && !f.scope.Any }

type entry struct {
	job      state.Job
	workload *state.Workload
	status   jobs.Status
}

// follower joins the streams; its methods are called from several goroutines.
type follower struct {
	c       *kube.Client
	scope   Scope
	emit    func(Change) error
	results chan error // the first counts
	refused error      // the error of emit, which is called with the lock held; it wins over results
	running crash.Group

	order          order.Reader
	namespacesOnce sync.Once
	namespaces     []string

	mu        sync.Mutex
	waiting   int  // streams that have not listed everything yet
	live      bool // everything has been listed and sent
	left      int  // streams of jobs that go on
	missing   []state.Missing
	jobs      map[string]*entry                    // by UID
	workloads map[string]map[string]state.Workload // by the owner's UID, then their own
	pods      map[string]state.Pod                 // by UID; nil until they are followed
	podsOf    string                               // the selector by which pods are followed
	leavePods context.CancelFunc                   // ends following them
}

// start runs one stream. Where all namespaces may not be followed it is replaced
// by one for each that may; what cannot be followed at all is left out, as long
// as there is another stream of jobs.
func (f *follower) start(ctx context.Context, r kinds.Resource, namespace string, run func(ns string, synced func() error) error) {
	optional := slices.ContainsFunc(f.scope.Kinds, func(k kinds.Job) bool { return k.Beside && k.Resource.FullName() == r.FullName() })
	f.running.Go(func() {
		var once sync.Once
		synced := func() (err error) { once.Do(func() { err = f.synced(ctx) }); return err }
		err := run(namespace, synced)
		switch {
		case kube.IsForbidden(err) && namespace == "" && r.Namespaced && f.scope.Namespaces != nil:
			all := f.each(ctx)
			f.mu.Lock()
			if !f.live {
				f.waiting += len(all)
			}
			if r.FullName() != kinds.Workload.FullName() {
				f.left += len(all)
			}
			f.lose(state.Missing{Resource: r, Verb: "list", Reason: state.Forbidden, Err: err}, optional)
			f.mu.Unlock()
			for _, ns := range all {
				f.start(ctx, r, ns, run)
			}
		case kube.IsForbidden(err):
			f.mu.Lock()
			f.lose(state.Missing{Resource: r, Namespace: namespace, Verb: "watch", Reason: state.Forbidden, Err: err}, optional)
			f.mu.Unlock()
		case !kube.IsNotServed(err):
			f.end(err)
			return
		}
		if f.last(r) {
			f.end(err)
			return
		}
		if err := synced(); err != nil {
			f.end(err)
		}
	})
}

// lose notes what may not be followed, for Scope.Missing before Synced, or at once after
// it. A missing optional kind is not reported. It is called with the lock held.
func (f *follower) lose(m state.Missing, optional bool) {
	switch {
	case optional:
	case !f.live:
		f.missing = append(f.missing, m)
	case f.scope.Missing != nil:
		f.scope.Missing([]state.Missing{m})
	}
}

// end makes Follow return.
func (f *follower) end(err error) {
	select {
	case f.results <- err:
	default:
	}
}

// each returns the namespaces that may be followed one by one.
func (f *follower) each(ctx context.Context) []string {
	f.namespacesOnce.Do(func() {
		var err error
		if f.namespaces, err = f.scope.Namespaces(ctx); err != nil {
			f.namespaces = nil
		}
	})
	return f.namespaces
}

// last counts a stream of jobs that has ended, and reports whether it was the last
// one.
func (f *follower) last(r kinds.Resource) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.FullName() != kinds.Workload.FullName() {
		f.left--
	}
	return f.left == 0
}

func (f *follower) job(ctx context.Context, e kube.Event[state.Job]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := e.Object
	before, known := f.jobs[j.UID]
	if e.Type == kube.Deleted || f.counting() && !state.Counts(j) {
		if !known {
			return nil
		}
		delete(f.jobs, j.UID)
		return f.send(ctx, kube.Deleted, &entry{job: j, workload: before.workload, status: before.status})
	}
	now := f.enter(j)
	f.followPods(ctx, j)
	switch {
	case !known:
		return f.send(ctx, kube.Added, now)
	case !before.status.Equal(now.status):
		return f.send(ctx, kube.Modified, now)
	}
	return nil
}

// enter works out a job's status from what is known by now.
func (f *follower) enter(j state.Job) *entry {
	e := &entry{job: j}
	e.workload = jobs.Match([]state.Job{j}, values(f.workloads[j.UID]))[0]
	e.status = jobs.StatusOf(j, e.workload, f.podsNow())
	f.jobs[j.UID] = e
	return e
}

func (f *follower) workload(ctx context.Context, e kube.Event[state.Workload]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := e.Object
	mine := f.workloads[w.OwnerUID]
	if e.Type == kube.Deleted {
		delete(mine, w.UID)
	} else {
		if mine == nil {
			mine = map[string]state.Workload{}
			f.workloads[w.OwnerUID] = mine
		}
		mine[w.UID] = w
	}
	if len(mine) == 0 {
		delete(f.workloads, w.OwnerUID)
	}
	return f.again(ctx, f.jobs[w.OwnerUID])
}

// again sends a job whose status is no longer what it was.
func (f *follower) again(ctx context.Context, before *entry) error {
	if before == nil {
		return nil
	}
	now := f.enter(before.job)
	if now.status.Equal(before.status) {
		return nil
	}
	return f.send(ctx, kube.Modified, now)
}

// synced counts the streams that have listed everything; after the last one the
// jobs that exist are sent in order.
func (f *follower) synced(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live {
		return nil // a stream that took the place of one that lost its permission
	}
	if f.waiting--; f.waiting != 0 {
		return nil
	}
	f.live = true
	if f.scope.Missing != nil && len(f.missing) > 0 {
		f.scope.Missing(f.missing)
	}
	all := make([]*entry, 0, len(f.jobs))
	for _, e := range f.jobs {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		if c := strings.Compare(a.job.Namespace, b.job.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.job.Name, b.job.Name)
	})
	for _, e := range all {
		if err := f.send(ctx, kube.Added, e); err != nil {
			return err
		}
	}
	return f.emit(Change{Type: kube.Synced})
}

// send passes a change on once everything has been listed.
func (f *follower) send(ctx context.Context, kind string, e *entry) error {
	if f.waiting > 0 {
		return nil
	}
	c := Change{Type: kind, Job: e.job, Status: e.status, Workload: e.workload, Pods: f.podsNow()}
	if f.scope.Name != "" {
		for _, mine := range f.workloads {
			c.Queue = append(c.Queue, values(mine)...)
		}
		c.Order = f.order.Rules(ctx, f.c, c.Queue)
	}
	return f.emit(c)
}

func values[T any](m map[string]T) []T {
	out := make([]T, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
