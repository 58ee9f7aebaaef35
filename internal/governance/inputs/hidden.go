package inputs

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// hiddenWorkload holds one resource of one flavor. Its priority is the highest, so
// that it is taken away only where a queue may reclaim from any priority.
func hiddenWorkload(cq *kueue.ClusterQueue, n int, flavor kueue.ResourceFlavorReference, name corev1.ResourceName, q resource.Quantity, now time.Time) *kueue.Workload {
	a := kueue.PodSetAssignment{
		Name: kueue.DefaultPodSetName, Count: ptr.To[int32](1),
		Flavors:       map[corev1.ResourceName]kueue.ResourceFlavorReference{name: flavor},
		ResourceUsage: corev1.ResourceList{name: q},
	}
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cq.Name, Name: fmt.Sprintf("not-readable-%d", n),
			Labels:            map[string]string{HiddenLabel: "true"},
			CreationTimestamp: metav1.NewTime(now),
		},
		Spec: kueue.WorkloadSpec{
			Active: ptr.To(true), Priority: ptr.To[int32](math.MaxInt32),
			PodSets: []kueue.PodSet{{Name: a.Name, Count: 1, Template: corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: a.ResourceUsage}}}},
			}}},
		},
		Status: kueue.WorkloadStatus{Admission: &kueue.Admission{
			ClusterQueue: kueue.ClusterQueueReference(cq.Name), PodSetAssignments: []kueue.PodSetAssignment{a},
		}},
	}
	if cq.Spec.ConcurrentAdmissionPolicy != nil { // such a queue counts variants only
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: kinds.Workload.Kind,
			Name: w.Name + "-parent", UID: types.UID(w.Namespace + "/" + w.Name + "-parent")}}
		w.Annotations = map[string]string{admission.FlavorAnnotation: string(flavor)}
	}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
			Type: c, Status: metav1.ConditionTrue, Reason: "NotReadable", LastTransitionTime: metav1.NewTime(now),
		})
	}
	return w
}

// hiddenNamespaces returns the namespaces of hidden workloads and, where namespaces could not
// be read, of all workloads and queues: without them the engine would report that it had to
// make them up, which Missing says already.
func (in *Inputs) hiddenNamespaces() []*corev1.Namespace {
	have := map[string]bool{}
	for _, n := range in.Namespaces {
		have[n.Name] = true
	}
	unread := slices.ContainsFunc(in.Missing, func(m state.Missing) bool { return m.Resource.FullName() == kinds.Namespace.FullName() })
	var out []*corev1.Namespace
	add := func(name string) {
		if !have[name] {
			have[name] = true
			out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}})
		}
	}
	for _, w := range in.Workloads {
		if _, hidden := w.Labels[HiddenLabel]; hidden || unread {
			add(w.Namespace)
		}
	}
	for _, q := range in.LocalQueues {
		if unread {
			add(q.Namespace)
		}
	}
	return out
}
