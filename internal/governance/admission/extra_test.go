package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
)

func condition(w *kueue.Workload, kind string) string {
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kind); c != nil {
		return string(c.Status) + "/" + c.Reason + ": " + c.Message
	}
	return ""
}

func load(t *testing.T, e *Engine, w *kueue.Workload) {
	t.Helper()
	if err := e.Load(context.Background(), w); err != nil {
		t.Fatal(err)
	}
}

func TestLocalQueueStopAndStart(t *testing.T) {
	ctx := context.Background()
	f := newFixture().team("a", "", "4")
	f.add(f.job("a", "used", 2, running), f.job("a", "new", 2))
	e := f.engine(t, Config{})
	lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "queue", Namespace: "a"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "a", StopPolicy: ptr.To(kueue.HoldAndDrain)}}
	if err := e.Load(ctx, lq); err != nil {
		t.Fatal(err)
	}
	if tl := run(t, e); len(tl.Events) != 0 {
		t.Error(short(tl))
	}
	for _, name := range []string{"used", "new"} {
		if got := condition(e.Workload("a", name), kueue.WorkloadQuotaReserved); got != "False/Inadmissible: LocalQueue queue is inactive" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := condition(e.Workload("a", "used"), kueue.WorkloadEvicted); got != "True/LocalQueueStopped: The LocalQueue is stopped" {
		t.Error(got)
	}
	if p := e.Pending(""); len(p) != 2 || p[0].Reason != kueue.WorkloadQuotaReservedReasonSuspended {
		t.Errorf("%+v", p)
	}
	open := lq.DeepCopy()
	open.Spec.StopPolicy = nil
	if err := e.Load(ctx, open); err != nil {
		t.Fatal(err)
	}
	if tl := run(t, e); short(tl) != "1 Admitted a/used; 2 Admitted a/new" {
		t.Error(short(tl))
	}
	if got := condition(e.Workload("a", "used"), kueue.WorkloadRequeued); !strings.HasPrefix(got, "True/LocalQueueRestarted") {
		t.Error(got)
	}
}

func TestDeactivateAndReactivate(t *testing.T) {
	f := newFixture().team("a", "", "4")
	w := f.job("a", "one", 4)
	f.add(w, f.job("a", "two", 4))
	e := f.engine(t, Config{})
	if tl := run(t, e); short(tl) != "1 Admitted a/one; 2 Pending a/two" {
		t.Fatal(short(tl))
	}
	off := e.Workload("a", "one")
	off.Spec.Active = ptr.To(false)
	load(t, e, off)
	now := e.Workload("a", "one")
	if workload.HasQuotaReservation(now) || !strings.HasPrefix(condition(now, kueue.WorkloadEvicted), "True/Deactivated") {
		t.Errorf("%+v", now.Status.Conditions)
	}
	if tl := run(t, e); short(tl) != "1 Admitted a/two" {
		t.Fatal(short(tl))
	}
	on := now.DeepCopy()
	on.Spec.Active = ptr.To(true)
	load(t, e, on)
	if tl := run(t, e); short(tl) != "1 Pending a/one" {
		t.Fatal(short(tl))
	}
	if got := condition(e.Workload("a", "one"), kueue.WorkloadRequeued); !strings.HasPrefix(got, "True/Reactivated") {
		t.Error(got)
	}
}

func TestAdmissionGate(t *testing.T) {
	f := newFixture().team("a", "", "4")
	w := f.job("a", "new", 1, func(w *kueue.Workload) {
		w.Annotations = map[string]string{"kueue.x-k8s.io/admission-gated-by": "example.com/approval"}
	})
	f.add(w)
	e := f.engine(t, Config{})
	if tl := run(t, e); len(tl.Events) != 0 {
		t.Error(short(tl))
	}
	if got := condition(e.Workload("a", "new"), kueue.WorkloadQuotaReserved); got != "False/AdmissionGated: Admission is gated by: example.com/approval" {
		t.Error(got)
	}
	free := e.Workload("a", "new")
	free.Annotations = nil
	load(t, e, free)
	if tl := run(t, e); short(tl) != "1 Admitted a/new" {
		t.Error(short(tl))
	}
}

// Time is the engine's, not the machine's, also where Kueue's queue uses the real clock.
func TestBackOffInSimulatedTime(t *testing.T) {
	for name, at := range map[string]time.Time{"past": noon, "far future": noon.AddDate(50, 0, 0), "long ago": noon.AddDate(-20, 0, 0)} {
		t.Run(name, func(t *testing.T) {
			clock := at
			f := newFixture().team("a", "", "4")
			f.add(f.job("a", "new", 1, func(w *kueue.Workload) {
				w.Status.RequeueState = &kueue.RequeueState{Count: ptr.To[int32](1), RequeueAt: ptr.To(metav1.NewTime(at.Add(time.Minute)))}
				w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadRequeued, Status: metav1.ConditionFalse, Reason: kueue.WorkloadEvictedByPodsReadyTimeout}}
			}))
			e := f.engine(t, Config{Now: func() time.Time { return clock }})
			if tl := run(t, e); len(tl.Events) != 0 {
				t.Error(short(tl))
			}
			if p := e.Pending("a"); len(p) != 1 || !strings.Contains(p[0].Message, "back-off") {
				t.Errorf("%+v", p)
			}
			clock = at.Add(2 * time.Minute)
			if tl := run(t, e); short(tl) != "1 Admitted a/new" {
				t.Error(short(tl))
			}
		})
	}
}

