package forecast_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

const gpu = corev1.ResourceName("nvidia.com/gpu")

var noon = fixture.Noon

// world is a small cluster: teams with a queue of the same name.
type world struct {
	forecast.World
	age int
}

func newWorld() *world {
	w := &world{}
	w.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}})
	return w
}

func (w *world) add(o ...client.Object) { w.Objects = append(w.Objects, o...) }

func (w *world) team(name, cohort string, gpus int64, change ...func(*kueue.ClusterQueue)) {
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
		CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{},
		ResourceGroups: []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{gpu}, Flavors: []kueue.FlavorQuotas{{
			Name: "a100", Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: *resource.NewQuantity(gpus, resource.DecimalSI)}}}}}},
	}}
	for _, c := range change {
		c(q)
	}
	w.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, q,
		&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "queue", Namespace: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
}

func (w *world) job(team, name string, gpus int64, change ...func(*kueue.Workload)) *kueue.Workload {
	w.age++
	wl := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-10*time.Hour + time.Duration(w.age)*time.Second))},
		Spec: kueue.WorkloadSpec{QueueName: "queue", Priority: ptr.To[int32](0), PodSets: []kueue.PodSet{{Name: "main", Count: 1,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{gpu: *resource.NewQuantity(gpus, resource.DecimalSI)}}}}}}}}},
	}
	for _, c := range change {
		c(wl)
	}
	return wl
}

func condition(w *kueue.Workload, kind string, at time.Time) {
	w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.NewTime(at)})
}

// since makes a workload one that has been running for d.
func since(d time.Duration) func(*kueue.Workload) {
	return func(w *kueue.Workload) {
		q := w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests[gpu]
		w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(w.Namespace), PodSetAssignments: []kueue.PodSetAssignment{{
			Name: "main", Count: ptr.To[int32](1), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "a100"}, ResourceUsage: corev1.ResourceList{gpu: q}}}}
		condition(w, kueue.WorkloadQuotaReserved, noon.Add(-d))
		condition(w, kueue.WorkloadAdmitted, noon.Add(-d))
	}
}

func limit(d time.Duration) func(*kueue.Workload) {
	return func(w *kueue.Workload) { w.Spec.MaximumExecutionTimeSeconds = ptr.To(int32(d.Seconds())) }
}

func prio(p int32) func(*kueue.Workload) { return func(w *kueue.Workload) { w.Spec.Priority = &p } }

// finished adds finished workloads of the given durations.
func (w *world) finished(team string, p int32, durations ...time.Duration) {
	for i, d := range durations {
		wl := w.job(team, fmt.Sprint("old-", p, "-", i), 1, prio(p))
		condition(wl, kueue.WorkloadAdmitted, noon.Add(-100*time.Hour))
		condition(wl, kueue.WorkloadFinished, noon.Add(-100*time.Hour).Add(d))
		w.Finished = append(w.Finished, wl)
	}
}

