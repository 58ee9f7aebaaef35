package admission

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestStoppedLocalQueue: workloads of a stopped LocalQueue stand before nobody, in
// their own StrictFIFO queue and as the head that others compete with. Kueue's own
// run is the judge.
func TestStoppedLocalQueue(t *testing.T) {
	f := newFixture().team("a", "all", "4", strict).team("b", "all", "4")
	f.add(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "stopped", Namespace: "a"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "a", StopPolicy: ptr.To(kueue.Hold)}})
	f.add(f.job("a", "first", 8, prio(9), func(w *kueue.Workload) { w.Spec.QueueName = "stopped" }))
	for _, team := range []string{"a", "b"} {
		w := f.job(team, "new", 6)
		e := f.engine(t, Config{})
		if d := probe(t, e, w); d.Outcome != Admitted || d.Ahead != 0 || d.Behind != 0 {
			t.Errorf("%s: %s %s, %d before it", team, d.Outcome, d.Message, d.Ahead)
		}
		load(t, e, w)
		if got := short(run(t, e)); got != "1 Admitted "+team+"/new" {
			t.Errorf("%s: Kueue's run: %s", team, got)
		}
	}
	if p := f.engine(t, Config{}).Pending("a"); len(p) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestBackOffBlocksNobody: in a StrictFIFO queue the first workload is not waited for
// as long as its back-off lasts.
func TestBackOffBlocksNobody(t *testing.T) {
	for _, left := range []time.Duration{time.Minute, -time.Minute} {
		f := newFixture().team("a", "", "4", strict)
		f.add(f.job("a", "first", 4, prio(9), func(w *kueue.Workload) {
			w.Status.RequeueState = &kueue.RequeueState{Count: ptr.To[int32](1), RequeueAt: ptr.To(metav1.NewTime(noon.Add(left)))}
		}))
		w := f.job("a", "new", 4)
		e := f.engine(t, Config{})
		d := probe(t, e, w)
		load(t, e, w)
		want := "1 Admitted a/new"
		if left < 0 {
			want = "1 Admitted a/first; 2 Pending a/new"
		}
		if got := short(run(t, e)); got != want {
			t.Errorf("%s: Kueue's run: %s", left, got)
		}
		if starts := left > 0; d.Outcome.Starts() != starts || d.Ahead != 1 || (d.Behind == 1) == starts {
			t.Errorf("%s: %s %s, %d before it, behind %d", left, d.Outcome, d.Message, d.Ahead, d.Behind)
		}
	}
}

// TestDerivedAfterChanges: what an engine remembers of its queues is given up when it
// has to be. After workloads came, went and changed it answers as one that was made of
// what is there, whether Kueue's queues were filled or not.
func TestDerivedAfterChanges(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		f := newFixture()
		teams := []string{"a", "b", "c", "d"}
		for i, team := range teams {
			f.team(team, "all", "10", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny), func(cq *kueue.ClusterQueue) {
				if i%2 == int(seed%2) || seed%5 == 0 {
					strict(cq)
				}
			})
		}
		policy := slices.Clone(f.objs)
		have := map[string]*kueue.Workload{}
		random := func(name string) *kueue.Workload {
			w := f.job(teams[r.IntN(4)], name, 1+r.IntN(9), prio(int32(r.IntN(4))))
			if r.IntN(3) == 0 {
				running(w)
			}
			return w
		}
		for i := range 24 {
			w := random(fmt.Sprint("w", i))
			have[w.Namespace+"/"+w.Name] = w
		}
		made := func() *Engine {
			objs := slices.Clone(policy)
			for _, key := range sortedKeys(have) {
				objs = append(objs, have[key])
			}
			return (&fixture{objs: objs}).engine(t, Config{})
		}
		e := made()
		if seed%4 == 1 {
			e.flush(context.Background())
		}
		for step := range 12 {
			key := sortedKeys(have)[r.IntN(len(have))]
			old := have[key]
			switch r.IntN(3) {
			case 0:
				if err := e.Remove(context.Background(), old.Namespace, old.Name); err != nil {
					t.Fatal(err)
				}
				delete(have, key)
			case 1:
				next := random(old.Name)
				next.Namespace, next.UID = old.Namespace, old.UID
				if next.Status.Admission != nil {
					next.Status.Admission.ClusterQueue = kueue.ClusterQueueReference(old.Namespace)
				}
				have[key] = next
				load(t, e, next)
			default:
				w := random(fmt.Sprint("new", step))
				have[w.Namespace+"/"+w.Name] = w
				load(t, e, w)
			}
			fresh := made()
			for i, team := range teams {
				w := f.job(team, "asked", 1+r.IntN(12), prio(int32(i)))
				got, want := probe(t, e, w), probe(t, fresh, w)
				if answer(&got) != answer(&want) || got.Ahead != want.Ahead || got.Behind != want.Behind {
					t.Fatalf("seed %d, step %d, %s:\n%s, %d before it\nnot\n%s, %d", seed, step, team, answer(&got), got.Ahead, answer(&want), want.Ahead)
				}
				if got, want := names(e.Pending(team)), names(fresh.Pending(team)); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d, %s: %v, want %v", seed, step, team, got, want)
				}
			}
		}
	}
}

func names(list []PendingWorkload) (out []string) {
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}
