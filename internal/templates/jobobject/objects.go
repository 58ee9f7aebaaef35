package jobobject

import (
	"maps"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Child returns the map under key. It creates a missing one.
func Child(m map[string]any, key string) map[string]any {
	if c, ok := m[key].(map[string]any); ok {
		return c
	}
	c := map[string]any{}
	m[key] = c
	return c
}

// Inner returns the map that the keys lead to, or nil.
func Inner(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// MapsIn returns the maps of a list.
func MapsIn(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Without returns a list without the maps that match.
func Without(v any, match func(map[string]any) bool) []any {
	list, _ := v.([]any)
	out := make([]any, 0, len(list)+1)
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && match(m) {
			continue
		}
		out = append(out, item)
	}
	return out
}

// Named returns the map of a list that has that name, or nil.
func Named(v any, name string) map[string]any {
	for _, m := range MapsIn(v) {
		if m["name"] == name {
			return m
		}
	}
	return nil
}

// MergeText adds text values to the map under key.
func MergeText(m map[string]any, key string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	set := Child(m, key)
	for k, v := range maps.All(values) {
		set[k] = v
	}
}

// setKey sets a key of a map; nil removes it.
func setKey(m map[string]any, key string, v any) {
	if v == nil {
		delete(m, key)
		return
	}
	m[key] = v
}

// CopyOf returns a deep copy.
func CopyOf(v any) any { return manifest.FromPlain(v).Plain() }
