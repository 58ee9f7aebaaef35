// Package reader reads as much of a cluster as the user may read. It has one rule
// for lists, for what to read in place of a list that is forbidden, and for
// recording what could not be read. Packages with their own types of objects
// (state, governance/inputs, snapshot) read through it.
package reader

import (
	"context"
	"slices"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Options say how to read. The zero value is usable.
type Options struct {
	// Namespaces returns the namespaces to read one at a time when a list over all
	// namespaces is forbidden. It is called at most once. Nil: there is no fallback.
	Namespaces func(context.Context) ([]string, error)
	// Parallel is the largest number of open requests; 0 is what the client allows.
	Parallel int
}

// Reader records what was read and what could not be read. It is safe for
// concurrent use, and serves one load.
type Reader struct {
	o     Options
	slots chan struct{} // nil: requests are not limited

	once     sync.Once
	fallback []string

	mu      sync.Mutex
	read    int
	missing []Missing
}

// New returns a Reader.
func New(o Options) *Reader {
	r := &Reader{o: o}
	if o.Parallel > 0 {
		r.slots = make(chan struct{}, o.Parallel)
	}
	return r
}

// Kind says how one kind is read into values of type T.
type Kind[T any] struct {
	Resource kinds.Resource
	// Namespace narrows a namespaced kind; "" is all namespaces.
	Namespace string
	// Optional: a list that is forbidden, or that a file does not have, is not missed.
	Optional bool
	// List reads the objects of a namespace, or all of them with "".
	List func(ctx context.Context, namespace string) ([]T, error)
	// Get reads one object of a cluster-scoped kind. Nil: objects are not read by name.
	Get func(ctx context.Context, name string) (T, error)
	// Names returns the objects to get when their list is forbidden. Nil: none.
	Names func(context.Context) ([]string, error)
}

// Read reads a kind. When the list is forbidden it reads what the user may read:
// the namespaces of Options one at a time, or the objects that k names. A file that has
// no object of a kind has none in any namespace.
func Read[T any](ctx context.Context, r *Reader, k Kind[T]) []T {
	ns := k.Namespace
	if !k.Resource.Namespaced {
		ns = ""
	}
	items, err := limited(r, func() ([]T, error) { return k.List(ctx, ns) })
	if err == nil {
		r.Done()
		return items
	}
	m := NewMissing(k.Resource, ns, "list", err)
	if !k.Optional || !m.Refused() {
		r.record(m)
	}
	switch {
	case !m.Refused(), m.Reason == NotInFile && k.Resource.Namespaced && !kube.IsNotCaptured(err):
		return nil
	case k.Resource.Namespaced && ns == "":
		return readNamespaces(ctx, r, k)
	case !k.Resource.Namespaced && k.Names != nil:
		return ReadByName(ctx, r, k, r.Names(ctx, k.Resource, k.Names))
	}
	return nil
}

// readNamespaces reads a kind one namespace at a time.
func readNamespaces[T any](ctx context.Context, r *Reader, k Kind[T]) []T {
	names := r.Namespaces(ctx)
	parts := make([][]T, len(names))
	var wg crash.Group
	for i, ns := range names {
		wg.Go(func() {
			items, err := limited(r, func() ([]T, error) { return k.List(ctx, ns) })
			if err != nil {
				if m := NewMissing(k.Resource, ns, "list", err); !k.Optional || !m.Refused() {
					r.record(m)
				}
				return
			}
			r.Part(k.Resource)
			parts[i] = items
		})
	}
	wg.Wait()
	return slices.Concat(parts...)
}

// ReadByName reads objects of a cluster-scoped kind whose list is forbidden. It
// leaves out objects that do not exist or that the user may not read: the missing
// list stands for them.
func ReadByName[T any](ctx context.Context, r *Reader, k Kind[T], names []string) []T {
	type result struct {
		object T
		ok     bool
	}
	names = sortedSet(names)
	found := make([]result, len(names))
	var wg crash.Group
	for i, name := range names {
		wg.Go(func() {
			object, err := limited(r, func() (T, error) { return k.Get(ctx, name) })
			if err != nil {
				r.recordFailure(k.Resource, "get", err)
				return
			}
			r.Part(k.Resource)
			found[i] = result{object, true}
		})
	}
	wg.Wait()
	var out []T
	for _, f := range found {
		if f.ok {
			out = append(out, f.object)
		}
	}
	return out
}

// limited calls f when fewer than Options.Parallel requests are open. f must not
// wait for another read.
func limited[T any](r *Reader, f func() (T, error)) (T, error) {
	if r.slots != nil {
		r.slots <- struct{}{}
		defer func() { <-r.slots }()
	}
	return f()
}

// Namespaces returns the namespaces of Options, sorted, each once.
func (r *Reader) Namespaces(ctx context.Context) []string {
	r.once.Do(func() {
		if r.o.Namespaces != nil {
			r.fallback = r.Names(ctx, kinds.Namespace, r.o.Namespaces)
		}
	})
	return r.fallback
}

// Fallback returns the namespaces that were read one at a time; nil when no list
// was forbidden. Call it when all reads have ended.
func (r *Reader) Fallback() []string { return r.fallback }

// Names returns what names returns, sorted, each once, and records its failure.
func (r *Reader) Names(ctx context.Context, of kinds.Resource, names func(context.Context) ([]string, error)) []string {
	got, err := names(ctx)
	if err != nil {
		r.recordFailure(of, "list", err)
	}
	return sortedSet(got)
}

func sortedSet(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// Done records that a kind was read.
func (r *Reader) Done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read++
}

// Part records that a part of a kind was read whose list is missing.
func (r *Reader) Part(of kinds.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read++
	for i := range r.missing {
		if m := &r.missing[i]; m.Of(of) && m.Namespace == "" {
			m.Partly = true
		}
	}
}

// Record records that a read failed and returns the record.
func (r *Reader) Record(of kinds.Resource, namespace, verb string, err error) Missing {
	m := NewMissing(of, namespace, verb, err)
	r.record(m)
	return m
}

// Add records something that is missing although no read failed.
func (r *Reader) Add(m Missing) { r.record(m) }

func (r *Reader) record(m Missing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing = append(r.missing, m)
}

// recordFailure records an error that is more than a refusal or an absence.
func (r *Reader) recordFailure(of kinds.Resource, verb string, err error) {
	if m := NewMissing(of, "", verb, err); m.Reason == Failed && !kube.IsNotFound(err) {
		r.Record(of, "", verb, err)
	}
}

// Refused reports whether the list of a kind over all namespaces is forbidden.
func (r *Reader) Refused(of kinds.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.missing, func(m Missing) bool { return m.Of(of) && m.Namespace == "" && m.Refused() })
}

// Missing returns what could not be read, sorted by kind and namespace.
func (r *Reader) Missing() []Missing {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.missing)
	slices.SortStableFunc(out, order)
	return out
}

// Err returns the error that explains most when nothing at all could be read,
// else nil.
func (r *Reader) Err() error {
	r.mu.Lock()
	read := r.read
	r.mu.Unlock()
	if read > 0 {
		return nil
	}
	return Worst(r.Missing())
}
