package jobobject

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// What controllers put on a job's pods and what a copy of the job has to do
// without. Sources: Kueue's label constants; Kubernetes' batch/v1 Job.
var (
	addedLabels      = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
	addedAnnotations = []string{"batch.kubernetes.io/job-tracking", "kubectl.kubernetes.io/last-applied-configuration", kinds.ParametersAnnotation}
	// What people say to Kueue: its other labels and annotations are its own.
	writtenLabels      = []string{kinds.QueueLabel, kinds.PriorityLabel}
	writtenAnnotations = kinds.KueueGroup + "/podset-"
)

// Clean returns a copy of a job without what the cluster added: the status, the identity, and what Kueue and
// the Job controller wrote. The copy is not suspended. It keeps the queue, the priority and everything that the
// user wrote.
func Clean(object map[string]any) map[string]any {
	o, _ := CopyOf(object).(map[string]any)
	Strip(o)
	meta := Inner(o, "metadata")
	for _, key := range []string{"ownerReferences", "finalizers", "generateName"} {
		delete(meta, key)
	}
	cleanMeta(meta, "labels", addedLabels)
	cleanMeta(meta, "annotations", addedAnnotations)
	view, isJob := Of(o)
	if !isJob {
		return o
	}
	if path := view.Kind.SuspendPath; len(path) > 0 {
		holder := Inner(o, path[:len(path)-1]...)
		delete(holder, path[len(path)-1])
		if holder != nil && len(holder) == 0 && len(path) == 3 {
			delete(Inner(o, path[0]), path[1])
		}
	}
	if view.Kind.OwnSelector && Inner(o, "spec")["manualSelector"] != true {
		delete(Inner(o, "spec"), "selector")
	}
	for _, r := range view.Roles() {
		pod := Inner(r.Template, "metadata")
		delete(pod, "creationTimestamp")
		cleanMeta(pod, "labels", addedLabels)
		cleanMeta(pod, "annotations", addedAnnotations)
		cleanKueue(pod)
		if pod != nil && len(pod) == 0 {
			delete(r.Template, "metadata")
		}
		if view.Kind.Itself {
			cleanPodSpec(r.Pod())
			continue
		}
		ungate(r.Pod())
	}
	return o
}

// cleanMeta removes the keys, and those with hyperpod's own prefix, from a map of
// an object's metadata.
func cleanMeta(meta map[string]any, field string, keys []string) {
	m := Inner(meta, field)
	for k := range m {
		if slices.Contains(keys, k) || strings.HasPrefix(k, kinds.OwnPrefix) {
			delete(m, k)
		}
	}
	if m != nil && len(m) == 0 {
		delete(meta, field)
	}
}

// cleanKueue removes what Kueue writes into a pod template when it admits a job.
func cleanKueue(meta map[string]any) {
	for field, keeps := range map[string]func(string) bool{
		"labels":      func(k string) bool { return slices.Contains(writtenLabels, k) },
		"annotations": func(k string) bool { return strings.HasPrefix(k, writtenAnnotations) },
	} {
		m := Inner(meta, field)
		for k := range m {
			if strings.HasPrefix(k, kinds.KueueGroup+"/") && !keeps(k) {
				delete(m, k)
			}
		}
		if m != nil && len(m) == 0 {
			delete(meta, field)
		}
	}
}

// RestorePlacement removes what an admission adds to a job's pods. While a job is admitted, Kueue adds the
// flavor's node labels and tolerations to its pods. The Workload's pod sets (spec.podSets) have the originals.
func RestorePlacement(job map[string]any, podSets []map[string]any) {
	view, ok := Of(job)
	if !ok {
		return
	}
	roles := view.Roles()
	for _, r := range roles {
		for _, set := range podSets {
			if !strings.EqualFold(manifest.TextOf(set["name"]), r.Name) && !(len(roles) == 1 && len(podSets) == 1) {
				continue
			}
			original := Inner(set, "template", "spec")
			for _, key := range []string{"nodeSelector", "tolerations"} {
				setKey(r.Pod(), key, CopyOf(original[key]))
			}
		}
	}
}

// Strip removes what only a cluster writes, so that an exported object can be
// submitted again.
func Strip(o map[string]any) {
	delete(o, "status")
	meta := Inner(o, "metadata")
	for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(meta, key)
	}
	if job, ok := kinds.JobFor(manifest.TextOf(o["apiVersion"]), manifest.TextOf(o["kind"])); ok && job.OwnSelector && numbered(o) {
		resubmitBatch(o)
	}
}

// numbered reports a batch Job that has the UID of an exported one in its selector or in the labels of its pods.
func numbered(o map[string]any) bool {
	pods, selects := Inner(o, "spec", "template", "metadata", "labels"), Inner(o, "spec", "selector", "matchLabels")
	return slices.ContainsFunc(uidLabels(), func(key string) bool {
		return pods[key] != nil || selects[key] != nil && len(selects) == 1
	})
}
