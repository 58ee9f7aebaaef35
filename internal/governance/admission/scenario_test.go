package admission

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestProbe(t *testing.T) {
	const (
		never   = kueue.PreemptionPolicyNever
		lower   = kueue.PreemptionPolicyLowerPriority
		anyPrio = kueue.PreemptionPolicyAny
	)
	tests := []struct {
		name     string
		cfg      Config
		build    func(f *fixture) *kueue.Workload
		outcome  Outcome
		reason   string
		message  string // part of it
		borrowed string
		preempts string
		count    int32
	}{
		{
			name: "borrowing limit 0 keeps it within its own quota",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "all", "6").team("b", "all", "5", borrowingLimit("0"))
				f.add(f.job("b", "used", 4, running))
				return f.job("b", "new", 4)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonWaitingForQuota,
			message: "insufficient unused quota for nvidia.com/gpu in flavor a100, 3 more needed",
		},
		{
			name: "more than nominal plus borrowing limit",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "all", "6").team("b", "all", "5", borrowingLimit("2"))
				return f.job("b", "new", 8)
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonExceedsMaxQuota, message: "maximum capacity (7)",
		},
		{
			name: "missing queue",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "6")
				return f.job("a", "new", 1, func(w *kueue.Workload) { w.Spec.QueueName = "other" })
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonMisconfigured, message: "LocalQueue other doesn't exist",
		},
		{
			name: "resource no queue covers",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "6")
				return f.job("a", "new", 1, func(w *kueue.Workload) {
					w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["vpc.amazonaws.com/efa"] = resource.MustParse("1")
				})
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonNoMatchingFlavor, message: "resource vpc.amazonaws.com/efa unavailable in ClusterQueue",
		},
		{
			name: "undeclared resource ignored by configuration",
			cfg:  Config{IgnoreUndeclaredResources: true},
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "6")
				return f.job("a", "new", 1, func(w *kueue.Workload) {
					w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["vpc.amazonaws.com/efa"] = resource.MustParse("1")
				})
			},
			outcome: Admitted,
		},
		{
			name: "the flavor's nodes do not match",
			build: func(f *fixture) *kueue.Workload {
				f.objs[0].(*kueue.ResourceFlavor).Spec.NodeLabels = map[string]string{"type": "p4"}
				f.team("a", "", "6")
				return f.job("a", "new", 1, func(w *kueue.Workload) {
					w.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"type": "p5"}
				})
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonNoMatchingFlavor, message: "doesn't match node affinity",
		},
		{
			name: "preempts only the lowest priority of its queue",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", preempts(lower, never))
				f.add(f.job("a", "low", 2, prio(1), running), f.job("a", "mid", 2, prio(5), running))
				return f.job("a", "new", 2, prio(9))
			},
			outcome: AdmittedByPreempting, reason: kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads,
			message: "Pending the preemption of 1 workload(s)", preempts: "a/low InClusterQueue 2", count: 1,
		},
		{
			name: "equal priority is not preempted",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", preempts(lower, never))
				f.add(f.job("a", "one", 4, running))
				return f.job("a", "new", 2)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonWaitingForQuota, message: "2 more needed",
		},
		{
			name: "takes back what its cohort borrowed",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "all", "4").team("b", "all", "4", preempts(never, anyPrio))
				f.add(f.job("a", "own", 4, prio(5), running), f.job("a", "borrower", 3, running))
				return f.job("b", "new", 4)
			},
			outcome: AdmittedByPreempting, reason: kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads,
			preempts: "a/borrower InCohortReclamation 3", count: 1,
		},
		{
			name: "john takes 50 % more than it has left", // john 12 using 8, smith 4 using 0; smith may borrow up to 100 %
			build: func(f *fixture) *kueue.Workload {
				f.team("john", "all", "12", borrowingLimit("6")).team("smith", "all", "4", borrowingLimit("4"))
				f.add(f.job("john", "used", 8, running))
				return f.job("smith", "new", 8)
			},
			outcome: Admitted, borrowed: "a100/nvidia.com/gpu=4", count: 1,
		},
		{
			name: "smith cannot have twelve",
			build: func(f *fixture) *kueue.Workload {
				f.team("john", "all", "12", borrowingLimit("6")).team("smith", "all", "4", borrowingLimit("4"))
				f.add(f.job("john", "used", 8, running))
				return f.job("smith", "new", 12)
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonExceedsMaxQuota, message: "maximum capacity (8)",
		},
		{
			name: "partial admission",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "8")
				f.add(f.job("a", "used", 3, running))
				return f.job("a", "new", 1, pods(8, 2))
			},
			outcome: Admitted, count: 5,
		},
		{
			name: "more than there is, but fewer pods would do later",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "8")
				f.add(f.job("a", "used", 7, running))
				return f.job("a", "new", 1, pods(10, 2))
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonExceedsMaxQuota,
		},
		{
			name: "StrictFIFO: an older workload is first",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", strict)
				f.add(f.job("a", "used", 2, running), f.job("a", "big", 4))
				return f.job("a", "new", 1)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonWaitingForQuota, message: "1 workload(s) ahead",
		},
		{
			name: "BestEffortFIFO: an older workload is passed",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4")
				f.add(f.job("a", "used", 2, running), f.job("a", "big", 4))
				return f.job("a", "new", 1)
			},
			outcome: Admitted, count: 1,
		},
		{
			name: "StrictFIFO: a neighbour's head keeps its nominal quota",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "all", "4", strict).team("b", "all", "4")
				f.add(f.job("a", "used", 1, running), f.job("b", "used", 4, running), f.job("a", "big", 4))
				return f.job("b", "new", 2)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonWaitingForQuota, message: "no longer fits",
		},
		{
			name: "stopped ClusterQueue",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", func(cq *kueue.ClusterQueue) { cq.Spec.StopPolicy = ptr.To(kueue.Hold) })
				return f.job("a", "new", 1)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonSuspended, message: "ClusterQueue a is inactive: Can't admit new workloads: is stopped.",
		},
		{
			name: "ClusterQueue that is being deleted",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", func(cq *kueue.ClusterQueue) { cq.DeletionTimestamp = ptr.To(metav1.NewTime(noon)) })
				f.add(f.job("a", "used", 1, running))
				return f.job("a", "new", 1)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonSuspended, message: "ClusterQueue a is inactive: Can't admit new workloads; clusterQueue is terminating",
		},
		{
			name: "ClusterQueue with a missing flavor",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", func(cq *kueue.ClusterQueue) { cq.Spec.ResourceGroups[0].Flavors[0].Name = "h100" })
				return f.job("a", "new", 1)
			},
			outcome: Waits, reason: kueue.WorkloadQuotaReservedReasonSuspended, message: "references missing ResourceFlavor(s): h100",
		},
		{
			name: "admission gate",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4")
				return f.job("a", "new", 1, func(w *kueue.Workload) {
					w.Annotations = map[string]string{"kueue.x-k8s.io/admission-gated-by": "example.com/gate"}
				})
			},
			outcome: Waits, reason: kueue.WorkloadAdmissionGated,
		},
		{
			name: "deactivated",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4")
				return f.job("a", "new", 1, func(w *kueue.Workload) { w.Spec.Active = ptr.To(false) })
			},
			outcome: Waits, reason: kueue.WorkloadDeactivated,
		},
		{
			name: "an admission check follows the reservation",
			build: func(f *fixture) *kueue.Workload {
				f.add(&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "x"},
					Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}})
				f.team("a", "", "4", func(cq *kueue.ClusterQueue) {
					cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
				})
				return f.job("a", "new", 1)
			},
			outcome: Waits, reason: kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks, message: "budget", count: 1,
		},
		{
			name: "no requests at all",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4")
				return f.job("a", "new", 0)
			},
			outcome: Admitted, count: 1,
		},
		{
			name: "requests above limits",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4")
				return f.job("a", "new", 2, func(w *kueue.Workload) {
					w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("1")}
				})
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonMisconfigured, message: "resources validation failed",
		},
		{
			name: "namespace the queue does not take",
			build: func(f *fixture) *kueue.Workload {
				f.team("a", "", "4", func(cq *kueue.ClusterQueue) {
					cq.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}
				})
				return f.job("a", "new", 2)
			},
			outcome: Never, reason: kueue.WorkloadQuotaReservedReasonMisconfigured, message: "namespace doesn't match ClusterQueue selector",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			w := tt.build(f)
			e := f.engine(t, tt.cfg)
			d := probe(t, e, w)
			if d.Outcome != tt.outcome || d.Reason != tt.reason || !strings.Contains(d.Message, tt.message) {
				t.Errorf("got %s %q %q\nwant %s %q ...%q...", d.Outcome, d.Reason, d.Message, tt.outcome, tt.reason, tt.message)
			}
			if got := amounts(d.Borrowed); got != tt.borrowed && tt.borrowed != "" {
				t.Errorf("borrowed %q, want %q", got, tt.borrowed)
			}
			var names []string
			for _, p := range d.Preempts {
				names = append(names, p.Namespace+"/"+p.Name+" "+p.Reason+" "+p.Releases[0].Amount)
			}
			if got := strings.Join(names, ","); got != tt.preempts {
				t.Errorf("preempts %q, want %q", got, tt.preempts)
			}
			if tt.count > 0 && (len(d.PodSets) != 1 || d.PodSets[0].Count != tt.count || d.PodSets[0].Flavors[string(gpu)] == "" && tt.name != "no requests at all") {
				t.Errorf("pod sets %+v, want %d pods", d.PodSets, tt.count)
			}
			again := probe(t, e, w)
			if answer(&again) != answer(&d) {
				t.Errorf("a second probe differs: %+v", again)
			}
			// What Probe says, Run does.
			if err := e.Load(context.Background(), w); err != nil {
				t.Fatal(err)
			}
			run(t, e)
			now := e.Workload(w.Namespace, w.Name)
			if got, want := isAdmitted(now), tt.outcome == Admitted || tt.outcome == AdmittedByPreempting; got != want {
				t.Errorf("after Run admitted=%v, want %v: %+v", got, want, now.Status.Conditions)
			}
		})
	}
}

func isAdmitted(w *kueue.Workload) bool {
	for _, c := range w.Status.Conditions {
		if c.Type == kueue.WorkloadAdmitted {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}
