package templates

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// Render makes the objects of a submission: the template with its placeholders
// filled in and the values laid over. It changes neither t nor v, and the same
// input gives the same output. Errors about the values have exit code Usage.
func (t *Template) Render(v Values) (Result, error) {
	if err := v.check(); err != nil {
		return Result{}, err
	}
	if strings.TrimSpace(v.Name) != v.Name {
		return Result{}, errs.Usagef("the name %s has blanks around it", manifest.QuoteText(v.Name))
	}
	draft, err := t.draft(v)
	if err != nil {
		return Result{}, err
	}
	s, err := t.settings(v, draft)
	if err != nil {
		return Result{}, err
	}
	values, err := s.params(t, draft)
	if err != nil {
		return Result{}, err
	}
	objects, f, err := t.fillAll(values)
	if err != nil {
		return Result{}, err
	}
	for _, o := range objects {
		jobobject.Strip(o)
	}
	fixed, faults := t.fixedValues(objects)
	if len(faults) > 0 {
		return Result{}, manifest.Broken(t.Source, faults...)
	}
	job, at, err := s.pickJob(objects)
	if err != nil {
		return Result{}, err
	}
	if job != nil {
		if err := s.layJob(t, job); err != nil {
			return Result{}, err
		}
	}
	s.layObjects(objects)
	if len(t.Text) > manifest.MaxObject {
		s.noteSizes(objects)
	}
	target := objects[max(at, 0)]
	if err := s.setPaths(target); err != nil {
		return Result{}, err
	}
	if err := t.finish(s, f, objects); err != nil {
		return Result{}, err
	}
	if err := t.checkFixedValues(fixed, objects); err != nil {
		return Result{}, err
	}
	result := s.result(objects, at)
	result.fixed = fixed
	return result, nil
}

// draft is the job with everything filled in that needs no computing, to read
// from it what the manifest says. nil when there is no job.
func (t *Template) draft(v Values) (*jobobject.View, error) {
	given, _, err := t.splitSet(v)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, p := range t.Params {
		if p.Default != nil {
			values[p.Name] = p.value()
		}
	}
	for name, g := range given {
		values[name] = g
	}
	f := &filler{values: values}
	for _, d := range t.docs {
		if _, ok := kinds.JobFor(d.Get("apiVersion").Str(), d.Get("kind").Str()); ok {
			o, _ := f.fill(d, manifest.Place{}).Plain().(map[string]any)
			if view, ok := jobobject.Of(o); ok {
				return view, nil
			}
		}
	}
	return nil, nil
}

// params returns the value of every parameter that has one: as given, else by
// the flag that means the same or computed, else the template's default.
func (s *settings) params(t *Template, job *jobobject.View) (map[string]any, error) {
	values := map[string]any{}
	for name, g := range s.given {
		values[name] = g
	}
	for _, p := range t.Params {
		if _, given := values[p.Name]; given {
			continue
		}
		if v, ok := s.wellKnown(p, job); ok {
			typed := v
			if p.Declared && !(p.Name == pEntryScript && s.needsNoScript()) {
				var err error
				if typed, err = p.convert(v); err != nil {
					return nil, errs.Usagef("%s: %v", p.Flag, err)
				}
			}
			values[p.Name] = typed
		} else if p.Default != nil {
			values[p.Name] = p.value()
		} else if p.Declared && !p.Required {
			values[p.Name] = p.empty()
		}
	}
	return values, nil
}

// needsNoScript: a program of its own is started, as it is.
func (s *settings) needsNoScript() bool {
	return s.EntryScript == "" && s.Values.Command != "" && program(s.command) != "torchrun"
}

// empty is the value of a parameter that nobody gives and that need not be given:
// empty text, no items, or no value at all.
func (p Param) empty() any {
	switch p.Type {
	case "string":
		return ""
	case "list":
		return []any{}
	}
	return nil
}

