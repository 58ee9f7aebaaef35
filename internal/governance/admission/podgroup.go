package admission

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	utilpod "sigs.k8s.io/kueue/pkg/util/pod"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// PodGroup returns the Workload that Kueue makes of a group of pods, with a pod set for each of their roles: pods with the
// same needs. first is the Workload of one pod by itself, pods are all that are known, as JSON. Pods that the group's size
// counts and that are not known are taken for pods of the first one's role. (pkg/controller/jobs/pod/pod_controller.go)
func PodGroup(ctx context.Context, first *kueue.Workload, group kinds.PodGroup, pods [][]byte, lookup Lookup) (*kueue.Workload, error) {
	wl := first.DeepCopy()
	wl.Name, wl.Spec.PodSets = group.Name, nil
	missing := group.Pods
	add := func(ps kueue.PodSet, role string, n int) {
		name := kueue.NewPodSetReference(role)
		i := slices.IndexFunc(wl.Spec.PodSets, func(have kueue.PodSet) bool { return have.Name == name })
		if i < 0 {
			ps.Name, ps.Count = name, 0
			wl.Spec.PodSets = append(wl.Spec.PodSets, ps)
			i = len(wl.Spec.PodSets) - 1
		}
		wl.Spec.PodSets[i].Count += int32(n)
		missing -= n
	}
	if object := map[string]any{}; json.Unmarshal(pods[0], &object) == nil && kinds.FastPodGroup(object) {
		pods = nil // Kueue takes all pods to be like the first
	}
	for _, data := range pods {
		one, err := WorkloadFor(ctx, data, lookup)
		if err != nil {
			return nil, err
		}
		role, err := RoleOf(data)
		if err != nil {
			return nil, err
		}
		add(one.Spec.PodSets[0], role, 1)
	}
	if missing > 0 {
		ps := first.Spec.PodSets[0].DeepCopy()
		role, err := roleOf(ps.Template.Spec)
		if err != nil {
			return nil, err
		}
		add(*ps, role, missing)
	}
	slices.SortFunc(wl.Spec.PodSets, func(a, b kueue.PodSet) int { return cmp.Compare(a.Name, b.Name) })
	return wl, nil
}

// RoleAnnotation holds a pod's role in its group. Kueue's webhook writes it.
const RoleAnnotation = podconstants.RoleHashAnnotation

// RoleOf returns a pod's role in its group: the name of its pod set. The pod is JSON.
func RoleOf(data []byte) (string, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(data, &pod); err != nil {
		return "", err
	}
	if role := pod.Annotations[RoleAnnotation]; role != "" {
		return role, nil
	}
	return roleOf(pod.Spec)
}

// roleOf returns the role of pods with a spec, with the requests that the API server makes of limits.
func roleOf(spec corev1.PodSpec) (string, error) {
	full := spec.DeepCopy()
	workload.UseLimitsAsMissingRequestsInPod(full)
	return utilpod.GenerateRoleHash(full)
}

// OfRole returns the part of a group's admitted Workload that is about the role of a pod, for StartJob.
func OfRole(wl *kueue.Workload, pod []byte) (*kueue.Workload, error) {
	role, err := RoleOf(pod)
	if err != nil {
		return nil, err
	}
	out := wl.DeepCopy()
	out.Spec.PodSets = slices.DeleteFunc(out.Spec.PodSets, func(ps kueue.PodSet) bool { return string(ps.Name) != role })
	if a := out.Status.Admission; a != nil {
		a.PodSetAssignments = slices.DeleteFunc(a.PodSetAssignments, func(ps kueue.PodSetAssignment) bool { return string(ps.Name) != role })
	}
	if len(out.Spec.PodSets) != 1 {
		return nil, fmt.Errorf("podset %s not found in workload %s", role, wl.Name)
	}
	return out, nil
}
