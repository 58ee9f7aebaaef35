package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// clusters are the cases of Kueue's tests whose cluster an API server accepts, without the gate SchedulerLibraryIntegration: the
// loop of this module does not link the scheduler of Kubernetes.
func clusters(t *testing.T) []*unitCase {
	t.Helper()
	return slices.DeleteFunc(readCases(t), func(c *unitCase) bool {
		return c.library() || c.apart() == refused || c.anyInput() == nil
	})
}

// goOn lets Kueue's loop and the engine run the cycles of an input, and returns the number of ties and what differs.
func goOn(in *input, seen *effects) (ties int, diffs []string) {
	diffs = guarded(func() []string {
		n, diff := verify(record(in, newEngine(in), seen), *repeat, func() side { return newReal(in) })
		if ties = n; diff != "" {
			return []string{diff}
		}
		return nil
	})
	return ties, diffs
}

// TestCasesContinue lets Kueue's loop and the engine go on from the cases of Kueue's tests.
func TestCasesContinue(t *testing.T) {
	seen, ran, tied := newEffects(), 0, 0
	for n, c := range clusters(t) {
		in := c.anyInput()
		in.seed = n + 1
		ties, diffs := goOn(in, seen)
		diffs = append(diffs, guarded(func() []string { return c.throughFile(t, in) })...)
		for _, d := range diffs {
			t.Errorf("%s: %s", c.Name, d)
		}
		if ran++; ties > 0 {
			tied++
		}
	}
	t.Logf("%d cases, %s; %d with ties", ran, seen, tied)
}

// TestCasesVaried changes the cases of Kueue's tests at random, and compares Kueue's loop and the engine on what comes of it.
func TestCasesVaried(t *testing.T) {
	cases := clusters(t)
	seen, ran, tied := newEffects(), 0, 0
	for seed := *first; seed < *first+*changed && !t.Failed(); seed++ {
		c := cases[seed%len(cases)]
		in, what := varied(c, seed)
		if in == nil {
			continue
		}
		ties, diffs := goOn(in, seen)
		if seed%10 == 0 {
			diffs = append(diffs, guarded(func() []string { return c.throughFile(t, in) })...)
		}
		for _, d := range diffs {
			t.Errorf("seed %d of %s (%s): %s", seed, c.Name, what, d)
		}
		if ran++; ties > 0 {
			tied++
		}
	}
	t.Logf("%d varied cases, %s; %d with ties", ran, seen, tied)
}

// throughFile compares a cycle of an engine that loads the objects with one that reads them from a file.
func (c *unitCase) throughFile(t *testing.T, in *input) []string {
	s := settings{Gates: in.gates, Fair: in.fair, ByUse: in.byUse, QuotaCheck: in.undeclared, Now: in.start}
	e, _, err := c.open(t, s, raws(in.objects())).Engine(context.Background())
	must(err)
	e.KeepEvictions()
	at := in.start
	a, b := newEngine(in), engine{e, &at}
	var keys []client.ObjectKey
	for _, o := range in.objects() {
		if w, ok := o.(*kueue.Workload); ok {
			keys = append(keys, client.ObjectKeyFromObject(w))
		}
	}
	want, got := observe(a, keys), observe(b, keys)
	var diffs []string
	for _, m := range want.messages(got) {
		diffs = append(diffs, "from a file: "+m)
	}
	if d := want.decisions(got); d != "" {
		diffs = append(diffs, "from a file: "+d)
	}
	return diffs
}

// TestCasesAsked asks for a verdict about one workload of a changed case, without others that wait, and compares it with what
// Kueue's loop does.
func TestCasesAsked(t *testing.T) {
	cases := clusters(t)
	answers := map[admission.Outcome]int{}
	for seed := *first; seed < *first+*changed && !t.Failed(); seed++ {
		c := cases[seed%len(cases)]
		in, what := varied(c, seed)
		if in == nil {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(seed), 815))
		list := in.objects()
		w, ok := anyOf(r, pending(list))
		if !ok {
			continue
		}
		in.replace(slices.DeleteFunc(list, func(o client.Object) bool {
			p, ok := o.(*kueue.Workload)
			return ok && p != w && p.Status.Admission == nil
		}))
		diffs := guarded(func() []string {
			got, want := verdictFor(newEngine(in).Engine, w), map[string]bool{}
			for range *repeat {
				answer, outcome := answerOf(newReal(in), in, w)
				if want[answer] = true; answer == got {
					answers[outcome]++
					return nil
				}
			}
			return []string{fmt.Sprintf("the verdict %s is none of Kueue's: %v", got, want)}
		})
		for _, d := range diffs {
			t.Errorf("seed %d of %s (%s), %s/%s: %s", seed, c.Name, what, w.Namespace, w.Name, d)
		}
	}
	t.Logf("answers: %v", answers)
}

// answerOf is what a cycle of Kueue's loop means for a workload, in the form of verdictFor.
func answerOf(r *real, in *input, w *kueue.Workload) (string, admission.Outcome) {
	r.step()
	outcome, targets := admission.Waits, map[string]string{}
	now := r.workload(client.ObjectKeyFromObject(w))
	c := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadQuotaReserved)
	switch {
	case workload.HasQuotaReservation(now):
		outcome = admission.Admitted
	case preempts(c):
		outcome = admission.AdmittedByPreempting
	}
	for _, old := range of[*kueue.Workload](in.objects()) {
		o := r.workload(client.ObjectKeyFromObject(old))
		e := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadEvicted)
		if e == nil || workloadevict.IsEvicted(old) || e.Reason == kueue.WorkloadEvictedDueToNodeFailures {
			continue
		}
		targets[client.ObjectKeyFromObject(o).String()] = evictedFor(o)
	}
	var none []string
	return fmt.Sprint(outcome, targets, none), outcome
}
