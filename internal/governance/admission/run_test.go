package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestRun(t *testing.T) {
	const (
		never   = kueue.PreemptionPolicyNever
		lower   = kueue.PreemptionPolicyLowerPriority
		anyPrio = kueue.PreemptionPolicyAny
	)
	tests := []struct {
		name  string
		cfg   Config
		build func(f *fixture)
		want  string
	}{
		{
			name: "preempt in the queue, then start, the target waits",
			build: func(f *fixture) {
				f.team("a", "", "4", preempts(lower, never))
				f.add(f.job("a", "low", 2, prio(1), running), f.job("a", "mid", 2, prio(5), running), f.job("a", "new", 2, prio(9)))
			},
			want: "1 Preempting a/new; 1 Preempted a/low by a/new; 2 Admitted a/new; 3 Pending a/low",
		},
		{
			name: "reclaim in the cohort: lowest priorities first",
			build: func(f *fixture) {
				f.team("a", "all", "4").team("b", "all", "4", preempts(never, anyPrio))
				for i := 1; i <= 4; i++ {
					f.add(f.job("a", fmt.Sprint("a", i), 2, prio(int32(10-i)), running))
				}
				f.add(f.job("b", "new", 4))
			},
			want: "1 Preempting b/new; 1 Preempted a/a4 by b/new; 1 Preempted a/a3 by b/new; 2 Admitted b/new; 2 Skipped a/a3; 3 Pending a/a3; 4 Pending a/a4",
		},
		{
			name: "StrictFIFO does not overtake",
			build: func(f *fixture) {
				f.team("a", "", "4", strict)
				f.add(f.job("a", "used", 2, running), f.job("a", "big", 4), f.job("a", "small", 1))
			},
			want: "1 Pending a/big",
		},
		{
			name: "BestEffortFIFO overtakes",
			build: func(f *fixture) {
				f.team("a", "", "4")
				f.add(f.job("a", "used", 2, running), f.job("a", "big", 4), f.job("a", "small", 1))
			},
			want: "1 Pending a/big; 2 Admitted a/small",
		},
		{
			name: "only one of two borrowers fits: within nominal first",
			build: func(f *fixture) {
				f.team("a", "all", "2").team("b", "all", "4")
				f.add(f.job("a", "borrows", 4), f.job("b", "own", 4))
			},
			want: "1 Admitted b/own; 1 Skipped a/borrows; 2 Pending a/borrows",
		},
		{
			name: "topology: pods of a job share a rack",
			build: func(f *fixture) {
				topology(f, 3)
				f.team("a", "", "64")
				f.add(f.job("a", "fits", 8, pods(2, 0), inRack), f.job("a", "too-wide", 8, pods(5, 0), inRack))
			},
			want: "1 Admitted a/fits; 2 Pending a/too-wide",
		},
		{
			name: "topology without nodes",
			build: func(f *fixture) {
				topology(f, 0)
				f.team("a", "", "64")
				f.add(f.job("a", "new", 8, pods(2, 0), inRack))
			},
			want: "1 Pending a/new",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			tt.build(f)
			e := f.engine(t, tt.cfg)
			tl := run(t, e)
			if got := short(tl); got != tt.want || !tl.Settled {
				t.Errorf("got  %s (settled %v)\nwant %s", got, tl.Settled, tt.want)
			}
			if again := run(t, e); len(again.Events) > 0 && strings.Contains(short(again), "Admitted") || !again.Settled {
				t.Errorf("a second run is not quiet: %s", short(again))
			}
		})
	}
}

