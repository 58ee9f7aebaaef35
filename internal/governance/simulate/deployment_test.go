package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
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

// TestPodsOfADeployment: when the pods of a job with a workload for each, or for each group, are gone, others get their nodes.
func TestPodsOfADeployment(t *testing.T) {
	owner := func(apiVersion, kind, name string, controls bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, Controller: ptr.To(controls)}}
	}
	for _, c := range []struct {
		kind, after   string
		workload, pod metav1.ObjectMeta
	}{
		{"Deployment", "Lost PendingEvaluation", metav1.ObjectMeta{Name: "pod-web-1a2b3c-0", OwnerReferences: owner("v1", "Pod", "web-1a2b3c-0", true)},
			metav1.ObjectMeta{Name: "web-1a2b3c-0", Labels: map[string]string{"pod-template-hash": "1a2b3c"}, OwnerReferences: owner("apps/v1", "ReplicaSet", "web-1a2b3c", true)}},
		{"Notebook", "Lost PendingEvaluation", metav1.ObjectMeta{Name: "pod-web-0", OwnerReferences: owner("v1", "Pod", "web-0", true)},
			metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"notebook-name": "web"}, OwnerReferences: owner("apps/v1", "StatefulSet", "web", true)}},
		{"StatefulSet", "Preempted by b/new", metav1.ObjectMeta{Name: "statefulset-web-5e6f7", OwnerReferences: owner("apps/v1", "StatefulSet", "web", false)},
			metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{kinds.PodGroupName: "statefulset-web-5e6f7"}, OwnerReferences: owner("apps/v1", "StatefulSet", "web", true)}},
		{"StatefulSet of a sandbox", "Preempted by b/new", metav1.ObjectMeta{Name: "statefulset-web-5e6f7", OwnerReferences: owner("apps/v1", "StatefulSet", "web", true)},
			metav1.ObjectMeta{Name: "web-0", OwnerReferences: owner("apps/v1", "StatefulSet", "web", true)}},
		{"LeaderWorkerSet", "Preempted by b/new", metav1.ObjectMeta{Name: "leaderworkerset-web-0-5e6f7", OwnerReferences: owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "web", false)},
			metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{kinds.PodGroupName: "leaderworkerset-web-0-5e6f7", "leaderworkerset.sigs.k8s.io/name": "web"},
				OwnerReferences: owner("apps/v1", "StatefulSet", "web", true)}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			w := withNodes(world(t, "lend-three.yaml"), 1, "n0 a/two 2", "n0 b/web 4")
			for _, o := range w.Objects {
				switch o := o.(type) {
				case *kueue.Workload:
					if o.Name == "four" {
						o.Name, o.OwnerReferences = c.workload.Name, c.workload.OwnerReferences
					}
				case *corev1.Pod:
					if o.Namespace == "b" {
						o.Name, o.Labels, o.OwnerReferences = c.pod.Name, c.pod.Labels, c.pod.OwnerReferences
					}
				}
			}
			removed := "web: Admitted 4/0 > -; low: WaitsForNodes NodesFull > Admitted 4/0"
			if got := short(run(t, w, 0, change(t, simulate.RemoveJob, "web"))); !equalParts(got, removed) {
				t.Errorf("removed: %s\nwant %s", got, removed)
			}
			preempted := "low: WaitsForNodes NodesFull > -; web: Admitted 4/0 > " + c.after + "; new: - > Admitted 4/0; b/new!web (InClusterQueue)"
			got := short(run(t, w, 0, change(t, simulate.RemoveJob, "low"), change(t, simulate.Set, "b.borrow-limit=0"), change(t, simulate.Priority, "web=-10"), addJob("b", "new", 4)))
			if !equalParts(got, preempted) {
				t.Errorf("preempted: %s\nwant %s", got, preempted)
			}
			lost := run(t, w, 0, change(t, simulate.RemoveNodes, "n0"))
			if got := fmt.Sprint(lost.Notes); !strings.Contains(got, "{b/web 1}") {
				t.Errorf("the pods that are lost: %s", got)
			}
		})
	}
}
