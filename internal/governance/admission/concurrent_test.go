package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

var concurrentOn = map[string]bool{"ConcurrentAdmission": true}

// offers adds flavors to a queue, with the same quota as its first.
func offers(more ...string) queueOption {
	return func(cq *kueue.ClusterQueue) {
		g := &cq.Spec.ResourceGroups[0]
		for _, name := range more {
			fq := *g.Flavors[0].DeepCopy()
			fq.Name = kueue.ResourceFlavorReference(name)
			g.Flavors = append(g.Flavors, fq)
		}
	}
}

// policy makes a queue use concurrent admission.
func policy(mode kueue.ConcurrentAdmissionMigrationMode, last string) queueOption {
	return func(cq *kueue.ClusterQueue) {
		p := &kueue.ConcurrentAdmissionPolicy{Migration: kueue.ConcurrentAdmissionMigration{Mode: mode}}
		if last != "" {
			p.Migration.Constraints = &kueue.ConcurrentAdmissionConstraints{LastAcceptableFlavorName: ptr.To(kueue.ResourceFlavorReference(last))}
		}
		cq.Spec.ConcurrentAdmissionPolicy = p
	}
}

func flavored(f *fixture, names ...string) *fixture {
	for _, n := range names {
		f.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: n}})
	}
	return f
}

// kind is the state of a workload in one line.
func kind(w *kueue.Workload) string {
	var out []string
	if !workload.IsActive(w) {
		out = append(out, "inactive")
	}
	switch {
	case workload.IsAdmitted(w):
		out = append(out, "admitted")
	case workload.HasQuotaReservation(w):
		out = append(out, "reserved")
	}
	if workloadevict.IsEvicted(w) {
		out = append(out, "evicted:"+apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted).Reason)
	}
	if apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished) {
		out = append(out, "finished")
	}
	if workload.HasOpenPreemptionGate(w, constants.ConcurrentAdmissionPreemptionGate) {
		out = append(out, "open")
	}
	if len(out) == 0 {
		return "pending"
	}
	return strings.Join(out, " ")
}

