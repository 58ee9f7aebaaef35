package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// ParameterValues returns the value of every parameter that has one: given by name, or by the flag with the
// same meaning, or computed, or the default of the template.
func (s *Plan) ParameterValues(job *jobobject.View) (map[string]any, error) {
	values := map[string]any{}
	for name, g := range s.given {
		values[name] = g
	}
	for _, p := range s.Template.Params {
		if _, given := values[p.Name]; given {
			continue
		}
		if v, ok := s.wellKnown(p, job); ok {
			typed := v
			if p.Declared && !(p.Name == setting.EntryScript.Placeholder() && s.needsNoScript()) {
				var err error
				if typed, err = p.Convert(v); err != nil {
					return nil, errs.Usagef("%s: %v", p.Flag, err)
				}
			}
			values[p.Name] = typed
		} else if p.Default != nil {
			values[p.Name] = p.DefaultAsWritten()
		} else if p.Declared && !p.Required {
			values[p.Name] = emptyValue(p)
		}
	}
	s.addMentioned(values, job)
	return values, nil
}

// addMentioned adds the values of given flags for placeholders that only commands, arguments and environment
// values have. A name that a container has as a variable may be meant for its program.
func (s *Plan) addMentioned(values map[string]any, job *jobobject.View) {
	if s.Template.Verbatim {
		return
	}
	variables := s.EnvironmentNames(job)
	for _, name := range s.Template.Mentioned {
		c, known := setting.OfPlaceholder(name)
		if _, has := values[name]; has || !known || slices.Contains(variables, name) {
			continue
		}
		if _, given := s.flagValue(c); !given && !(c == setting.Name && s.Values.Name != "") {
			continue
		}
		if v, ok := s.wellKnown(parse.Param{Name: name}, job); ok {
			values[name] = v
		}
	}
}

// needsNoScript reports whether the user's command starts without an entry script.
func (s *Plan) needsNoScript() bool {
	return s.EntryScript == "" && s.Values.Command != "" && Program(s.Launcher) != "torchrun"
}

// emptyValue returns the value of an optional parameter without a value: empty text, an empty list, or nil.
func emptyValue(p parse.Param) any {
	switch p.Type {
	case "string":
		return ""
	case "list":
		return []any{}
	}
	return nil
}

// wellKnown returns the value of a well-known parameter. If no number is known, a parameter that the template
// declares gets the fallback; an undeclared placeholder is missing.
func (s *Plan) wellKnown(p parse.Param, job *jobobject.View) (any, bool) {
	c, ok := setting.OfPlaceholder(p.Name)
	if !ok {
		return nil, false
	}
	text := func(v string) (any, bool) { return v, v != "" }
	list := func(v []string) (any, bool) { return manifest.AnyList(v), true }
	number := func(a Amount) (any, bool) { return int64(a.N), a.known }
	switch c {
	case setting.Name:
		return text(s.name)
	case setting.Namespace:
		return text(s.Namespace)
	case setting.Image, setting.RdzvBackend, setting.RdzvEndpoint, setting.ResultsDir, setting.CleanPodPolicy:
		return s.flagValue(c) // nothing but the flag says it
	case setting.InstanceType:
		return text(s.NodeType)
	case setting.NodeCount:
		return number(s.Nodes)
	case setting.TasksPerNode:
		return int64(s.Tasks.N), s.Tasks.known || p.Declared
	case setting.Accelerators:
		return number(s.Devices)
	case setting.EFA:
		return number(s.EFADevices)
	case setting.Processes:
		return int64(s.Nodes.N * s.Tasks.N), s.Nodes.known && s.Tasks.known || p.Declared
	case setting.Command:
		return manifest.AnyList(s.Launcher), s.Values.Command != ""
	case setting.EntryScript:
		if s.needsNoScript() {
			return []any{}, true
		}
		return text(s.EntryScript)
	case setting.ScriptArgs:
		return manifest.AnyList(s.Arguments), len(s.ScriptArgs) > 0
	case setting.TorchrunFlags:
		return list(s.TorchrunFlags(job))
	case setting.MpirunFlags:
		return list(s.MpirunFlags(s.EnvironmentNames(job)))
	}
	return nil, false
}

// checkFixedParams refuses other values for fixed parameters, given by name or by the flag with the same
// meaning.
func (s *Plan) checkFixedParams() error {
	for _, p := range s.Template.Params {
		if !p.Fixed {
			continue
		}
		have := manifest.TextOf(p.DefaultAsWritten())
		refuse := func(how, want string) error {
			return errs.Usagef("%s fixes %s to %s: %s cannot set it to %s", s.Template.Called(), p.Name, manifest.AsTyped(have), how, manifest.AsTyped(want)).
				WithAdvice("remove " + how)
		}
		if g, given := s.given[p.Name]; given && manifest.TextOf(g) != have {
			return refuse(setting.Set.Flag()+" "+p.Name, manifest.TextOf(g))
		}
		known, _ := setting.OfPlaceholder(p.Name)
		if want, given := s.flagValue(known); given && want != have &&
			!(p.Flag == setting.InstanceType.Flag() && instances.Full(want) == instances.Full(have)) {
			return refuse(p.Flag, want)
		}
	}
	return nil
}

// flagValue returns the value of the flag for a well-known parameter.
func (s *Plan) flagValue(c setting.Setting) (string, bool) {
	number := func(n *int) (string, bool) {
		if n == nil {
			return "", false
		}
		return fmt.Sprint(*n), true
	}
	text := func(v string) (string, bool) { return v, v != "" }
	switch c {
	case setting.Image:
		return text(s.Image)
	case setting.InstanceType:
		return text(s.InstanceType)
	case setting.NodeCount:
		return number(s.NodeCount)
	case setting.TasksPerNode:
		return number(s.TasksPerNode)
	case setting.Accelerators:
		return number(s.Accelerators)
	case setting.EFA:
		return number(s.EFA)
	case setting.Command:
		return text(s.Values.Command)
	case setting.EntryScript:
		return text(s.EntryScript)
	case setting.ScriptArgs:
		return strings.Join(s.ScriptArgs, " "), len(s.ScriptArgs) > 0
	case setting.RdzvBackend:
		return text(s.Values.Rendezvous.Backend)
	case setting.RdzvEndpoint:
		return text(s.Values.Rendezvous.Endpoint)
	case setting.ResultsDir:
		return text(s.ResultsDir)
	case setting.CleanPodPolicy:
		return text(s.Values.RunPolicy.CleanPodPolicy)
	}
	return "", false
}