func eta(t *testing.T, w *world, o forecast.Options, target *kueue.Workload) forecast.ETA {
	t.Helper()
	o.Now = noon
	e, err := forecast.Workload(context.Background(), w.World, o, target)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// short is an estimate in a line.
func short(e forecast.ETA) string {
	if !e.Known {
		return string(e.Code)
	}
	from, to := e.Wait(noon)
	s := from.String() + "-"
	if !e.Latest.IsZero() {
		s += to.String()
	}
	for _, b := range e.Basis {
		s += fmt.Sprintf(" %s:%d", b.Source, b.Count)
	}
	return strings.TrimSpace(s + " " + string(e.Code))
}

func TestWorkload(t *testing.T) {
	h := time.Hour
	cases := []struct {
		name  string
		build func(w *world) *kueue.Workload
		o     forecast.Options
		want  string
	}{
		{"free", func(w *world) *kueue.Workload { w.team("a", "", 8); return w.job("a", "new", 8) }, forecast.Options{}, "0s-0s"},
		{"too large", func(w *world) *kueue.Workload { w.team("a", "", 8); return w.job("a", "new", 9) }, forecast.Options{}, "NeverFits"},
		{"no queue", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			j := w.job("a", "new", 1)
			j.Spec.QueueName = "nothere"
			return j
		}, forecast.Options{}, "NotQueued"},
		{"the end of an eviction", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			gone := w.job("a", "gone", 8, since(h), prio(-1))
			condition(gone, kueue.WorkloadEvicted, noon.Add(-10*time.Second))
			w.add(gone)
			return w.job("a", "new", 8)
		}, forecast.Options{}, "20s-20s"}, // of a grace period of 30s
		{"what is evicted queues again", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			gone := w.job("a", "gone", 8, since(h), limit(2*h))
			condition(gone, kueue.WorkloadEvicted, noon.Add(-10*time.Second))
			gone.Status.Conditions[2].Reason = kueue.WorkloadEvictedByPreemption
			w.add(gone)
			return w.job("a", "new", 8)
		}, forecast.Options{}, "2h0m20s-2h0m20s MaximumExecutionTime:1"},
		{"what is not followed", func(w *world) *kueue.Workload {
			w.team("a", "", 8, func(q *kueue.ClusterQueue) { q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{} })
			return w.job("a", "new", 8)
		}, forecast.Options{}, "NotModelled"},
		{"the limit of one that runs", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 4, since(h), limit(3*h)), w.job("a", "r2", 4, since(h)))
			return w.job("a", "new", 4)
		}, forecast.Options{}, "2h0m0s-2h0m0s MaximumExecutionTime:1"},
		{"no end known", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 4, since(h), limit(3*h)), w.job("a", "r2", 4, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{}, "NoDuration"},
		{"an assumed duration", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 4, since(h), limit(3*h)), w.job("a", "r2", 4, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Assume: 5 * h}, "4h0m0s-4h0m0s Assumed:1 MaximumExecutionTime:1"},
		{"overdue by the assumption", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 4, since(6*h)), w.job("a", "r2", 4, since(h), limit(3*h)))
			return w.job("a", "new", 4)
		}, forecast.Options{Assume: 5 * h}, "0s-2h0m0s MaximumExecutionTime:1"},
		{"nothing but overdue", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(5*h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Assume: 5 * h}, "0s- PastAssumed:1 Overdue"},
		{"overdue, and one ahead", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(6*h)), w.job("a", "w1", 8))
			return w.job("a", "new", 8)
		}, forecast.Options{Assume: 5 * h}, "5h0m0s- Assumed:1 PastAssumed:1 Overdue"},
		{"not even if the overdue ends now", func(w *world) *kueue.Workload {
			w.team("a", "pool", 4)
			w.team("b", "pool", 4)
			w.add(w.job("a", "r1", 4, since(6*h)), w.job("b", "r2", 4, since(h), limit(100*h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Assume: 5 * h, Horizon: 24 * h}, "BeyondHorizon"},
		{"the deadline of the job", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Deadline: func(w *kueue.Workload) forecast.StatedEnd {
			if w.Name == "r1" {
				return forecast.StatedEnd{Deadline: 90 * time.Minute}
			}
			return forecast.StatedEnd{}
		}}, "30m0s-30m0s ActiveDeadline:1"},
		{"a deadline that has just passed", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Deadline: func(w *kueue.Workload) forecast.StatedEnd {
			if w.Name == "r1" {
				return forecast.StatedEnd{Deadline: 59 * time.Minute}
			}
			return forecast.StatedEnd{}
		}}, "0s-0s ActiveDeadline:1"},
		{"a deadline that passed minutes ago", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Deadline: func(w *kueue.Workload) forecast.StatedEnd {
			if w.Name == "r1" {
				return forecast.StatedEnd{Deadline: 50 * time.Minute}
			}
			return forecast.StatedEnd{}
		}}, "0s-0s PastDeadline:1"},
		{"what the job reports, before what is usual", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.finished("a", 5, 2*h, 3*h, 4*h, 5*h)
			w.add(w.job("a", "r1", 8, since(h), prio(5)))
			return w.job("a", "new", 8)
		}, forecast.Options{Deadline: func(w *kueue.Workload) forecast.StatedEnd {
			if w.Name == "r1" {
				return forecast.StatedEnd{Left: 20 * time.Minute}
			}
			return forecast.StatedEnd{}
		}}, "20m0s-20m0s Reported:1"},
		{"what the job reports, at most its deadline", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Deadline: func(*kueue.Workload) forecast.StatedEnd {
			return forecast.StatedEnd{Left: 2 * h, Deadline: 90 * time.Minute}
		}}, "30m0s-30m0s Reported:1"},
		{"what is usual for team and priority", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.finished("a", 5, 2*h, 3*h, 4*h, 5*h)
			w.finished("a", 0, 20*h, 20*h, 20*h)
			w.add(w.job("a", "r1", 8, since(h), prio(5)))
			return w.job("a", "new", 8)
		}, forecast.Options{}, "2h0m0s-4h0m0s TeamPriorityHistory:1"},
		{"what is usual for the team", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.finished("a", 5, 2*h, 3*h, 4*h, 5*h)
			w.add(w.job("a", "r1", 8, since(h), prio(7)))
			return w.job("a", "new", 8)
		}, forecast.Options{}, "2h0m0s-4h0m0s TeamHistory:1"},
		{"it outlasts all its like", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.finished("a", 0, 2*h, 3*h, 4*h)
			w.add(w.job("a", "r1", 8, since(9*h)))
			return w.job("a", "new", 8)
		}, forecast.Options{}, "NoDuration"},
		{"those ahead first", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h), limit(2*h)), w.job("a", "w1", 8, limit(3*h)), w.job("a", "w2", 8, limit(10*h), prio(-1)))
			return w.job("a", "new", 8)
		}, forecast.Options{}, "4h0m0s-4h0m0s MaximumExecutionTime:2"},
		{"other queues compete for what is lent", func(w *world) *kueue.Workload {
			w.team("a", "pool", 0)
			w.team("b", "pool", 0)
			w.team("c", "pool", 4)
			w.add(w.job("c", "r1", 4, since(h), limit(2*h)), w.job("b", "w1", 4, limit(3*h)))
			return w.job("a", "new", 4)
		}, forecast.Options{}, "1h0m0s-4h0m0s MaximumExecutionTime:2"},
		{"an upper end that is not known", func(w *world) *kueue.Workload {
			w.team("a", "pool", 0)
			w.team("b", "pool", 0)
			w.team("c", "pool", 4)
			w.add(w.job("c", "r1", 4, since(h), limit(2*h)), w.job("b", "w1", 4))
			return w.job("a", "new", 4)
		}, forecast.Options{}, "1h0m0s- MaximumExecutionTime:1 NoDuration"},
		{"evicted, it queues again", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h), limit(2*h)))
			target := w.job("a", "new", 8)
			target.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedByPodsReadyTimeout, LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute))}}
			w.add(w.job("a", "w1", 8, limit(3*h)))
			return target
		}, forecast.Options{}, "4h0m0s-4h0m0s MaximumExecutionTime:2"},
		{"beyond the horizon", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			w.add(w.job("a", "r1", 8, since(h), limit(100*h)))
			return w.job("a", "new", 8)
		}, forecast.Options{Horizon: 24 * h}, "BeyondHorizon"},
		{"time that has run before counts against the limit", func(w *world) *kueue.Workload {
			w.team("a", "", 8)
			r := w.job("a", "r1", 8, since(h), limit(5*h))
			r.Status.AccumulatedPastExecutionTimeSeconds = ptr.To(int32(7200))
			w.add(r)
			return w.job("a", "new", 8)
		}, forecast.Options{}, "2h0m0s-2h0m0s MaximumExecutionTime:1"},
		{"strict order", func(w *world) *kueue.Workload {
			w.team("a", "", 8, func(q *kueue.ClusterQueue) { q.Spec.QueueingStrategy = kueue.StrictFIFO })
			w.add(w.job("a", "r1", 4, since(h), limit(3*h)), w.job("a", "w1", 8, limit(h)))
			return w.job("a", "new", 4)
		}, forecast.Options{}, "3h0m0s-3h0m0s MaximumExecutionTime:2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			target := c.build(w)
			got := eta(t, w, c.o, target)
			if short(got) != c.want {
				t.Errorf("%s, want %s (%s, unknown %v)", short(got), c.want, got.Message, got.Unknown)
			}
			// The same once more: the same input gives the same answer.
			if again := eta(t, w, c.o, target); short(again) != short(got) {
				t.Errorf("again: %s", short(again))
			}
		})
	}
}

