package simulate_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// TestDeployment: the workloads of a Deployment's pods have its name in a report, and a change of the job changes all of them.
func TestDeployment(t *testing.T) {
	w := world(t, "apart.yaml")
	before := len(run(t, w, 0).Jobs)
	var some *kueue.Workload
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Namespace == "c" {
			some = wl
		}
	}
	for i := range 2 {
		pod := fmt.Sprint("web-1a2b3c-", i)
		wl := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: "pod-" + pod,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod, Controller: ptr.To(true)}}}}
		some.Spec.DeepCopyInto(&wl.Spec)
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: pod, Labels: map[string]string{"pod-template-hash": "1a2b3c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1a2b3c", Controller: ptr.To(true)}}}}
		w.Objects = append(w.Objects, wl, p)
	}
	named := func(r *simulate.Report) (n int) {
		for _, j := range r.Jobs {
			if j.Name == "web" {
				n++
			}
		}
		return n
	}
	if n := named(run(t, w, 0)); n != 2 {
		t.Errorf("%d workloads are those of web, want 2", n)
	}
	for _, name := range []string{"web", "c/web"} {
		r := run(t, w, 0, change(t, simulate.RemoveJob, name))
		left := 0
		for _, j := range r.Jobs {
			if j.After != nil {
				left++
			}
		}
		if left != before {
			t.Errorf("without %s there are %d jobs, want %d", name, left, before)
		}
	}
}