// topology makes the flavor topology-aware: racks r0, r1, ... of two nodes of 8 each.
func topology(f *fixture, nodes int) {
	f.objs[0].(*kueue.ResourceFlavor).Spec = kueue.ResourceFlavorSpec{
		NodeLabels: map[string]string{"pool": "a100"}, TopologyName: ptr.To(kueue.TopologyReference("racks")),
	}
	f.add(&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "racks"}, Spec: kueue.TopologySpec{
		Levels: []kueue.TopologyLevel{{NodeLabel: "rack"}, {NodeLabel: corev1.LabelHostname}},
	}})
	for i := range nodes {
		name := fmt.Sprint("n", i)
		f.add(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "a100", "rack": fmt.Sprint("r", i/2), corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{gpu: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("100")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
	}
}

func inRack(w *kueue.Workload) {
	w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{Required: ptr.To("rack")}
}

func TestTopologyPlacement(t *testing.T) {
	f := newFixture()
	topology(f, 3)
	f.team("a", "", "64")
	e := f.engine(t, Config{})
	d := probe(t, e, f.job("a", "pair", 8, pods(2, 0), inRack))
	if d.Outcome != Admitted || len(d.PodSets[0].Domains) != 2 || d.PodSets[0].Domains[0].Levels[0] != "n0" {
		t.Errorf("two nodes of one rack: %+v", d)
	}
	d = probe(t, e, f.job("a", "wide", 8, pods(3, 0), inRack))
	if d.Outcome != Never || d.Reason != kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed ||
		!strings.Contains(d.Message, `topology "racks" allows to fit only 2 out of 3 pod(s)`) {
		t.Errorf("three nodes of one rack: %+v", d)
	}
	// A pod nobody placed takes room on its node, until it is gone.
	stray := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: "a"}, Spec: corev1.PodSpec{NodeName: "n0",
		Containers: podSet("main", 1, 1).Template.Spec.Containers}}
	if err := e.Load(context.Background(), stray); err != nil {
		t.Fatal(err)
	}
	if d = probe(t, e, f.job("a", "pair", 8, pods(2, 0), inRack)); d.Outcome == Admitted {
		t.Errorf("rack r0 has only 15 left: %+v", d)
	}
	if err := e.Delete(context.Background(), stray); err != nil {
		t.Fatal(err)
	}
	if d = probe(t, e, f.job("a", "pair", 8, pods(2, 0), inRack)); d.Outcome != Admitted {
		t.Errorf("the stray pod is gone: %+v", d)
	}
}

// Twelve devices, weights 1 and 3, both teams ask for everything: 3 and 9.
func TestFairSharingWeights(t *testing.T) {
	reclaim := preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)
	f := newFixture().team("a", "all", "0", weight("1"), reclaim).team("b", "all", "0", weight("3"), reclaim).team("pool", "all", "12")
	for i := range 12 {
		f.add(f.job("a", fmt.Sprint("a", i), 1), f.job("b", fmt.Sprint("b", i), 1))
	}
	e := f.engine(t, Config{FairSharing: true})
	tl := run(t, e)
	count := map[string]int{}
	for _, team := range []string{"a", "b"} {
		for i := range 12 {
			if isAdmitted(e.Workload(team, fmt.Sprint(team, i))) {
				count[team]++
			}
		}
	}
	if count["a"] != 3 || count["b"] != 9 || !tl.Settled {
		t.Errorf("admitted %v, settled %v after %d cycles", count, tl.Settled, tl.Cycles)
	}
}

func TestFairSharingPreemption(t *testing.T) {
	f := newFixture().team("a", "all", "6", preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)).
		team("b", "all", "6", preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny))
	for i := range 6 {
		f.add(f.job("a", fmt.Sprint("a", i), 2, running))
	}
	e := f.engine(t, Config{FairSharing: true, FairSharingStrategies: []string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}})
	d := probe(t, e, f.job("b", "new", 4))
	if d.Outcome != AdmittedByPreempting || len(d.Preempts) != 2 {
		t.Errorf("%+v", d)
	}
	if _, err := New(Config{FairSharing: true, FairSharingStrategies: []string{"Nonsense"}}); err == nil {
		t.Error("an unknown strategy must be an error")
	}
}

// Within-queue preemption by priority together with reclaim from anyone can go
// round for ever, in Kueue itself: a high priority workload preempts in its own
// queue, a neighbour borrows what became free, the target reclaims it.
func TestDoesNotSettle(t *testing.T) {
	f := newFixture()
	policy := preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny)
	f.team("a", "all", "4", policy).team("b", "all", "4", policy)
	f.add(
		f.job("a", "other", 2, prio(9), running),
		f.job("a", "target", 2, prio(1), running),
		f.job("b", "own", 3, prio(9), running),
		f.job("a", "high", 3, prio(5)),
		f.job("b", "borrower", 2, prio(9)),
	)
	e := f.engine(t, Config{})
	tl, err := e.Run(context.Background(), 200)
	if err != nil {
		t.Fatal(err)
	}
	if tl.Settled || tl.Cycles != 200 {
		t.Errorf("settled after %d cycles: %s", tl.Cycles, short(tl))
	}
}

