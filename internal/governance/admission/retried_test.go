package admission

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestRetriedAfterTheEndOfAWorkload: Kueue moves the tree of an admitted workload that finishes, although its status keeps
// the admission.
func TestRetriedAfterTheEndOfAWorkload(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "a", Name: name} }
	queue := &kueue.LocalQueue{ObjectMeta: meta("lq"), Spec: kueue.LocalQueueSpec{ClusterQueue: "cq"}}
	other := &kueue.LocalQueue{ObjectMeta: meta("other"), Spec: kueue.LocalQueueSpec{ClusterQueue: "else"}}
	running := &kueue.Workload{ObjectMeta: meta("running"), Status: kueue.WorkloadStatus{Admission: &kueue.Admission{ClusterQueue: "cq"}}}
	finished := running.DeepCopy()
	finished.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue}}
	pending := &kueue.Workload{ObjectMeta: meta("pending")}

	r := RetriedAfter([]client.Object{queue, other, running, pending}, []client.Object{queue, other, finished, pending}, false)
	if !r.of(pending, queue) {
		t.Error("a pending workload in the tree of the finished one is not tried again")
	}
	if r.of(pending, other) {
		t.Error("a pending workload in another tree is tried again")
	}
}
