package oracle

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/webhooks"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// notFaults are rules of Kueue's webhook that make no queue faulty here. Kueue's arithmetic has no trouble with such a queue, and
// a queue that is older than a rule may break it.
var notFaults = []string{
	"must match the name in coveredResources",
	"reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
	"requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor",
}

// TestRefused: the engine leaves out each random ClusterQueue and Cohort that Kueue's webhooks refuse, and no other.
func TestRefused(t *testing.T) {
	counts := map[string]int{}
	note := func(what string, theirs error, ours []quota.Fault) {
		switch {
		case theirs == nil && len(ours) == 0:
			counts[what+" that both take"]++
		case theirs != nil && len(ours) > 0:
			counts[what+" that both refuse"]++
		case theirs == nil:
			t.Errorf("%s: Kueue takes it, and the engine has %+v", what, ours)
		default:
			at := slices.IndexFunc(notFaults, func(rule string) bool { return strings.Contains(theirs.Error(), rule) })
			if at < 0 {
				t.Errorf("%s: only Kueue refuses it: %v", what, theirs)
				return
			}
			counts[what+" that only Kueue refuses: "+notFaults[at]]++
		}
	}
	for seed := range uint64(3000) {
		cq := oddQueue(rand.New(rand.NewPCG(seed, 21)))
		note("ClusterQueues", webhooks.ValidateClusterQueue(cq).ToAggregate(), admission.ClusterQueueFaults(cq))
		cohort := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: kueue.CohortSpec{ParentName: cq.Spec.CohortName, ResourceGroups: cq.Spec.ResourceGroups, FairSharing: cq.Spec.FairSharing}}
		_, err := (&webhooks.CohortWebhook{}).ValidateCreate(t.Context(), cohort)
		of := admission.CohortQuotaOf(cohort)
		note("Cohorts", err, quota.CohortFaults(&of))
	}
	if len(counts) < 4+len(notFaults) {
		t.Error("the random objects break too few rules")
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d %s", counts[k], k)
	}
}

// oddQueue is a random ClusterQueue that may break rules.
func oddQueue(r *rand.Rand) *kueue.ClusterQueue {
	amount := func() resource.Quantity {
		return resource.MustParse(pick(r, []string{"0", "4", "4", "9", "9", "9", "-1"}))
	}
	cq := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}, QueueingStrategy: kueue.BestEffortFIFO}}
	if r.IntN(4) > 0 {
		cq.Spec.CohortName = "all"
	}
	for range 1 + r.IntN(2) {
		g := kueue.ResourceGroup{}
		for _, res := range []corev1.ResourceName{gpu, cpu, corev1.ResourceMemory} {
			if r.IntN(3) == 0 {
				g.CoveredResources = append(g.CoveredResources, res)
			}
		}
		for _, name := range []string{"f0", "f1", "f2"} {
			if r.IntN(3) > 0 {
				continue
			}
			f := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(name)}
			for _, res := range g.CoveredResources {
				q := kueue.ResourceQuota{Name: res, NominalQuota: amount()}
				if r.IntN(6) == 0 {
					q.BorrowingLimit = ptr.To(amount())
				}
				if r.IntN(6) == 0 {
					q.LendingLimit = ptr.To(amount())
				}
				f.Resources = append(f.Resources, q)
			}
			switch r.IntN(20) {
			case 0:
				slices.Reverse(f.Resources)
			case 1:
				f.Resources = f.Resources[:max(len(f.Resources)-1, 0)]
			}
			g.Flavors = append(g.Flavors, f)
		}
		cq.Spec.ResourceGroups = append(cq.Spec.ResourceGroups, g)
	}
	if r.IntN(3) == 0 {
		cq.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyNever, ReclaimWithinCohort: pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny, kueue.PreemptionPolicyLowerPriority})}
		if r.IntN(2) == 0 {
			cq.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: pick(r, []kueue.BorrowWithinCohortPolicy{kueue.BorrowWithinCohortPolicyNever, kueue.BorrowWithinCohortPolicyLowerPriority})}
		}
	}
	if r.IntN(6) == 0 {
		cq.Spec.FlavorFungibility = &kueue.FlavorFungibility{WhenCanBorrow: pick(r, []kueue.FlavorFungibilityPolicy{kueue.MayStopSearch, kueue.TryNextFlavor}), WhenCanPreempt: kueue.TryNextFlavor,
			Preference: ptr.To(kueue.BorrowingOverPreemption)}
	}
	if r.IntN(4) == 0 {
		cq.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(pick(r, []string{"0", "1", "1n", "2n", "-1"})))}
	}
	if r.IntN(8) == 0 {
		cq.Spec.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "team", Operator: pick(r, []metav1.LabelSelectorOperator{"In", "Exists", "Odd"})}}
	}
	return cq
}
