package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Plan is the state of one rendering: the given values, and what follows from them, the parameters, the
// manifest and the instance type.
type Plan struct {
	Template *parse.Template
	values.Values
	given map[string]any         // parameters that were given, typed
	Paths []fieldpath.Assignment // --set of paths

	name      string
	Launcher  []string // the program that starts the training, as words
	Arguments []string // the script's arguments

	Nodes, Tasks, Devices, EFADevices Amount

	rdzv values.Rendezvous
	// Ranked reports that the launching command uses the rank of the pod's node.
	Ranked bool

	NodeType string
	Type     instances.Type // the zero value when no type is known
	HasType  bool
	Resource string // what the accelerators are counted in
	// Sized reports that something sets the size of the pods, so that resources which the
	// manifest omits are filled in.
	Sized bool

	Notices []string
}

// Amount is a number in a job. known: a flag, a parameter, the manifest or the instance type gives it, so it is
// not a fallback. apply: write it into the manifest. It is false for a parameter with a placeholder, which
// already puts the value where the author of the manifest wants it.
type Amount struct {
	N     int
	known bool
	Apply bool
}

// Notef adds a note for the user.
func (s *Plan) Notef(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.Notices, n) {
		s.Notices = append(s.Notices, n)
	}
}

// New completes the values. job is the job of the manifest with given values and defaults filled in, nil if
// there is none.
func New(t *parse.Template, v values.Values, job *jobobject.View) (*Plan, error) {
	s := &Plan{Values: v, Template: t, name: v.Name}
	var err error
	if s.given, s.Paths, err = splitSet(t, v); err != nil {
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
	if s.NodeType = v.InstanceType; s.NodeType == "" && t.Declares(setting.InstanceType) {
		value, _ := s.fromParameters(setting.InstanceType)
		s.NodeType = manifest.TextOf(value)
	}
	if err := s.findType(); err != nil {
		return nil, err
	}
	if err := s.findCommand(); err != nil {
		return nil, err
	}
	if s.Nodes, err = s.amount(setting.NodeCount, v.NodeCount, 1); err != nil {
		return nil, err
	}
	if job != nil && v.NodeCount == nil {
		if n, states := job.States(); states && !s.Nodes.Apply {
			s.Nodes = Amount{N: n, known: true}
		}
	}
	s.Nodes.N = max(s.Nodes.N, 1)
	if err := s.meetingPoint(job); err != nil {
		return nil, err
	}
	if err := s.countDevices(job); err != nil {
		return nil, err
	}
	return s, nil
}

// splitSet divides --set into parameters and paths, and converts the parameters to their types.
func splitSet(t *parse.Template, v values.Values) (given map[string]any, paths []fieldpath.Assignment, err error) {
	given = map[string]any{}
	put := func(name string, value any) error {
		p, ok := t.Param(name)
		if !ok {
			p = parse.Param{Name: name}
		}
		typed, err := p.Convert(value)
		if err != nil {
			return errs.Usagef("parameter %s: %v", name, err)
		}
		given[name] = typed
		return nil
	}
	for _, name := range manifest.SortedKeys(v.Params) {
		if !t.Knows(name) {
			return nil, nil, t.Unknown(name)
		}
		if err := put(name, v.Params[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range v.Set {
		switch {
		case t.Knows(a.Key):
			if err := put(a.Key, a.Value); err != nil {
				return nil, nil, err
			}
		case !strings.ContainsAny(a.Key, `.["`):
			return nil, nil, t.UnknownSet(a)
		default:
			paths = append(paths, a)
		}
	}
	return given, paths, nil
}

// Given reports whether a parameter has a value given by its name.
func (s *Plan) Given(name string) bool {
	_, ok := s.given[name]
	return ok
}

// conflicts returns an error if a flag and a parameter give different values.
func (s *Plan) conflicts() error {
	texts := map[setting.Setting]string{setting.Image: s.Image, setting.InstanceType: s.InstanceType, setting.EntryScript: s.EntryScript, setting.ResultsDir: s.ResultsDir}
	for _, a := range s.Set {
		c, ok := setting.OfPlaceholder(a.Key)
		if flag := texts[c]; ok && s.Template.Knows(a.Key) && flag != "" && flag != a.Value {
			return errs.Usagef("%s is %s and parameter %s is %s", c, flag, a.Key, a.Value).WithAdvice("set only one of them")
		}
	}
	for _, f := range []struct {
		name setting.Setting
		flag *int
	}{{setting.NodeCount, s.NodeCount}, {setting.TasksPerNode, s.TasksPerNode}, {setting.Accelerators, s.Accelerators}, {setting.EFA, s.EFA}} {
		for _, p := range s.Template.Params {
			c, ok := setting.OfPlaceholder(p.Name)
			g, given := s.given[p.Name]
			if ok && c == f.name && given && f.flag != nil && manifest.TextOf(g) != fmt.Sprint(*f.flag) {
				return errs.Usagef("%s is %d and parameter %s is %s", p.Flag, *f.flag, p.Name, manifest.AsTyped(g)).WithAdvice("set only one of them")
			}
		}
	}
	return nil
}

// fromParameters returns the value of a setting from parameters, not flags: given by any of its names, or the
// default of the template. used reports whether the manifest has a placeholder for it.
func (s *Plan) fromParameters(name setting.Setting) (value any, used bool) {
	for _, p := range s.Template.Params {
		if c, ok := setting.OfPlaceholder(p.Name); !ok || c != name {
			continue
		}
		if g, ok := s.given[p.Name]; ok {
			return g, s.Template.Uses(name)
		}
		if value == nil {
			value = p.DefaultAsWritten()
		}
	}
	return value, s.Template.Uses(name)
}

// amount reads a number from its flag or else from its parameter.
func (s *Plan) amount(name setting.Setting, flag *int, least int) (Amount, error) {
	a := Amount{known: true, Apply: true}
	if flag != nil {
		a.N = *flag
	} else {
		v, used := s.fromParameters(name)
		if v == nil || v == "" {
			return Amount{}, nil
		}
		n, ok := manifest.Count(v)
		if !ok {
			return a, name.NotANumber(manifest.TextOf(v))
		}
		a.N, a.Apply = n, !used
	}
	if a.N < least || a.N > 1_000_000 {
		return a, name.OutOfRange(a.N, least, 1_000_000)
	}
	return a, nil
}
