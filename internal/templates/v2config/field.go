package v2config

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Type is what a field can hold.
type Type int

// The types of fields. Every value may also be left empty, and be ${a.b}, the value
// of another field.
const (
	Text      Type = iota // one value
	Lines                 // one value, or a list of them
	Number                // a whole number from 1
	OneOf                 // one of Field.Words
	Map                   // names and single values
	Labels                // labels, each with one value or several
	Weights               // a list of whole numbers from 1 to 100
	Arguments             // one value, or a list of values and of maps from a flag to its value
	Section               // a map of the fields of Field.Below
	Entries               // a list of maps that have all the fields of Field.Below
	Absent                // nothing: a value is refused
	Off                   // false
	Anything              // anything: it has no effect
)

// Field is a field of configuration files.
type Field struct {
	Name, Help string
	Type       Type
	Words      []string
	Below      []Field

	// what says what is missing when the field is; "" for one that may be.
	// flagged reports whether flags say its value.
	what    string
	flagged func(values.Values) bool
	// read reads the field; at is its whole path, such as training_cfg.run.name.
	read func(r *reader, at string, t manifest.Tree)
}

// Fields returns the fields of a configuration file.
func Fields() []Field { return fields() }

// Required reports whether a file without the field, or without a field below it, is refused.
func (f Field) Required() bool {
	return f.what != "" || slices.ContainsFunc(f.Below, Field.Required)
}

func (f Field) need(what string, flagged func(values.Values) bool) Field {
	f.what, f.flagged = what, flagged
	return f
}

func text(name, help string, to func(r *reader) *string) Field {
	return Field{Name: name, Help: help, Type: Text, read: func(r *reader, at string, t manifest.Tree) {
		if s, ok := r.text(at, t); ok {
			*to(r) = s
		}
	}}
}

func oneOf(name, help string, to func(r *reader) *string, words ...string) Field {
	return Field{Name: name, Help: help, Type: OneOf, Words: words, read: func(r *reader, at string, t manifest.Tree) {
		s, ok := r.text(at, t)
		if !ok {
			return
		}
		if !slices.Contains(words, s) {
			r.faults.Addf(t.At(), "%s is %q: must be %s", at, manifest.Clip(s), manifest.OrList(words))
			return
		}
		*to(r) = s
	}}
}

func number(name, help string, to func(r *reader) **int) Field {
	return Field{Name: name, Help: help, Type: Number, read: func(r *reader, at string, t manifest.Tree) {
		s, ok := r.text(at, t)
		if !ok {
			return
		}
		n, whole := wholeNumber(s)
		if !whole || n < 1 || n > 1_000_000 {
			r.faults.Addf(t.At(), "%s is %s: must be a whole number from 1", at, t.Describe())
			return
		}
		*to(r) = &n
	}}
}

func lines(name, help string, to func(r *reader) *[]string) Field {
	return Field{Name: name, Help: help, Type: Lines, read: func(r *reader, at string, t manifest.Tree) { r.lines(at, t, to(r)) }}
}

func section(name, help string, below []Field) Field {
	return Field{Name: name, Help: help, Type: Section, Below: below, read: func(r *reader, at string, t manifest.Tree) { r.section(at, t, below) }}
}

// nothing returns a field without effect here; why goes into a notice unless it is empty.
func nothing(name, help, why string) Field {
	return Field{Name: name, Help: help, Type: Anything, read: func(r *reader, at string, t manifest.Tree) {
		if why != "" && !t.IsNull() && !(t.IsList() && len(t.Items()) == 0) {
			r.notef(t.At(), "%s has no effect here: %s", at, why)
		}
	}}
}
