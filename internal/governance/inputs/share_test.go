package inputs

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestWorkloadsShareEqualLists(t *testing.T) {
	list := func(cpu, gpu string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "nvidia.com/gpu": resource.MustParse(gpu)}
	}
	workload := func(requests, limits, uses corev1.ResourceList) *kueue.Workload {
		w := &kueue.Workload{}
		w.Spec.PodSets = []kueue.PodSet{{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}}}}}
		w.Status.Admission = &kueue.Admission{PodSetAssignments: []kueue.PodSetAssignment{{ResourceUsage: uses}}}
		return w
	}
	same := func(a, b corev1.ResourceList) bool {
		return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	}
	first, second := workload(list("8", "4"), nil, list("8", "4")), workload(list("8", "4"), list("8", "5"), list("8000m", "4"))
	shared := lists{}
	shared.share(first)
	shared.share(second)

	of := func(w *kueue.Workload) corev1.ResourceRequirements {
		return w.Spec.PodSets[0].Template.Spec.Containers[0].Resources
	}
	if !same(of(first).Requests, of(second).Requests) || !same(of(first).Requests, first.Status.Admission.PodSetAssignments[0].ResourceUsage) {
		t.Error("equal lists are not one")
	}
	if same(of(second).Limits, of(second).Requests) {
		t.Error("lists that differ are one")
	}
	if of(first).Limits != nil {
		t.Error("a list that was left out is there")
	}
	if got := of(second).Limits["nvidia.com/gpu"]; got.Value() != 5 {
		t.Errorf("limit %s, want 5", got.String())
	}
}
