package validate

import (
	"cmp"
	"errors"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fault is a fault of a finished object and the field that it is about.
type Fault struct {
	Object int // its place among the objects
	Path   string
	// Source and At are the file of the object and where the field is there, the zero Position if it is not known.
	Source string
	At     manifest.Position
	// unless: what is wrong with one of these fields explains this fault.
	Unless []string
	err    *errs.Error
}

// Error is the text of the fault, after its position if that is known.
func (f *Fault) Error() string { return f.Line().Error() }

// Line returns the fault as one of a line.
func (f *Fault) Line() *manifest.LineError {
	return manifest.Faultf(f.At.Line, "%v", f.err).Col(f.At.Column)
}

func (f *Fault) Unwrap() error { return f.err }

// Try are the settings that can mend the fault.
func (f *Fault) Try() []errs.Suggestion { return f.err.Try }

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
		f.Found = append(f.Found, &Fault{Object: f.at, Path: path, Unless: unless, err: err})
	}
}

// has reports a fault of a field of this object.
func (f *Faults) has(path string) bool {
	return slices.ContainsFunc(f.Found, func(g *Fault) bool { return g.Object == f.at && g.Path == path })
}

// Err returns the only fault, or an error that lists all of them in the order of the files; nil if there are none. source
// names the manifest.
func (f *Faults) Err(source string) error {
	if len(f.Found) == 0 {
		return nil
	}
	slices.SortStableFunc(f.Found, func(a, b *Fault) int {
		if inFile := (b.At.Line > 0) != (a.At.Line > 0); inFile {
			return b.At.Line - a.At.Line // those of flags are last
		}
		return cmp.Or(cmp.Compare(a.Source, b.Source), a.At.Line-b.At.Line, a.At.Column-b.At.Column)
	})
	first := f.Found[0]
	located := first.At.Line > 0
	same := func(is func(*Fault) bool) bool {
		return !slices.ContainsFunc(f.Found, func(one *Fault) bool { return !is(one) })
	}
	oneFile := same(func(one *Fault) bool { return one.At.Line == 0 || one.Source == first.Source })
	if located && oneFile {
		source = first.Source
	}
	if len(f.Found) == 1 {
		if !located {
			return first
		}
		e := errs.Usagef("%s", source)
		e.Why, e.Facts, e.Try = first.Error(), first.err.Facts, first.err.Try
		return e.WithCause(first)
	}
	what := "the manifest"
	if same(func(one *Fault) bool { return one.Object == first.Object }) {
		what = "this " + f.kinds[first.Object]
	}
	e := errs.Usagef("%s has %d faults", what, len(f.Found))
	if located {
		e = errs.Usagef("%s", source)
		e.Why = words.Count(len(f.Found), "fault", "faults")
	}
	causes := make([]error, len(f.Found))
	for i, one := range f.Found {
		causes[i] = one
		label := "fault"
		if one.At.Line > 0 {
			label = one.At.String()
			if !oneFile {
				label = one.Source + " " + label
			}
		}
		e.WithFact(label, one.err.Error())
		e.Suggest(one.err.Try...)
	}
	return e.WithCause(errors.Join(causes...))
}

// MadeUpName is the name of a job without a name in a trial rendering.
const MadeUpName = "template-check"
