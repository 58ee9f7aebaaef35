package jobobject

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Resubmit removes from an object everything that a cluster, Kueue or start-job
// wrote on it, so that it can be submitted again. What Kueue puts into the pod
// templates of a running job is not recognised here: see admission.RestoreJob.
func Resubmit(o map[string]any) {
	Strip(o)
	meta := Inner(o, "metadata")
	for _, key := range []string{"ownerReferences", "finalizers"} {
		delete(meta, key)
	}
	annotations := Inner(meta, "annotations")
	for key := range annotations {
		if key == "kubectl.kubernetes.io/last-applied-configuration" || strings.HasPrefix(key, kinds.OwnPrefix) && key != kinds.DurationAnnotation {
			delete(annotations, key)
		}
	}
	labels := Inner(meta, "labels")
	for key := range labels {
		if strings.HasPrefix(key, kinds.OwnPrefix) {
			delete(labels, key)
		}
	}
	if job, ok := kinds.JobFor(manifest.TextOf(o["apiVersion"]), manifest.TextOf(o["kind"])); ok {
		if path := job.SuspendPath; len(path) > 0 {
			delete(Inner(o, path[:len(path)-1]...), path[len(path)-1])
		}
		if job.OwnSelector {
			resubmitBatch(o)
		}
	}
	prune(o, "metadata", "annotations")
	prune(o, "metadata", "labels")
}

// resubmitBatch removes what the API server gives a batch Job: a selector by its
// own UID, and the labels that go with it.
func resubmitBatch(o map[string]any) {
	spec := Inner(o, "spec")
	if spec["manualSelector"] == true {
		return
	}
	delete(spec, "selector")
	for _, of := range []map[string]any{Inner(o, "metadata"), Inner(spec, "template", "metadata")} {
		labels := Inner(of, "labels")
		for _, key := range []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"} {
			delete(labels, key)
		}
	}
	if labels := Inner(spec, "template", "metadata", "labels"); labels != nil && len(labels) == 0 {
		delete(Inner(spec, "template", "metadata"), "labels")
	}
}

// prune removes an empty map.
func prune(o map[string]any, path ...string) {
	at := Inner(o, path[:len(path)-1]...)
	if m, ok := at[path[len(path)-1]].(map[string]any); ok && len(m) == 0 {
		delete(at, path[len(path)-1])
	}
}
