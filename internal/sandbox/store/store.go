package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/parallel"
)

// MaxHistory is how many changes the store keeps for watches. A watch from before the
// oldest one fails with an expired resource version.
const MaxHistory = 4000

// ErrExpired means that the history no longer reaches back to a resource version.
var ErrExpired = errors.New("resource version too old")

// ChangeType is the type of a change, as a watch names it.
type ChangeType string

// The types of change.
const (
	Added    ChangeType = "ADDED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
)

// Change is one entry of the history.
type Change struct {
	RV       int64
	Type     ChangeType
	Resource string // plural.group
	Object   *Object
	Before   *Object // the object before a modification or deletion
}

// Store holds the objects. It is not safe for concurrent use. Clone returns a cheap copy
// to work on, so that a failed change leaves no trace.
type Store struct {
	tables  map[string]*table
	rv      int64
	history []Change
	// since is the resource version after which history holds every change.
	since int64
}

// New returns an empty store.
func New() *Store { return &Store{tables: map[string]*table{}} }

// Clone returns a copy that can be changed without changing s.
func (s *Store) Clone() *Store {
	c := &Store{tables: make(map[string]*table, len(s.tables)), rv: s.rv, since: s.since}
	for r, t := range s.tables {
		c.tables[r] = t.clone()
	}
	c.history = slices.Clip(s.history)
	return c
}

// RV returns the resource version of the latest change.
func (s *Store) RV() int64 { return s.rv }

// Get returns an object, or nil.
func (s *Store) Get(resource, namespace, name string) *Object {
	return s.tables[resource].get(Key{Namespace: namespace, Name: name})
}

// List returns the objects of a kind in a namespace ("" = all), sorted by key.
func (s *Store) List(resource, namespace string) []*Object {
	return slices.Clone(s.tables[resource].in(namespace))
}

// Resources returns the kinds that have objects, sorted.
func (s *Store) Resources() []string {
	var out []string
	for _, r := range slices.Sorted(maps.Keys(s.tables)) {
		if len(s.tables[r].sorted) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Put stores an object under its own namespace and name, gives it the next
// resource version and records the change. The store owns m afterwards.
func (s *Store) Put(resource string, m map[string]any) (*Object, error) {
	meta, ok := m["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an object of %s has no metadata", resource)
	}
	meta["resourceVersion"] = strconv.FormatInt(s.rv+1, 10)
	o, err := fromMap(m)
	if err != nil {
		return nil, err
	}
	s.rv++
	c := Change{RV: s.rv, Type: Added, Resource: resource, Object: o}
	if old := s.Get(resource, o.Namespace, o.Name); old != nil {
		c.Type, c.Before = Modified, old
	}
	s.set(resource, o)
	s.record(c)
	return o, nil
}

// Seed stores an object that exists from the beginning: watches do not report it, and the
// resource version stays. It leaves an existing object alone. The store owns m afterwards.
func (s *Store) Seed(resource string, m map[string]any) error {
	meta, ok := m["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("an object of %s has no metadata", resource)
	}
	meta["resourceVersion"] = "1"
	o, err := fromMap(m)
	if err != nil || s.Get(resource, o.Namespace, o.Name) != nil {
		return err
	}
	s.set(resource, o)
	return nil
}

// Remove deletes an object and returns it; nil if it does not exist.
func (s *Store) Remove(resource, namespace, name string) *Object {
	k := Key{Namespace: namespace, Name: name}
	old := s.tables[resource].get(k)
	if old == nil {
		return nil
	}
	s.tables[resource].remove(k)
	s.rv++
	s.record(Change{RV: s.rv, Type: Deleted, Resource: resource, Object: withRV(old, s.rv), Before: old})
	return old
}

// withRV returns the object with the resource version of its deletion, as a watch
// reports it.
func withRV(o *Object, rv int64) *Object {
	m := o.Copy()
	if meta, ok := m["metadata"].(map[string]any); ok {
		meta["resourceVersion"] = strconv.FormatInt(rv, 10)
	}
	if c, err := fromMap(m); err == nil {
		return c
	}
	return o
}

func (s *Store) set(resource string, o *Object) {
	t := s.tables[resource]
	if t == nil {
		t = &table{byKey: map[Key]*Object{}}
		s.tables[resource] = t
	}
	t.set(o)
}

func (s *Store) record(c Change) {
	s.history = append(s.history, c)
	if over := len(s.history) - MaxHistory; over > MaxHistory/4 {
		s.since = s.history[over-1].RV
		s.history = slices.Clone(s.history[over:])
	}
}

// Since returns the changes after a resource version, oldest first. It returns
// ErrExpired if the history does not reach back, or the version belongs to another
// history (the sandbox was deleted and created again).
func (s *Store) Since(rv int64) ([]Change, error) {
	if rv < s.since || rv > s.rv {
		return nil, ErrExpired
	}
	i, _ := slices.BinarySearchFunc(s.history, rv+1, func(c Change, rv int64) int {
		switch {
		case c.RV < rv:
			return -1
		case c.RV > rv:
			return 1
		}
		return 0
	})
	return slices.Clip(s.history[i:]), nil
}

// Oldest returns the resource version from which Since knows every change.
func (s *Store) Oldest() int64 { return s.since }

// Load fills an empty store with objects from a file. Its history starts at rv.
func (s *Store) Load(rv int64, objects map[string][]json.RawMessage) error {
	s.rv, s.since = rv, rv
	for resource, list := range objects {
		parsed, err := parallel.Map(list, parse)
		if err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
		for _, o := range parsed {
			if o.RV > rv {
				return fmt.Errorf("%s %s/%s is newer than the file's resource version", resource, o.Namespace, o.Name)
			}
			s.set(resource, o)
		}
	}
	return nil
}

// Follow makes next, loaded from a newer file, continue the history of s: the
// differences become changes, so that watches continue. Several changes of one object
// by another process become one.
func (s *Store) Follow(next *Store) {
	if next.rv < s.rv {
		return // another history: watches must start over
	}
	next.since = s.since
	next.history = slices.Clip(s.history)
	var changes []Change
	for resource, t := range next.tables {
		for k, o := range t.byKey {
			old := s.tables[resource].get(k)
			switch {
			case old == nil:
				changes = append(changes, Change{RV: o.RV, Type: Added, Resource: resource, Object: o})
			case old.UID != o.UID:
				changes = append(changes, Change{RV: o.RV - 1, Type: Deleted, Resource: resource, Object: withRV(old, o.RV-1), Before: old},
					Change{RV: o.RV, Type: Added, Resource: resource, Object: o})
			case old.RV != o.RV:
				changes = append(changes, Change{RV: o.RV, Type: Modified, Resource: resource, Object: o, Before: old})
			default:
				t.set(old) // is decoded already
			}
		}
	}
	for resource, t := range s.tables {
		for k, old := range t.byKey {
			if next.tables[resource].get(k) == nil {
				changes = append(changes, Change{RV: next.rv, Type: Deleted, Resource: resource, Object: withRV(old, next.rv), Before: old})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		if a.RV != b.RV {
			return int(a.RV - b.RV)
		}
		return Compare(a.Object.Key, b.Object.Key)
	})
	for _, c := range changes {
		next.record(c)
	}
}
