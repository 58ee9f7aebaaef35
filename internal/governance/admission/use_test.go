package admission

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// byUse makes a ClusterQueue order its workloads by past use.
func byUse(q *kueue.ClusterQueue) {
	q.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
}

func sharing() *config.AdmissionFairSharing {
	return &config.AdmissionFairSharing{UsageHalfLifeTime: metav1.Duration{Duration: time.Hour}, UsageSamplingInterval: metav1.Duration{Duration: 5 * time.Minute}}
}

// local is one more LocalQueue, with past use in its status.
func local(namespace, name, used, weight string, at time.Time) *kueue.LocalQueue {
	lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(namespace)}}
	if used != "" {
		lq.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
			ConsumedResources: corev1.ResourceList{gpu: resource.MustParse(used)}, LastUpdate: metav1.NewTime(at)}}
	}
	if weight != "" {
		lq.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(weight))}
	}
	return lq
}

func in(queue string) workloadOption {
	return func(w *kueue.Workload) { w.Spec.QueueName = kueue.LocalQueueName(queue) }
}

// TestPastUse: admission fair sharing orders the workloads of a ClusterQueue by the past use of their LocalQueues,
// before priority and age.
func TestPastUse(t *testing.T) {
	for name, c := range map[string]struct {
		much, little *kueue.LocalQueue
		want         string // in order
	}{
		"less use comes first":           {local("a", "much", "40", "", noon), local("a", "little", "4", "", noon), "little/new much/old"},
		"use counts by weight":           {local("a", "much", "40", "20", noon), local("a", "little", "4", "", noon), "much/old little/new"},
		"no use and no status":           {local("a", "much", "40", "", noon), local("a", "little", "", "", noon), "little/new much/old"},
		"use decays":                     {local("a", "much", "40", "", noon.Add(-10*time.Hour)), local("a", "little", "4", "", noon), "much/old little/new"},
		"not within a sampling interval": {local("a", "much", "5", "", noon.Add(-4*time.Minute)), local("a", "little", "4.9", "", noon), "little/new much/old"},
		"weight 0 comes last":            {local("a", "much", "40", "", noon), local("a", "little", "", "0", noon), "much/old little/new"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().team("a", "", "1", byUse).add(c.much, c.little)
			f.add(f.job("a", "old", 1, in("much"), prio(10)), f.job("a", "new", 1, in("little")))
			e := f.engine(t, Config{AdmissionFairSharing: sharing(), OrderByUse: ptr.To(true)})
			order := func() string {
				var got []string
				for _, p := range e.Pending("a") {
					got = append(got, string(e.Stored("a", p.Name).Spec.QueueName)+"/"+p.Name)
				}
				return strings.Join(got, " ")
			}
			if got := order(); got != c.want {
				t.Errorf("in order: %s, want %s", got, c.want)
			}
			first := strings.Fields(c.want)[0]
			_, first, _ = strings.Cut(first, "/")
			d := probe(t, e, e.Stored("a", first))
			if d.Ahead != 0 || d.Outcome != Admitted || len(d.NotModelled) > 0 {
				t.Errorf("the first: %+v", d)
			}
			if got := short(run(t, e)); !strings.HasPrefix(got, "1 Admitted a/"+first) {
				t.Errorf("%s, want %s first", got, first)
			}
			if w := e.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// TestUsePenalty: what is admitted counts as use at once, so that queues of equal use take turns.
func TestUsePenalty(t *testing.T) {
	f := newFixture().team("a", "", "3", byUse).add(local("a", "left", "", "", noon), local("a", "right", "", "", noon))
	for _, name := range []string{"l1", "l2", "l3"} {
		f.add(f.job("a", name, 1, in("left")))
	}
	f.add(f.job("a", "r1", 1, in("right")))
	if got := short(run(t, f.engine(t, Config{AdmissionFairSharing: sharing()}))); !strings.HasPrefix(got, "1 Admitted a/l1; 2 Admitted a/r1; 3 Admitted a/l2") {
		t.Errorf("%s", got)
	}
	if got := short(run(t, f.engine(t, Config{}))); !strings.HasPrefix(got, "1 Admitted a/l1; 2 Admitted a/l2; 3 Admitted a/l3") {
		t.Errorf("without it: %s", got)
	}
}

// TestUseSinceStatus: what was admitted after Kueue last wrote the status counts, too.
func TestUseSinceStatus(t *testing.T) {
	at := noon.Add(-2 * time.Minute)
	f := newFixture().team("a", "", "2", byUse).add(local("a", "left", "1", "", at), local("a", "right", "1.01", "", at))
	f.add(f.job("a", "l0", 1, in("left"), running)) // admitted at 11:59
	f.add(f.job("a", "l1", 1, in("left")), f.job("a", "r1", 1, in("right")))
	if got := short(run(t, f.engine(t, Config{AdmissionFairSharing: sharing()}))); !strings.HasPrefix(got, "1 Admitted a/r1") {
		t.Errorf("%s", got)
	}
}

// TestUseTargets: of several candidates in the own ClusterQueue, those of the LocalQueue that used most go first.
func TestUseTargets(t *testing.T) {
	within := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever)
	f := newFixture().team("a", "", "2", byUse, within).add(local("a", "much", "40", "", noon), local("a", "little", "4", "", noon))
	f.add(f.job("a", "rich", 1, in("much"), prio(2), running), f.job("a", "poor", 1, in("little"), prio(1), running))
	want := func(cfg Config, target string) {
		t.Helper()
		if d := probe(t, f.engine(t, cfg), f.job("a", "new", 1, in("queue"), prio(5))); len(d.Preempts) != 1 || d.Preempts[0].Name != target {
			t.Errorf("preempts %+v, want %s", d.Preempts, target)
		}
	}
	want(Config{AdmissionFairSharing: sharing()}, "rich")
	want(Config{}, "poor")
}

// TestBlockAdmission: Kueue admits nothing while pods of others are not ready.
func TestBlockAdmission(t *testing.T) {
	ready := func(w *kueue.Workload) {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadPodsReady, Status: metav1.ConditionTrue, Reason: "PodsReady"})
	}
	cfg := Config{BlockAdmission: true}
	f := newFixture().team("a", "", "8").team("b", "", "8")
	f.add(f.job("a", "starting", 1, running), f.job("a", "ready", 1, running, ready), f.job("b", "next", 1), f.job("b", "big", 9))
	e := f.engine(t, cfg)
	d := probe(t, e, f.job("b", "new", 1))
	if d.Outcome != Waits || d.Reason != kueue.WorkloadQuotaReservedReasonWaitingForPodsReady || !slices.Equal(d.NotReady, []string{"a/starting"}) || len(d.NotModelled) > 0 {
		t.Errorf("%+v", d)
	}
	if d := probe(t, e, f.job("b", "huge", 9)); d.Outcome != Never {
		t.Errorf("readiness does not help a job that exceeds the quota: %+v", d)
	}
	tl := run(t, e)
	if got := short(tl); !tl.Settled || strings.Contains(got, "Admitted") {
		t.Errorf("settled %v: %s", tl.Settled, got)
	}
	c := condition(e.Workload("b", "next"), kueue.WorkloadQuotaReserved)
	if c != "False/Waiting "+waitsForPods && !strings.Contains(c, waitsForPods) {
		t.Errorf("condition: %s", c)
	}
	assumed := f.engine(t, cfg)
	if !assumed.AssumeReady() || assumed.AssumeReady() {
		t.Error("the pods of a/starting are not ready, once")
	}
	if d := probe(t, assumed, f.job("b", "new", 1)); d.Outcome != Admitted {
		t.Errorf("its pods count as ready: %+v", d)
	}
	now := *e.Workload("a", "starting")
	ready(&now)
	if err := e.Load(context.Background(), &now); err != nil {
		t.Fatal(err)
	}
	if d := probe(t, e, f.job("b", "new", 1)); d.Outcome != Admitted {
		t.Errorf("all pods are ready: %+v", d)
	}
	if got := short(run(t, e)); !strings.Contains(got, "Admitted b/next") {
		t.Errorf("%s", got)
	}
	if d := probe(t, f.engine(t, Config{}), f.job("b", "new", 1)); d.Outcome != Admitted {
		t.Errorf("without it: %+v", d)
	}
}

