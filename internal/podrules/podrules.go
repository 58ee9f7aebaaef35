// Package podrules holds the API server's rules for the fields of a pod (pkg/apis/core/validation of Kubernetes), for the
// sandbox's API server and for the check of manifests before anything is sent. It does not check the names and images of
// containers.
package podrules

import "github.com/hyperpod-cli/hyperpod/internal/faults"

// Fault is a value that the API server refuses. Its path leads from the spec of the pod, or of the object that makes pods.
type Fault = faults.Fault

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
	return c.Found
}
