package render

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/overlay"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/validate"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// trial renders the template with its own values and returns the faults of the result. Values that only its
// users know stay open. complete reports that no document is missing. keep chooses among the faults of objects.
func trial(t *parse.Template, complete bool, keep func(*validate.Fault) bool) (found []error) {
	v := madeUp(t)
	draft, err := resolve.Draft(t, v)
	if err != nil {
		return []error{err}
	}
	t, s, found := settledPlan(t, v, draft)
	if s == nil {
		return found
	}
	values, err := s.ParameterValues(draft)
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
	var kept []fixed.Value
	if complete {
		kept, faults = fixed.Of(t, objects)
		found = append(found, faults...)
	}
	tell := func(err error) {
		if err != nil {
			found = append(found, err)
		}
	}
	job, _, all := jobobject.Main(objects)
	if job != nil {
		tell(overlay.Job(s, job))
	}
	names := map[string]bool{}
	for _, i := range all {
		name := manifest.TextOf(objects[i]["kind"]) + " " + manifest.TextOf(jobobject.Inner(objects[i], "metadata")["name"])
		if names[name] {
			found = append(found, manifest.Faultf(trees[i].Line, "a second %s: give each job its own name", name).Col(trees[i].Column))
		}
		names[name] = true
	}
	overlay.Objects(s, objects)
	for _, fault := range objectTrial(s, trees, objects) {
		if keep(fault) {
			found = append(found, fault.Line())
		}
	}
	tell(fixed.Check(t, kept, objects))
	return found
}

// madeUp returns the values of a trial: a name if the manifest has none, and lists, because a placeholder
// cannot replace one. All other values stay open, and what depends on them is not checked.
func madeUp(t *parse.Template) values.Values {
	v := values.Values{Params: map[string]any{}}
	if d := t.JobNode(); parse.IsJobKind(d.Get("kind").Str()) {
		if name := d.Get("metadata").Get("name").Str(); name == "" || manifest.Unfilled(name) {
			v.Name = validate.MadeUpName
		}
	}
	for _, p := range t.Params {
		c, _ := setting.OfPlaceholder(p.Name)
		switch {
		case p.Default != nil || p.Declared && !p.Required:
		case len(p.Enum) > 0:
			v.Params[p.Name] = p.Enum[0]
		case p.Type == "list", parse.TypeOf[c] == "list":
			v.Params[p.Name] = []any{"1"}
		}
	}
	return v
}

// settledPlan returns the plan of the template's own values, and the template without the defaults that prevent
// a plan: each of them is a fault at its declaration. The plan is nil if nothing helps.
func settledPlan(t *parse.Template, v values.Values, draft *jobobject.View) (*parse.Template, *resolve.Plan, []error) {
	s, err := resolve.New(t, v, draft)
	if err == nil {
		return t, s, nil
	}
	var found []error
	wrong := map[string]bool{}
	for _, p := range t.Params {
		if _, wellKnown := setting.OfPlaceholder(p.Name); !wellKnown || p.Default == nil {
			continue
		}
		alone := without(t, func(q parse.Param) bool { return q.Name != p.Name })
		if _, err := resolve.New(alone, v, draft); err != nil {
			wrong[p.Name] = true
			found = append(found, manifest.Faultf(p.Line, "parameter %s: invalid default: %v", p.Name, err).Col(p.Column))
		}
	}
	good := without(t, func(p parse.Param) bool { return wrong[p.Name] })
	if s, err = resolve.New(good, v, draft); err == nil {
		return good, s, found
	}
	found = append(found, err)
	bare := without(t, func(parse.Param) bool { return true })
	s, err = resolve.New(bare, v, draft)
	if err != nil {
		return t, nil, found
	}
	return bare, s, found
}

// without returns the template without the defaults of some of its well-known parameters.
func without(t *parse.Template, drop func(parse.Param) bool) *parse.Template {
	out := *t
	out.Params = slices.Clone(t.Params)
	for i := range out.Params {
		if _, wellKnown := setting.OfPlaceholder(out.Params[i].Name); wellKnown && drop(out.Params[i]) {
			out.Params[i].SetDefault(nil)
		}
	}
	return &out
}

// objectTrial checks finished objects. trees are their sources, with the positions of faults.
func objectTrial(s *resolve.Plan, trees []*manifest.Node, objects []map[string]any) []*validate.Fault {
	f := &validate.Faults{}
	f.CheckAll(s, objects)
	place(f, trees, func(*validate.Fault, fieldpath.Way) bool { return true })
	return f.Found
}
