package templates

import (
	"encoding/json"
	"strconv"
)

// child returns the map under key, made when there is none.
func child(m map[string]any, key string) map[string]any {
	if c, ok := m[key].(map[string]any); ok {
		return c
	}
	c := map[string]any{}
	m[key] = c
	return c
}

// inner returns the map that the keys lead to, or nil.
func inner(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// mapsIn returns the maps of a list.
func mapsIn(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// without returns a list without the maps that match.
func without(v any, match func(map[string]any) bool) []any {
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

// named returns the map of a list that has that name, or nil.
func named(v any, name string) map[string]any {
	for _, m := range mapsIn(v) {
		if m["name"] == name {
			return m
		}
	}
	return nil
}

// count reads a whole number.
func count(v any) (int, bool) {
	switch n := v.(type) {
	case written:
		return count(n.value)
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), n == float64(int(n))
	case string:
		i, err := strconv.Atoi(n)
		return i, err == nil
	}
	return 0, false
}

// noteSizes tells of objects that a cluster hardly takes.
func (s *settings) noteSizes(objects []map[string]any) {
	for _, o := range objects {
		if data, err := json.Marshal(o); err == nil && len(data) > maxObject {
			s.notef("%s %s has %.1f MiB, and Kubernetes takes objects of up to %.1f MiB", textOf(o["kind"]), clip(textOf(inner(o, "metadata")["name"])),
				float64(len(data))/(1<<20), float64(maxObject)/(1<<20))
		}
	}
}

func quoteText(s string) string { return strconv.Quote(clip(s)) }
