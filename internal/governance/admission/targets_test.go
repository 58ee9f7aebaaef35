package admission

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A searcher says without a search that there are no targets: Kueue's search finds none
// either, in random clusters with two flavors and resources, partial admission, nested
// cohorts, weights and each policy.
func TestNoTargetsWithoutASearch(t *testing.T) {
	clusters := 300
	if testing.Short() {
		clusters = 60
	}
	for name, c := range map[string]Config{
		"classical":         {},
		"fair":              {FairSharing: true},
		"fair, final share": {FairSharing: true, FairSharingStrategies: []string{"LessThanOrEqualToFinalShare"}},
	} {
		t.Run(name, func(t *testing.T) {
			concluded := 0
			for seed := range clusters {
				r := rand.New(rand.NewPCG(7, uint64(seed)))
				e := randomCluster(r, 2+r.IntN(4), "all", "all", "left", "").engine(t, c)
				e.recheck = &concluded
				if _, err := e.Run(t.Context(), 30); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			t.Logf("%d conclusions in %d clusters", concluded, clusters)
			if concluded < 10*clusters {
				t.Errorf("%d conclusions in %d clusters: the test is about nothing", concluded, clusters)
			}
		})
	}
}

// Heads that are nominated at the same time get what they get one after the other, where each search is compared with
// Kueue's.
func TestHeadsAtOnce(t *testing.T) {
	clusters := 40
	if testing.Short() {
		clusters = 8
	}
	for name, c := range map[string]Config{"classical": {}, "fair": {FairSharing: true}} {
		t.Run(name, func(t *testing.T) {
			preempted := 0
			for seed := range clusters {
				var texts [2]string
				for i := range texts {
					r := rand.New(rand.NewPCG(11, uint64(seed)))
					e := randomCluster(r, manyHeads+r.IntN(4), "all", "all", "").engine(t, c)
					if i == 1 {
						e.recheck = new(int)
					}
					line, err := e.Run(t.Context(), 30)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					texts[i] = fmt.Sprintf("%d cycles: %+v", line.Cycles, line.Events)
					preempted += strings.Count(texts[i], string(EventPreempted))
				}
				if texts[0] != texts[1] {
					t.Fatalf("seed %d: at once\n%s\none by one\n%s", seed, texts[0], texts[1])
				}
			}
			if preempted == 0 {
				t.Error("nothing was preempted: the test is about nothing")
			}
		})
	}
}

func randomCluster(r *rand.Rand, teams int, cohorts ...string) *fixture {
	f := newFixture()
	f.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "spare"}})
	if slices.Contains(cohorts, "left") && r.IntN(3) == 0 {
		f.add(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: kueue.CohortSpec{ParentName: "all"}})
	}
	policies := []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny, kueue.PreemptionPolicyLowerOrNewerEqualPriority}
	for q := range teams {
		team := fmt.Sprint("team-", q)
		f.team(team, cohorts[r.IntN(len(cohorts))], fmt.Sprint(4+r.IntN(8)), preempts([]kueue.PreemptionPolicy{policies[0], policies[1], policies[3]}[r.IntN(3)], policies[r.IntN(3)]), func(cq *kueue.ClusterQueue) {
			if r.IntN(3) == 0 {
				cq.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse([]string{"0", "500m", "2"}[r.IntN(3)]))}
			}
			g := &cq.Spec.ResourceGroups[0]
			limited := func(q *kueue.ResourceQuota) {
				if cq.Spec.CohortName == "" {
					return
				}
				if r.IntN(3) == 0 {
					q.BorrowingLimit = ptr.To(*resource.NewQuantity(int64(r.IntN(5)), resource.DecimalSI))
				}
				if r.IntN(3) == 0 {
					q.LendingLimit = ptr.To(*resource.NewQuantity(int64(r.IntN(4)), resource.DecimalSI))
				}
			}
			g.CoveredResources = append(g.CoveredResources, corev1.ResourceCPU)
			g.Flavors[0].Resources = append(g.Flavors[0].Resources, kueue.ResourceQuota{Name: corev1.ResourceCPU, NominalQuota: resource.MustParse(fmt.Sprint(4 + r.IntN(12)))})
			if r.IntN(2) == 0 {
				spare := g.Flavors[0].DeepCopy()
				spare.Name = "spare"
				g.Flavors = append(g.Flavors, *spare)
			}
			for i := range g.Flavors {
				for k := range g.Flavors[i].Resources {
					limited(&g.Flavors[i].Resources[k])
				}
			}
			if r.IntN(4) == 0 && cq.Spec.Preemption.ReclaimWithinCohort != kueue.PreemptionPolicyNever {
				cq.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority, MaxPriorityThreshold: ptr.To[int32](1)}
			}
		})
		for i := range 4 + r.IntN(8) {
			w := f.job(team, fmt.Sprint("job-", i), 1+r.IntN(4), prio(int32(r.IntN(4))), pods(int32(1+r.IntN(3)), int32(r.IntN(2))))
			requests := w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests
			requests[corev1.ResourceCPU] = resource.MustParse(fmt.Sprint(1 + r.IntN(3)))
			if r.IntN(3) == 0 {
				w.Spec.PodSets = append(w.Spec.PodSets, podSet("more", 1, 1+r.IntN(2)))
			}
			if i < 3 && len(w.Spec.PodSets) == 1 {
				running(w)
				psa := &w.Status.Admission.PodSetAssignments[0]
				psa.Flavors[corev1.ResourceCPU] = "a100"
				psa.ResourceUsage[corev1.ResourceCPU] = *resource.NewQuantity(int64(w.Spec.PodSets[0].Count), resource.DecimalSI)
			}
			f.add(w)
		}
	}
	return f
}
