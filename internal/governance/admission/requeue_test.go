package admission

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRequeuedFollow: what a run put back follows its LocalQueue to another ClusterQueue, and leaves with it.
func TestRequeuedFollow(t *testing.T) {
	ctx := context.Background()
	f := newFixture().team("a", "", "4").team("b", "", "8")
	e := f.add(f.job("a", "large", 8), f.job("a", "larger", 9)).engine(t, Config{})
	if got := short(run(t, e)); got != "1 Pending a/large; 2 Pending a/larger" {
		t.Fatal(got)
	}
	queue := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "queue", Namespace: "a"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "b"}}
	if err := e.Load(ctx, queue); err != nil {
		t.Fatal(err)
	}
	if got := short(run(t, e)); got != "1 Admitted a/large; 2 Pending a/larger" {
		t.Error(got)
	}
	if err := e.Delete(ctx, queue); err != nil {
		t.Fatal(err)
	}
	if p := e.Pending("b"); len(p) > 0 {
		t.Errorf("without the LocalQueue, %v wait", names(p))
	}
}

// TestRequeuedAreKnown: what the queues know of a workload after a run is what Kueue would compute again, also once a
// LimitRange has changed and another version of a workload was loaded.
func TestRequeuedAreKnown(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 15))
		f := newFixture().team("a", "all", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny)).
			team("b", "all", "8", preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)).team("c", "all", "2", strict)
		var jobs []*kueue.Workload
		for i := range 30 {
			jobs = append(jobs, f.job([]string{"a", "b", "c"}[r.IntN(3)], fmt.Sprint("job-", i), 1+r.IntN(9), prio(int32(r.IntN(3)))))
			f.add(jobs[i])
		}
		e := f.engine(t, Config{FairSharing: seed%2 == 1})
		check := func(when string) {
			t.Helper()
			run(t, e)
			known := 0
			for _, cq := range []kueue.ClusterQueueReference{"a", "b", "c"} {
				for _, i := range e.queues.PendingWorkloadsInfo(cq) {
					stored := e.store.workloads[workload.Key(i.Obj)]
					again := workload.NewInfo(e.adjusted(ctx, stored))
					if i.SchedulingHash != again.SchedulingHash || !reflect.DeepEqual(i.TotalRequests, again.TotalRequests) {
						t.Errorf("seed %d, %s: the queue has %s %+v of %s, and it would have %s %+v", seed, when, i.SchedulingHash, i.TotalRequests, i.Obj.Name, again.SchedulingHash, again.TotalRequests)
					}
					known++
				}
			}
			if known < 5 {
				t.Errorf("seed %d, %s: only %d wait", seed, when, known)
			}
		}
		check("after the first run")
		if err := e.Load(ctx, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "least", Namespace: "a"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}}); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(jobs, func(w *kueue.Workload) bool {
			return e.store.workloads[workload.Key(w)].Status.Admission == nil
		})
		changed := jobs[i].DeepCopy()
		changed.Generation++
		changed.Spec.PodSets[0].Count = 2
		if err := e.Load(ctx, changed, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}, Spec: kueue.ResourceFlavorSpec{NodeLabels: map[string]string{"new": "label"}}}); err != nil {
			t.Fatal(err)
		}
		check("after the changes")
	}
}