// TestBlockAdmissionChecks: a workload whose admission checks are to pass has no pods, and holds up all others.
func TestBlockAdmissionChecks(t *testing.T) {
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "x"},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}}
	f := newFixture().add(check).team("a", "", "8", func(q *kueue.ClusterQueue) {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "nodes"}}}
	}).team("b", "", "8")
	f.add(f.job("a", "first", 1), f.job("b", "second", 1))
	e := f.engine(t, Config{BlockAdmission: true})
	if got := short(run(t, e)); !strings.Contains(got, "QuotaReserved a/first") || strings.Contains(got, "Admitted b/second") {
		t.Errorf("%s", got)
	}
	w := e.Workload("a", "first")
	w.Status.AdmissionChecks[0].State = kueue.CheckStateReady
	if err := e.Load(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	if got := short(run(t, e)); !strings.Contains(got, "Admitted b/second") {
		t.Errorf("after its check: %s", got)
	}
}

// TestUseOfOthers: the use of a workload that Kueue admitted meanwhile counts, and that of one that went away before it
// was admitted does not.
func TestUseOfOthers(t *testing.T) {
	order := func(e *Engine) string {
		var got []string
		for _, p := range e.Pending("a") {
			got = append(got, p.Name)
		}
		return strings.Join(got, " ")
	}
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "nodes"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "x"},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}}
	f := newFixture().add(check).team("a", "", "2", byUse, func(q *kueue.ClusterQueue) {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "nodes"}}}
	}).add(local("a", "left", "", "", noon), local("a", "right", "", "", noon))
	held := f.job("a", "held", 1, in("left"))
	f.add(held, f.job("a", "l1", 1, in("left")), f.job("a", "r1", 1, in("right")))
	e := f.engine(t, Config{AdmissionFairSharing: sharing()})
	if got := order(e); got != "held l1 r1" {
		t.Fatalf("by age: %s", got)
	}
	reserved := *held
	running(&reserved)
	reserved.Status.Conditions = reserved.Status.Conditions[:1] // not admitted yet
	if err := e.Load(context.Background(), &reserved); err != nil {
		t.Fatal(err)
	}
	if got := order(e); got != "r1 l1" {
		t.Errorf("its penalty counts: %s", got)
	}
	if err := e.Remove(context.Background(), "a", "held"); err != nil {
		t.Fatal(err)
	}
	if got := order(e); got != "l1 r1" {
		t.Errorf("it is gone: %s", got)
	}
}

// TestUseEndsLoop: a job that used less starts again each time that it was preempted, and this counts as use each time. When its
// queue has used more, the job that preempts it stays.
func TestUseEndsLoop(t *testing.T) {
	within := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever)
	half := sharing()
	half.UsageSamplingInterval.Duration = time.Second // one start in light is as much use as 4 GPUs of one second: 0.00077
	f := newFixture().team("a", "", "4", byUse, within).add(local("a", "heavy", "40m", "", noon), local("a", "light", "", "", noon))
	f.add(f.job("a", "low", 4, in("light"), running))
	after, err := f.engine(t, Config{AdmissionFairSharing: half}).Submit(context.Background(), f.job("a", "high", 4, in("heavy"), prio(3)))
	if err != nil || len(after.Loop) > 0 || len(after.Evicted) != 1 || after.Evicted[0].Name != "low" {
		t.Errorf("%+v, %v", after, err)
	}
}