// wellKnown returns the value of a well-known parameter. Where nothing says a
// number, a template that declares the parameter gets the fallback; a
// placeholder that nobody declared is missing.
func (s *settings) wellKnown(p Param, job *jobobject.View) (any, bool) {
	c, ok := canonical(p.Name)
	if !ok {
		return nil, false
	}
	text := func(v string) (any, bool) { return v, v != "" }
	list := func(v []string) (any, bool) { return manifest.AnyList(v), true }
	number := func(a amount) (any, bool) { return int64(a.n), a.known }
	switch c {
	case pJobName:
		return text(s.name)
	case pNamespace:
		return text(s.Namespace)
	case pImage, pRdzvBackend, pRdzvEndpoint, pResults, pCleanPods:
		return s.flagValue(c) // nothing but the flag says it
	case pInstanceType:
		return text(s.instanceType)
	case pNodeCount:
		return number(s.nodes)
	case pTasks:
		return int64(s.tasks.n), s.tasks.known || p.Declared
	case pAccelerators:
		return number(s.devices)
	case pEFA:
		return number(s.efa)
	case pProcesses:
		return int64(s.nodes.n * s.tasks.n), s.nodes.known && s.tasks.known || p.Declared
	case pCommand:
		return manifest.AnyList(s.command), s.Values.Command != ""
	case pEntryScript:
		if s.needsNoScript() {
			return []any{}, true
		}
		return text(s.EntryScript)
	case pScriptArgs:
		return manifest.AnyList(s.args), len(s.ScriptArgs) > 0
	case pTorchrun:
		return list(s.torchrunFlags(job))
	case pMpirun:
		return list(s.mpirunFlags(s.environmentNames(job)))
	}
	return nil, false
}

// fillAll fills the placeholders of every document in and checks the result
// against the kinds' fields.
func (t *Template) fillAll(values map[string]any) ([]map[string]any, *filler, error) {
	trees, f, faults := t.fillTrees(values, 0)
	if len(faults) > 0 {
		return nil, nil, errs.Wrap(manifest.Broken(t.Source, faults...), "the values do not fit").WithCode(errs.Usage)
	}
	var objects []map[string]any
	for _, n := range trees {
		o, _ := n.Plain().(map[string]any)
		objects = append(objects, o)
	}
	return objects, f, nil
}

// fillTrees is fillAll for trees that know their lines; most bounds how many faults are
// looked for (see schema.Report).
func (t *Template) fillTrees(values map[string]any, most int) (trees []*manifest.Node, f *filler, faults []error) {
	f = &filler{values: values}
	r := &schema.Report{Most: most}
	for _, d := range t.docs {
		filled := f.fill(d, manifest.Place{})
		schema.Check(filled, r, true)
		trees = append(trees, filled)
	}
	return trees, f, append(f.faults, r.Faults...)
}

// pickJob finds the one job among the objects.
func (s *settings) pickJob(objects []map[string]any) (*jobobject.View, int, error) {
	var job *jobobject.View
	at, found := -1, []string{}
	for i, o := range objects {
		if view, ok := jobobject.Of(o); ok {
			found = append(found, manifest.TextOf(o["kind"])+" "+manifest.TextOf(jobobject.Inner(o, "metadata")["name"]))
			if job == nil {
				job, at = view, i
			}
		}
	}
	if len(found) > 1 {
		return nil, -1, errs.Usagef("the manifest holds %d jobs, and one can be started at a time", len(found)).WithFact("jobs", strings.Join(found, ", ")).
			WithAdvice("make a file for each of them")
	}
	if job == nil {
		if flag := s.jobLevel(); flag != "" {
			return nil, -1, errs.Usagef("%s needs a job to be laid over, and the manifest holds none", flag)
		}
		if s.Name != "" {
			if len(objects) > 1 {
				return nil, -1, errs.Usagef("--name needs a job, and the manifest holds %d objects without one", len(objects))
			}
			jobobject.Child(objects[0], "metadata")["name"] = s.Name
		}
	}
	return job, at, nil
}

