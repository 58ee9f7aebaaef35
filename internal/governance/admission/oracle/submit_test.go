package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// TestCasesSubmitted lets Kueue's loop and the engine settle from a changed case, asks for a verdict about a new workload, and
// compares it with what Kueue's loop does when the workload comes.
func TestCasesSubmitted(t *testing.T) {
	cases := clusters(t)
	answers := map[admission.Outcome]int{}
	ties, left, behind := 0, 0, 0
	for seed := *first; seed < *first+*changed && !t.Failed(); seed++ {
		c := cases[seed%len(cases)]
		in, what := varied(c, seed)
		if in == nil {
			continue
		}
		w := newcomer(rand.New(rand.NewPCG(uint64(seed), 1729)), in)
		if w == nil {
			continue
		}
		diffs := guarded(func() []string {
			e := newEngine(in)
			path := settle(e, in)
			if len(path) == settling || stale(in, path) {
				left++
				return nil
			}
			got, want := verdictFor(e.Engine, w), map[string]bool{}
			if d, err := e.Probe(t.Context(), w); err == nil && d.Preemptor != "" {
				behind++
			}
			for range *repeat {
				r := newReal(in)
				if !slices.Equal(settle(r, in), path) {
					continue
				}
				answer, outcome := answerToNew(r, in, w)
				if want[answer] = true; answer == got {
					answers[outcome]++
					return nil
				}
			}
			if len(want) == 0 {
				ties++
				return nil
			}
			return []string{fmt.Sprintf("the verdict %s is none of Kueue's: %v", got, want)}
		})
		for _, d := range diffs {
			t.Errorf("seed %d of %s (%s), %s/%s: %s\n%s", seed, c.Name, what, w.Namespace, w.Name, d, asJSON(w))
		}
	}
	t.Logf("answers: %v, %d behind a workload that preempts; %d inputs with ties before, %d not settled", answers, behind, ties, left)
}

// stale reports that a workload waits only because Kueue does not look at it again: what it needs was freed in another tree of
// cohorts. A verdict is about a cluster in which all that wait do so for a reason.
func stale(in *input, path []string) bool {
	r := newReal(in)
	for n := 0; !slices.Equal(settle(r, in), path); n++ {
		if n == *repeat {
			return false // a tie, which is seen later
		}
		r = newReal(in)
	}
	for name, heads := range r.queues.Dump() {
		waits := func(key workload.Reference) bool {
			ns, name, _ := strings.Cut(string(key), "/")
			return preempts(apimeta.FindStatusCondition(r.workload(client.ObjectKey{Namespace: ns, Name: name}).Status.Conditions, kueue.WorkloadQuotaReserved))
		}
		if r.api.clusterQueues[name].Spec.QueueingStrategy != kueue.StrictFIFO && !slices.ContainsFunc(heads, waits) {
			return true // its first workload is tried again and again, and does not preempt
		}
	}
	all := sets.New[kueue.ClusterQueueReference]()
	for name := range r.api.clusterQueues {
		all.Insert(name)
	}
	qcache.NotifyRetryInadmissible(r.queues, all)
	r.requeue(r.ctx)
	again := settle(r, in)
	return again[len(again)-1] != path[len(path)-1]
}

// newcomer is a new workload like one of the others.
func newcomer(r *rand.Rand, in *input) *kueue.Workload {
	like, ok := anyOf(r, of[*kueue.Workload](in.objects()))
	if !ok || len(like.OwnerReferences) > 0 || len(like.Annotations) > 0 {
		return nil
	}
	w := like.DeepCopy()
	w.Name, w.UID, w.Status = "newcomer", types.UID("uid-newcomer"), kueue.WorkloadStatus{}
	w.CreationTimestamp = metav1.NewTime(in.start.Add(time.Minute))
	if chance(r, 60) {
		w.Spec.Priority = ptr.To(ptr.Deref(w.Spec.Priority, 0) + pick(r, []int32{-1, 1, 1000, -1000}))
	}
	if chance(r, 40) {
		w.Spec.PodSets[0].Count += int32(r.IntN(3))
	}
	return w
}

// settling is the most cycles until a cluster is at rest. Some never are: their workloads preempt one another again and again.
const settling = 12

// settle runs cycles until two in a row leave everything as it is, and returns the statuses.
func settle(s side, in *input) []string {
	var keys []client.ObjectKey
	for _, w := range of[*kueue.Workload](in.objects()) {
		keys = append(keys, client.ObjectKeyFromObject(w))
	}
	var path []string
	for range settling {
		o := observe(s, keys)
		var all []string
		for _, k := range keys {
			all = append(all, k.String()+" "+o.status[k].decision)
		}
		path = append(path, strings.Join(all, "\n"))
		if n := len(path); !o.worked || n > 2 && path[n-1] == path[n-2] && path[n-2] == path[n-3] {
			break
		}
	}
	return path
}

// answerToNew is what a cycle of Kueue's loop means for a workload that comes.
func answerToNew(r *real, in *input, w *kueue.Workload) (string, admission.Outcome) {
	r.arrive(w.DeepCopy())
	r.step()
	outcome, targets := admission.Waits, map[string]string{}
	now := r.workload(client.ObjectKeyFromObject(w))
	switch {
	case workload.HasQuotaReservation(now):
		outcome = admission.Admitted
	case preempts(apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadQuotaReserved)):
		outcome = admission.AdmittedByPreempting
	}
	for _, old := range of[*kueue.Workload](in.objects()) {
		o := r.workload(client.ObjectKeyFromObject(old))
		p := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadPreempted)
		if p != nil && strings.Contains(p.Message, "(UID: "+string(w.UID)+",") {
			targets[client.ObjectKeyFromObject(o).String()] = p.Reason
		}
	}
	var none []string
	return fmt.Sprint(outcome, targets, none), outcome
}
