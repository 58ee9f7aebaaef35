package kinds

import (
	"maps"
	"slices"
	"strconv"
)

// walk calls f for every map that path leads to; "*" stands for every value of
// a map (in key order) or item of a list. key is the last "*" key.
func walk(v any, path []string, key string, f func(key string, part map[string]any)) {
	if len(path) == 0 {
		if m, ok := v.(map[string]any); ok {
			f(key, m)
		}
		return
	}
	if path[0] != "*" {
		walk(lookup(v, path[:1]), path[1:], key, f)
		return
	}
	switch c := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(c)) {
			walk(c[k], path[1:], k, f)
		}
	case []any:
		for i, item := range c {
			walk(item, path[1:], strconv.Itoa(i), f)
		}
	}
}

// lookup returns what a path leads to; an item of a list has its number as key.
func lookup(v any, path []string) any {
	for _, p := range path {
		switch c := v.(type) {
		case map[string]any:
			v = c[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

// places returns the paths that a path with "*" stands for in an object.
func places(object any, path []string) [][]string {
	at := slices.Index(path, "*")
	if at < 0 {
		return [][]string{path}
	}
	var keys []string
	switch c := lookup(object, path[:at]).(type) {
	case map[string]any:
		keys = slices.Sorted(maps.Keys(c))
	case []any:
		for i := range c {
			keys = append(keys, strconv.Itoa(i))
		}
	}
	var out [][]string
	for _, k := range keys {
		out = append(out, places(object, slices.Concat(path[:at], []string{k}, path[at+1:]))...)
	}
	return out
}

// withInfo returns a copy of a pod template with what Kueue adds to its pods.
func withInfo(template, info map[string]any) map[string]any {
	out := copyOf(template).(map[string]any)
	for _, key := range []string{"labels", "annotations"} {
		if add, ok := info[key].(map[string]any); ok {
			maps.Copy(Child(out, "metadata", key), add)
		}
	}
	if add, ok := info["nodeSelector"].(map[string]any); ok {
		maps.Copy(Child(out, "spec", "nodeSelector"), add)
	}
	for _, key := range []string{"tolerations", "schedulingGates"} {
		if add, ok := info[key].([]any); ok {
			have, _ := At(out, "spec", key).([]any)
			Set(out, slices.Concat(have, add), "spec", key)
		}
	}
	return out
}

func number(m map[string]any, path []string) (int64, bool) {
	if len(path) == 0 {
		return 0, false
	}
	return Int(m, path...)
}

// At returns what the keys lead to in an object, nil where there is nothing.
func At(object any, keys ...string) any { return lookup(object, keys) }

// Int returns the whole number that the keys lead to in an object, and whether there is one.
func Int(object any, keys ...string) (int64, bool) {
	switch n := lookup(object, keys).(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// Child returns the map that the keys lead to in an object, and creates missing maps.
func Child(object map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		next, ok := object[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[k] = next
		}
		object = next
	}
	return object
}

// Set stores a value where the keys lead to in an object, and creates missing maps.
func Set(object map[string]any, value any, keys ...string) {
	last := len(keys) - 1
	Child(object, keys[:last]...)[keys[last]] = value
}

// Text returns the text that the keys lead to in an object, "" where there is none.
func Text(object any, keys ...string) string {
	s, _ := lookup(object, keys).(string)
	return s
}

// Number returns the number that a path leads to.
func Number(object map[string]any, path []string) (int64, bool) { return number(object, path) }
