package parse

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fault is a mistake in a template; Line and Column count from 1, 0 where it has
// no place.
type Fault struct {
	Line, Column int
	Message      string
}

// brokenText are the faults of a template's text.
type brokenText struct {
	template *Template
	faults   []error
}

func (b *brokenText) Error() string   { return errors.Join(b.faults...).Error() }
func (b *brokenText) Unwrap() []error { return b.faults }

// Screenful is the number of faults that an error lists.
const Screenful = 20

// broken returns the error for a template with faults. It lists at most so many.
func broken(t *Template, faults []error, most int) *errs.Error {
	all := len(faults)
	faults = faults[:min(all, most)]
	e := manifest.Broken(t.Source, faults...).WithCause(&brokenText{t, faults})
	if all > most {
		e.Why = fmt.Sprintf("more than %d faults", most)
		e.Suggest(suggest.ValidateTemplate().WithNote("lists all of them"))
	}
	return e
}

// WithFaults returns an error of Text with more faults in it.
func WithFaults(err error, more []error) error {
	var b *brokenText
	if len(more) == 0 || !errors.As(err, &b) {
		return err
	}
	return broken(b.template, tidy(append(slices.Clone(b.faults), more...)), Screenful)
}

// BrokenText returns the template that an error of Text is about: its name, its source and its text. ok is
// false for other errors.
func BrokenText(err error) (name, source string, text []byte, ok bool) {
	var b *brokenText
	if !errors.As(err, &b) {
		return "", "", nil, false
	}
	return b.template.Name, b.template.Source, b.template.Text, true
}

// tidy sorts faults by position and removes duplicates.
func tidy(faults []error) []error {
	var out []error
	told := map[manifest.LineError]bool{}
	var foreign *manifest.LineError // of Helm or Jinja
	var more []string
	slices.SortStableFunc(faults, func(a, b error) int {
		x, y := placeOf(a), placeOf(b)
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		return x.Column - y.Column
	})
	for _, f := range faults {
		at := placeOf(f)
		if told[at] {
			continue
		}
		told[at] = true
		if at.Text == manifest.ForeignText {
			if foreign != nil {
				if line := fmt.Sprint(at.Line); at.Line != foreign.Line && !slices.Contains(more, line) {
					more = append(more, line)
				}
				continue
			}
			foreign = &manifest.LineError{Line: at.Line, Column: at.Column, Text: at.Text}
			f = foreign
		}
		out = append(out, f)
	}
	if n := len(more); n > 0 {
		foreign.Text += "; also in " + words.Verb(n, "line ", "lines ") + words.Some(more, 8)
	}
	return out
}

// placeOf returns a fault with its position. A fault without one concerns the whole file.
func placeOf(err error) manifest.LineError {
	var l *manifest.LineError
	if errors.As(err, &l) {
		return *l
	}
	return manifest.LineError{Text: err.Error()}
}

// FaultsIn returns the faults in errors. A fault without a position includes the facts of its error.
func FaultsIn(found []error) []Fault {
	var flatFaults []error
	for _, err := range found {
		var placed []error
		for _, e := range flat(err) {
			var l *manifest.LineError
			if errors.As(e, &l) {
				placed = append(placed, l)
			}
		}
		if len(placed) == 0 {
			placed = []error{manifest.Faultf(0, "%s", withFacts(err))}
		}
		flatFaults = append(flatFaults, placed...)
	}
	var out []Fault
	for _, f := range tidy(flatFaults) {
		at := placeOf(f)
		out = append(out, Fault{at.Line, at.Column, at.Text})
	}
	return out
}

// startsOf returns the positions of documents in their order. Items of a List are documents, too.
func startsOf(all ...[]*manifest.Node) []manifest.Position {
	var out []manifest.Position
	for _, d := range slices.Concat(all...) {
		out = append(out, manifest.Position{Line: d.Line, Column: d.Column})
	}
	slices.SortFunc(out, inText)
	return slices.Compact(out)
}

// inText compares positions.
func inText(a, b manifest.Position) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }

// Concerns reports whether a fault is in a document, or concerns all of them: it has no position.
func (t *Template) Concerns(f Fault, d *manifest.Node) bool {
	if f.Line == 0 {
		return true
	}
	where := manifest.Position{Line: f.Line, Column: f.Column}
	if f.Column == 0 { // the fault of a line
		where.Column = math.MaxInt
	}
	at, found := slices.BinarySearchFunc(t.starts, where, inText)
	if !found {
		at--
	}
	return at >= 0 && t.starts[at] == manifest.Position{Line: d.Line, Column: d.Column}
}

func withFacts(err error) string {
	text := err.Error()
	var e *errs.Error
	if errors.As(err, &e) {
		for _, f := range e.Facts {
			text += "; " + f.Label + ": " + f.Text
		}
	}
	return text
}

// flat returns the errors at the ends of a tree of errors.
func flat(err error) []error {
	switch u := err.(type) {
	case nil:
		return nil
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
