package templates

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// What controllers put on a job's pods and what a copy of the job has to do
// without. Sources: Kueue's label constants; Kubernetes' batch/v1 Job.
var (
	addedLabels      = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
	addedAnnotations = []string{"batch.kubernetes.io/job-tracking", "kubectl.kubernetes.io/last-applied-configuration"}
	// What people say to Kueue: its other labels and annotations are its own.
	saidLabels      = []string{kinds.QueueLabel, kinds.PriorityLabel}
	saidAnnotations = kinds.KueueGroup + "/podset-"
)

// Clean returns a copy of a job as it was before the cluster worked on it: no
// status, no identity, nothing that Kueue and the Job controller have added, and
// not held back. The queue, the priority and everything the user wrote stay.
func Clean(object map[string]any) map[string]any {
	o, _ := copyOf(object).(map[string]any)
	strip(o)
	meta := inner(o, "metadata")
	for _, key := range []string{"ownerReferences", "finalizers", "generateName"} {
		delete(meta, key)
	}
	cleanMeta(meta, "labels", addedLabels)
	cleanMeta(meta, "annotations", addedAnnotations)
	view, isJob := viewOf(o)
	if !isJob {
		return o
	}
	holder := inner(o, view.kind.SuspendPath[:len(view.kind.SuspendPath)-1]...)
	delete(holder, view.kind.SuspendPath[len(view.kind.SuspendPath)-1])
	if holder != nil && len(holder) == 0 && len(view.kind.SuspendPath) == 3 {
		delete(inner(o, view.kind.SuspendPath[0]), view.kind.SuspendPath[1])
	}
	if view.isKind(kinds.BatchJob) && inner(o, "spec")["manualSelector"] != true {
		delete(inner(o, "spec"), "selector")
	}
	for _, r := range view.roles() {
		pod := inner(r.template, "metadata")
		delete(pod, "creationTimestamp")
		cleanMeta(pod, "labels", addedLabels)
		cleanMeta(pod, "annotations", addedAnnotations)
		cleanKueue(pod)
		if pod != nil && len(pod) == 0 {
			delete(r.template, "metadata")
		}
		gates := without(r.pod()["schedulingGates"], func(g map[string]any) bool {
			return strings.HasPrefix(textOf(g["name"]), kinds.KueueGroup+"/")
		})
		if r.pod()["schedulingGates"] = gates; len(gates) == 0 {
			delete(r.pod(), "schedulingGates")
		}
	}
	return o
}

// cleanMeta removes the keys, and those with hyperpod's own prefix, from a map of
// an object's metadata.
func cleanMeta(meta map[string]any, field string, keys []string) {
	m := inner(meta, field)
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
	for field, said := range map[string]func(string) bool{
		"labels":      func(k string) bool { return slices.Contains(saidLabels, k) },
		"annotations": func(k string) bool { return strings.HasPrefix(k, saidAnnotations) },
	} {
		m := inner(meta, field)
		for k := range m {
			if strings.HasPrefix(k, kinds.KueueGroup+"/") && !said(k) {
				delete(m, k)
			}
		}
		if m != nil && len(m) == 0 {
			delete(meta, field)
		}
	}
}

// RestorePlacement undoes what an admission adds to a job's pods: Kueue lays the
// flavor's node labels and tolerations over them while the job is admitted, and
// keeps the originals in the Workload's pod sets (spec.podSets).
func RestorePlacement(job map[string]any, podSets []map[string]any) {
	view, ok := viewOf(job)
	if !ok {
		return
	}
	roles := view.roles()
	for _, r := range roles {
		for _, set := range podSets {
			if !strings.EqualFold(textOf(set["name"]), r.name) && !(len(roles) == 1 && len(podSets) == 1) {
				continue
			}
			original := inner(set, "template", "spec")
			for _, key := range []string{"nodeSelector", "tolerations"} {
				setKey(r.pod(), key, copyOf(original[key]))
			}
		}
	}
}

// strip removes what only a cluster writes, so that an exported object can be
// submitted again.
func strip(o map[string]any) {
	delete(o, "status")
	meta := inner(o, "metadata")
	for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(meta, key)
	}
}
