package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
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
	wl.Name, wl.Spec.PodSets, wl.OwnerReferences = group.Name, nil, nil // all pods own it, none controls it
	delete(wl.Labels, kinds.JobUIDLabel)
	metav1.SetMetaDataAnnotation(&wl.ObjectMeta, kinds.GroupWorkload, "true")
	roles, missing := &Roles{lookup: lookup}, group.Pods
	add := func(ps kueue.PodSet, role string, n int) error {
		name := kueue.NewPodSetReference(role)
		i := slices.IndexFunc(wl.Spec.PodSets, func(have kueue.PodSet) bool { return have.Name == name })
		if i < 0 {
			ps.Name, ps.Count = name, 0
			if err := roles.add(&ps); err != nil {
				return err
			}
			wl.Spec.PodSets = append(wl.Spec.PodSets, ps)
			i = len(wl.Spec.PodSets) - 1
		}
		wl.Spec.PodSets[i].Count += int32(n)
		missing -= n
		return nil
	}
	if object := map[string]any{}; json.Unmarshal(pods[0], &object) == nil && kinds.FastPodGroup(object) {
		pods = nil // Kueue takes all pods to be like the first
	}
	for _, data := range pods {
		one, err := WorkloadFor(ctx, data, lookup)
		if err != nil {
			return nil, err
		}
		role, err := roles.Of(data)
		if err == nil {
			err = add(one.Spec.PodSets[0], role, 1)
		}
		if err != nil {
			return nil, err
		}
	}
	if missing > 0 {
		ps := first.Spec.PodSets[0].DeepCopy()
		role, err := roles.of(ps.Template.Spec)
		if err == nil {
			err = add(*ps, role, missing)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(wl.Spec.PodSets, func(a, b kueue.PodSet) int { return cmp.Compare(a.Name, b.Name) })
	return wl, nil
}

// RoleAnnotation holds a pod's role in its group. Kueue's webhook writes it.
const RoleAnnotation = podconstants.RoleHashAnnotation

// RoleOf returns a pod's role in its group: the name of its pod set. The pod is JSON.
func RoleOf(data []byte) (string, error) { return new(Roles).Of(data) }

// Roles finds the roles of pods in a group with pod sets. An API server completes a pod before Kueue's webhook writes its role: a
// pod that is not created yet belongs to the pod set whose pods are like it but for that.
type Roles struct {
	lookup Lookup
	sets   []roleSet
}

// roleSet is a pod set, with the role that its pods have by their spec.
type roleSet struct {
	name, role string
	spec       *corev1.PodSpec
}

// NewRoles returns the roles of a group with pod sets.
func NewRoles(sets []kueue.PodSet, lookup Lookup) (*Roles, error) {
	r := &Roles{lookup: lookup}
	for i := range sets {
		if err := r.add(&sets[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Roles) add(ps *kueue.PodSet) error {
	role, err := roleOf(ps.Template.Spec)
	r.sets = append(r.sets, roleSet{string(ps.Name), role, &ps.Template.Spec})
	return err
}

// Of returns the role of a pod, as JSON.
func (r *Roles) Of(data []byte) (string, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(data, &pod); err != nil {
		return "", err
	}
	if role := pod.Annotations[RoleAnnotation]; role != "" {
		return role, nil
	}
	return r.of(pod.Spec)
}

func (r *Roles) of(spec corev1.PodSpec) (string, error) {
	own, err := roleOf(spec)
	if err != nil {
		return "", err
	}
	for _, s := range r.sets {
		if own == s.name || own == s.role {
			return s.name, nil
		}
	}
	for _, s := range r.sets {
		if alike, err := roleOf(completed(spec, s.spec, r.lookup)); err != nil {
			return "", err
		} else if alike == s.role {
			return s.name, nil
		}
	}
	return own, nil
}

// completed returns a spec with what an API server adds to it, as far as a role depends on that: with the values of a spec
// that was completed. The requests of a LimitRange are not among them.
func completed(spec corev1.PodSpec, like *corev1.PodSpec, lookup Lookup) corev1.PodSpec {
	out := *spec.DeepCopy()
	for _, t := range like.Tolerations { // of the admission plugin DefaultTolerationSeconds
		if (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable) && t.Effect == corev1.TaintEffectNoExecute &&
			!slices.ContainsFunc(spec.Tolerations, func(own corev1.Toleration) bool { return own.Key == t.Key }) {
			out.Tolerations = append(out.Tolerations, t)
		}
	}
	class := out.PriorityClassName
	if class == "" && lookup != nil {
		for _, c := range lookup.PriorityClasses() {
			if c.GlobalDefault {
				class = c.Name
			}
		}
	}
	if out.Priority == nil && class == like.PriorityClassName {
		out.Priority = like.Priority
	}
	if out.Overhead == nil && ptr.Equal(out.RuntimeClassName, like.RuntimeClassName) {
		out.Overhead = like.Overhead
	}
	for _, containers := range [][]corev1.Container{out.InitContainers, out.Containers} {
		for i := range containers {
			for k := range containers[i].Ports {
				port := &containers[i].Ports[k]
				port.Protocol = cmp.Or(port.Protocol, corev1.ProtocolTCP)
				if out.HostNetwork {
					port.HostPort = cmp.Or(port.HostPort, port.ContainerPort)
				}
			}
		}
	}
	return out
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
