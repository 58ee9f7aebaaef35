package state

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// Pace says when a followed State is shown again: changes come in bursts.
type Pace struct {
	// Tick is the clock: at most one State is shown per tick.
	Tick <-chan time.Time
	// Idle is the number of ticks without a change after which the State is shown
	// again, so that ages advance; 0 is never.
	Idle int
	Now  func() time.Time
}

// Follow loads a State and keeps it up to date. It calls show once everything is
// there, and then, at the pace, whenever something has changed, until ctx ends or
// show returns an error (kube.ErrStop is a clean end). It resumes lost connections.
// When a permission is withdrawn, Follow drops what the user may no longer read and
// follows what is left; it returns an error when nothing is left. A kind of jobs that
// is refused is in State.Missing, also an optional one. show must not change the State.
func Follow(ctx context.Context, c *kube.Client, w Want, p Pace, show func(*State) error) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{c: c, w: w, r: reader.New(reader.Options{Namespaces: w.FallbackNamespaces}),
		ready: make(chan struct{}), failed: make(chan error, 1), out: State{Server: c.Server()}, dirty: true}
	defer f.running.Wait()
	defer cancel()
	f.waiting = 1 // nothing is ready before all streams have started
	for _, part := range append(w.parts(), f.jobParts(ctx)...) {
		part.follow(ctx, f)
	}
	f.update(func() { f.waiting-- })
	select {
	case <-f.ready:
	case err := <-f.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	err := f.run(ctx, p, show)
	if errors.Is(err, kube.ErrStop) {
		return nil
	}
	return err
}

// follower is one Follow in progress.
type follower struct {
	c       *kube.Client
	w       Want
	r       *reader.Reader
	running crash.Group
	ready   chan struct{} // closed when every stream has listed
	failed  chan error    // the error that ends Follow

	mu      sync.Mutex
	out     State
	isReady bool
	waiting int // streams that have not listed yet
	live    int // streams that have not ended
	dirty   bool
	refresh []func(*State) // one per kind: puts its objects into a State
	// jobs are those of each wanted kind; newJobs reports that some of them changed.
	jobs    [][]Job
	newJobs bool
}

// jobParts returns a part for each kind of jobs.
func (f *follower) jobParts(ctx context.Context) (out []part) {
	f.jobs = make([][]Job, len(f.w.Jobs))
	for i, k := range f.w.Jobs {
		options := kube.ListOptions{LabelSelector: CountingSelector(k, f.w.Selector)}
		field := func(*State) *[]Job {
			f.newJobs = true
			return &f.jobs[i]
		}
		at := func(r kinds.Resource) kinds.Job {
			k := k
			k.Resource = r
			return k
		}
		if decodesRoles(k) {
			out = append(out, &partOf[wireJob, Job]{resource: k.Resource, options: options, field: field, convertAt: func(r kinds.Resource) func(*wireJob) Job {
				return func(x *wireJob) Job { return x.job(at(r)) }
			}})
			continue
		}
		runtimes := NewRuntimes(f.c)
		out = append(out, &partOf[describedJob, Job]{resource: k.Resource, options: options, field: field, convertAt: func(r kinds.Resource) func(*describedJob) Job {
			return func(x *describedJob) Job { return x.whole(ctx, at(r), runtimes) }
		}})
	}
	return out
}

// update changes the counts and acts on them: Follow is ready when no stream is
// waiting, and fails when no stream is left.
func (f *follower) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	if f.waiting > 0 {
		return
	}
	if f.live == 0 {
		if err := reader.Worst(f.r.Missing()); err != nil {
			f.fail(err)
			return
		}
	}
	if !f.isReady {
		f.isReady = true
		close(f.ready)
	}
}

// fail ends Follow with the first error.
func (f *follower) fail(err error) {
	select {
	case f.failed <- err:
	default:
	}
}

// objects are the known objects of one kind.
type objects[W, T any] struct {
	*partOf[W, T]
	f       *follower
	known   map[types.NamespacedName]T
	changed bool
}

// object is what every followed type embeds.
type object interface{ meta() *Meta }

func (m *Meta) meta() *Meta { return m }

// key returns the name of an object.
func key[T any](t *T) types.NamespacedName {
	m := any(t).(object).meta()
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
}

func (p *partOf[W, T]) follow(ctx context.Context, f *follower) {
	x := &objects[W, T]{partOf: p, f: f, known: map[types.NamespacedName]T{}}
	f.mu.Lock()
	f.refresh = append(f.refresh, x.refresh)
	f.mu.Unlock()
	s := stream{whole: true}
	if p.resource.Namespaced {
		s.namespace = f.w.Namespace
	}
	x.start(ctx, s)
}

