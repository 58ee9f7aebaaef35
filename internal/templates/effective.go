package templates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// settings is what a rendering works with: the values as they were said, and
// what they, the parameters, the manifest and the instance type come to.
type settings struct {
	template *Template
	Values
	given map[string]any // parameters that were given, typed
	paths []Assignment   // --set of paths

	name    string
	command []string // the program that starts the training, as words
	args    []string // the script's arguments

	nodes, tasks, devices, efa amount

	rdzv Rendezvous
	// ranked: the launching command uses the rank of the pod's node.
	ranked bool

	instanceType string
	typ          instances.Type // the zero value when no type is known
	hasType      bool
	resource     string // what the accelerators are counted in
	// sized: something speaks of the pods' size, so that resources which the
	// manifest does not state are filled in.
	sized bool

	notices []string
}

// amount is a number of a job. known: a flag, a parameter, the manifest or the
// instance type says it, it is no mere fallback. apply: it is laid over the
// manifest. A parameter that the manifest has a placeholder for is not, as the
// placeholder takes it where the manifest's author wants it.
type amount struct {
	n     int
	known bool
	apply bool
}

func (s *settings) notef(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.notices, n) {
		s.notices = append(s.notices, n)
	}
}

// settings completes the values. job is the manifest's job with what was given
// and the defaults filled in, nil when there is none.
func resolve(t *Template, v Values, job *jobobject.View) (*settings, error) {
	s := &settings{Values: v, template: t, name: v.Name}
	var err error
	if s.given, s.paths, err = splitSet(t, v); err != nil {
		return nil, err
	}
	if err := s.conflicts(); err != nil {
		return nil, err
	}
	if err := s.checkFixedParams(); err != nil {
		return nil, err
	}
	if s.name == "" && job != nil {
		if s.name = manifest.TextOf(jobobject.Inner(job.Object, "metadata")["name"]); manifest.Unfilled(s.name) {
			s.name = ""
		}
	}
	if s.instanceType = v.InstanceType; s.instanceType == "" && t.declares(setting.InstanceType) {
		said, _ := s.said(setting.InstanceType)
		s.instanceType = manifest.TextOf(said)
	}
	if err := s.findType(); err != nil {
		return nil, err
	}
	if err := s.findCommand(); err != nil {
		return nil, err
	}
	if s.nodes, err = s.amount(setting.NodeCount, v.NodeCount, 1); err != nil {
		return nil, err
	}
	if job != nil && v.NodeCount == nil {
		if n, states := job.States(); states && !s.nodes.apply {
			s.nodes = amount{n: n, known: true}
		}
	}
	s.nodes.n = max(s.nodes.n, 1)
	if err := s.meetingPoint(job); err != nil {
		return nil, err
	}
	if err := s.countDevices(job); err != nil {
		return nil, err
	}
	return s, nil
}

// splitSet divides --set into parameters and paths, and types the parameters.
func splitSet(t *Template, v Values) (given map[string]any, paths []Assignment, err error) {
	given = map[string]any{}
	put := func(name string, value any) error {
		p, ok := t.Param(name)
		if !ok {
			p = Param{Name: name}
		}
		typed, err := p.convert(value)
		if err != nil {
			return errs.Usagef("parameter %s: %v", name, err)
		}
		given[name] = typed
		return nil
	}
	for _, name := range manifest.SortedKeys(v.Params) {
		if !t.knows(name) {
			return nil, nil, t.unknown(name)
		}
		if err := put(name, v.Params[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range v.Set {
		switch {
		case t.knows(a.Key):
			if err := put(a.Key, a.Value); err != nil {
				return nil, nil, err
			}
		case !strings.ContainsAny(a.Key, `.["`):
			return nil, nil, t.unknownSet(a)
		default:
			paths = append(paths, a)
		}
	}
	return given, paths, nil
}

// conflicts finds numbers that a flag and a parameter give differently.
func (s *settings) conflicts() error {
	for _, f := range []struct {
		name setting.Setting
		flag *int
	}{{setting.NodeCount, s.NodeCount}, {setting.TasksPerNode, s.TasksPerNode}, {setting.Accelerators, s.Accelerators}, {setting.EFA, s.EFA}} {
		for _, p := range s.template.Params {
			c, ok := setting.OfPlaceholder(p.Name)
			g, given := s.given[p.Name]
			if ok && c == f.name && given && f.flag != nil && manifest.TextOf(g) != fmt.Sprint(*f.flag) {
				return errs.Usagef("%s says %d and parameter %s says %s", p.Flag, *f.flag, p.Name, manifest.AsTyped(g)).WithAdvice("give it once")
			}
		}
	}
	return nil
}

// said returns what parameters, not flags, say about a well-known parameter:
// given by any of its names, else the template's default. used tells whether
// the manifest has a placeholder for it.
func (s *settings) said(name setting.Setting) (value any, used bool) {
	for _, p := range s.template.Params {
		if c, ok := setting.OfPlaceholder(p.Name); !ok || c != name {
			continue
		}
		if g, ok := s.given[p.Name]; ok {
			return g, s.template.uses(name)
		}
		if value == nil {
			value = p.value()
		}
	}
	return value, s.template.uses(name)
}

// amount reads a number from its flag or else from its parameter.
func (s *settings) amount(name setting.Setting, flag *int, least int) (amount, error) {
	a := amount{known: true, apply: true}
	if flag != nil {
		a.n = *flag
	} else {
		v, used := s.said(name)
		if v == nil || v == "" {
			return amount{}, nil
		}
		n, ok := manifest.Count(v)
		if !ok {
			return a, errs.Usagef("%s is %s, want a whole number", name, manifest.QuoteText(manifest.TextOf(v)))
		}
		a.n, a.apply = n, !used
	}
	if a.n < least || a.n > 1_000_000 {
		return a, errs.Usagef("%s is %d, want at least %d", name, a.n, least)
	}
	return a, nil
}
