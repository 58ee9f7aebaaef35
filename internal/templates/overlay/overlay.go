package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
)

// Job applies a plan to the job of the manifest.
func Job(s *resolve.Plan, j *jobobject.View) error { return (&job{s}).applyJob(j) }

// Objects applies what concerns every object: the namespace, and the labels that Kueue and the admission policy
// read.
func Objects(s *resolve.Plan, objects []map[string]any) { (&job{s}).applyObjects(objects) }

// Paths applies the assignments to fields, --set PATH=VALUE, to one object.
func Paths(s *resolve.Plan, object map[string]any) error { return (&job{s}).setPaths(object) }

// job applies a plan to the objects of a manifest.
type job struct{ *resolve.Plan }
