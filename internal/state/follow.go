package state

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Pace says when a followed State may be shown again: changes come in bursts.
type Pace struct {
	// Tick is the clock of the showing.
	Tick <-chan time.Time
	// Idle is after how many ticks without a change it is shown all the same, for
	// ages that go on; 0 is never.
	Idle int
	Now  func() time.Time
}

// Follow is Load that goes on: it calls show with the State once everything is
// there, and then, at the pace, whenever something has changed, until ctx ends or
// show returns an error (kube.ErrStop is a clean end). Lost connections are
// resumed. Jobs cannot be followed this way. States must not be changed by show.
func Follow(ctx context.Context, c *kube.Client, w Want, p Pace, show func(*State) error) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{c: c, w: w, ctx: ctx, ready: make(chan struct{}), failed: make(chan error, 1), out: State{Server: c.Server()}}
	defer f.running.Wait()
	defer cancel()
	f.begin()
	select {
	case <-f.ready:
	case err := <-f.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	err := f.run(p, show)
	if errors.Is(err, kube.ErrStop) {
		return nil
	}
	return err
}

// follower is one Follow under way.
type follower struct {
	c       *kube.Client
	w       Want
	ctx     context.Context
	running sync.WaitGroup
	ready   chan struct{} // closed when every stream has listed
	failed  chan error

	namespaces sync.Once
	fallback   []string

	mu      sync.Mutex
	out     State
	waiting int
	read    int
	dirty   bool
	refresh []func(*State) // one a kind: puts its objects into a State
}

func (f *follower) begin() {
	w := f.w
	f.waiting = 1 // so that nothing is ready before all have begun
	none := kube.ListOptions{}
	if w.Workloads {
		o := kube.ListOptions{LabelSelector: w.WorkloadSelector}
		begin(f, kinds.Workload, o, (*wireWorkloadFull).workload, func(s *State) *[]Workload { return &s.Workloads })
	}
	if w.ClusterQueues {
		begin(f, kinds.ClusterQueue, none, (*wireClusterQueue).queue, func(s *State) *[]ClusterQueue { return &s.ClusterQueues })
	}
	if w.LocalQueues {
		begin(f, kinds.LocalQueue, none, (*wireLocalQueue).queue, func(s *State) *[]LocalQueue { return &s.LocalQueues })
	}
	if w.Cohorts {
		begin(f, kinds.Cohort, none, (*wireCohort).cohort, func(s *State) *[]Cohort { return &s.Cohorts })
	}
	if w.Flavors {
		begin(f, kinds.ResourceFlavor, none, (*wireFlavor).flavor, func(s *State) *[]ResourceFlavor { return &s.Flavors })
	}
	if w.PriorityClasses {
		begin(f, kinds.WorkloadPriorityClass, none, (*wirePriorityClass).class, func(s *State) *[]PriorityClass { return &s.PriorityClasses })
	}
	if w.Namespaces {
		begin(f, kinds.Namespace, none, (*wireNamespace).namespace, func(s *State) *[]Namespace { return &s.Namespaces })
	}
	if w.Nodes {
		begin(f, kinds.Node, none, (*wireNode).node, func(s *State) *[]Node { return &s.Nodes })
	}
	if w.Pods {
		begin(f, kinds.Pod, kube.ListOptions{LabelSelector: w.PodSelector}, (*wirePod).pod, func(s *State) *[]Pod { return &s.Pods })
	}
	f.listed(0)
}

// objects are what is there of one kind.
type objects[W, T any] struct {
	f       *follower
	r       kinds.Resource
	o       kube.ListOptions
	convert func(*W) T
	known   map[string]T // by namespace and name
	changed bool
}

// object is what every followed type embeds.
type object interface{ meta() *Meta }

func (m *Meta) meta() *Meta { return m }

func begin[W, T any](f *follower, r kinds.Resource, o kube.ListOptions, convert func(*W) T, at func(*State) *[]T) {
	x := &objects[W, T]{f: f, r: r, o: o, convert: convert, known: map[string]T{}}
	f.refresh = append(f.refresh, func(s *State) {
		if !x.changed {
			return
		}
		x.changed = false
		all := make([]T, 0, len(x.known))
		for _, key := range slices.Sorted(maps.Keys(x.known)) {
			all = append(all, x.known[key])
		}
		*at(s) = all
	})
	ns := ""
	if r.Namespaced {
		ns = f.w.Namespace
	}
	x.stream(ns, o, true)
}

