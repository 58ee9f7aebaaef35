package parse

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// FixedPath is a path into the job whose value users of the template cannot change, at the path or below. With
// a value (PATH=VALUE) the header sets it; PATH=null removes the field.
type FixedPath struct {
	text  string // as it is written
	Path  string
	Steps []fieldpath.Step
	value *manifest.Node
	Has   bool // a value is given; value is nil for null

	line, column int
}

// parseFixed reads the paths and returns all faults in them.
func parseFixed(list *manifest.Node) (out []FixedPath, faults []error) {
	if list.Kind != manifest.ListNode {
		return nil, []error{manifest.Faultf(list.Line, "fixed must be a list of paths such as spec.runPolicy, or of PATH=VALUE").Col(list.Column)}
	}
	for _, item := range list.Items {
		f, why := newFixedPath(item.Str())
		if why != "" {
			faults = append(faults, manifest.Faultf(item.Line, "fixed: %s %s", manifest.QuoteText(manifest.TextOf(item.Plain())), why).Col(item.Column))
			continue
		}
		f.line, f.column = item.Line, item.Column
		if f.value != nil {
			given(f.value, item.Line, item.Column)
		}
		out = append(out, f)
	}
	return out, faults
}

// Faultf returns a fault at the position of the path.
func (f FixedPath) Faultf(format string, args ...any) error {
	return manifest.Faultf(f.line, "fixed: "+format, args...).Col(f.column)
}

// newFixedPath reads PATH or PATH=VALUE. why describes the fault, if there is one.
func newFixedPath(text string) (f FixedPath, why string) {
	f = FixedPath{text: text, Path: text}
	a, err := fieldpath.ParseAssignment(text)
	if f.Has = err == nil; f.Has {
		f.Path = a.Key
		if f.value, err = a.Parsed(); err != nil {
			return f, "has a value that is not valid YAML"
		}
	}
	if f.Steps, err = fieldpath.Parse(f.Path); err != nil {
		return f, "is not a path such as spec.runPolicy.backoffLimit"
	}
	top := f.Steps[0].Key
	if f.Has && (top == "status" || top == "kind" || top == "apiVersion" || f.Path == "metadata.name" || f.Path == "metadata.namespace") {
		return f, "cannot have a value"
	}
	return f, ""
}

// given marks a tree that comes from outside the manifest: as with --set, the types of the fields decide how
// its scalars are read.
func given(n *manifest.Node, line, column int) {
	n.Line, n.Column, n.Filled = line, column, n.Kind == manifest.ScalarNode && n.Value != nil
	for i := range n.Fields {
		n.Fields[i].Line, n.Fields[i].Column = line, column
		given(n.Fields[i].Value, line, column)
	}
	for _, item := range n.Items {
		given(item, line, column)
	}
}

// applyFixed writes the values of the header into the manifest.
func (t *Template) applyFixed() []error {
	var faults []error
	for _, f := range t.Fixed {
		if f.Has && !f.set(t.JobNode(), f.Steps) {
			faults = append(faults, f.Faultf("%s is not inside a map or list, or is past the end of a list", f.Path))
		}
	}
	return faults
}

// set sets the value at the end of the steps; nil removes it. It creates maps on the way. In a list it can
// replace an item or append one.
func (f FixedPath) set(n *manifest.Node, steps []fieldpath.Step) bool {
	value := f.value
	s, last := steps[0], len(steps) == 1
	if s.List {
		if n.Kind != manifest.ListNode || s.Index > len(n.Items) {
			return false
		}
		switch {
		case last && value == nil:
			if s.Index < len(n.Items) {
				n.Items = slices.Delete(n.Items, s.Index, s.Index+1)
			}
			return true
		case value == nil && s.Index == len(n.Items):
			return true // nothing is there
		case s.Index == len(n.Items):
			n.Items = append(n.Items, f.emptyFor(steps[1:]))
		}
		if last {
			n.Items[s.Index] = value
			return true
		}
		return f.set(n.Items[s.Index], steps[1:])
	}
	if n.Kind != manifest.MapNode {
		return false
	}
	at := slices.IndexFunc(n.Fields, func(f manifest.Field) bool { return f.Key == s.Key })
	switch {
	case value == nil && at < 0:
		return true
	case last && value == nil:
		n.Fields = slices.Delete(n.Fields, at, at+1)
		return true
	case at < 0:
		n.Fields = append(n.Fields, manifest.Field{Key: s.Key, Line: f.line, Column: f.column, Value: f.emptyFor(steps[1:])})
		at = len(n.Fields) - 1
	case !last && n.Fields[at].Value.Kind == manifest.ScalarNode && n.Fields[at].Value.Value == nil:
		n.Fields[at].Value = f.emptyFor(steps[1:])
	}
	if last {
		n.Fields[at].Value = value
		return true
	}
	return f.set(n.Fields[at].Value, steps[1:])
}

// emptyFor returns the empty map or list for the next step.
func (f FixedPath) emptyFor(steps []fieldpath.Step) *manifest.Node {
	n := &manifest.Node{Kind: manifest.MapNode, Line: f.line, Column: f.column}
	if len(steps) > 0 && steps[0].List {
		n.Kind = manifest.ListNode
	}
	return n
}
