package store

import "slices"

// Collect deletes an object, everything in it if it is a namespace, and everything that
// has no other owner. It returns the object.
func (s *Store) Collect(resource string, o *Object) *Object {
	if s.Remove(resource, o.Namespace, o.Name) == nil {
		return o
	}
	for _, r := range s.Resources() {
		for _, d := range s.List(r, "") {
			switch {
			case resource == "namespaces" && d.Namespace == o.Name:
				s.Collect(r, d)
			case d.OwnedBy(o.UID) && !slices.ContainsFunc(d.Owners, func(uid string) bool { return uid != o.UID && s.has(uid) }):
				s.Collect(r, d)
			}
		}
	}
	return o
}

// has reports whether an object with a UID exists.
func (s *Store) has(uid string) bool {
	for _, t := range s.tables {
		for _, o := range t {
			if o.UID == uid {
				return true
			}
		}
	}
	return false
}