// stream follows the kind in one namespace, or in all of them. With fallback, a
// refusal is answered by streams of what may be read.
func (x *objects[W, T]) stream(ns string, o kube.ListOptions, fallback bool) {
	f := x.f
	f.mu.Lock()
	f.waiting++
	f.mu.Unlock()
	f.running.Go(func() {
		var once sync.Once
		listed := func(read int) { once.Do(func() { x.listed(read, fallback) }) }
		r, err := Served(f.ctx, f.c, x.r)
		if err == nil {
			err = follow(f.ctx, f.c, r, ns, o, x.convert, func(e kube.Event[T]) error {
				if e.Type == kube.Synced {
					listed(1)
					return nil
				}
				x.take(e)
				return nil
			})
		}
		switch {
		case f.ctx.Err() != nil:
		case kube.IsForbidden(err) || kube.IsNotServed(err) || kube.IsNotFound(err):
			if fallback || x.r.Namespaced {
				f.missing(NewMissing(x.r, ns, "watch", err))
			}
			if fallback && kube.IsForbidden(err) {
				x.instead(ns)
			}
			listed(0)
		default:
			select {
			case f.failed <- err:
			default:
			}
		}
	})
}

// instead follows what may be read of a kind that may not be as a whole.
func (x *objects[W, T]) instead(ns string) {
	f := x.f
	switch {
	case x.r.Namespaced && ns == "" && f.w.FallbackNamespaces != nil:
		f.namespaces.Do(func() { f.fallback, _ = f.w.FallbackNamespaces(f.ctx) })
		for _, name := range f.fallback {
			x.stream(name, x.o, false)
		}
	case x.r.Kind == kinds.ClusterQueue.Kind && f.w.FallbackQueues != nil:
		names, _ := f.w.FallbackQueues(f.ctx)
		for _, name := range names {
			x.stream("", kube.ListOptions{FieldSelector: "metadata.name=" + name}, false)
		}
	}
}

// listed notes that a stream has listed everything, or has nothing to list; one
// that is not of the whole kind is a part of what is missing.
func (x *objects[W, T]) listed(read int, whole bool) {
	if read > 0 && !whole {
		x.f.mu.Lock()
		x.f.out.partly(x.r)
		x.f.mu.Unlock()
	}
	x.f.listed(read)
}

func (x *objects[W, T]) take(e kube.Event[T]) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	m := any(&e.Object).(object).meta()
	key := m.Namespace + "/" + m.Name
	if e.Type == kube.Deleted {
		delete(x.known, key)
	} else {
		x.known[key] = e.Object
	}
	x.changed, x.f.dirty = true, true
}

func (f *follower) missing(m Missing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.Missing = append(f.out.Missing, m)
	f.dirty = true
}

// listed notes that a stream has listed everything, or has nothing to list.
func (f *follower) listed(read int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
	f.read += read
	if f.waiting == 0 {
		close(f.ready)
	}
}

// run shows the State at the pace.
func (f *follower) run(p Pace, show func(*State) error) error {
	if f.read == 0 {
		if err := worst(f.out.Missing); err != nil {
			return err
		}
	}
	f.dirty = true
	quiet := 0
	for {
		if s := f.snapshot(p.Now()); s != nil || p.Idle > 0 && quiet >= p.Idle {
			quiet = 0
			if s == nil {
				s = f.again(p.Now())
			}
			if err := show(s); err != nil {
				return err
			}
		}
		select {
		case <-p.Tick:
			quiet++
		case err := <-f.failed:
			return err
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
}

// snapshot returns the State if it has changed, else nil.
func (f *follower) snapshot(now time.Time) *State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dirty {
		return nil
	}
	f.dirty = false
	for _, refresh := range f.refresh {
		refresh(&f.out)
	}
	out := f.out
	out.Taken = now
	return &out
}

// again returns the State as it was, at another time.
func (f *follower) again(now time.Time) *State {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.out
	out.Taken = now
	return &out
}