// households are the states of families: the parent, then its variants in the order of their flavors.
func households(e *Engine, keys ...string) string {
	var all []string
	for _, k := range keys {
		ns, name, _ := strings.Cut(k, "/")
		p := e.Stored(ns, name)
		if p == nil {
			all = append(all, "gone")
			continue
		}
		s := kind(p)
		for _, v := range e.ordered(p) {
			s += fmt.Sprintf(", %s %s", concurrentadmission.GetVariantFlavor(v), kind(v))
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// TestFamilies: a job in a queue with concurrent admission is admitted through one of its variants, and is one job.
func TestFamilies(t *testing.T) {
	try, retain := kueue.ConcurrentAdmissionTryPreferredFlavors, kueue.ConcurrentAdmissionRetainFirstAdmission
	full := func(name, flavor string, p int32) func(*fixture) {
		return func(f *fixture) {
			// A job of another queue of the cohort lends nothing: it fills the flavor.
			w := f.job("b", name, 8, prio(p))
			running(w)
			w.Status.Admission.PodSetAssignments[0].Flavors[gpu] = kueue.ResourceFlavorReference(flavor)
			f.add(w)
		}
	}
	for name, c := range map[string]struct {
		mode    kueue.ConcurrentAdmissionMigrationMode
		last    string
		before  []func(*fixture)
		gpus    int
		want    Outcome
		reason  string
		flavor  string // of the decision
		targets int
		events  string
		after   string
	}{
		"free": {try, "", nil, 8, Admitted, "", "a100", 0, "1 Admitted a/job-x",
			"admitted, a100 admitted, spare inactive evicted:Deactivated"},
		"free, retained": {retain, "", nil, 8, Admitted, "", "a100", 0, "1 Admitted a/job-x",
			"admitted, a100 admitted, spare inactive evicted:Deactivated"},
		"only the second is free": {try, "", []func(*fixture){full("big", "a100", 9)}, 8, Admitted, "", "spare", 0,
			"1 Pending a/job-x; 2 Admitted a/job-x", "admitted, a100 pending, spare admitted"},
		"only the second is free, retained": {retain, "", []func(*fixture){full("big", "a100", 9)}, 8, Admitted, "", "spare", 0,
			"1 Pending a/job-x; 2 Admitted a/job-x", "admitted, a100 inactive evicted:Deactivated, spare admitted"},
		"none is free": {try, "", []func(*fixture){full("big", "a100", 9), full("other", "spare", 9)}, 8, Waits, kueue.WorkloadQuotaReservedReasonWaitingForQuota, "", 0,
			"1 Pending a/job-x; 2 Pending a/job-x", "pending, a100 pending, spare pending"},
		"never": {try, "", nil, 99, Never, kueue.WorkloadQuotaReservedReasonExceedsMaxQuota, "", 0,
			"1 Pending a/job-x; 2 Pending a/job-x", "pending, a100 pending, spare pending"},
		// The second variant starts. The gate of the first one opens once all were tried: the job moves.
		"preempts": {try, "", []func(*fixture){full("low", "a100", -1)}, 8, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "a100", 1,
			"1 Skipped a/job-x; 2 Admitted a/job-x; 3 Preempting a/job-x; 3 Preempted b/low by a/job-x; 4 Preempting a/job-x; 4 Skipped b/low; 4 Evicted a/job-x by a/job-x; 5 Admitted a/job-x; 5 Admitted b/low",
			"admitted, a100 admitted open, spare inactive evicted:FlavorMigration"},
		// With this policy it stays where it started.
		"preempts nobody": {retain, "", []func(*fixture){full("low", "a100", -1)}, 8, Admitted, "", "spare", 0,
			"1 Skipped a/job-x; 2 Admitted a/job-x", "admitted, a100 inactive evicted:Deactivated, spare admitted"},
		"preempts, both": {try, "", []func(*fixture){full("low", "a100", -1), full("other", "spare", -1)}, 8, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "a100", 1,
			"1 Skipped a/job-x; 2 Skipped a/job-x; 3 Preempting a/job-x; 3 Preempted b/low by a/job-x; 4 Admitted a/job-x; 4 Skipped b/low; 5 Pending b/low",
			"admitted, a100 admitted open, spare inactive evicted:Deactivated"},
		// A second gate opens five minutes later.
		"the second may preempt": {try, "", []func(*fixture){full("big", "a100", 9), full("low", "spare", -1)}, 8, AdmittedByPreempting, kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads, "spare", 1,
			"1 Pending a/job-x; 2 Skipped a/job-x; 3 Preempting a/job-x; 3 Preempted b/low by a/job-x; 4 Admitted a/job-x; 4 Skipped b/low; 5 Pending b/low",
			"admitted, a100 pending, spare admitted open"},
	} {
		t.Run(name, func(t *testing.T) {
			f := flavored(newFixture(), "spare").
				team("a", "c", "0", offers("spare"), policy(c.mode, c.last), preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerPriority)).
				team("b", "c", "8", offers("spare"))
			cq := f.objs[2+1].(*kueue.ClusterQueue)
			for i := range cq.Spec.ResourceGroups[0].Flavors {
				cq.Spec.ResourceGroups[0].Flavors[i].Resources[0].NominalQuota.Set(8)
			}
			for i := range f.objs {
				if q, ok := f.objs[i].(*kueue.ClusterQueue); ok && q.Name == "b" {
					for j := range q.Spec.ResourceGroups[0].Flavors {
						q.Spec.ResourceGroups[0].Flavors[j].Resources[0].NominalQuota.Set(0)
					}
				}
			}
			for _, b := range c.before {
				b(f)
			}
			asks := f.job("a", "job-x", c.gpus)
			e := f.engine(t, Config{Gates: concurrentOn})
			d := probe(t, e, asks)
			if d.Outcome != c.want || d.Reason != c.reason || len(d.Preempts) != c.targets || len(d.NotModelled) > 0 {
				t.Errorf("not submitted: %s %s %q %v %v", d.Outcome, d.Reason, d.Message, d.Preempts, d.NotModelled)
			}
			if c.flavor != "" && (len(d.PodSets) != 1 || d.PodSets[0].Flavors[string(gpu)] != c.flavor) {
				t.Errorf("on %+v, want %s", d.PodSets, c.flavor)
			}
			if err := e.Load(context.Background(), asks); err != nil {
				t.Fatal(err)
			}
			if again := probe(t, e, asks); again.Outcome != d.Outcome || again.Reason != d.Reason {
				t.Errorf("submitted: %s %s, and before %s %s", again.Outcome, again.Reason, d.Outcome, d.Reason)
			}
			if p := e.Pending("a"); len(p) != 1 || p[0].Name != "job-x" {
				t.Errorf("waiting: %+v", p)
			}
			if got := short(run(t, e)); got != c.events {
				t.Errorf("%s, want %s", got, c.events)
			}
			if p := e.Pending("a"); len(p) > 0 && workload.HasQuotaReservation(e.Stored("a", "job-x")) {
				t.Errorf("waiting after the run: %+v", p)
			}
			if got := households(e, "a/job-x"); got != c.after {
				t.Errorf("%s, want %s", got, c.after)
			}
			for _, w := range e.Warnings() {
				t.Errorf("warning %+v", w)
			}
			if err := e.Remove(context.Background(), "a", "job-x"); err != nil {
				t.Fatal(err)
			}
			if n := len(e.store.variants); n != 0 {
				t.Errorf("%d families are left", n)
			}
		})
	}
}

// TestSecondGate: while the gate of a variant is open, the next one opens five minutes later.
func TestSecondGate(t *testing.T) {
	now := noon
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionTryPreferredFlavors, ""),
		preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
	for _, flavor := range []string{"a100", "spare"} {
		w := f.job("a", "low-"+flavor, 8, prio(-1))
		w.Spec.QueueName = "queue"
		running(w)
		// The variant of another job.
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: "other-" + flavor, UID: types.UID("other-" + flavor)}}
		w.Status.Admission.PodSetAssignments[0].Flavors[gpu] = kueue.ResourceFlavorReference(flavor)
		w.Annotations = map[string]string{constants.WorkloadAllowedResourceFlavorAnnotation: flavor}
		f.add(w)
	}
	asks := f.job("a", "job-x", 8, prio(3))
	f.add(asks)
	e := f.engine(t, Config{Gates: concurrentOn, Now: func() time.Time { return now }})
	// The first variant was let to preempt a minute ago, and somebody important took the flavor.
	first := e.ordered(e.Stored("a", "job-x"))[0]
	w := e.Workload(first.Namespace, first.Name)
	workload.OpenPreemptionGate(w, constants.ConcurrentAdmissionPreemptionGate, metav1.NewTime(noon.Add(-time.Minute)))
	big := e.Workload("a", "low-a100")
	big.Spec.Priority = ptr.To[int32](9)
	if err := e.Load(context.Background(), w, big); err != nil {
		t.Fatal(err)
	}
	if d := probe(t, e, asks); d.Outcome != Waits || d.Reason != kueue.PreemptionGated || !d.GateOpens.Equal(noon.Add(4*time.Minute)) {
		t.Errorf("%s %s %q", d.Outcome, d.Reason, d.Message)
	}
	if got := short(run(t, e)); got != "1 Pending a/job-x; 2 Skipped a/job-x" {
		t.Error(got)
	}
	at, ok := e.NextGate()
	if !ok || !at.Equal(noon.Add(4*time.Minute)) {
		t.Fatalf("the next gate opens at %s, %v", at, ok)
	}
	now = at
	if got := short(run(t, e)); got != "1 Preempting a/job-x; 1 Preempted a/low-spare by a/job-x; 2 Admitted a/job-x; 4 Pending a/low-spare" {
		t.Error(got)
	}
}