func TestAdmissionCheckPasses(t *testing.T) {
	f := newFixture()
	f.add(&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "x"},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}})
	f.team("a", "", "4", func(cq *kueue.ClusterQueue) {
		cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
	})
	f.add(f.job("a", "new", 1))
	e := f.engine(t, Config{})
	tl := run(t, e)
	if short(tl) != "1 QuotaReserved a/new" || tl.Events[0].Reason != kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks {
		t.Fatalf("%s %+v", short(tl), tl.Events)
	}
	w := e.Workload("a", "new")
	if len(w.Status.AdmissionChecks) != 1 || w.Status.AdmissionChecks[0].State != kueue.CheckStatePending || isAdmitted(w) {
		t.Fatalf("%+v", w.Status)
	}
	w.Status.AdmissionChecks[0].State = kueue.CheckStateReady
	load(t, e, w)
	if !isAdmitted(e.Workload("a", "new")) {
		t.Errorf("%+v", e.Workload("a", "new").Status.Conditions)
	}
}

func TestElasticSliceReplacesTheOldOne(t *testing.T) {
	f := newFixture().team("a", "all", "3").team("lender", "all", "3")
	elastic := func(w *kueue.Workload) {
		w.Annotations = map[string]string{"kueue.x-k8s.io/elastic-job": "true"}
	}
	f.add(f.job("a", "v1", 1, pods(4, 0), elastic, running))
	f.add(f.job("a", "v2", 1, pods(6, 0), elastic, func(w *kueue.Workload) {
		w.Annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = "a/v1"
	}))
	e := f.engine(t, Config{Gates: map[string]bool{"ElasticJobsViaWorkloadSlices": true}})
	tl := run(t, e)
	if short(tl) != "1 Admitted a/v2; 1 Replaced a/v1 by a/v2" {
		t.Fatal(short(tl))
	}
	if got := amounts(tl.Events[0].Borrowed); got != "a100/nvidia.com/gpu=3" {
		t.Errorf("six where the queue has three: %s borrowed", got)
	}
	if got := condition(e.Workload("a", "v1"), kueue.WorkloadFinished); !strings.HasPrefix(got, "True/WorkloadSliceReplaced") {
		t.Error(got)
	}
	if d := probe(t, e, f.job("a", "more", 1)); d.Outcome == Admitted {
		t.Errorf("six of six are taken: %+v", d)
	}
}

func TestLimitRangeAndRuntimeClass(t *testing.T) {
	f := newFixture().team("a", "", "4")
	f.add(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "defaults", Namespace: "a"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type:           corev1.LimitTypeContainer,
		DefaultRequest: corev1.ResourceList{gpu: resource.MustParse("3")},
		Max:            corev1.ResourceList{gpu: resource.MustParse("3")},
	}}}})
	e := f.engine(t, Config{})
	none := f.job("a", "none", 0)
	none.Spec.PodSets[0].Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	if d := probe(t, e, none); d.Outcome != Admitted || amounts(d.PodSets[0].Requests) != "a100/nvidia.com/gpu=3" {
		t.Errorf("the limit range's default is the request: %+v", d)
	}
	if d := probe(t, e, f.job("a", "big", 4)); d.Outcome != Never || d.Reason != kueue.WorkloadQuotaReservedReasonMisconfigured || !strings.Contains(d.Message, "LimitRange") {
		t.Errorf("above the maximum: %+v", d)
	}
}

