package state

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// loader is one Load under way.
type loader struct {
	c   *kube.Client
	w   Want
	out *State
	// slots holds requests back; nil: it does not.
	slots chan struct{}

	mu   sync.Mutex
	wg   sync.WaitGroup
	read int // lists that were read

	fallbackOnce sync.Once
	fallbackNS   []string
	fallbackErr  error
}

func (l *loader) run(ctx context.Context) (*State, error) {
	w, s := l.w, l.out
	jobs := make([][]Job, len(w.Jobs))
	for i, k := range w.Jobs {
		l.start(func() {
			if at, err := Served(ctx, l.c, k.Resource); err == nil {
				k.Resource = at
			}
			jobs[i] = load(ctx, l, k.Resource, kube.ListOptions{LabelSelector: w.Selector}, func(x *wireJob) Job { return x.job(k) })
			jobs[i] = slices.DeleteFunc(jobs[i], func(j Job) bool { return !Counts(j) })
		})
	}
	none := kube.ListOptions{}
	if w.Workloads {
		o := kube.ListOptions{LabelSelector: w.WorkloadSelector}
		if w.PodSets {
			l.start(func() { s.Workloads = load(ctx, l, kinds.Workload, o, (*wireWorkloadFull).workload) })
		} else {
			l.start(func() { s.Workloads = load(ctx, l, kinds.Workload, o, (*wireWorkload).workload) })
		}
	}
	if w.ClusterQueues {
		l.start(func() { s.ClusterQueues = l.clusterQueues(ctx) })
	}
	if w.LocalQueues {
		l.start(func() { s.LocalQueues = load(ctx, l, kinds.LocalQueue, none, (*wireLocalQueue).queue) })
	}
	if w.Cohorts {
		l.start(func() { s.Cohorts = load(ctx, l, kinds.Cohort, none, (*wireCohort).cohort) })
	}
	if w.Flavors {
		l.start(func() { s.Flavors = load(ctx, l, kinds.ResourceFlavor, none, (*wireFlavor).flavor) })
	}
	if w.PriorityClasses {
		l.start(func() {
			s.PriorityClasses = load(ctx, l, kinds.WorkloadPriorityClass, none, (*wirePriorityClass).class)
		})
	}
	if w.Namespaces {
		l.start(func() { s.Namespaces = load(ctx, l, kinds.Namespace, none, (*wireNamespace).namespace) })
	}
	if w.Nodes {
		l.start(func() { s.Nodes = load(ctx, l, kinds.Node, none, (*wireNode).node) })
	}
	if w.Pods {
		l.start(func() {
			s.Pods = load(ctx, l, kinds.Pod, kube.ListOptions{LabelSelector: w.PodSelector}, (*wirePod).pod)
		})
	}
	l.wg.Wait()
	s.Jobs = slices.Concat(jobs...)
	slices.SortStableFunc(s.Missing, func(a, b Missing) int {
		return cmp.Or(strings.Compare(a.Resource.FullName(), b.Resource.FullName()), strings.Compare(a.Namespace, b.Namespace))
	})
	if l.read == 0 {
		if err := worst(s.Missing); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Counts reports an object that is a job of its own. Batch Jobs and RayClusters
// serve other things as well, and are parts of larger jobs (an MPIJob's launcher,
// a JobSet's jobs), which may even carry the labels of the whole.
func Counts(j Job) bool {
	if !j.Kind.NeedsQueue {
		return true
	}
	for _, o := range j.Owners {
		if _, ok := kinds.JobFor(o.APIVersion, o.Kind); ok && o.Controller {
			return false
		}
	}
	return j.Queue() != ""
}

func (l *loader) start(f func()) { l.wg.Go(f) }

// take and give are around a request, and around nothing that waits for another.
func (l *loader) take() {
	if l.slots != nil {
		l.slots <- struct{}{}
	}
}

func (l *loader) give() {
	if l.slots != nil {
		<-l.slots
	}
}

// load reads one kind and notes what could not be read.
func load[W, T any](ctx context.Context, l *loader, r kinds.Resource, o kube.ListOptions, convert func(*W) T) []T {
	ns := l.w.Namespace
	if !r.Namespaced {
		ns = ""
	}
	l.take()
	page, err := collect(ctx, l.c, r, ns, o, convert)
	l.give()
	if err != nil {
		l.missing(r, ns, err)
		if kube.IsForbidden(err) && r.Namespaced && ns == "" && l.w.FallbackNamespaces != nil {
			return loadEach(ctx, l, r, o, convert)
		}
		return nil
	}
	l.mu.Lock()
	l.read++
	l.mu.Unlock()
	return page.Items
}

// clusterQueues reads all ClusterQueues, or those that may be read by name.
func (l *loader) clusterQueues(ctx context.Context) []ClusterQueue {
	all := load(ctx, l, kinds.ClusterQueue, kube.ListOptions{}, (*wireClusterQueue).queue)
	l.mu.Lock()
	forbidden := slices.ContainsFunc(l.out.MissingOf(kinds.ClusterQueue), func(m Missing) bool { return m.Refused() })
	l.mu.Unlock()
	if !forbidden || l.w.FallbackQueues == nil {
		return all
	}
	names, err := l.w.FallbackQueues(ctx)
	if err != nil {
		return nil
	}
	found := make([]*ClusterQueue, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			l.take()
			defer l.give()
			if q, err := GetClusterQueue(ctx, l.c, name); err == nil {
				found[i] = &q
			}
		})
	}
	wg.Wait()
	for _, q := range found {
		if q != nil {
			all = append(all, *q)
			l.part(kinds.ClusterQueue)
		}
	}
	return all
}

// loadEach reads a kind namespace by namespace.
func loadEach[W, T any](ctx context.Context, l *loader, r kinds.Resource, o kube.ListOptions, convert func(*W) T) []T {
	l.fallbackOnce.Do(func() { l.fallbackNS, l.fallbackErr = l.w.FallbackNamespaces(ctx) })
	parts := make([][]T, len(l.fallbackNS))
	var wg sync.WaitGroup
	for i, ns := range l.fallbackNS {
		wg.Go(func() {
			l.take()
			page, err := collect(ctx, l.c, r, ns, o, convert)
			l.give()
			if err != nil {
				l.missing(r, ns, err)
				return
			}
			l.part(r)
			parts[i] = page.Items
		})
	}
	wg.Wait()
	return slices.Concat(parts...)
}

// part notes that a part of a kind was read that could not be read as a whole.
func (l *loader) part(r kinds.Resource) {
	l.mu.Lock()
	l.read++
	l.out.partly(r)
	l.mu.Unlock()
}

func (l *loader) missing(r kinds.Resource, ns string, err error) {
	m := NewMissing(r, ns, "list", err)
	l.mu.Lock()
	l.out.Missing = append(l.out.Missing, m)
	l.mu.Unlock()
}

// worst returns the error that says most: a failure before a refusal before a
// kind that does not exist, and of each the kind that comes first in the table.
func worst(missing []Missing) error {
	for _, reason := range []string{Failed, Forbidden, NotServed} {
		for _, r := range kinds.All() {
			for _, m := range missing {
				if m.Reason == reason && m.Resource.FullName() == r.FullName() {
					return m.Err
				}
			}
		}
	}
	return nil
}