// TestSubmitFamily: a submitted job reserves what Probe says, and is preempted as one job.
func TestSubmitFamily(t *testing.T) {
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionTryPreferredFlavors, ""),
		preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
	e := f.engine(t, Config{Gates: concurrentOn})
	for i, want := range []string{"admitted, a100 admitted, spare inactive evicted:Deactivated", "admitted, a100 pending, spare admitted"} {
		w := f.job("a", fmt.Sprint("job-", i), 8)
		if after, err := e.Submit(context.Background(), w); err != nil || len(after.Evicted) > 0 {
			t.Fatal(after, err)
		}
		if got := households(e, "a/"+w.Name); got != want {
			t.Errorf("%s: %s, want %s", w.Name, got, want)
		}
	}
	high := f.job("a", "job-high", 8, prio(5))
	d := probe(t, e, high)
	if d.Outcome != AdmittedByPreempting || len(d.Preempts) != 1 || d.Preempts[0].Name != "job-0" {
		t.Errorf("%s %+v", d.Outcome, d.Preempts)
	}
	after, err := e.Submit(context.Background(), high)
	if err != nil || len(after.Evicted) != 1 || after.Evicted[0].Name != "job-0" || after.Loop != nil {
		t.Errorf("%+v, %v", after, err)
	}
	if got, want := households(e, "a/job-0", "a/job-high"), "evicted:VariantEvicted, a100 evicted:Preempted, spare evicted:Deactivated; admitted, a100 admitted open, spare inactive evicted:Deactivated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFamiliesOfSlices: the new slice of an elastic job needs its quota beside the old one, which ends once the new one is
