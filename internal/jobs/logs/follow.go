package logs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// drain is how long containers that still run are read after their job ended.
const drain = 5 * time.Second

// follower keeps the streams in step with the job's pods. Its state is changed by
// the watches of the job and of its pods, one at a time.
type follower struct {
	engine Engine
	q      Query
	m      *mux
	cancel context.CancelCauseFunc

	running crash.Group
	over    chan struct{} // closed when the job ended or was deleted
	poke    chan struct{} // a stream ended

	mu        sync.Mutex
	job       state.Job
	status    jobs.Status
	known     bool // status is of the watch, not only a guess by the job alone
	deleted   bool
	ended     bool
	selectors map[string]bool      // followed; true once everything is listed
	pods      map[string]state.Pod // by UID
	adopted   map[string]bool      // UIDs of the pods chosen by default so far
	streams   map[runKey]*stream
	began     []*stream // those that are or were read, in order
	active    int
	told      map[runKey]bool // runs that were reported as failed or unreadable
	started   bool            // what was there at the start is known
	waiting   *Event          // the last Waiting, nil when something is being read
	failed    pick.Pod
	skipped   int
}

type runKey struct {
	uid, container string
	run            int
}

// errEnded ends the watches when everything is read.
var errEnded = errors.New("everything is read")

func (e Engine) follow(ctx context.Context, q Query, m *mux) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx) // ends every stream and watch
	f := &follower{engine: e, q: q, m: m, cancel: cancel, over: make(chan struct{}), poke: make(chan struct{}, 1),
		job: q.Job, status: jobs.StatusOf(q.Job, nil, nil), selectors: map[string]bool{}, pods: map[string]state.Pod{}, adopted: map[string]bool{}, streams: map[runKey]*stream{}, told: map[runKey]bool{}}
	f.mu.Lock()
	f.watchPods(ctx)
	f.mu.Unlock()
	f.running.Go(func() { f.watchJob(ctx) })
	err := f.wait(ctx)
	cancel(errEnded)
	f.running.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := Result{Status: f.status, Namespace: q.Job.Namespace, Deleted: f.deleted, Sources: sources(f.began), Skipped: f.skipped, FailedPod: f.failed.Name}
	return r, err
}

// wait returns when the job is over and its logs are read, or when something
// failed.
func (f *follower) wait(ctx context.Context) error {
	select {
	case <-f.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := f.relist(ctx); err != nil {
		return err
	}
	late := f.engine.After(drain)
	for {
		f.mu.Lock()
		active := f.active
		f.mu.Unlock()
		if active == 0 {
			return nil
		}
		select {
		case <-f.poke:
		case <-late:
			late = nil
			f.mu.Lock()
			for _, s := range f.streams {
				s.finish(runEnded)
			}
			f.mu.Unlock()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// relist looks at the pods a last time: the watches may be behind the job's.
func (f *follower) relist(ctx context.Context) error {
	f.mu.Lock()
	j := f.job
	f.mu.Unlock()
	for _, selector := range pick.Selectors(j) {
		pods, err := state.ListPods(ctx, f.engine.Client, j.Namespace, kube.Selecting(selector))
		if err != nil {
			return err
		}
		f.mu.Lock()
		for _, p := range pods {
			if f.ours(p) {
				f.pods[p.UID] = p
			}
		}
		f.selectors[selector] = true
		err = f.update(ctx)
		f.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) watchJob(ctx context.Context) {
	scope := follow.Scope{Kinds: []kinds.Job{f.q.Job.Kind}, Namespace: f.q.Job.Namespace, Name: f.q.Job.Name, Missing: f.engine.Missing}
	seen := false
	err := follow.Follow(ctx, f.engine.Client, scope, func(ch follow.Change) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		switch {
		case ch.Type == kube.Synced && seen:
			return nil
		case ch.Type == kube.Synced, ch.Type == kube.Deleted && ch.Job.UID == f.q.Job.UID:
			return f.gone()
		case ch.Job.UID != f.q.Job.UID:
			return nil
		}
		seen = true
		return f.changed(ctx, ch)
	})
	if err != nil {
		f.cancel(err)
	}
}

// changed takes in the job's new status.
func (f *follower) changed(ctx context.Context, ch follow.Change) error {
	before := f.status
	first := !f.known
	f.job, f.status, f.known = ch.Job, ch.Status, true
	f.watchPods(ctx)
	if !first && before.State != f.status.State {
		if err := f.m.event(Event{Kind: Changed, Status: f.status}); err != nil {
			return err
		}
	}
	if f.status.State.Finished() {
		f.end()
		return nil
	}
	return f.update(ctx)
}

func (f *follower) gone() error {
	if f.deleted {
		return nil
	}
	f.deleted = true
	f.end()
	return f.m.event(Event{Kind: Deleted})
}

func (f *follower) end() {
	if !f.ended {
		f.ended = true
		close(f.over)
	}
}

// watchPods follows the selectors that are not followed yet.
func (f *follower) watchPods(ctx context.Context) {
	for _, selector := range pick.Selectors(f.job) {
		if _, ok := f.selectors[selector]; ok {
			continue
		}
		f.selectors[selector] = false
		f.running.Go(func() {
			options := kube.Selecting(selector)
			err := state.FollowPods(ctx, f.engine.Client, f.q.Job.Namespace, options, func(e kube.Event[state.Pod]) error {
				return f.pod(ctx, selector, e)
			})
			if err != nil {
				f.cancel(err)
			}
		})
	}
}

// ours reports whether a pod with the labels of the job can be the job's: another job may have got its name.
func (f *follower) ours(p state.Pod) bool {
	for _, o := range p.Owners {
		if o.Controller && o.Kind == f.q.Job.Kind.Kind && o.UID != f.q.Job.UID {
			return false
		}
	}
	_, seen := f.pods[p.UID]
	return seen || !f.deleted
}

func (f *follower) pod(ctx context.Context, selector string, e kube.Event[state.Pod]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Type {
	case kube.Synced:
		f.selectors[selector] = true
	case kube.Deleted:
		delete(f.pods, e.Object.UID)
		for key, s := range f.streams {
			if key.uid == e.Object.UID {
				s.finish(runGone)
			}
		}
	default:
		if f.ours(e.Object) {
			f.pods[e.Object.UID] = e.Object
		}
	}
	if !f.selectors[selector] {
		return nil
	}
	return f.update(ctx)
}
