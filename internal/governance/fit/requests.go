package fit

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Requests returns what a pod of this shape requests of its node. A limit replaces a missing request, as the
// API server does for objects that are submitted (Kubernetes SetDefaults_Pod).
func Requests(spec *corev1.PodSpec) corev1.ResourceList {
	pod := corev1.Pod{Spec: *spec}
	pod.Spec.Containers, pod.Spec.InitContainers = defaulted(spec.Containers), defaulted(spec.InitContainers)
	return resource.PodRequests(&pod, resource.PodResourcesOptions{})
}

func requestsOf(spec *corev1.PodSpec) amounts { return amountsOf(Requests(spec)) }

func defaulted(containers []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(containers))
	for i, c := range containers {
		if len(c.Resources.Limits) > 0 {
			requests := maps.Clone(c.Resources.Limits)
			maps.Copy(requests, c.Resources.Requests)
			c.Resources.Requests = requests
		}
		out[i] = c
	}
	return out
}
