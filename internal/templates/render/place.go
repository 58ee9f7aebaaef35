package render

import (
	"reflect"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/validate"
)

// placed returns the error for the faults of finished objects, nil if there are none. A fault has the position of its field
// in the template's text if its value is from there, and not from a flag.
func placed(t *parse.Template, f *validate.Faults, trees []*manifest.Node, objects []map[string]any) error {
	if t.Source == parse.Embedded || t.Verbatim { // nobody wrote the text
		return f.Err("")
	}
	place(f, trees, func(fault *validate.Fault, w fieldpath.Way) bool {
		steps, err := fieldpath.Parse(fault.Path)
		if err != nil || fault.Object >= len(objects) {
			return false
		}
		value, has := fieldpath.Lookup(objects[fault.Object], steps)
		if w.End == nil {
			return !has
		}
		return has && reflect.DeepEqual(w.End.Plain(), value)
	})
	for _, fault := range f.Found {
		fault.Source, fault.At = t.Place(fault.At)
	}
	return f.Err(t.Source)
}

// place gives the faults of objects their positions in the trees from which the objects were made, where own reports that
// the tree has the value. It drops faults that only follow from others.
func place(f *validate.Faults, trees []*manifest.Node, own func(*validate.Fault, fieldpath.Way) bool) {
	// An alias brings the same field to several places of the objects.
	type spot struct {
		manifest.Position
		field string
	}
	told := map[spot]bool{}
	f.Found = slices.DeleteFunc(f.Found, func(fault *validate.Fault) bool {
		if fault.Object >= len(trees) {
			return false
		}
		w := follow(trees[fault.Object], fault.Path)
		if !own(fault, w) {
			return false
		}
		at := spot{w.Position, w.Field}
		if w.Faulty || told[at] && at.Line > 0 || explained(trees[fault.Object], fault, w.End) {
			return true
		}
		told[at] = true
		fault.At = w.Position
		return false
	})
}

// follow follows the path of a fault.
func follow(n *manifest.Node, path string) fieldpath.Way {
	steps, _ := fieldpath.Parse(path)
	return fieldpath.Follow(n, steps)
}

// explained reports whether a fault only follows from another one.
func explained(tree *manifest.Node, f *validate.Fault, at *manifest.Node) bool {
	return slices.ContainsFunc(f.Unless, func(path string) bool {
		if path == validate.Below {
			return at != nil && spoiltBelow(at)
		}
		way := follow(tree, path)
		return way.Faulty || way.End != nil && way.End.Twice
	})
}

// spoiltBelow reports whether a map or list below a node has a fault.
func spoiltBelow(n *manifest.Node) bool {
	for _, f := range n.Fields {
		if f.Value.Kind != manifest.ScalarNode && (f.Value.Faulty || spoiltBelow(f.Value)) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *manifest.Node) bool { return item.Faulty || spoiltBelow(item) })
}