// refresh puts the objects into a State, by name.
func (x *objects[W, T]) refresh(s *State) {
	if !x.changed {
		return
	}
	x.changed = false
	all := make([]T, 0, len(x.known))
	for _, k := range slices.SortedFunc(maps.Keys(x.known), byName) {
		all = append(all, x.known[k])
	}
	*x.field(s) = all
}

func byName(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// stream is what one watch follows of a kind.
type stream struct {
	namespace string // "" is all namespaces, or a cluster-scoped kind
	name      string // one object; "" is all
	// whole streams are what the caller asked for; when one is forbidden, others
	// follow what the user may read.
	whole bool
}

func (s stream) has(k types.NamespacedName) bool {
	return (s.namespace == "" || s.namespace == k.Namespace) && (s.name == "" || s.name == k.Name)
}

func (x *objects[W, T]) start(ctx context.Context, s stream) {
	f := x.f
	f.update(func() { f.waiting++; f.live++ })
	o := x.options
	if s.name != "" {
		o.FieldSelector = "metadata.name=" + s.name
	}
	f.running.Go(func() {
		waiting := true
		err := x.watch(ctx, s.namespace, o, func() {
			if !s.whole {
				f.r.Part(x.resource)
			}
			f.update(func() { f.waiting-- })
			waiting = false
		})
		if ctx.Err() != nil {
			return
		}
		if !kube.IsForbidden(err) && !kube.IsNotFound(err) {
			f.fail(err)
			return
		}
		if !waiting { // nothing is shown while other streams take over
			f.update(func() { f.waiting++ })
		}
		x.ended(ctx, s, err)
		f.update(func() { f.waiting--; f.live-- })
	})
}

// watch follows one stream until it fails, and calls listed once it has listed
// everything.
func (x *objects[W, T]) watch(ctx context.Context, namespace string, o kube.ListOptions, listed func()) error {
	at, err := reader.Served(ctx, x.f.c, x.resource)
	if err != nil {
		return err
	}
	convert := x.convert
	if x.convertAt != nil {
		convert = x.convertAt(at)
	}
	return follow(ctx, x.f.c, at, namespace, o, convert, func(e kube.Event[T]) error {
		if e.Type == kube.Synced {
			listed()
			return nil
		}
		x.take(e)
		return nil
	})
}

// ended drops the objects of a stream that the user may not read, or that the
// cluster does not have, and follows what the user may read instead.
func (x *objects[W, T]) ended(ctx context.Context, s stream, err error) {
	f := x.f
	f.mu.Lock()
	n := len(x.known)
	maps.DeleteFunc(x.known, func(k types.NamespacedName, _ T) bool { return s.has(k) })
	x.changed = x.changed || len(x.known) < n
	f.dirty = true
	f.mu.Unlock()
	if s.name != "" {
		return // the missing list stands for it
	}
	m := f.r.Record(x.resource, s.namespace, "watch", err)
	switch {
	case !s.whole || !m.Refused():
	case x.resource.Namespaced && s.namespace == "":
		for _, ns := range f.r.Namespaces(ctx) {
			x.start(ctx, stream{namespace: ns})
		}
	case !x.resource.Namespaced && x.names != nil:
		for _, name := range f.r.Names(ctx, x.resource, x.names) {
			x.start(ctx, stream{name: name})
		}
	}
}

func (x *objects[W, T]) take(e kube.Event[T]) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	if k := key(&e.Object); e.Type == kube.Deleted {
		delete(x.known, k)
	} else {
		x.known[k] = e.Object
	}
	x.changed, x.f.dirty = true, true
}

// run shows the State at the pace.
func (f *follower) run(ctx context.Context, p Pace, show func(*State) error) error {
	quiet := 0
	for {
		select {
		case err := <-f.failed:
			return err
		default:
		}
		s := f.changed(p.Now())
		if s == nil && p.Idle > 0 && quiet >= p.Idle {
			s = f.again(p.Now())
		}
		if s != nil {
			quiet = 0
			if err := show(s); err != nil {
				return err
			}
		}
		select {
		case <-p.Tick:
			quiet++
		case err := <-f.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// changed returns the State if it has changed and every stream has listed, else nil.
func (f *follower) changed(now time.Time) *State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dirty || f.waiting > 0 {
		return nil
	}
	f.dirty = false
	for _, refresh := range f.refresh {
		refresh(&f.out)
	}
	f.out.Workloads = withoutVariants(f.out.Workloads)
	if f.newJobs {
		f.newJobs = false
		f.out.Jobs = slices.DeleteFunc(slices.Concat(f.jobs...), func(j Job) bool { return !Counts(j) })
	}
	f.out.Missing = f.r.Missing()
	out := f.out
	out.Taken = now
	return &out
}

// again returns the last State with another time.
func (f *follower) again(now time.Time) *State {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.out
	out.Taken = now
	return &out
}