// admitted.
func TestFamiliesOfSlices(t *testing.T) {
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionRetainFirstAdmission, ""))
	elastic := func(w *kueue.Workload) {
		w.Annotations = map[string]string{workloadslicing.EnabledAnnotationKey: workloadslicing.EnabledAnnotationValue}
	}
	replaces := func(old string) workloadOption {
		return func(w *kueue.Workload) {
			elastic(w)
			w.Annotations[workloadslicing.WorkloadSliceReplacementFor] = "a/" + old
		}
	}
	e := f.add(f.job("a", "job-old", 4, elastic)).engine(t, Config{Gates: concurrentOn})
	run(t, e)
	grown := f.job("a", "job-new", 6, replaces("job-old"))
	d := probe(t, e, grown)
	if d.Outcome != Admitted || d.PodSets[0].Flavors[string(gpu)] != "spare" || len(d.NotModelled) > 0 {
		t.Errorf("the new slice: %s %v %v", d.Outcome, d.PodSets, d.NotModelled)
	}
	if err := e.Load(context.Background(), grown); err != nil {
		t.Fatal(err)
	}
	if got, want := short(run(t, e)), "1 Pending a/job-new; 2 Admitted a/job-new; 2 Replaced a/job-old by a/job-new"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := households(e, "a/job-old", "a/job-new"), "admitted finished, a100 admitted finished, spare inactive evicted:Deactivated finished; admitted, a100 inactive evicted:Deactivated, spare admitted"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := probe(t, e, f.job("a", "job-next", 8)); got.Outcome != Admitted || got.PodSets[0].Flavors[string(gpu)] != "a100" {
		t.Errorf("the quota of the old slice: %s %v", got.Outcome, got.PodSets)
	}
}

// TestFamiliesWithClaims: the devices of a claim template count for each variant, and a job whose devices Kueue cannot count
// has variants that wait.
func TestFamiliesWithClaims(t *testing.T) {
	f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionRetainFirstAdmission, ""))
	f.add(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}}, claimTemplate("a", "two", "gpu.example.com", 2))
	f.add(f.job("a", "job-run", 3))
	cfg := withDevices()
	cfg.Gates = concurrentOn
	asks := f.job("a", "job-x", 0, claims("two"), pods(3, 0))
	e := f.engine(t, cfg)
	run(t, e)
	d := probe(t, e, asks)
	if d.Outcome != Admitted || len(d.NotModelled) > 0 || d.PodSets[0].Flavors[string(gpu)] != "spare" || d.PodSets[0].Requests[0].Value != 6 {
		t.Errorf("%s %s %v %v", d.Outcome, d.Reason, d.PodSets, d.NotModelled)
	}
	if d := probe(t, e, f.job("a", "job-y", 0, claims("nowhere"))); d.Reason != kueue.WorkloadQuotaReservedReasonMisconfigured || !d.BadClaims {
		t.Errorf("%s %s", d.Outcome, d.Reason)
	}
	load(t, e, asks)
	run(t, e)
	if w := e.Workload("a", "job-x"); w.Status.Admission == nil || w.Status.Admission.PodSetAssignments[0].Flavors[gpu] != "spare" {
		t.Errorf("%+v", w.Status.Admission)
	}
}

// TestFamiliesNotFollowed: Kueue itself does not settle two things.
func TestFamiliesNotFollowed(t *testing.T) {
	ctx := context.Background()
	t.Run("other numbers of pods", func(t *testing.T) {
		f := flavored(newFixture(), "spare").team("a", "", "8", offers("spare"), policy(kueue.ConcurrentAdmissionRetainFirstAdmission, ""))
		asks := f.job("a", "job-x", 9)
		e := f.add(asks).engine(t, Config{Gates: concurrentOn})
		if d := probe(t, e, asks); len(d.NotModelled) > 0 {
			t.Errorf("as it was: %v", d.NotModelled)
		}
		changed := asks.DeepCopy()
		changed.Spec.PodSets[0].Count++
		if err := e.Load(ctx, changed); err != nil {
			t.Fatal(err)
		}
		if d := probe(t, e, changed); !slices.Equal(d.NotModelled, []string{NotModelledConcurrent}) {
			t.Errorf("with one more pod: %s %v", d.Outcome, d.NotModelled)
		}
	})
	t.Run("a failed node", func(t *testing.T) {
		f := newFixture()
		topology(f, 2)
		f.team("a", "", "8", policy(kueue.ConcurrentAdmissionRetainFirstAdmission, ""))
		asks := f.job("a", "job-x", 1, func(w *kueue.Workload) {
			w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{Preferred: ptr.To("rack")}
		})
		e := f.add(asks).engine(t, Config{Gates: concurrentOn})
		run(t, e)
		if d := probe(t, e, asks); d.Outcome != Admitted || len(d.NotModelled) > 0 {
			t.Fatalf("it runs: %s %v", d.Outcome, d.NotModelled)
		}
		held := e.Workload("a", "job-x")
		failed(Placed(&held.Status.Admission.PodSetAssignments[0])[0].Levels[0])(held)
		if err := e.Load(ctx, held); err != nil {
			t.Fatal(err)
		}
		if d := probe(t, e, held); !slices.Equal(d.NotModelled, []string{NotModelledConcurrent}) {
			t.Errorf("its node failed: %s %q %v", d.Outcome, d.Message, d.NotModelled)
		}
	})
}
