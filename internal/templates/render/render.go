package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/origin"
	"github.com/hyperpod-cli/hyperpod/internal/templates/overlay"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/validate"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Objects renders the objects of a submission: the template with its placeholders filled in and the values
// applied. It changes neither t nor v, and the same input gives the same output. Errors about the values have
// exit code Usage.
func Objects(t *parse.Template, v values.Values) (Result, error) {
	if err := v.Check(); err != nil {
		return Result{}, err
	}
	if strings.TrimSpace(v.Name) != v.Name {
		return Result{}, setting.Name.Invalid(v.Name, "must not start or end with blanks")
	}
	draft, err := resolve.Draft(t, v)
	if err != nil {
		return Result{}, err
	}
	s, err := resolve.New(t, v, draft)
	if err != nil {
		return Result{}, err
	}
	params, err := s.ParameterValues(draft)
	if err != nil {
		return Result{}, err
	}
	result, more, err := objectsOf(t, s, params)
	if len(more) > 0 {
		maps.Copy(params, more)
		if s, err = resolve.New(t, v, draft); err == nil {
			result, _, err = objectsOf(t, s, params)
		}
	}
	return result, err
}

// objectsOf renders the objects with the values of the parameters. more are values of further parameters, with
// which the caller must render the objects again.
func objectsOf(t *parse.Template, s *resolve.Plan, params map[string]any) (r Result, more map[string]any, err error) {
	objects, trees, f, err := fillAll(t, params)
	if err != nil {
		return Result{}, nil, err
	}
	for _, o := range objects {
		jobobject.Strip(o)
	}
	kept, faults := fixed.Of(t, objects)
	if len(faults) > 0 {
		return Result{}, nil, manifest.Broken(t.Source, faults...)
	}
	job, at, err := pickJob(s, objects)
	if err != nil {
		return Result{}, nil, err
	}
	jobobject.Unfold(objects)
	if job != nil {
		if err := overlay.Job(s, job); err != nil {
			return Result{}, nil, err
		}
	}
	overlay.Objects(s, objects)
	if err := jobobject.Fold(objects); err != nil {
		return Result{}, nil, err
	}
	if len(t.Text) > manifest.MaxObject {
		noteSizes(s, objects)
	}
	target := objects[max(at, 0)]
	if err := overlay.Paths(s, target); err != nil {
		return Result{}, nil, err
	}
	if more := inferred(t, params, objects); len(more) > 0 {
		return Result{}, more, nil
	}
	if err := finish(t, s, f, trees, objects); err != nil {
		return Result{}, nil, err
	}
	if err := fixed.Check(t, kept, objects); err != nil {
		return Result{}, nil, err
	}
	r = result(s, objects, at)
	r.fixed = kept
	if at >= 0 && at < len(t.Docs) {
		record := origin.Of(t, t.Docs[at], f.Values, objects[at])
		record.AddVariables(s.Swept, objects[at])
		r.Origin = record.String()
	}
	return r, nil, nil
}

// fillAll fills the placeholders of every document in and checks the result
// against the kinds' fields.
func fillAll(t *parse.Template, values map[string]any) ([]map[string]any, []*manifest.Node, *parse.Filler, error) {
	trees, f, faults := fillTrees(t, values, 0)
	if len(faults) > 0 {
		return nil, nil, nil, errs.Wrap(manifest.Broken(t.Source, faults...), "invalid values").WithCode(errs.Usage)
	}
	var objects []map[string]any
	for _, n := range trees {
		o, _ := n.Plain().(map[string]any)
		objects = append(objects, o)
	}
	return objects, trees, f, nil
}

// fillTrees is fillAll for trees with line numbers. most limits the number of faults (see schema.Report).
func fillTrees(t *parse.Template, values map[string]any, most int) (trees []*manifest.Node, f *parse.Filler, faults []error) {
	f = &parse.Filler{Values: values}
	r := &schema.Report{Most: most, Allow: t.Allow}
	for _, d := range t.Docs {
		filled := f.Fill(d, manifest.Location{})
		schema.Check(filled, r, true)
		trees = append(trees, filled)
	}
	return trees, f, append(f.Faults, r.Faults...)
}

