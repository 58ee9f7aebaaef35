package admission

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/workload"
)

// variant is one of a workload for a flavor.
func variant(flavor string) workloadOption {
	return func(w *kueue.Workload) {
		w.UID = types.UID("uid-" + flavor)
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: "parent", UID: "parent"}}
		w.Annotations = map[string]string{constants.WorkloadAllowedResourceFlavorAnnotation: flavor}
	}
}

// TestVariants: with concurrent admission a variant with a better flavor replaces an admitted one, a worse one waits, and
// no variant preempts before its gate opens.
func TestVariants(t *testing.T) {
	on := func(flavor string) workloadOption {
		return func(w *kueue.Workload) {
			running(w)
			w.Status.Admission.PodSetAssignments[0].Flavors[gpu] = kueue.ResourceFlavorReference(flavor)
		}
	}
	gate := func(w *kueue.Workload) {
		w.Spec.Priority = ptr.To[int32](5)
		w.Spec.PreemptionGates = []kueue.PreemptionGate{{Name: constants.ConcurrentAdmissionPreemptionGate}}
	}
	for name, c := range map[string]struct {
		runs, asks []workloadOption
		last       kueue.ResourceFlavorReference // lastAcceptableFlavorName
		off        bool                          // the feature gate
		want       Outcome
		reason     string
		target     string
		events     string
	}{
		"better":                {[]workloadOption{variant("spare"), on("spare")}, []workloadOption{variant("a100")}, "", false, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "runs", "1 Preempting a/asks; 1 Evicted a/runs by a/asks; 2 Admitted a/asks"},
		"worse":                 {[]workloadOption{variant("a100"), on("a100")}, []workloadOption{variant("spare")}, "", false, Waits, kueue.WorkloadQuotaReservedReasonPendingEvaluation, "", "1 Skipped a/asks"},
		"better, not allowed":   {[]workloadOption{variant("spare"), on("spare")}, []workloadOption{variant("a100")}, "none", false, Waits, kueue.WorkloadQuotaReservedReasonPendingEvaluation, "", "1 Pending a/asks; 2 Pending a/asks"},
		"better, the gate off":  {[]workloadOption{variant("spare"), on("spare")}, []workloadOption{variant("a100")}, "", true, Admitted, "", "", "1 Admitted a/asks"},
		"would preempt, closed": {[]workloadOption{on("a100")}, []workloadOption{variant("a100"), gate}, "", false, Waits, kueue.WorkloadAdmissionGated, "", "1 Skipped a/asks"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "spare"}}).team("a", "", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever), func(cq *kueue.ClusterQueue) {
				fq := *cq.Spec.ResourceGroups[0].Flavors[0].DeepCopy()
				fq.Name = "spare"
				cq.Spec.ResourceGroups[0].Flavors = append(cq.Spec.ResourceGroups[0].Flavors, fq)
				if c.last != "" {
					cq.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{Migration: kueue.ConcurrentAdmissionMigration{
						Constraints: &kueue.ConcurrentAdmissionConstraints{LastAcceptableFlavorName: &c.last}}}
				}
			})
			asks := f.job("a", "asks", 8, c.asks...)
			f.add(f.job("a", "runs", 8, c.runs...))
			e := f.add(asks).engine(t, Config{Gates: map[string]bool{"ConcurrentAdmission": !c.off}})
			d := probe(t, e, asks)
			if d.Outcome != c.want || d.Reason != c.reason || len(d.NotModelled) > 0 {
				t.Errorf("%s %s %q %v", d.Outcome, d.Reason, d.Message, d.NotModelled)
			}
			if c.target != "" && (len(d.Preempts) != 1 || d.Preempts[0].Name != c.target) {
				t.Errorf("targets %+v", d.Preempts)
			}
			if got := short(run(t, e)); got != c.events {
				t.Errorf("%s, want %s", got, c.events)
			}
		})
	}
}

// TestVariantsArriveHashed: variants of a job that arrives while a gate of another job is about to open have hashes in their
// queue, so that Kueue puts them aside with an equivalent one.
func TestVariantsArriveHashed(t *testing.T) {
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionTryPreferredFlavors, ""),
		preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
	for _, flavor := range []string{"a100", "spare"} {
		w := f.job("a", "low-"+flavor, 8, prio(-1), variant(flavor))
		running(w)
		w.Status.Admission.PodSetAssignments[0].Flavors[gpu] = kueue.ResourceFlavorReference(flavor)
		f.add(w)
	}
	f.add(f.job("a", "first-x", 8))
	e := f.engine(t, Config{Gates: concurrentOn})
	if _, err := e.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if len(e.store.gated) != 1 {
		t.Fatalf("%d gates are about to open", len(e.store.gated))
	}
	if err := e.Load(context.Background(), f.job("a", "earlier-x", 8)); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, i := range e.queues.PendingWorkloadsInfo("a") {
		if strings.HasPrefix(i.Obj.Name, "earlier-variant") {
			seen++
			if i.SchedulingHash == workload.SchedulingHashUnknown {
				t.Errorf("%s has no hash", i.Obj.Name)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d variants wait", seen)
	}
}
