// Package object reads and writes decoded API objects (map[string]any) by path.
// A missing path, or a value of another type, returns the zero value.
package object

import (
	"slices"
	"time"
)

// At returns the value at a path of nested maps.
func At(v any, names ...string) any {
	for _, n := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[n]
	}
	return v
}

// Text returns a string.
func Text(v any, names ...string) string {
	s, _ := At(v, names...).(string)
	return s
}

// List returns a list.
func List(v any, names ...string) []any {
	l, _ := At(v, names...).([]any)
	return l
}

// Map returns a map, or nil.
func Map(v any, names ...string) map[string]any {
	m, _ := At(v, names...).(map[string]any)
	return m
}

// Bool returns a boolean.
func Bool(v any, names ...string) bool {
	b, _ := At(v, names...).(bool)
	return b
}

// Int returns a whole number, and whether the path holds one.
func Int(v any, names ...string) (int64, bool) {
	switch n := At(v, names...).(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// Time returns a time in RFC 3339, and whether the path holds one.
func Time(v any, names ...string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, Text(v, names...))
	return t, err == nil
}

// Stamp formats a time like API objects: in UTC, to the second.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Child returns the map at a path below m and creates missing maps.
func Child(m map[string]any, names ...string) map[string]any {
	for _, n := range names {
		c, ok := m[n].(map[string]any)
		if !ok {
			c = map[string]any{}
			m[n] = c
		}
		m = c
	}
	return m
}

// Set stores a value at a path below m and creates missing maps.
func Set(m map[string]any, value any, names ...string) {
	last := len(names) - 1
	Child(m, names[:last]...)[names[last]] = value
}

// Condition returns a condition of an object's status, or nil.
func Condition(v any, kind string) map[string]any {
	for _, c := range List(v, "status", "conditions") {
		if Text(c, "type") == kind {
			return Map(c)
		}
	}
	return nil
}

// True reports whether a condition of an object's status is True.
func True(v any, kind string) bool { return Text(Condition(v, kind), "status") == "True" }

// AddFinalizer adds a finalizer and reports whether it was missing.
func AddFinalizer(m map[string]any, name string) bool {
	list := List(m, "metadata", "finalizers")
	if slices.Contains(list, any(name)) {
		return false
	}
	Child(m, "metadata")["finalizers"] = append(slices.Clip(list), name)
	return true
}

// RemoveFinalizer removes a finalizer and reports whether it was there.
func RemoveFinalizer(m map[string]any, name string) bool {
	list := List(m, "metadata", "finalizers")
	rest := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == any(name) })
	if len(rest) == len(list) {
		return false
	}
	meta := Child(m, "metadata")
	if meta["finalizers"] = rest; len(rest) == 0 {
		delete(meta, "finalizers")
	}
	return true
}
