package templates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// checkFixed makes sure that a fixed parameter has a value, and is none that the
// place of the job decides.
func (p Param) checkFixed(f manifest.Field) error {
	c, _ := canonical(p.Name)
	switch {
	case !p.Fixed:
		return nil
	case p.Default == nil || p.Required:
		return manifest.Faultf(f.Line, "parameter %s: what is fixed has a default and is not required", p.Name).Col(f.Column)
	case slices.Contains([]string{pJobName, pNamespace, pTorchrun, pMpirun, pProcesses}, c):
		return manifest.Faultf(f.Line, "parameter %s cannot be fixed: each job has its own", p.Name).Col(f.Column)
	}
	return nil
}

// checkFixedParams refuses other values than the template's for parameters that
// it fixes, given by name or by the flag that means the same.
func (t *Template) checkFixedParams(s *settings) error {
	for _, p := range t.Params {
		if !p.Fixed {
			continue
		}
		have := manifest.TextOf(p.value())
		refuse := func(how, want string) error {
			return errs.Usagef("%s fixes %s to %s, and %s says %s", t.called(), p.Name, manifest.AsTyped(have), how, manifest.AsTyped(want)).
				WithAdvice("leave " + how + " out")
		}
		if g, given := s.given[p.Name]; given && manifest.TextOf(g) != have {
			return refuse("--set "+p.Name, manifest.TextOf(g))
		}
		if want, given := s.flagValue(p.Name); given && want != have &&
			!(p.Flag == "--instance-type" && instances.Full(want) == instances.Full(have)) {
			return refuse(p.Flag, want)
		}
	}
	return nil
}

func (t *Template) called() string {
	if t.Name == "" {
		return "the template"
	}
	return "template " + t.Name
}

// flagValue returns what a flag says about a well-known parameter.
func (s *settings) flagValue(name string) (string, bool) {
	number := func(n *int) (string, bool) {
		if n == nil {
			return "", false
		}
		return fmt.Sprint(*n), true
	}
	text := func(v string) (string, bool) { return v, v != "" }
	c, _ := canonical(name)
	switch c {
	case pImage:
		return text(s.Image)
	case pInstanceType:
		return text(s.InstanceType)
	case pNodeCount:
		return number(s.NodeCount)
	case pTasks:
		return number(s.TasksPerNode)
	case pAccelerators:
		return number(s.Accelerators)
	case pEFA:
		return number(s.EFA)
	case pCommand:
		return text(s.Values.Command)
	case pEntryScript:
		return text(s.EntryScript)
	case pScriptArgs:
		return strings.Join(s.ScriptArgs, " "), len(s.ScriptArgs) > 0
	case pRdzvBackend:
		return text(s.Values.Rendezvous.Backend)
	case pRdzvEndpoint:
		return text(s.Values.Rendezvous.Endpoint)
	case pResults:
		return text(s.ResultsDir)
	case pCleanPods:
		return text(s.Values.RunPolicy.CleanPodPolicy)
	}
	return "", false
}

// fixedValue is what the manifest states at a fixed path, before anything is
// laid over it.
type fixedValue struct {
	path  string
	value any
	steps []step
}

// fixedValues reads the fixed paths from the job, or from the only object where
// there is no job. Paths that lead to nothing are faults of the template.
func (t *Template) fixedValues(objects []map[string]any) (out []fixedValue, faults []error) {
	if len(t.fixed) == 0 && !slices.ContainsFunc(t.Params, func(p Param) bool { return p.Fixed }) {
		return nil, nil
	}
	target, at := fixedTarget(objects)
	for _, f := range t.fixed {
		v, ok := lookup(target, f.steps)
		if !ok && !f.has {
			faults = append(faults, f.faultf("%s leads to nothing in the manifest%s; %s=VALUE fixes a value, %s=null that there is none",
				f.path, manifest.Meant(schema.NearPaths(t.jobNode(), f.path)), f.path, f.path))
			continue
		}
		out = append(out, fixedValue{f.path, jobobject.CopyOf(v), f.steps})
	}
	// The fields that a fixed parameter fills in are fixed as well.
	manifest.Visit(t.docs[at], manifest.Place{}, func(n *manifest.Node, p manifest.Place) {
		m, ok := p.Whole(n.Str())
		if param, known := t.Param(m.Name); !ok || !known || !param.Fixed {
			return
		}
		if steps, err := parsePath(p.Path); err == nil {
			if v, ok := lookup(target, steps); ok {
				out = append(out, fixedValue{p.Path, jobobject.CopyOf(v), steps})
			}
		}
	})
	return out, faults
}

