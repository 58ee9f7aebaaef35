package jobobject

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Resubmit removes from an object everything that a cluster, Kueue or start-job
// wrote on it, so that it can be submitted again. What Kueue puts into the pod
// templates of a running job is not recognised here: see integration.RestoreJob.
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
		if !job.Placed() {
			resubmitGated(o)
		}
		if job.Itself {
			resubmitPod(o)
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
		for _, key := range append(uidLabels(), "job-name", "batch.kubernetes.io/job-name") {
			delete(labels, key)
		}
	}
	if labels := Inner(spec, "template", "metadata", "labels"); labels != nil && len(labels) == 0 {
		delete(Inner(spec, "template", "metadata"), "labels")
	}
}

// uidLabels returns the labels with the UID of a batch Job: the older and the present one.
func uidLabels() []string { return []string{"controller-uid", "batch.kubernetes.io/controller-uid"} }

// resubmitGated removes what Kueue's webhooks write into the pod templates of a kind whose pods it holds behind a gate.
func resubmitGated(o map[string]any) {
	if view, ok := Of(o); ok {
		for _, r := range view.Roles() {
			cleanKueue(Inner(r.Template, "metadata"))
		}
	}
}

// resubmitPod removes from a pod what Kueue, the scheduler and the API server gave it. Its group stays.
func resubmitPod(o map[string]any) {
	for _, field := range []string{"labels", "annotations"} {
		m := Inner(o, "metadata", field)
		for key := range m {
			name, ofKueue := strings.CutPrefix(key, kinds.KueueGroup+"/")
			if ofKueue && !slices.Contains(writtenLabels, key) && !strings.HasPrefix(name, "podset-") && !strings.HasPrefix(name, "pod-group-") {
				delete(m, key)
			}
		}
	}
	cleanPodSpec(Inner(o, "spec"))
}

// cleanPodSpec removes what the scheduler and the API server add to the spec of a pod: the node, the number of its priority, and
// the token of its service account.
func cleanPodSpec(spec map[string]any) {
	for _, key := range []string{"nodeName", "priority", "preemptionPolicy", "serviceAccount"} {
		delete(spec, key)
	}
	token := func(v map[string]any) bool { return strings.HasPrefix(manifest.TextOf(v["name"]), tokenVolume) }
	setList(spec, "volumes", Without(spec["volumes"], token))
	for _, field := range []string{"containers", "initContainers"} {
		list, _ := spec[field].([]any)
		for _, c := range list {
			if container, ok := c.(map[string]any); ok {
				setList(container, "volumeMounts", Without(container["volumeMounts"], token))
			}
		}
	}
	ungate(spec)
}

// ungate removes the scheduling gates that Kueue's webhooks add to the spec of a pod.
func ungate(spec map[string]any) {
	ofKueue := func(g map[string]any) bool {
		return strings.HasPrefix(manifest.TextOf(g["name"]), kinds.KueueGroup+"/")
	}
	setList(spec, "schedulingGates", Without(spec["schedulingGates"], ofKueue))
}

// tokenVolume begins the name of the volume with the token of the service account.
const tokenVolume = "kube-api-access-"

// setList sets a list, or removes an empty one.
func setList(o map[string]any, key string, list []any) {
	if o[key] = list; len(list) == 0 {
		delete(o, key)
	}
}

// prune removes an empty map.
func prune(o map[string]any, path ...string) {
	at := Inner(o, path[:len(path)-1]...)
	if m, ok := at[path[len(path)-1]].(map[string]any); ok && len(m) == 0 {
		delete(at, path[len(path)-1])
	}
}
