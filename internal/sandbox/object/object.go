// Package object reads and writes decoded API objects (map[string]any) by path.
// A missing path, or a value of another type, returns the zero value.
package object

import (
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// At returns the value at a path of nested maps.
func At(v any, names ...string) any { return kinds.At(v, names...) }

// Text returns a string.
func Text(v any, names ...string) string { return kinds.Text(v, names...) }

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
func Int(v any, names ...string) (int64, bool) { return kinds.Int(v, names...) }

// Time returns a time in RFC 3339, and whether the path holds one.
func Time(v any, names ...string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, Text(v, names...))
	return t, err == nil
}

// Stamp formats a time like API objects: in UTC, to the second.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Child returns the map at a path below m and creates missing maps.
func Child(m map[string]any, names ...string) map[string]any { return kinds.Child(m, names...) }

// Set stores a value at a path below m and creates missing maps.
func Set(m map[string]any, value any, names ...string) { kinds.Set(m, value, names...) }

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