func TestNamesWhatHasNoEnd(t *testing.T) {
	w := newWorld()
	w.team("a", "", 8)
	w.team("elsewhere", "", 8)
	endless := w.job("a", "pytorchjob-endless-1a2b3", 8, since(time.Hour))
	endless.OwnerReferences = []metav1.OwnerReference{{Kind: "PyTorchJob", Name: "endless", Controller: new(true)}}
	w.add(endless, w.job("elsewhere", "other", 8, since(time.Hour)))
	got := eta(t, w, forecast.Options{}, w.job("a", "new", 8))
	if !slices.Equal(got.Unknown, []string{"a/endless"}) || got.Code != queue.NoDuration || got.UnknownTotal != 1 {
		t.Errorf("%+v", got)
	}
}

func TestQueue(t *testing.T) {
	w := newWorld()
	w.team("a", "", 8)
	w.add(w.job("a", "r1", 8, since(time.Hour), limit(2*time.Hour)),
		w.job("a", "low", 8, prio(-5), limit(time.Hour)), w.job("a", "second", 8, limit(time.Hour)), w.job("a", "third", 8, limit(time.Hour)),
		w.job("a", "big", 9))
	etas, err := forecast.Queue(context.Background(), w.World, forecast.Options{Now: noon}, "a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range etas {
		got = append(got, e.Name+" "+short(e))
	}
	want := "second 1h0m0s-1h0m0s MaximumExecutionTime:1; third 2h0m0s-2h0m0s MaximumExecutionTime:2; big NeverFits; low 3h0m0s-3h0m0s MaximumExecutionTime:3"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, "; "), want)
	}
	if none, err := forecast.Queue(context.Background(), w.World, forecast.Options{Now: noon}, "nobody"); err != nil || len(none) != 0 {
		t.Errorf("an unknown queue: %v %v", none, err)
	}
}

