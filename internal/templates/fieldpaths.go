package templates

import (
	"reflect"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// fieldPaths lists the paths of the fields that an object has or, by its kind,
// could have next to those: spec.runPolicy.backoffLimit even where the manifest
// has no runPolicy.
func fieldPaths(n *node) []string {
	var out []string
	walkFields(shapeOf(n.get("apiVersion").str(), n.get("kind").str()), n, "", 0, func(path string) { out = append(out, path) })
	return out
}

// walkFields calls f for every field. t may be nil, where fields are unknown, and n
// where the manifest has none; then unsaid counts how far that is.
func walkFields(t reflect.Type, n *node, path string, unsaid int, f func(path string)) {
	if t != nil {
		t = deref(t)
	}
	below := func(t reflect.Type, n *node, path string) {
		f(path)
		walkFields(t, n, path, unsaid, f)
	}
	switch {
	case n == nil && unsaid == 2, t == quantityType, t == intOrString, t == fieldsType, timeTypes[t]:
	case t != nil && t.Kind() == reflect.Struct:
		for _, name := range fieldNames(t) {
			if path == "" && slices.Contains([]string{"apiVersion", "kind", "status"}, name) {
				continue
			}
			ft, _ := fieldOf(t, name)
			if value := n.get(name); value != nil {
				below(ft, value, joinPath(path, name))
				continue
			}
			f(joinPath(path, name))
			walkFields(ft, nil, joinPath(path, name), unsaid+1, f)
		}
	case n == nil:
	case n.kind == listNode:
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i, item := range n.items {
			walkFields(of, item, place{path: path}.item(i).path, unsaid, f)
		}
	case n.kind == mapNode:
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Map {
			of = t.Elem()
		}
		for _, fl := range n.fields {
			below(of, fl.value, joinPath(path, fl.key))
		}
	}
}

// nearPaths returns up to three fields of an object that a wrong or shortened path
// may mean: those that end in it, else those whose last part is nearest.
func nearPaths(n *node, wanted string) []string {
	wanted = strings.ToLower(wanted)
	last := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	var ending []string
	byName := map[string][]string{}
	var names []string
	for _, p := range fieldPaths(n) {
		lower := strings.ToLower(p)
		if strings.HasSuffix(lower, "."+wanted) {
			ending = append(ending, p)
		}
		name := last(p)
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], p)
	}
	if len(ending) == 0 {
		for _, name := range errs.Near(last(wanted), names) {
			ending = append(ending, byName[name][0])
		}
	} else {
		slices.SortStableFunc(ending, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	}
	return ending[:min(len(ending), 3)]
}
