package templates

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// trial renders the template with what it says itself, and finds all that is wrong
// with the result. What only its users know is left open. complete tells that no
// document is missing.
func trial(t *Template, complete bool) (found []error) {
	v := madeUp(t)
	draft, err := draft(t, v)
	if err != nil {
		return []error{err}
	}
	t, s, found := settledPlan(t, v, draft)
	if s == nil {
		return found
	}
	values, err := s.params(draft)
	if err != nil {
		return append(found, err)
	}
	trees, _, faults := fillTrees(t, values, manyFaults)
	found = append(found, faults...)
	objects := make([]map[string]any, len(trees))
	for i, n := range trees {
		objects[i], _ = n.Plain().(map[string]any)
		jobobject.Strip(objects[i])
	}
	var kept []fixedValue
	if complete {
		kept, faults = fixedValues(t, objects)
		found = append(found, faults...)
	}
	tell := func(err error) {
		if err != nil {
			found = append(found, err)
		}
	}
	var job *jobobject.View
	for i, o := range objects {
		switch view, isJob := jobobject.Of(o); {
		case isJob && job != nil:
			found = append(found, manifest.Faultf(trees[i].Line, "the manifest holds another job, and one can be started at a time").Col(trees[i].Column))
		case isJob:
			job = view
			tell(applyToJob(s, job))
		}
	}
	applyToObjects(s, objects)
	found = append(found, objectTrial(s, trees, objects)...)
	tell(checkFixedValues(t, kept, objects))
	return found
}

// madeUp are the values of a trial: a name where the manifest has none, and lists, as a
// placeholder cannot stand for one. All other values stay open, and what they decide is
// not judged.
func madeUp(t *Template) Values {
	v := Values{Params: map[string]any{}}
	if d := t.jobNode(); isJobKind(d.Get("kind").Str()) {
		if name := d.Get("metadata").Get("name").Str(); name == "" || manifest.Unfilled(name) {
			v.Name = madeUpName
		}
	}
	for _, p := range t.Params {
		c, _ := setting.OfPlaceholder(p.Name)
		switch {
		case p.Default != nil || p.Declared && !p.Required:
		case len(p.Enum) > 0:
			v.Params[p.Name] = p.Enum[0]
		case p.Type == "list", typeByName[c] == "list":
			v.Params[p.Name] = []any{"1"}
		}
	}
	return v
}

// settledPlan are the settings that the template's own values come to, and the template
// without the defaults that are in the way of that: each is a fault at its declaration.
// There are no settings when nothing helps.
func settledPlan(t *Template, v Values, draft *jobobject.View) (*Template, *settings, []error) {
	s, err := resolve(t, v, draft)
	if err == nil {
		return t, s, nil
	}
	var found []error
	wrong := map[string]bool{}
	for _, p := range t.Params {
		if _, wellKnown := setting.OfPlaceholder(p.Name); !wellKnown || p.Default == nil {
			continue
		}
		alone := without(t, func(q Param) bool { return q.Name != p.Name })
		if _, err := resolve(alone, v, draft); err != nil {
			wrong[p.Name] = true
			found = append(found, manifest.Faultf(p.line, "parameter %s: its default is wrong: %v", p.Name, err).Col(p.column))
		}
	}
	good := without(t, func(p Param) bool { return wrong[p.Name] })
	if s, err = resolve(good, v, draft); err == nil {
		return good, s, found
	}
	found = append(found, err)
	bare := without(t, func(Param) bool { return true })
	s, err = resolve(bare, v, draft)
	if err != nil {
		return t, nil, found
	}
	return bare, s, found
}

// without is the template without the defaults of some of its well-known parameters.
func without(t *Template, drop func(Param) bool) *Template {
	out := *t
	out.Params = slices.Clone(t.Params)
	for i := range out.Params {
		if _, wellKnown := setting.OfPlaceholder(out.Params[i].Name); wellKnown && drop(out.Params[i]) {
			out.Params[i].setDefault(nil)
		}
	}
	return &out
}

// objectTrial checks finished objects. trees are what they were made of: they say where
// the faults are, and which only follow from others.
func objectTrial(s *settings, trees []*manifest.Node, objects []map[string]any) (found []error) {
	f := &objectFaults{}
	f.checkAll(s, objects)
	// An alias brings the same field to several places of the objects.
	type spot struct {
		line, column int
		field        string
	}
	told := map[spot]bool{}
	for _, fault := range f.found {
		w := follow(trees[fault.object], fault.path)
		at := spot{w.line, w.column, w.field}
		if w.faulty || told[at] && at.line > 0 || explained(trees[fault.object], fault, w.end) {
			continue
		}
		told[at] = true
		found = append(found, manifest.Faultf(at.line, "%v", fault).Col(at.column))
	}
	return found
}

// way is how far a path leads in a tree.
type way struct {
	end          *manifest.Node // nil where the path leads further than the tree
	line, column int            // of the field, or of what is nearest above it
	field        string         // the last part of the path
	faulty       bool           // something on the way has a fault
}

func follow(n *manifest.Node, path string) way {
	w := way{faulty: n.Faulty, line: n.Line, column: n.Column}
	steps, err := parsePath(path)
	if err != nil {
		return w
	}
	w.field = steps[len(steps)-1].key
	for _, s := range steps {
		switch {
		case s.list && s.index < len(n.Items):
			n = n.Items[s.index]
			w.line, w.column = n.Line, n.Column
		case !s.list && n.Get(s.key) != nil:
			at := slices.IndexFunc(n.Fields, func(f manifest.Field) bool { return f.Key == s.key })
			w.line, w.column = n.Fields[at].Line, n.Fields[at].Column
			n = n.Fields[at].Value
		default:
			return w
		}
		w.faulty = w.faulty || n.Faulty
	}
	w.end = n
	return w
}

// explained tells a fault that follows from what is wrong elsewhere.
func explained(tree *manifest.Node, f *objectFault, at *manifest.Node) bool {
	return slices.ContainsFunc(f.unless, func(path string) bool {
		if path == below {
			return at != nil && spoiltBelow(at)
		}
		return follow(tree, path).faulty
	})
}

// spoiltBelow tells whether a map or list below a node has a fault.
func spoiltBelow(n *manifest.Node) bool {
	for _, f := range n.Fields {
		if f.Value.Kind != manifest.ScalarNode && (f.Value.Faulty || spoiltBelow(f.Value)) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *manifest.Node) bool { return item.Faulty || spoiltBelow(item) })
}
