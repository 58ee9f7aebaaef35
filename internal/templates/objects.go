package templates

import "maps"

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

// mergeText adds text values to the map under key.
func mergeText(m map[string]any, key string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	set := child(m, key)
	for k, v := range maps.All(values) {
		set[k] = v
	}
}

func setKey(m map[string]any, key string, v any) {
	if v == nil {
		delete(m, key)
		return
	}
	m[key] = v
}

// copyOf returns a deep copy.
func copyOf(v any) any { return fromPlain(v).plain() }
