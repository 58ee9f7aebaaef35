package inputs

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
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

// TestJobOfAGroup: Kueue makes a StatefulSet and its pods owners of their workload, without control. A group of plain pods has only
// its pods.
func TestJobOfAGroup(t *testing.T) {
	pods := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "db-0"}, {APIVersion: "v1", Kind: "Pod", Name: "db-1"}}
	set := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"}
	for want, owners := range map[string][]metav1.OwnerReference{"db": append(pods[:2:2], set), "w": pods} {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w", OwnerReferences: owners}}
		if name, _ := JobOf(w); name != want {
			t.Errorf("%s, want %s", name, want)
		}
	}
}

// TestJobOfPod: the workload of a pod that a job makes again is that job's. A plain pod stays.
func TestJobOfPod(t *testing.T) {
	for _, c := range []struct {
		name             string
		labels           map[string]string
		controller, kind string
		job, of          string
	}{
		{"Deployment", map[string]string{"pod-template-hash": "1a2b3c"}, "web-1a2b3c", "ReplicaSet", "web", "Deployment"},
		{"Deployment without a ReplicaSet, as in a sandbox", nil, "web", "Deployment", "web", "Deployment"},
		{"StatefulSet", nil, "db", "StatefulSet", "db", "StatefulSet"},
		{"LeaderWorkerSet", map[string]string{"leaderworkerset.sigs.k8s.io/name": "serve"}, "serve-0", "StatefulSet", "serve", "LeaderWorkerSet"},
		{"Notebook", map[string]string{"notebook-name": "lab"}, "lab", "StatefulSet", "lab", "Notebook"},
		{"another controller", nil, "mine", "Mine", "p", "Pod"},
		{"plain pod", nil, "", "", "p", "Pod"},
	} {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "pod-p", Namespace: "n", OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "p", Controller: ptr.To(true)}}}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Labels: c.labels}}
		if c.kind != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: c.kind, Name: c.controller, Controller: ptr.To(true)}}
		}
		in := &Inputs{Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "other"}}, pod}, Workloads: []*kueue.Workload{w}}
		if job, of := in.JobOf(w); job != c.job || of != c.of || in.JobName("n", "pod-p") != c.job {
			t.Errorf("%s: %s %q, want %s %q", c.name, job, of, c.job, c.of)
		}
	}
}
