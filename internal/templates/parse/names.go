package parse

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Knows reports whether a name is a parameter: declared, found, or mentioned in a script.
func (t *Template) Knows(name string) bool {
	_, ok := t.Param(name)
	return ok || slices.Contains(t.Mentioned, name)
}

// Unknown returns the error for a parameter that the template does not have.
func (t *Template) Unknown(name string) *errs.Error {
	names := append([]string{}, t.Mentioned...)
	var own []string
	for _, p := range t.Params {
		names, own = append(names, p.Name), append(own, p.Name)
	}
	slices.Sort(names)
	e := errs.Usagef("%s has no parameter %s%s", t.Called(), manifest.QuoteText(name), manifest.DidYouMean(errs.Near(name, slices.Compact(names))))
	if len(own) > 0 {
		e.WithFact("available", strings.Join(own, ", "))
	} else {
		e.WithFact("available", "no parameters")
	}
	return e
}

// Declares reports whether the header names a well-known parameter. An undeclared placeholder only takes the
// value, as with any other tool that replaces variables.
func (t *Template) Declares(name setting.Setting) bool {
	return slices.ContainsFunc(t.Params, func(p Param) bool { c, ok := setting.OfPlaceholder(p.Name); return ok && c == name && p.Declared })
}

// Uses reports whether the template mentions a well-known parameter.
func (t *Template) Uses(name setting.Setting) bool {
	return slices.ContainsFunc(t.Mentioned, func(m string) bool { c, ok := setting.OfPlaceholder(m); return ok && c == name })
}

// checkFixed makes sure that a fixed parameter has a value, and is not one that the job's namespace decides.
func (p Param) checkFixed(f manifest.Field) error {
	c, _ := setting.OfPlaceholder(p.Name)
	switch {
	case !p.Fixed:
		return nil
	case p.Default == nil || p.Required:
		return manifest.Faultf(f.Line, "parameter %s: a fixed parameter must have a default and must not be required", p.Name).Col(f.Column)
	case slices.Contains([]setting.Setting{setting.Name, setting.Namespace, setting.TorchrunFlags, setting.MpirunFlags, setting.Processes}, c):
		return manifest.Faultf(f.Line, "parameter %s cannot be fixed: each job has its own value", p.Name).Col(f.Column)
	}
	return nil
}

// Called returns how messages name the template.
func (t *Template) Called() string {
	if t.Name == "" {
		return "the template"
	}
	return "template " + t.Name
}

// FixedPaths returns the fixed paths as the header has them: PATH or PATH=VALUE.
func (t *Template) FixedPaths() []string {
	out := make([]string, len(t.Fixed))
	for i, f := range t.Fixed {
		out[i] = f.text
	}
	return out
}