// TestLimitRangeBounds: requests are compared with the bounds as in Kueue's limitrange package: of each container, also one that
// starts the pod, and of the pod; a request of zero is below a minimum.
func TestLimitRangeBounds(t *testing.T) {
	amount := func(s string) corev1.ResourceList { return corev1.ResourceList{gpu: resource.MustParse(s)} }
	starts := func(gpus string) workloadOption {
		return func(w *kueue.Workload) {
			pod := &w.Spec.PodSets[0].Template.Spec
			pod.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: amount(gpus), Limits: amount(gpus)}}}
		}
	}
	second := func(w *kueue.Workload) {
		pod := &w.Spec.PodSets[0].Template.Spec
		pod.Containers = append(pod.Containers, *pod.Containers[0].DeepCopy())
	}
	zero := func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amount("0"), Limits: amount("0")}
	}
	for name, c := range map[string]struct {
		limit corev1.LimitRangeItem
		more  workloadOption
		want  Outcome
	}{
		"a container below the minimum":       {corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amount("3")}, second, Never},
		"a container at both bounds":          {corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amount("2"), Max: amount("2")}, second, Admitted},
		"a container of zero":                 {corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amount("1")}, zero, Never},
		"an init container above the maximum": {corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amount("2")}, starts("3"), Never},
		"a pod above the maximum":             {corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amount("3")}, second, Never},
		"a pod whose init container counts":   {corev1.LimitRangeItem{Type: corev1.LimitTypePod, Min: amount("3")}, starts("3"), Admitted},
		"a pod below the minimum":             {corev1.LimitRangeItem{Type: corev1.LimitTypePod, Min: amount("5")}, second, Never},
	} {
		f := newFixture().team("a", "", "8")
		f.add(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "bounds", Namespace: "a"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{c.limit}}})
		if d := probe(t, f.engine(t, Config{}), f.job("a", "new", 2, c.more)); d.Outcome != c.want || c.want == Never && d.Reason != kueue.WorkloadQuotaReservedReasonMisconfigured {
			t.Errorf("%s: %s %s %s", name, d.Outcome, d.Reason, d.Message)
		}
	}
}

func TestGatesAndWarnings(t *testing.T) {
	e, err := New(Config{Gates: map[string]bool{"PartialAdmission": false, "LendingLimit": true, "NoSuchGate": true, "ConcurrentAdmission": true}})
	if err != nil {
		t.Fatal(err)
	}
	if features.Enabled(features.PartialAdmission) {
		t.Error("PartialAdmission must be off")
	}
	all := fmt.Sprint(e.Warnings())
	for _, want := range []string{"LendingLimit", "NoSuchGate"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning about %s in:\n%s", want, all)
		}
	}
	if _, err := New(Config{}); err != nil || !features.Enabled(features.PartialAdmission) || features.Enabled(features.ConcurrentAdmission) {
		t.Error("the next engine must start from the defaults")
	}
}

// What a caller loaded is never changed, and what it gets is its own.
func TestObjectsAreNotShared(t *testing.T) {
	f := newFixture().team("a", "", "4")
	w := f.job("a", "new", 2)
	before := w.DeepCopy()
	f.add(w)
	e := f.engine(t, Config{})
	run(t, e)
	if w.Status.Admission != nil || len(w.Status.Conditions) != 0 || w.Spec.QueueName != before.Spec.QueueName {
		t.Errorf("the loaded object was changed: %+v", w.Status)
	}
	got := e.Workload("a", "new")
	got.Status.Conditions[0].Message = "mine"
	if e.Workload("a", "new").Status.Conditions[0].Message == "mine" {
		t.Error("Workload must return a copy")
	}
	if e.Workload("a", "other") != nil {
		t.Error("an unknown workload must be nil")
	}
}

func TestResourceTransformationsReachBothCaches(t *testing.T) {
	f := newFixture().team("a", "", "4")
	f.add(f.job("a", "used", 2, func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["example.com/license"] = resource.MustParse("1")
	}))
	e := f.engine(t, Config{ExcludeResourcePrefixes: []string{"example.com/"}})
	if tl := run(t, e); short(tl) != "1 Admitted a/used" {
		t.Error(short(tl))
	}
}

func TestDeleteQueue(t *testing.T) {
	ctx := context.Background()
	f := newFixture().team("a", "all", "2").team("b", "all", "4")
	f.add(f.job("a", "new", 5))
	e := f.engine(t, Config{})
	if d := probe(t, e, f.job("a", "x", 6)); d.Outcome != Admitted {
		t.Fatalf("%+v", d)
	}
	if err := e.Delete(ctx, &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	if d := probe(t, e, f.job("a", "x", 6)); d.Outcome != Never {
		t.Errorf("without b there are two: %+v", d)
	}
	if err := e.Delete(ctx, &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "queue", Namespace: "a"}}); err != nil {
		t.Fatal(err)
	}
	if got := condition(e.Workload("a", "new"), kueue.WorkloadQuotaReserved); got != "False/Inadmissible: LocalQueue queue doesn't exist" {
		t.Error(got)
	}
	if err := e.Delete(ctx, &corev1.Secret{}); err == nil {
		t.Error("a kind nobody loads must be an error")
	}
}

func TestNotModelledIsSaid(t *testing.T) {
	f := newFixture().team("a", "", "4", func(cq *kueue.ClusterQueue) {
		cq.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		cq.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{}
	})
	f.add(&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.MultiKueueControllerName}})
	claims := f.job("a", "claims", 1, func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: ptr.To("t")}}
	})
	f.add(claims)
	e := f.engine(t, Config{})
	all := fmt.Sprint(e.Warnings())
	for _, want := range []string{"MultiKueueCheck elsewhere", "MaybeOrderedByUse  [a]", "ConcurrentQueues  [a]", "ClaimingWorkloads  [a/claims]"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning about %s in:\n%s", want, all)
		}
	}
	if d := probe(t, e, claims); len(d.Warnings) != 1 {
		t.Errorf("%+v", d)
	}
}
