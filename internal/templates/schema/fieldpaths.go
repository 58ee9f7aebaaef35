package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// fieldPaths lists the paths of the fields that an object has or, by its kind,
// could have next to those: spec.runPolicy.backoffLimit even where the manifest
// has no runPolicy.
func fieldPaths(n *manifest.Node) []string {
	var out []string
	walkFields(shapeOf(n.Get("apiVersion").Str(), n.Get("kind").Str()), n, "", 0, func(path string) { out = append(out, path) })
	return out
}

// walkFields calls f for every field. t may be nil, where fields are unknown, and n
// where the manifest has none; then unset counts how far that is.
func walkFields(t reflect.Type, n *manifest.Node, path string, unset int, f func(path string)) {
	if t != nil {
		t = deref(t)
	}
	below := func(t reflect.Type, n *manifest.Node, path string) {
		f(path)
		walkFields(t, n, path, unset, f)
	}
	switch {
	case n == nil && unset == 2, t == quantityType, t == intOrString, t == fieldsType, timeTypes[t]:
	case t != nil && t.Kind() == reflect.Struct:
		for _, name := range fieldNames(t) {
			if path == "" && slices.Contains([]string{"apiVersion", "kind", "status"}, name) {
				continue
			}
			ft, _ := fieldOf(t, name)
			if value := n.Get(name); value != nil {
				below(ft, value, manifest.JoinPath(path, name))
				continue
			}
			f(manifest.JoinPath(path, name))
			walkFields(ft, nil, manifest.JoinPath(path, name), unset+1, f)
		}
	case n == nil:
	case n.Kind == manifest.ListNode:
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i, item := range n.Items {
			walkFields(of, item, manifest.Location{Path: path}.Item(i).Path, unset, f)
		}
	case n.Kind == manifest.MapNode:
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Map {
			of = t.Elem()
		}
		for _, fl := range n.Fields {
			below(of, fl.Value, manifest.JoinPath(path, fl.Key))
		}
	}
}

// NearPaths returns up to three fields of an object that a wrong or shortened path may mean: those that end in
// it, or those whose last part is nearest.
func NearPaths(n *manifest.Node, wanted string) []string {
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
