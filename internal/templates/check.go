package templates

import (
	"errors"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Fault is a mistake in a template; Line and Column count from 1, 0 where it has
// no place.
type Fault struct {
	Line, Column int
	Message      string
}

// manyFaults is how many faults Check names.
const manyFaults = 1000

// Check finds every fault of a template's text: what Parse refuses, and what a
// rendering with made-up values for the parameters would refuse. t is nil when
// there are faults. notes are things worth a look.
func Check(name, source string, data []byte) (t *Template, faults []Fault, notes []string) {
	t, err := parse(name, source, data, manyFaults)
	if err != nil {
		return nil, FaultsOf(err), nil
	}
	if faults := t.Faults(); len(faults) > 0 {
		return nil, faults, nil
	}
	for _, p := range t.Params {
		if _, wellKnown := canonical(p.Name); p.Declared && !wellKnown && !slices.Contains(t.mentioned, p.Name) {
			notes = append(notes, "parameter "+p.Name+" is declared and used nowhere")
		}
	}
	for _, d := range t.docs {
		notes = append(notes, t.shellsOwn(d)...)
	}
	return t, nil, notes
}

// Faults finds what only a rendering shows: it is tried with made-up values for
// the parameters that have none.
func (t *Template) Faults() []Fault {
	v := Values{Name: "template-check", Params: map[string]any{}}
	for _, p := range t.Params {
		c, _ := canonical(p.Name)
		switch {
		case p.Default != nil || p.Declared && !p.Required || c == pJobName:
		case len(p.Enum) > 0:
			v.Params[p.Name] = p.Enum[0]
		case c == pImage:
			v.Params[p.Name] = "example.com/image:1"
		case c == pInstanceType:
			v.Params[p.Name] = "ml.p5.48xlarge"
		case c == pNamespace:
			v.Namespace = "team"
		case p.Type == "bool":
			v.Params[p.Name] = true
		default: // fits numbers, quantities, names and text
			v.Params[p.Name] = "1"
		}
	}
	if len(t.docs) > 1 && !slices.ContainsFunc(t.Kinds(), isJobKind) {
		v.Name = "" // a name is for one job
	}
	if _, err := t.Render(v); err != nil {
		return t.faultsOf(err)
	}
	return nil
}

// FaultsOf returns the faults that an error of Parse or Render is about; any
// other error is one fault without a place.
func FaultsOf(err error) []Fault { return (*Template)(nil).faultsOf(err) }

// faultsOf is FaultsOf, and finds the lines of faults of the finished job where t is
// not nil.
func (t *Template) faultsOf(err error) []Fault {
	var out []Fault
	for _, e := range flat(err) {
		switch e := e.(type) {
		case *manifest.LineError:
			out = append(out, Fault{e.Line, e.Column, e.Text})
		case *jobFault:
			if t == nil {
				out = append(out, Fault{Message: e.Error()})
			} else {
				out = append(out, t.located(e))
			}
		}
	}
	if len(out) == 0 {
		text := err.Error()
		var e *errs.Error
		if errors.As(err, &e) {
			for _, f := range e.Facts {
				text += "; " + f.Label + ": " + f.Text
			}
		}
		out = []Fault{{Message: text}}
	}
	slices.SortStableFunc(out, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return out
}

// IsBroken tells an error about a template's text from one about finding it.
func IsBroken(err error) bool {
	var l *manifest.LineError
	return errors.As(err, &l)
}

// flat returns the errors at the ends of a tree of errors.
func flat(err error) []error {
	switch u := err.(type) {
	case nil:
		return nil
	case *jobFault:
		return []error{err}
	case interface{ Unwrap() []error }:
		var out []error
		for _, e := range u.Unwrap() {
			out = append(out, flat(e)...)
		}
		return out
	case interface{ Unwrap() error }:
		if inner := u.Unwrap(); inner != nil {
			return flat(inner)
		}
	}
	return []error{err}
}
