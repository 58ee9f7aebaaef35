package admission

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestPreemptsBeforeWorkers: this cluster decides about a job that has to preempt, and about admission checks before MultiKueue.
func TestPreemptsBeforeWorkers(t *testing.T) {
	active := []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}
	remote := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "remote"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.MultiKueueControllerName}, Status: kueue.AdmissionCheckStatus{Conditions: active}}
	budget := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "example.com/budget"}, Status: kueue.AdmissionCheckStatus{Conditions: active}}
	for _, c := range []struct {
		name    string
		checks  []kueue.AdmissionCheckReference
		leaving bool
		outcome Outcome
		reason  string
		targets int
		unknown []string
	}{
		{"MultiKueue", []kueue.AdmissionCheckReference{"remote"}, false, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, 1, []string{NotModelledMultiKueue}},
		{"and another check", []kueue.AdmissionCheckReference{"remote", "budget"}, false, Waits, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks, 1, nil},
		{"another check", []kueue.AdmissionCheckReference{"budget"}, false, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, 1, nil},
		{"MultiKueue, pods that end", []kueue.AdmissionCheckReference{"remote"}, true, Waits, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().add(remote, budget).team("a", "", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever), func(q *kueue.ClusterQueue) {
				q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{}
				for _, name := range c.checks {
					q.Spec.AdmissionChecksStrategy.AdmissionChecks = append(q.Spec.AdmissionChecksStrategy.AdmissionChecks, kueue.AdmissionCheckStrategyRule{Name: name})
				}
			})
			low := f.job("a", "low", 6, running)
			for _, name := range c.checks {
				low.Status.AdmissionChecks = append(low.Status.AdmissionChecks, kueue.AdmissionCheckState{Name: name, State: kueue.CheckStateReady})
			}
			if c.leaving {
				leaving(low)
			}
			e := f.add(low).engine(t, Config{})
			e.KeepEvictions()
			d := probe(t, e, f.job("a", "new", 4, prio(5)))
			if d.Outcome != c.outcome || d.Reason != c.reason || len(d.Preempts) != c.targets || !slices.Equal(d.NotModelled, c.unknown) {
				t.Errorf("%s %s %q, preempts %v, not modelled %v", d.Outcome, d.Reason, d.Message, d.Preempts, d.NotModelled)
			}
		})
	}
}

// What is not modelled is named, never guessed about in silence.
func TestNotModelled(t *testing.T) {
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "remote"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.MultiKueueControllerName},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}}
	budget := check.DeepCopy()
	budget.Name, budget.Spec.ControllerName = "budget", "example.com/budget"
	scope := func(q *kueue.ClusterQueue) {
		q.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
	}
	cases := map[string]struct {
		queue queueOption
		job   workloadOption
		want  []string
		byUse *bool // Config.OrderByUse
	}{
		"nothing": {queue: func(*kueue.ClusterQueue) {}, job: func(*kueue.Workload) {}},
		"MultiKueue": {func(q *kueue.ClusterQueue) {
			q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "remote"}}}
		}, func(*kueue.Workload) {}, []string{NotModelledMultiKueue}, nil},
		"fair sharing of admissions":              {scope, func(*kueue.Workload) {}, []string{NotModelledAdmission}, ptr.To(true)},
		"fair sharing of admissions, off":         {scope, func(*kueue.Workload) {}, nil, ptr.To(false)},
		"fair sharing of admissions, not known":   {scope, func(*kueue.Workload) {}, []string{NotModelledAdmission}, nil},
		"fair sharing of admissions, of no queue": {func(*kueue.ClusterQueue) {}, func(*kueue.Workload) {}, nil, ptr.To(true)},
		"concurrent admission, its gate off":      {func(q *kueue.ClusterQueue) { q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{} }, func(*kueue.Workload) {}, nil, ptr.To(false)},
		"MultiKueue, without quota": {func(q *kueue.ClusterQueue) {
			q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "remote"}}}
		}, func(w *kueue.Workload) { w.Spec.PodSets[0] = podSet("main", 1, 9) }, nil, nil},
		"MultiKueue, after another check": {func(q *kueue.ClusterQueue) {
			q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "remote"}, {Name: "budget"}}}
		}, func(*kueue.Workload) {}, nil, nil},
		"concurrent admission": {func(q *kueue.ClusterQueue) { q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{} }, func(*kueue.Workload) {}, []string{NotModelledConcurrent}, nil},
		"resource claims": {func(*kueue.ClusterQueue) {}, func(w *kueue.Workload) {
			w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("one")}}
		}, []string{NotModelledClaims}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture().add(check, budget).team("a", "", "8", c.queue)
			if d := probe(t, f.engine(t, Config{OrderByUse: c.byUse}), f.job("a", "new", 1, c.job)); !slices.Equal(d.NotModelled, c.want) {
				t.Errorf("%v, want %v (%s %s)", d.NotModelled, c.want, d.Outcome, d.Reason)
			}
			warned := strings.Contains(fmt.Sprint(f.engine(t, Config{OrderByUse: c.byUse}).Warnings()), "OrderedByUse")
			if warned != slices.Contains(c.want, NotModelledAdmission) {
				t.Errorf("a warning about it: %v", warned)
			}
		})
	}
}

// TestTransformation: quota is counted in what a resource is turned into.
func TestTransformation(t *testing.T) {
	const slice = corev1.ResourceName("nvidia.com/mig-2g")
	slices := func(n string) workloadOption {
		return func(w *kueue.Workload) {
			w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{slice: resource.MustParse(n)}
		}
	}
	cfg := Config{Transformations: []config.ResourceTransformation{{Input: slice, Strategy: ptr.To(config.Replace), Outputs: corev1.ResourceList{gpu: resource.MustParse("2")}}}}
	f := newFixture().team("a", "", "8")
	if d := probe(t, f.engine(t, cfg), f.job("a", "four", 0, slices("4"))); d.Outcome != Admitted || len(d.PodSets[0].Requests) != 1 || d.PodSets[0].Requests[0].Value != 8 || d.PodSets[0].Requests[0].Resource != string(gpu) {
		t.Errorf("4 slices are 8 of 8: %+v", d)
	}
	if d := probe(t, f.engine(t, cfg), f.job("a", "five", 0, slices("5"))); d.Outcome != Never || d.Reason != kueue.WorkloadQuotaReservedReasonExceedsMaxQuota {
		t.Errorf("5 slices are 10 of 8: %+v", d)
	}
	if d := probe(t, f.engine(t, Config{}), f.job("a", "four", 0, slices("4"))); d.Reason != kueue.WorkloadQuotaReservedReasonNoMatchingFlavor {
		t.Errorf("without it there is no quota for slices: %+v", d)
	}
}

// TestNotModelledDocumented: the page about it has every name and every gate.
func TestNotModelledDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "decision.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "NotModelled") {
			names = append(names, v.Values[0].(*ast.BasicLit).Value) // quoted
		}
		return true
	})
	if len(names) != 4 {
		t.Errorf("%d names: %v", len(names), names)
	}
	for _, quoted := range names {
		if row := "| `" + strings.Trim(quoted, `"`) + "` |"; !strings.Contains(string(page), row) {
			t.Errorf("no row %s", row)
		}
	}
}
