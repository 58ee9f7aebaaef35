package crd

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// said returns faults in the words of the API server.
func said(found []structural.Fault) (all field.ErrorList) {
	for _, f := range found {
		p := f.Path.Below(nil)
		if f.Code == structural.WrongType {
			all = append(all, wrongType(p, f)...)
		} else {
			all = append(all, inWords(p, f))
		}
	}
	return all
}

func inWords(p *field.Path, f structural.Fault) *field.Error {
	s := f.Schema
	invalid := func(format string, limit any) *field.Error {
		return field.Invalid(p, f.Value, fmt.Sprintf("%s in body ", p)+fmt.Sprintf(format, limit))
	}
	switch n, _ := f.Value.(int); f.Code {
	case structural.Missing:
		return field.Required(p, "")
	case structural.NotSupported:
		return field.NotSupported(p, f.Value, s.Enum)
	case structural.TooLong:
		return field.TooLong(p, "", int(*s.MaxLength))
	case structural.TooShort:
		return invalid("should be at least %d chars long", *s.MinLength)
	case structural.NoMatch:
		return invalid("should match '%s'", s.Pattern)
	case structural.Below:
		return invalid("should be greater than or equal to %d", *s.Minimum)
	case structural.Above:
		return invalid("should be less than or equal to %d", *s.Maximum)
	case structural.TooMany:
		return field.TooMany(p, n, int(*s.MaxItems))
	case structural.TooFew:
		return invalid("should have at least %d items", *s.MinItems)
	case structural.TooManyEntries:
		return field.TooMany(p, n, int(*s.MaxProperties))
	case structural.Duplicate:
		return field.Duplicate(p, f.Value)
	}
	if f.Lacks != "" {
		return field.Invalid(p, structural.TypeOf(f.Value), fmt.Sprintf("no such key: %s evaluating rule: %s", f.Lacks, f.Rule.Message))
	}
	return field.Invalid(p, printed(f.Value), f.Rule.Message)
}

func wrongType(p *field.Path, f structural.Fault) (all field.ErrorList) {
	have := structural.TypeOf(f.Value)
	for _, name := range f.Schema.Types(f.Value) {
		all = append(all, field.TypeInvalid(p, have, fmt.Sprintf("%s in body must be of type %s: %q", p, name, have)))
	}
	if len(f.Schema.Enum) > 0 {
		all = append(all, field.NotSupported(p, f.Value, f.Schema.Enum))
	}
	if f.Schema.IntOrString {
		all = append(all, field.Invalid(nil, "", fmt.Sprintf("%q must validate at least one schema (anyOf)", p)))
	}
	return all
}

// printed returns the value as the API server prints it: objects and lists are left out.
func printed(v any) any {
	switch v.(type) {
	case map[string]any, []any:
		return field.OmitValueType{}
	}
	return v
}
