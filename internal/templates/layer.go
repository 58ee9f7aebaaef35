package templates

import "github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"

// applyToJob applies what a submission comes to to the manifest's job.
func applyToJob(s *settings, j *jobobject.View) error { return (&layer{s}).applyJob(j) }

// applyToObjects applies what concerns every object: the namespace, and the labels
// that Kueue and the admission policy read.
func applyToObjects(s *settings, objects []map[string]any) { (&layer{s}).applyObjects(objects) }

// applyPaths applies the assignments to fields, --set PATH=VALUE, to one object.
func applyPaths(s *settings, object map[string]any) error { return (&layer{s}).setPaths(object) }

// layer applies a plan to the objects of a manifest.
type layer struct{ *settings }
