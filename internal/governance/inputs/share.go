package inputs

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// lists keeps one resource list of each content. Thousands of workloads ask for the same,
// and the lists are the largest part of them in memory. Nobody writes into objects that
// were read (see admission.Engine.Load).
type lists map[string]corev1.ResourceList

// one returns the list of the same content that came first.
func (l lists) one(r corev1.ResourceList) corev1.ResourceList {
	if len(r) == 0 {
		return r
	}
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(r)) {
		q := r[name]
		key = append(append(append(key, name...), '='), q.Format...)
		key = append(append(append(key, ' '), q.String()...), '\n')
	}
	if old, ok := l[string(key)]; ok {
		return old
	}
	l[string(key)] = r
	return r
}

// share makes a workload use the lists of equal workloads.
func (l lists) share(w *kueue.Workload) {
	for i := range w.Spec.PodSets {
		spec := &w.Spec.PodSets[i].Template.Spec
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for k := range list {
				r := &list[k].Resources
				r.Requests, r.Limits = l.one(r.Requests), l.one(r.Limits)
			}
		}
		spec.Overhead = l.one(spec.Overhead)
	}
	if a := w.Status.Admission; a != nil {
		for i := range a.PodSetAssignments {
			a.PodSetAssignments[i].ResourceUsage = l.one(a.PodSetAssignments[i].ResourceUsage)
		}
	}
	for i := range w.Status.ResourceRequests {
		w.Status.ResourceRequests[i].Resources = l.one(w.Status.ResourceRequests[i].Resources)
	}
}
