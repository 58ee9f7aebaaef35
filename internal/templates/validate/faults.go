package validate

import (
	"errors"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Fault is a fault of a finished object and the field that it is about.
type Fault struct {
	Object int // its place among the objects
	Path   string
	// unless: what is wrong with one of these fields explains this fault.
	Unless []string
	err    *errs.Error
}

func (f *Fault) Error() string { return f.err.Error() }

func (f *Fault) Unwrap() error { return f.err }

// Below is a path that stands for the maps and lists below the fault's own field.
const Below = "."

// Faults collects the faults in the objects of a manifest, at most one for each field.
type Faults struct {
	Found []*Fault
	// at is the object to check, and kinds are those of all.
	at    int
	kinds []string
}

// look goes on to the next object.
func (f *Faults) look(o map[string]any) {
	f.at = len(f.kinds)
	f.kinds = append(f.kinds, manifest.TextOf(o["kind"]))
}

func (f *Faults) add(path string, err *errs.Error, unless ...string) {
	if !f.has(path) {
		f.Found = append(f.Found, &Fault{f.at, path, unless, err})
	}
}

// has reports a fault of a field of this object.
func (f *Faults) has(path string) bool {
	return slices.ContainsFunc(f.Found, func(g *Fault) bool { return g.Object == f.at && g.Path == path })
}

// Err returns the only fault, or an error that lists all of them; nil if there are none.
func (f *Faults) Err() error {
	switch len(f.Found) {
	case 0:
		return nil
	case 1:
		return f.Found[0]
	}
	what := "this " + f.kinds[f.Found[0].Object]
	e := errs.Usagef("%s has %d faults", what, len(f.Found))
	causes := make([]error, len(f.Found))
	for i, one := range f.Found {
		causes[i] = one
		e.WithFact("fault", one.Error())
		for _, try := range one.err.Try {
			if !slices.ContainsFunc(e.Try, func(t errs.Suggestion) bool { return t.String() == try.String() }) {
				e.Suggest(try)
			}
		}
		if one.Object != f.Found[0].Object {
			e.What = strings.Replace(e.What, what, "the manifest", 1)
		}
	}
	return e.WithCause(errors.Join(causes...))
}

// MadeUpName is the name of a job without a name in a trial rendering.
const MadeUpName = "template-check"
