// Package faults has the values that an API server, a webhook or an operator refuses in an object, and what the packages of
// rules share to find them.
package faults

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fault is a value that is refused.
type Fault struct {
	// Path leads to the value from what was checked.
	Path Path
	Type field.ErrorType
	// Value is what was found, nil if nothing was.
	Value any
	// Allowed are the only values that are accepted.
	Allowed []string
	// Detail is the reason.
	Detail string
}

// Path leads to a value: keys as string, positions in lists as int.
type Path []any

// To returns the path with more steps.
func (p Path) To(steps ...any) Path { return append(slices.Clone(p), steps...) }

// Below returns the path as the API server writes it, below another one.
func (p Path) Below(at *field.Path) *field.Path {
	for i, step := range p {
		switch s := step.(type) {
		case string:
			if i > 0 && (p[i-1] == "limits" || p[i-1] == "requests") { // the name of a resource
				at = at.Key(s)
			} else {
				at = at.Child(s)
			}
		case int:
			at = at.Index(s)
		}
	}
	return at
}

// Error returns the fault as the API server reports it, for a checked value that is at the path.
func (f Fault) Error(at *field.Path) *field.Error {
	switch at := f.Path.Below(at); f.Type {
	case field.ErrorTypeRequired:
		return field.Required(at, f.Detail)
	case field.ErrorTypeDuplicate:
		return field.Duplicate(at, f.Value)
	case field.ErrorTypeNotFound:
		return field.NotFound(at, f.Value)
	case field.ErrorTypeForbidden:
		return field.Forbidden(at, f.Detail)
	case field.ErrorTypeNotSupported:
		return field.NotSupported(at, f.Value, f.Allowed)
	default:
		return field.Invalid(at, f.Value, f.Detail)
	}
}
