package templates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobview"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// fixedPath is a path into the job that the template keeps to itself: what the
// manifest states there, or below, neither flags nor --set may change. With a value
// (PATH=VALUE) the header itself states it; null states that there is none.
type fixedPath struct {
	text  string // as it is written
	path  string
	steps []step
	line  int
	value *manifest.Node
	has   bool // a value is given; value is nil for null
}

func parseFixed(list *manifest.Node) ([]fixedPath, error) {
	if list.Kind != manifest.ListNode {
		return nil, manifest.Faultf(list.Line, "fixed is a list of paths such as spec.runPolicy, or of PATH=VALUE").Col(list.Column)
	}
	var out []fixedPath
	for _, item := range list.Items {
		f, why := newFixedPath(item.Str())
		if why != "" {
			return nil, manifest.Faultf(item.Line, "fixed: %s %s", manifest.QuoteText(manifest.TextOf(item.Plain())), why).Col(item.Column)
		}
		f.line = item.Line
		if f.value != nil {
			given(f.value, item.Line, item.Column)
		}
		out = append(out, f)
	}
	return out, nil
}

// newFixedPath reads PATH or PATH=VALUE; why says what is wrong with it.
func newFixedPath(text string) (f fixedPath, why string) {
	f = fixedPath{text: text, path: text}
	a, err := parseAssignment(text)
	if f.has = err == nil; f.has {
		f.path = a.Key
		if f.value, err = a.parsed(); err != nil {
			return f, "has a value that is not understood"
		}
	}
	if f.steps, err = parsePath(f.path); err != nil {
		return f, "is no path such as spec.runPolicy.backoffLimit"
	}
	top := f.steps[0].key
	if f.has && (top == "status" || top == "kind" || top == "apiVersion" || f.path == "metadata.name" || f.path == "metadata.namespace") {
		return f, "cannot be given a value"
	}
	return f, ""
}

// given makes a tree one that was given in another place than the manifest: its
// fields' types decide what its scalars are, as with --set.
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

// layFixed puts the values of the header into the manifest.
func (t *Template) layFixed() []error {
	var faults []error
	for _, f := range t.fixed {
		if f.has && !setNode(t.jobNode(), f.steps, f.value, f.line) {
			faults = append(faults, manifest.Faultf(f.line, "fixed: %s leads into something else than maps and lists, or past the end of a list", f.path))
		}
	}
	return faults
}

// setNode puts a value where the steps lead, nil for none. Maps on the way are
// made; a list takes a value at its end, not further.
func setNode(n *manifest.Node, steps []step, value *manifest.Node, line int) bool {
	s, last := steps[0], len(steps) == 1
	if s.list {
		if n.Kind != manifest.ListNode || s.index > len(n.Items) {
			return false
		}
		switch {
		case last && value == nil:
			if s.index < len(n.Items) {
				n.Items = slices.Delete(n.Items, s.index, s.index+1)
			}
			return true
		case value == nil && s.index == len(n.Items):
			return true // nothing is there
		case s.index == len(n.Items):
			n.Items = append(n.Items, emptyFor(steps[1:], line))
		}
		if last {
			n.Items[s.index] = value
			return true
		}
		return setNode(n.Items[s.index], steps[1:], value, line)
	}
	if n.Kind != manifest.MapNode {
		return false
	}
	at := slices.IndexFunc(n.Fields, func(f manifest.Field) bool { return f.Key == s.key })
	switch {
	case value == nil && at < 0:
		return true
	case last && value == nil:
		n.Fields = slices.Delete(n.Fields, at, at+1)
		return true
	case at < 0:
		n.Fields = append(n.Fields, manifest.Field{Key: s.key, Line: line, Column: 0, Value: emptyFor(steps[1:], line)})
		at = len(n.Fields) - 1
	case !last && n.Fields[at].Value.Kind == manifest.ScalarNode && n.Fields[at].Value.Value == nil:
		n.Fields[at].Value = emptyFor(steps[1:], line)
	}
	if last {
		n.Fields[at].Value = value
		return true
	}
	return setNode(n.Fields[at].Value, steps[1:], value, line)
}

// emptyFor is the empty map or list that the next step leads into.
func emptyFor(steps []step, line int) *manifest.Node {
	n := &manifest.Node{Kind: manifest.MapNode, Line: line}
	if len(steps) > 0 && steps[0].list {
		n.Kind = manifest.ListNode
	}
	return n
}

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
			return errs.Usagef("%s fixes %s to %s, and %s says %s", t.called(), p.Name, manifest.QuoteText(have), how, manifest.QuoteText(want)).
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
// there is no job. A path that leads to nothing is a fault of the template.
func (t *Template) fixedValues(objects []map[string]any) ([]fixedValue, error) {
	if len(t.fixed) == 0 && !slices.ContainsFunc(t.Params, func(p Param) bool { return p.Fixed }) {
		return nil, nil
	}
	target, at := fixedTarget(objects)
	var out []fixedValue
	for _, f := range t.fixed {
		v, ok := lookup(target, f.steps)
		if !ok && !f.has {
			return nil, manifest.Broken(t.Source, manifest.Faultf(f.line, "fixed: %s leads to nothing in the manifest%s; %s=VALUE fixes a value, %s=null that there is none",
				f.path, manifest.Meant(schema.NearPaths(t.jobNode(), f.path)), f.path, f.path))
		}
		out = append(out, fixedValue{f.path, jobview.CopyOf(v), f.steps})
	}
	// The fields that a fixed parameter fills in are fixed as well.
	manifest.Visit(t.docs[at], manifest.Place{}, func(n *manifest.Node, p manifest.Place) {
		m, ok := p.Whole(n.Str())
		if param, known := t.Param(m.Name); !ok || !known || !param.Fixed {
			return
		}
		if steps, err := parsePath(p.Path); err == nil {
			if v, ok := lookup(target, steps); ok {
				out = append(out, fixedValue{p.Path, jobview.CopyOf(v), steps})
			}
		}
	})
	return out, nil
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
			hide := secret.Field("", at)
			return errs.Usagef("%s fixes %s: it is %s, and would become %s", t.called(), at,
				manifest.FromPlain(was).Describe(hide), manifest.FromPlain(is).Describe(hide)).WithAdvice("leave out the option that changes it")
		}
	}
	return nil
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
	if m := jobview.Named(list, name); m != nil {
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
