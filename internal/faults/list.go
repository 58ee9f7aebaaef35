package faults

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// List collects the faults of a value.
type List struct {
	Found []Fault
	// Open reports whether a text still has placeholders: such a value is not checked.
	Open func(string) bool
}

// NewList returns an empty list. A nil open stands for never.
func NewList(open func(string) bool) List {
	if open == nil {
		open = func(string) bool { return false }
	}
	return List{Open: open}
}

// Add adds a fault.
func (l *List) Add(p Path, kind field.ErrorType, value any, detail string, allowed ...string) {
	l.Found = append(l.Found, Fault{Path: p, Type: kind, Value: value, Allowed: allowed, Detail: detail})
}

// Required reports an absent value.
func (l *List) Required(p Path, detail string) {
	l.Add(p, field.ErrorTypeRequired, nil, detail)
}

// Invalid reports a value once for each reason.
func (l *List) Invalid(p Path, value any, details ...string) {
	for _, d := range details {
		l.Add(p, field.ErrorTypeInvalid, value, d)
	}
}

// Forbidden reports a field that must be absent.
func (l *List) Forbidden(p Path, detail string) {
	l.Add(p, field.ErrorTypeForbidden, nil, detail)
}

// OneOf reports a text under a key that is not one of those allowed. An empty text counts as absent.
func (l *List) OneOf(p Path, m map[string]any, key string, allowed ...string) {
	if s, _ := m[key].(string); s != "" && !l.Open(s) && !slices.Contains(allowed, s) {
		l.Add(p.To(key), field.ErrorTypeNotSupported, s, "", allowed...)
	}
}

// Inner returns the map at a path of keys, nil if there is none.
func Inner(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// Each calls f for the maps of a list.
func Each(v any, f func(int, map[string]any)) {
	items, _ := v.([]any)
	for i, item := range items {
		if m, ok := item.(map[string]any); ok {
			f(i, m)
		}
	}
}

// Number returns a whole number; ok is false for another value.
func Number(v any) (n int64, ok bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), n == float64(int64(n))
	}
	return 0, false
}