// finish checks the objects as they will be sent.
func (t *Template) finish(s *settings, f *filler, objects []map[string]any) error {
	if missing := t.missing(f, objects); len(missing) > 0 {
		return t.missingError(missing)
	}
	r := &schema.Report{}
	for i, o := range objects {
		n := manifest.FromPlain(o)
		schema.Check(n, r, true)
		objects[i], _ = n.Plain().(map[string]any)
	}
	if len(r.Faults) > 0 {
		return errs.Wrap(manifest.Broken("the finished objects", r.Faults...), "the values do not fit").WithCode(errs.Usage)
	}
	for _, o := range objects {
		n := manifest.FromPlain(o)
		manifest.Visit(n, manifest.Place{}, func(n *manifest.Node, at manifest.Place) {
			if m, ok := at.Whole(n.Str()); ok && at.Script {
				s.notef("$%s stays as it is in %s: no parameter of that name is given", m.Name, at.Path)
			}
		})
		for _, note := range t.shellsOwn(n) {
			s.notef("%s", note)
		}
	}
	faults := &objectFaults{}
	job := faults.checkAll(s, objects)
	if err := faults.err(); err != nil || job == nil {
		return err
	}
	s.noteCounts(job)
	s.noteTypes(job)
	s.noteImages(job)
	return nil
}

// missing returns the parameters that are still needed: declared and required
// without a value, or left where only a value makes sense.
func (t *Template) missing(f *filler, objects []map[string]any) []string {
	var order []string
	left := map[string]bool{}
	look := func(text string, at manifest.Place) {
		for _, m := range at.Mentions(text) {
			if !at.Script && !left[m.Name] {
				left[m.Name] = true
				order = append(order, m.Name)
			}
		}
	}
	for _, o := range objects {
		n := manifest.FromPlain(o)
		manifest.Visit(n, manifest.Place{}, func(n *manifest.Node, at manifest.Place) { look(n.Str(), at) })
		manifest.VisitKeys(n, manifest.Place{}, func(fl manifest.Field, at manifest.Place) { look(fl.Key, at) })
	}
	var out []string
	listed := map[string]bool{}
	for _, p := range t.Params {
		if _, has := f.values[p.Name]; !has && (p.Declared && p.Required || left[p.Name]) {
			listed[p.Name] = true
			out = append(out, p.Name)
		}
	}
	for _, name := range order {
		if _, has := f.values[name]; !has && !listed[name] {
			out = append(out, name)
		}
	}
	return out
}

func (s *settings) result(objects []map[string]any, job int) Result {
	r := Result{Objects: objects, Job: job, InstanceType: s.instanceType, NodeCount: s.nodes.n, TasksPerNode: s.tasks.n, Accelerators: s.devices.n}
	if s.devices.n > 0 {
		r.AcceleratorResource = s.resource
	}
	if job >= 0 {
		view, _ := jobobject.Of(objects[job])
		r.NodeCount = view.Nodes()
		if s.hasType && s.typ.Accelerators > 0 && s.devices.n == 0 {
			s.notef("no accelerator is asked for on %s", s.instanceType)
		}
		if !s.sized && s.devices.n == 0 && asksNothing(view) {
			s.notef("no accelerator is asked for; --instance-type or --accelerators asks for some")
		}
	}
	r.Notices = s.notices
	return r
}

// asksNothing tells whether no training pod asks for anything that Kueue could count.
func asksNothing(j *jobobject.View) bool {
	for _, r := range j.Roles() {
		if r.Trains && len(jobobject.Inner(jobobject.Container(r.Pod()), "resources", "requests")) > 0 {
			return false
		}
	}
	return true
}

// Namespace returns the namespace that the manifest states once the parameters
// are filled in, "" when it states none. A caller that has no namespace of its
// own to give uses it.
func (t *Template) Namespace(v Values) string { return t.stated(v, "namespace") }

// GenerateName returns the beginning of a name that the manifest asks the server
// to complete; "" when it has a name of its own or neither.
func (t *Template) GenerateName(v Values) string {
	if t.stated(v, "name") != "" {
		return ""
	}
	return t.stated(v, "generateName")
}

// Label returns a label that the manifest itself gives its job, "" when none.
func (t *Template) Label(v Values, name string) string { return t.stated(v, "labels", name) }

// stated returns a text below the job's metadata once the parameters are filled
// in, "" when there is none.
func (t *Template) stated(v Values, path ...string) string {
	draft, err := t.draft(v)
	if err != nil || draft == nil {
		return ""
	}
	last := len(path) - 1
	text := manifest.TextOf(jobobject.Inner(draft.Object, append([]string{"metadata"}, path[:last]...)...)[path[last]])
	if manifest.Unfilled(text) {
		return ""
	}
	return text
}
