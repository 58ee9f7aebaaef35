package inputs

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestJobOf: a workload is named by the job that controls it. One that a workload controls is a variant whose workload is gone.
func TestJobOf(t *testing.T) {
	for kind, want := range map[string][2]string{"PyTorchJob": {"owner", "PyTorchJob"}, "Workload": {"w", ""}, "": {"w", ""}} {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w"}}
		if kind != "" {
			w.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: ptr.To(true)}}
		}
		if name, of := JobOf(w); name != want[0] || of != want[1] {
			t.Errorf("%q: %s %q", kind, name, of)
		}
	}
}