// finish checks the objects as they will be sent. trees are those that they were made from.
func finish(t *parse.Template, s *resolve.Plan, f *parse.Filler, trees []*manifest.Node, objects []map[string]any) error {
	wrong, allowed := splitAllowed(unsetPlaceholders(t, objects, f.Values, s.AllowUnset))
	if missing := missing(t, f, objects); len(missing)+len(wrong) > 0 {
		return missingError(t, missing, wrong)
	}
	r := &schema.Report{Allow: t.Allow}
	for i, o := range objects {
		n := manifest.FromPlain(o)
		schema.Check(n, r, true)
		objects[i], _ = n.Plain().(map[string]any)
	}
	if len(r.Faults) > 0 {
		return errs.Wrap(manifest.Broken("the finished objects", r.Faults...), "invalid values").WithCode(errs.Usage)
	}
	noteUnreplaced(t, s, objects, allowed)
	faults := &validate.Faults{}
	job := faults.CheckAll(s, objects)
	if err := placed(t, faults, trees, objects); err != nil || job == nil {
		return err
	}
	validate.NoteCounts(s, job)
	validate.NoteTypes(s, job)
	validate.NoteImages(s, job)
	return nil
}

// noteUnreplaced notes the placeholders that stay in texts of programs.
func noteUnreplaced(t *parse.Template, s *resolve.Plan, objects []map[string]any, allowed []unset) {
	for _, u := range allowed {
		s.Notef("$%s in %s is not replaced: the parameter has no value", u.name, u.path)
	}
	for _, o := range objects {
		n := manifest.FromPlain(o)
		manifest.Visit(n, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
			if m, ok := at.Whole(n.Str()); ok && at.Script && !slices.ContainsFunc(allowed, func(u unset) bool { return u.name == m.Name }) {
				if _, set := s.Environment[m.Name]; set {
					s.Notef("$%s in %s is not replaced unless a shell runs the command; use $(%s) for the value", m.Name, at.Path, m.Name)
					return
				}
				s.Notef("$%s in %s is not replaced: the parameter has no value", m.Name, at.Path)
			}
		})
		for _, note := range t.ShellNotes(n) {
			s.Notef("%s", note)
		}
	}
}

func result(s *resolve.Plan, objects []map[string]any, job int) Result {
	r := Result{Objects: objects, Job: job, InstanceType: s.NodeType, NodeCount: s.Nodes.N, TasksPerNode: s.Tasks.N, Accelerators: s.Devices.N}
	if s.Devices.N > 0 {
		r.AcceleratorResource = s.Resource
	}
	if job >= 0 {
		view, _ := jobobject.Of(objects[job])
		r.NodeCount = view.Nodes()
		if s.HasType && s.Type.Accelerators > 0 && s.Devices.N == 0 {
			s.Notef("the job requests no accelerators on %s", s.NodeType)
		}
		if !s.Sized && !view.Kind.OthersPods(view.Object) && view.Kind.Runtime == nil && s.Devices.N == 0 && asksNothing(view) {
			s.Notef("the job requests no accelerators; set %s or %s to request some", setting.InstanceType, setting.Accelerators)
		}
	}
	r.Notices = s.Notices
	return r
}

// asksNothing reports whether no training pod requests anything that Kueue could count; of
// a job without training pods, such as a Ray cluster that is only a head, whether no pod
// does. Kubernetes takes limits for requests that are not set.
func asksNothing(j *jobobject.View) bool {
	roles := j.Roles()
	trains := slices.ContainsFunc(roles, func(r jobobject.Role) bool { return r.Trains })
	return !slices.ContainsFunc(roles, func(r jobobject.Role) bool {
		of := jobobject.Container(r.Pod())
		return (r.Trains || !trains) && len(jobobject.Inner(of, "resources", "requests"))+len(jobobject.Inner(of, "resources", "limits")) > 0
	})
}
