package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
)

// randomPolicy is any of the preemption policies that a webhook lets through.
func randomPolicy(r *rand.Rand, fair bool) *kueue.ClusterQueuePreemption {
	pick := func(of ...kueue.PreemptionPolicy) kueue.PreemptionPolicy { return of[r.IntN(len(of))] }
	p := &kueue.ClusterQueuePreemption{
		WithinClusterQueue:  pick(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority),
		ReclaimWithinCohort: pick(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny, kueue.PreemptionPolicyAny),
	}
	if !fair && p.ReclaimWithinCohort != kueue.PreemptionPolicyNever && r.IntN(2) == 0 {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority}
		if r.IntN(2) == 0 {
			p.BorrowWithinCohort.MaxPriorityThreshold = ptr.To(int32(r.IntN(3)))
		}
	}
	return p
}

// TestCandidates judges whom a workload could preempt by whom the core does: on
// random trees every preempted workload is a candidate.
func TestCandidates(t *testing.T) {
	trees := 2000
	if testing.Short() {
		trees = 400
	}
	preempted, others, refused := 0, 0, 0
	for seed := range uint64(trees) {
		r := rand.New(rand.NewPCG(seed, 2))
		fair := r.IntN(3) == 0
		f := newFixture().add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "h100"}})
		cohorts := 1 + r.IntN(3)
		for i := range cohorts {
			c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}}
			if i > 0 {
				c.Spec.ParentName = kueue.CohortReference(fmt.Sprint("c", r.IntN(i)))
			}
			if r.IntN(2) == 0 {
				c.Spec.ResourceGroups = randomQuotas(r, 6, c.Spec.ParentName != "", true)
			}
			f.add(c)
		}
		queues := 2 + r.IntN(3)
		holders := 0
		for i := range queues {
			name := fmt.Sprint("q", i)
			f.team(name, fmt.Sprint("c", r.IntN(cohorts)), "0", func(cq *kueue.ClusterQueue) {
				cq.Spec.ResourceGroups = randomQuotas(r, 12, true, false)
				cq.Spec.Preemption = randomPolicy(r, fair)
				cq.Spec.FairSharing = randomWeight(r)
			})
			for range r.IntN(3) {
				for _, flavor := range treeFlavors {
					o, _ := runningIn(r, name, flavor)
					w := o.(*kueue.Workload)
					w.Name = fmt.Sprint(w.Name, "-", holders)
					w.UID = ""
					w.Spec.Priority = ptr.To(int32(r.IntN(4)))
					w.CreationTimestamp = metav1.NewTime(noon.Add(-time.Minute))
					if r.IntN(2) == 0 { // it has only one of the resources
						a := &w.Status.Admission.PodSetAssignments[0]
						only := treeResources[r.IntN(2)]
						delete(a.Flavors, only)
						delete(a.ResourceUsage, only)
					}
					holders++
					f.add(w)
				}
			}
		}
		e := f.engine(t, Config{FairSharing: fair})
		job := f.job("q0", "new", 0, prio(int32(r.IntN(4))))
		if r.IntN(2) == 0 { // older than those that run
			job.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
		}
		sets := []kueue.PodSet{podSet("main", 1, 0)}
		if r.IntN(3) == 0 {
			sets = append(sets, podSet("more", 1, 0))
		}
		for i := range sets {
			sets[i].Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
				gpu: *resource.NewQuantity(int64(r.IntN(10)), resource.DecimalSI), corev1.ResourceCPU: *resource.NewMilliQuantity(int64(r.IntN(10))*350, resource.DecimalSI)}
		}
		job.Spec.PodSets = sets
		d := probe(t, e, job)
		if d.Outcome == Admitted {
			continue
		}
		got, err := e.Candidates(t.Context(), job, "q0", shortOf(t, e, job))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Preempts {
			preempted++
			if p.ClusterQueue != "q0" {
				others++
			}
			if !got.Keys[p.Namespace+"/"+p.Name] {
				t.Errorf("seed %d: %s is preempted (%s) but is not a candidate of %v", seed, p.Name, p.Reason, got)
			}
		}
		refused += holders - len(got.Keys)
	}
	t.Logf("%d preempted, %d of them of other queues; %d holders are not candidates", preempted, others, refused)
	if preempted < trees/10 || others < trees/40 || refused < trees/10 {
		t.Error("the trees are too alike to prove anything")
	}
}

// shortOf is what a workload could not get now, in every flavor of q0.
func shortOf(t *testing.T, e *Engine, w *kueue.Workload) []Quantity {
	snap, err := e.cache.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cq := snap.ClusterQueue("q0")
	var out []Quantity
	for _, flavor := range treeFlavors {
		for _, name := range treeResources {
			all := resource.Quantity{}
			for _, ps := range w.Spec.PodSets {
				all.Add(ps.Template.Spec.Containers[0].Resources.Requests[name])
			}
			fr := resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(flavor), Resource: name}
			if resources.AmountFromQuantity(name, all).Cmp(cq.Available(fr)) > 0 {
				out = append(out, Quantity{Flavor: flavor, Resource: string(name)})
			}
		}
	}
	return out
}
