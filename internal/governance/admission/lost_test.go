package admission

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestPlainPodsAreLost: Kueue deletes the pods of a workload that it preempts. Pods without a controller do not come back, and
// their workload leaves the queue. Those of a controller, and those that still wait for admission, queue again.
func TestPlainPodsAreLost(t *testing.T) {
	pod := func(name, controller string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)}}
		if controller != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: controller, Name: "x", UID: "x", Controller: ptr.To(true)}}
		}
		return p
	}
	group := func(w *kueue.Workload) { w.Annotations = map[string]string{kinds.GroupWorkload: "true"} }
	of := func(kind, apiVersion string, names ...string) workloadOption {
		return func(w *kueue.Workload) {
			for _, n := range names {
				w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: n, UID: types.UID(n)})
			}
		}
	}
	checked := func(w *kueue.Workload) {
		w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "budget", State: kueue.CheckStatePending}}
		w.Status.Conditions = slices.DeleteFunc(w.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kueue.WorkloadAdmitted })
	}
	for name, c := range map[string]struct {
		pods []*corev1.Pod
		opts []workloadOption
		lost bool
	}{
		"a pod group":                     {[]*corev1.Pod{pod("p", ""), pod("q", "")}, []workloadOption{group, of("Pod", "v1", "p", "q")}, true},
		"a pod group whose pods are gone": {nil, []workloadOption{group, of("Pod", "v1", "p", "q")}, true},
		"a group that nothing owns yet":   {nil, []workloadOption{group}, true},
		"a pod":                           {[]*corev1.Pod{pod("p", "")}, []workloadOption{of("Pod", "v1", "p")}, true},
		"a pod of a Deployment":           {[]*corev1.Pod{pod("p", "ReplicaSet")}, []workloadOption{of("Pod", "v1", "p")}, false},
		"a pod that could not be read":    {nil, []workloadOption{of("Pod", "v1", "p")}, false},
		"a StatefulSet":                   {[]*corev1.Pod{pod("p", "StatefulSet")}, []workloadOption{group, of("StatefulSet", "apps/v1", "s"), of("Pod", "v1", "p")}, false},
		"a group whose pods have one":     {[]*corev1.Pod{pod("p", "StatefulSet")}, []workloadOption{group, of("Pod", "v1", "p")}, false},
		"a pod group with checks to pass": {[]*corev1.Pod{pod("p", "")}, []workloadOption{group, of("Pod", "v1", "p"), checked}, false},
		"a job":                           {nil, []workloadOption{of("Job", "batch/v1", "p")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().team("a", "", "4", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever), func(cq *kueue.ClusterQueue) {
				if strings.Contains(name, "checks") {
					cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
				}
			})
			f.add(&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "x"},
				Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}})
			f.add(f.job("a", "low", 4, append([]workloadOption{running}, c.opts...)...))
			for _, p := range c.pods {
				f.add(p)
			}
			e := f.engine(t, Config{})
			high := f.job("a", "high", 4, prio(5))
			if d := probe(t, e, high); len(d.Preempts) != 1 || d.Preempts[0].Lost != c.lost {
				t.Errorf("%s, preempts %+v", d.Outcome, d.Preempts)
			}
			if err := e.Load(t.Context(), high); err != nil {
				t.Fatal(err)
			}
			line, err := e.Run(t.Context(), 0)
			if err != nil || !line.Settled {
				t.Fatal(line, err)
			}
			for _, ev := range line.Events {
				if ev.Kind == EventPreempted && ev.Lost != c.lost {
					t.Errorf("event %+v", ev)
				}
			}
			if got := Lost(e.Stored("a", "low")); got != c.lost || (len(e.Pending("a")) == 0) != c.lost {
				t.Errorf("lost %t, queued %v", got, e.Pending("a"))
			}
			if err := e.Remove(t.Context(), "a", "high"); err != nil {
				t.Fatal(err)
			}
			if line, err = e.Run(t.Context(), 0); err != nil || (len(line.Events) == 0) != c.lost {
				t.Errorf("afterwards %v, %v", line.Events, err)
			}
		})
	}
}