func TestStatusAsKueueWritesIt(t *testing.T) {
	f := newFixture().team("a", "", "4", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))
	f.add(f.job("a", "low", 3, prio(1), running), f.job("a", "high", 2, prio(9)), f.job("a", "huge", 9))
	e := f.engine(t, Config{})
	run(t, e)
	tests := []struct{ name, want string }{
		{"high", "QuotaReserved=True/QuotaReserved: Quota reserved in ClusterQueue a; Admitted=True/Admitted: The workload is admitted"},
		{"low", "QuotaReserved=False/Pending: couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 1 more needed; " +
			"Admitted=False/NoReservation: The workload has no reservation; " +
			"Preempted=True/InClusterQueue: Preempted to accommodate a workload (UID: a-high, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: /a; preemptee path: /a; " +
			"Evicted=True/Preempted: Preempted to accommodate a workload (UID: a-high, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: /a; preemptee path: /a; " +
			"Requeued=True/Preempted: Preempted to accommodate a workload (UID: a-high, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: /a; preemptee path: /a"},
		{"huge", "QuotaReserved=False/Pending: couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor a100, previously considered podsets requests (0) + current podset request (9) > maximum capacity (4)"},
	}
	for _, tt := range tests {
		var parts []string
		for _, c := range e.Workload("a", tt.name).Status.Conditions {
			parts = append(parts, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
			if age := c.LastTransitionTime.Time; !age.Equal(noon) && !age.Equal(noon.Add(-time.Minute)) {
				t.Errorf("%s: condition %s stamped %s, not by the engine's clock", tt.name, c.Type, age)
			}
		}
		if got := strings.Join(parts, "; "); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
	var waiting []string
	for _, p := range e.Pending("a") {
		waiting = append(waiting, p.Name+" "+p.Reason)
	}
	if got := strings.Join(waiting, ", "); got != "low WaitingForQuota, huge ExceedsMaxQuota" {
		t.Errorf("pending: %s", got)
	}
}

func TestRemoveWakesTheOthers(t *testing.T) {
	f := newFixture().team("a", "all", "4").team("b", "all", "0")
	f.add(f.job("a", "used", 4, running), f.job("b", "waits", 2), f.job("b", "too", 2))
	e := f.engine(t, Config{})
	if tl := run(t, e); short(tl) != "1 Pending b/waits" {
		t.Fatal(short(tl))
	}
	if p := e.Pending("b"); len(p) != 2 || p[1].Reason != kueue.WorkloadQuotaReservedReasonWaitingForQuota || !strings.Contains(p[1].Message, "equivalent workload") {
		t.Errorf("the second one is like the first: %+v", p)
	}
	if err := e.Remove(context.Background(), "a", "used"); err != nil {
		t.Fatal(err)
	}
	if tl := run(t, e); short(tl) != "1 Admitted b/waits; 2 Admitted b/too" {
		t.Fatal(short(tl))
	}
	if err := e.Remove(context.Background(), "a", "used"); err == nil {
		t.Error("removing twice must be an error")
	}
}

// Two branches of the tree borrow the same amount: fair sharing has no reason to
// prefer one, and Kueue takes whichever its map offers. Probe must notice.
func TestTie(t *testing.T) {
	reclaim := preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)
	f := newFixture().team("a", "left", "4", reclaim).team("b", "right", "4", reclaim).team("c", "all", "4", reclaim)
	for _, branch := range []string{"left", "right"} {
		f.add(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: branch}, Spec: kueue.CohortSpec{ParentName: "all"}})
	}
	for i := range 6 {
		f.add(f.job("a", fmt.Sprint("a", i), 1, running), f.job("b", fmt.Sprint("b", i), 1, running))
	}
	e := f.engine(t, Config{FairSharing: true})
	w := f.job("c", "new", 1)
	ties := map[string]int{}
	for range 20 {
		d := probe(t, e, w)
		if d.Outcome != AdmittedByPreempting || len(d.Preempts) != 1 {
			t.Fatalf("%+v", d)
		}
		if d.Tie {
			ties[answer(&d)]++
		}
	}
	if len(ties) != 1 {
		t.Errorf("twenty probes: a tie is seen, and the answer is the same each time, %v", ties)
	}
	if e.cycle != 0 || len(e.Warnings()) != 0 {
		t.Errorf("Probe left traces: cycle %d, warnings %v", e.cycle, e.Warnings())
	}
}