// BenchmarkWorkload is one estimate at 1,000 admitted and 5,000 waiting workloads
// in 100 queues. Budget: 2 s.
func BenchmarkWorkload(b *testing.B) {
	for _, durations := range []string{"limits", "assumed", "unknown"} {
		b.Run(durations, func(b *testing.B) {
			in, err := inputs.Load(context.Background(), fixture.Big("").Client(), inputs.Options{SkipNodes: true}, noon)
			if err != nil {
				b.Fatal(err)
			}
			o := forecast.Options{Now: noon}
			if durations == "assumed" {
				o.Assume = 6 * time.Hour
			}
			if durations == "limits" {
				for i, w := range in.Workloads {
					w.Spec.MaximumExecutionTimeSeconds = ptr.To(int32(3*3600 + (i*7919)%(20*3600)))
				}
			}
			world := forecast.Of(in)
			target := in.Workload("team-42", "wait-33")
			b.ResetTimer()
			for b.Loop() {
				e, err := forecast.Workload(context.Background(), world, o, target)
				if err != nil {
					b.Fatal(err)
				}
				b.Log(short(e), e.Code)
			}
		})
	}
}

// TestManyGates: on a large cluster, gates of variants that open before the next end do not use up the steps of an estimate.
func TestManyGates(t *testing.T) {
	w := newWorld()
	w.Config.Gates = map[string]bool{"ConcurrentAdmission": true}
	w.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "spare"}})
	for i := range 420 { // that wait
		team := fmt.Sprint("t", i)
		w.team(team, "", 8)
		w.add(w.job(team, "large", 9))
	}
	w.team("b", "", 8)
	w.add(w.job("b", "runs", 8, since(time.Hour), limit(2*time.Hour)))
	for _, team := range []string{"v0", "v1"} {
		w.team(team, "", 1, func(q *kueue.ClusterQueue) {
			q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{Migration: kueue.ConcurrentAdmissionMigration{Mode: kueue.ConcurrentAdmissionTryPreferredFlavors}}
			f := *q.Spec.ResourceGroups[0].Flavors[0].DeepCopy()
			f.Name = "spare"
			q.Spec.ResourceGroups[0].Flavors = append(q.Spec.ResourceGroups[0].Flavors, f)
		})
		for i := range 20 {
			p := w.job(team, fmt.Sprint("p-", i), 2)
			p.UID, p.Labels = types.UID(team+p.Name), map[string]string{"kueue.x-k8s.io/concurrent-admission-parent": "true"}
			w.add(p)
			for _, flavor := range []string{"a100", "spare"} {
				v := w.job(team, p.Name+"-"+flavor, 2)
				v.UID = types.UID(team + v.Name)
				v.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: p.Name, UID: p.UID}}
				v.Annotations = map[string]string{admission.FlavorAnnotation: flavor}
				v.Spec.PreemptionGates = []kueue.PreemptionGate{{Name: "kueue.x-k8s.io/concurrent-admission"}}
				if flavor == "a100" {
					v.Status.PreemptionGates = []kueue.PreemptionGateState{{Name: v.Spec.PreemptionGates[0].Name, Position: kueue.PreemptionGatePositionOpen,
						LastTransitionTime: metav1.NewTime(noon.Add(-time.Duration(len(w.Objects)) * 100 * time.Millisecond))}}
				} else {
					condition(v, kueue.WorkloadBlockedOnPreemptionGates, noon)
				}
				w.add(v)
			}
		}
	}
	if got := short(eta(t, w, forecast.Options{}, w.job("b", "new", 8))); got != "1h0m0s-1h0m0s MaximumExecutionTime:1" {
		t.Error(got)
	}
}
