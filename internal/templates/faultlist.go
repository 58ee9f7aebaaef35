package templates

import (
	"errors"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// objectFault is what is wrong with a finished object, and the field that it is about.
type objectFault struct {
	object int // its place among the objects
	path   string
	// unless: what is wrong with one of these fields explains this fault.
	unless []string
	err    *errs.Error
}

func (f *objectFault) Error() string { return f.err.Error() }

func (f *objectFault) Unwrap() error { return f.err }

// below stands for the maps and lists below the fault's own field.
const below = "."

// objectFaults are all that is wrong with the objects of a manifest. The first fault
// of a field is told.
type objectFaults struct {
	found []*objectFault
	// at is the object that is looked at, and kinds are those of all.
	at    int
	kinds []string
}

// look goes on to the next object.
func (f *objectFaults) look(o map[string]any) {
	f.at = len(f.kinds)
	f.kinds = append(f.kinds, manifest.TextOf(o["kind"]))
}

func (f *objectFaults) add(path string, err *errs.Error, unless ...string) {
	if !slices.ContainsFunc(f.found, func(g *objectFault) bool { return g.object == f.at && g.path == path }) {
		f.found = append(f.found, &objectFault{f.at, path, unless, err})
	}
}

// err is the one fault, or an error that lists them all; nil when there are none.
func (f *objectFaults) err() error {
	switch len(f.found) {
	case 0:
		return nil
	case 1:
		return f.found[0]
	}
	what := "this " + f.kinds[f.found[0].object]
	e := errs.Usagef("%s has %d faults", what, len(f.found))
	causes := make([]error, len(f.found))
	for i, one := range f.found {
		causes[i] = one
		e.WithFact("fault", one.Error())
		for _, try := range one.err.Try {
			if !slices.ContainsFunc(e.Try, func(t errs.Suggestion) bool { return t.String() == try.String() }) {
				e.Suggest(try)
			}
		}
		if one.object != f.found[0].object {
			e.What = strings.Replace(e.What, what, "the manifest", 1)
		}
	}
	return e.WithCause(errors.Join(causes...))
}

// madeUpName is what a job is called in a trial that nobody has named.
const madeUpName = "template-check"
