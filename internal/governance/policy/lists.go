package policy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
)

// lists compares two lists of objects entry by entry, and reports whether they can be compared so: the entries have names,
// and those in both lists have the same order, or they have none, and the lists are equally long.
func (d *differ) lists(team, path string, from, to []any) bool {
	old, named := namesOf(from)
	now, also := namesOf(to)
	switch {
	case !named || !also:
		return len(from) == len(to) && d.eachEntry(team, path, from, to)
	case !slices.Equal(intersection(old, now), intersection(now, old)):
		return false
	}
	position, stay := map[string]int{}, sets.New(now...)
	for k, name := range old {
		position[name] = k
	}
	for i, name := range now {
		at := path + "[" + name + "]"
		if k, had := position[name]; !had {
			d.add(Change{Action: Create, Team: team, Field: at, To: to[i]})
		} else {
			d.fields(team, at, from[k].(map[string]any), to[i].(map[string]any), true)
		}
	}
	for k, name := range old {
		if !stay.Has(name) {
			d.add(Change{Action: Delete, Team: team, Field: path + "[" + name + "]", From: from[k]})
		}
	}
	return true
}

// eachEntry compares lists of objects without names.
func (d *differ) eachEntry(team, path string, from, to []any) bool {
	object := func(v any) bool { _, ok := v.(map[string]any); return ok }
	for i := range from {
		if !object(from[i]) || !object(to[i]) {
			return false
		}
	}
	for i := range from {
		d.fields(team, fmt.Sprintf("%s[%d]", path, i), from[i].(map[string]any), to[i].(map[string]any), true)
	}
	return true
}

// namesOf returns the names of the objects in a list, with their namespaces, if all have one and no two the same.
func namesOf(list []any) (names []string, ok bool) {
	seen := sets.Set[string]{}
	for _, v := range list {
		object, _ := v.(map[string]any)
		name, _ := object["name"].(string)
		if namespace, _ := object["namespace"].(string); namespace != "" {
			name = namespace + "/" + name
		}
		if name == "" || seen.Has(name) {
			return nil, false
		}
		seen.Insert(name)
		names = append(names, name)
	}
	return names, len(list) > 0
}

// intersection returns what both lists have, in the order of the first.
func intersection(a, b []string) []string {
	also := sets.New(b...)
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !also.Has(s) })
}
