package store

import (
	"cmp"
	"slices"
)

// Collect deletes an object, everything in it if it is a namespace, and everything that
// has no other owner. It returns the object.
func (s *Store) Collect(resource string, o *Object) *Object {
	if s.Remove(resource, o.Namespace, o.Name) == nil {
		return o
	}
	type dependent struct {
		resource string
		*Object
	}
	var rest []dependent
	for r, t := range s.tables { // without the order of List: most objects have no dependents
		for k, d := range t.byKey {
			if resource == "namespaces" && k.Namespace == o.Name || d.OwnedBy(o.UID) {
				rest = append(rest, dependent{r, d})
			}
		}
	}
	slices.SortFunc(rest, func(a, b dependent) int { return cmp.Or(cmp.Compare(a.resource, b.resource), Compare(a.Key, b.Key)) })
	for _, d := range rest {
		if resource == "namespaces" && d.Namespace == o.Name ||
			!slices.ContainsFunc(d.Owners, func(uid string) bool { return uid != o.UID && s.has(uid) }) {
			s.Collect(d.resource, d.Object)
		}
	}
	return o
}

// has reports whether an object with a UID exists.
func (s *Store) has(uid string) bool {
	for _, t := range s.tables {
		if slices.ContainsFunc(t.sorted, func(o *Object) bool { return o.UID == uid }) {
			return true
		}
	}
	return false
}