// fixedTarget is the object that fixed paths lead into, and its place.
func fixedTarget(objects []map[string]any) (map[string]any, int) {
	for i, o := range objects {
		if _, ok := kinds.JobFor(manifest.TextOf(o["apiVersion"]), manifest.TextOf(o["kind"])); ok {
			return o, i
		}
	}
	return objects[0], 0
}

func lookup(v any, steps []step) (any, bool) {
	for _, s := range steps {
		if s.list {
			l, _ := v.([]any)
			if s.index >= len(l) {
				return nil, false
			}
			v = l[s.index]
			continue
		}
		m, _ := v.(map[string]any)
		next, ok := m[s.key]
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// checkFixedValues refuses a rendering in which a fixed field is not what the
// template says.
func (t *Template) checkFixedValues(fixed []fixedValue, objects []map[string]any) error {
	if len(fixed) == 0 {
		return nil
	}
	target, _ := fixedTarget(objects)
	for _, f := range fixed {
		now, _ := lookup(target, f.steps)
		if at, was, is, same := holds(f.path, f.value, now); !same {
			e := errs.Usagef("%s fixes %s to %s, and it would become %s", t.called(), at, fixedText(was), fixedText(is))
			if secret.Field("", at) {
				e = errs.Usagef("%s fixes %s, and it would become another value", t.called(), at)
			}
			return e.WithAdvice("leave out the option that changes it")
		}
	}
	return nil
}

// fixedText is a value in a message about fixed fields.
func fixedText(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case []any, map[string]any:
		return manifest.FromPlain(v).Describe(true)
	}
	return manifest.AsTyped(v)
}

// CheckFixed refuses objects that were changed after the rendering where the
// template fixes what they say.
func (t *Template) CheckFixed(rendered, changed Result) error {
	return t.checkFixedValues(rendered.fixed, changed.Objects)
}

// holds tells whether everything that was stated is still there, and else where
// not. A map may gain fields, and a list of named items may gain items; other
// lists stay as they are.
func holds(path string, was, is any) (at string, before, after any, same bool) {
	switch w := was.(type) {
	case map[string]any:
		m, ok := is.(map[string]any)
		if !ok {
			return path, was, is, false
		}
		for _, k := range manifest.SortedKeys(w) {
			if at, before, after, same := holds(manifest.JoinPath(path, k), w[k], m[k]); !same {
				return at, before, after, false
			}
		}
		return "", nil, nil, true
	case []any:
		l, ok := is.([]any)
		if !ok || len(l) < len(w) {
			return path, was, is, false
		}
		named := true
		for _, item := range w {
			m, _ := item.(map[string]any)
			named = named && manifest.TextOf(m["name"]) != ""
		}
		if !named && len(l) != len(w) {
			return path, was, is, false
		}
		for i, item := range w {
			other := l[i]
			if named {
				other = nil
				if found := byName(l, manifest.TextOf(item.(map[string]any)["name"])); found != nil {
					other = found
				}
			}
			if at, before, after, same := holds(manifest.Place{Path: path}.Item(i).Path, item, other); !same {
				return at, before, after, false
			}
		}
		return "", nil, nil, true
	}
	return path, was, is, manifest.TextOf(was) == manifest.TextOf(is)
}

func byName(list []any, name string) any {
	if m := jobobject.Named(list, name); m != nil {
		return m
	}
	return nil
}

// FixedPaths returns the paths that the template keeps to itself, as its header has
// them: PATH, or PATH=VALUE.
func (t *Template) FixedPaths() []string {
	out := make([]string, len(t.fixed))
	for i, f := range t.fixed {
		out[i] = f.text
	}
	return out
}
