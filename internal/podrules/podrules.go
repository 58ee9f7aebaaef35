// Package podrules holds the API server's rules for the fields of a pod (pkg/apis/core/validation of Kubernetes), for the
// sandbox's API server and for the check of manifests before anything is sent. It does not check the names and images of
// containers.
package podrules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fault is a value that the API server refuses.
type Fault struct {
	// Path leads to the value from the pod's spec: keys as string, places in lists as int.
	Path []any
	Type field.ErrorType
	// Value is what was found, nil if nothing was.
	Value any
	// Allowed are the only values that are accepted.
	Allowed []string
	// Detail is the API server's reason.
	Detail string
}

// Options say what the rules depend on besides the pod.
type Options struct {
	// Volumes are the names of volumes that the pod gets besides its own, for example those of volumeClaimTemplates.
	Volumes []string
	// Open reports whether a text still has placeholders: such a value is not checked. Nil stands for never.
	Open func(string) bool
	// Partial: something adds fields to the pod that are not known here, so none is missing.
	Partial bool
}

// Check returns the faults of a pod's spec.
func Check(spec map[string]any, o Options) []Fault {
	c := newChecker(o)
	c.pod(spec)
	return c.found
}

// Error returns the fault as the API server reports it, for a pod whose spec is at the path.
func (f Fault) Error(at *field.Path) *field.Error {
	for _, step := range f.Path {
		switch s := step.(type) {
		case string:
			if f.key(s) {
				at = at.Key(s)
			} else {
				at = at.Child(s)
			}
		case int:
			at = at.Index(s)
		}
	}
	switch f.Type {
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
	}
	return field.Invalid(at, f.Value, f.Detail)
}

// key reports whether a step is a key of a map with arbitrary keys: the name of a resource.
func (f Fault) key(step string) bool {
	n := len(f.Path)
	return n > 1 && f.Path[n-1] == step && (f.Path[n-2] == "limits" || f.Path[n-2] == "requests")
}
