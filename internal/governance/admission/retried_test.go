package admission

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestRetriedAfterTheEndOfAWorkload: Kueue moves the tree of an admitted workload that finishes, although its status keeps
// the admission, and of a waiting one that is deactivated.
func TestRetriedAfterTheEndOfAWorkload(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "a", Name: name} }
	queue := &kueue.LocalQueue{ObjectMeta: meta("lq"), Spec: kueue.LocalQueueSpec{ClusterQueue: "cq"}}
	other := &kueue.LocalQueue{ObjectMeta: meta("other"), Spec: kueue.LocalQueueSpec{ClusterQueue: "else"}}
	running := &kueue.Workload{ObjectMeta: meta("running"), Status: kueue.WorkloadStatus{Admission: &kueue.Admission{ClusterQueue: "cq"}}}
	finished := running.DeepCopy()
	finished.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue}}
	pending := &kueue.Workload{ObjectMeta: meta("pending")}

	waiting := &kueue.Workload{ObjectMeta: meta("waiting"), Spec: kueue.WorkloadSpec{QueueName: "lq"}}
	deactivated := waiting.DeepCopy()
	deactivated.Spec.Active = ptr.To(false)

	for name, after := range map[string][]client.Object{
		"finished":    {queue, other, finished, waiting, pending},
		"deactivated": {queue, other, running, deactivated, pending},
	} {
		r := RetriedAfter([]client.Object{queue, other, running, waiting, pending}, after, false)
		if !r.of(pending, queue) {
			t.Errorf("a pending workload in the tree of the %s one is not tried again", name)
		}
		if r.of(pending, other) {
			t.Errorf("a pending workload in another tree than that of the %s one is tried again", name)
		}
	}
}
