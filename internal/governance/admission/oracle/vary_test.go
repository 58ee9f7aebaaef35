package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// TestCasesContinue lets Kueue's loop and the engine go on from the cases of Kueue's tests.
func TestCasesContinue(t *testing.T) {
	ran, tied := 0, 0
	for n, c := range readCases(t) {
		in := c.anyInput()
		if in == nil || c.apart() == libraryGate || c.apart() == refused {
			continue
		}
		in.seed = n + 1
		ran++
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic %v\n%s", c.Name, p, callers())
				}
			}()
			ties, diff := verify(record(in, newEngine(in), newEffects()), *repeat, func() side { return newReal(in) })
			if diff != "" {
				t.Errorf("%s: %s", c.Name, diff)
			}
			if diff := c.throughFile(t, in); diff != "" {
				t.Errorf("%s, from a file: %s", c.Name, diff)
			}
			if ties > 0 {
				tied++
			}
		}()
	}
	t.Logf("%d cases, %d with ties", ran, tied)
}

// TestCasesVaried changes the cases of Kueue's tests at random, and compares Kueue's loop and the engine on what comes of it.
func TestCasesVaried(t *testing.T) {
	cases := readCases(t)
	cases = slices.DeleteFunc(cases, func(c *unitCase) bool { return c.apart() == libraryGate || c.apart() == refused })
	ran, tied, differ := 0, 0, 0
	for seed := *first; seed < *first+*changed; seed++ {
		c := cases[seed%len(cases)]
		in, what := varied(c, seed)
		if in == nil {
			continue
		}
		ran++
		func() {
			defer func() {
				if p := recover(); p != nil {
					differ++
					t.Errorf("seed %d of %s (%s): panic %v\n%s", seed, c.Name, what, p, callers())
				}
			}()
			ties, diff := verify(record(in, newEngine(in), newEffects()), *repeat, func() side { return newReal(in) })
			if diff != "" {
				differ++
				t.Errorf("seed %d of %s (%s): %s", seed, c.Name, what, diff)
			}
			if ties > 0 {
				tied++
			}
		}()
		if differ > 40 {
			break
		}
	}
	t.Logf("%d varied cases, %d with ties, %d differ", ran, tied, differ)
}

// throughFile compares a cycle of an engine that loads the objects with one that reads them from a file.
func (c *unitCase) throughFile(t *testing.T, in *input) string {
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
	for _, m := range want.messages(got) {
		return m
	}
	return want.decisions(got)
}

// TestCasesAsked asks for a verdict about one workload of a changed case, without others that wait, and compares it with what
// Kueue's loop does.
func TestCasesAsked(t *testing.T) {
	cases := slices.DeleteFunc(readCases(t), func(c *unitCase) bool { return c.apart() == libraryGate || c.apart() == refused })
	answers := map[string]int{}
	for seed := *first; seed < *first+*changed; seed++ {
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
				answer := answerOf(newReal(in), in, w)
				if want[answer] = true; answer == got {
					answers[fmt.Sprintf("%.8s", got)]++
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
func answerOf(r *real, in *input, w *kueue.Workload) string {
	r.step()
	outcome, targets := admission.Waits, map[string]string{}
	now := r.workload(client.ObjectKeyFromObject(w))
	c := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadQuotaReserved)
	switch {
	case workload.HasQuotaReservation(now):
		outcome = admission.Admitted
	case c != nil && (strings.Contains(c.Message, "Pending the preemption") || strings.Contains(c.Message, "Pending the migration")):
		outcome = admission.AdmittedByPreempting
	}
	for _, old := range of[*kueue.Workload](in.objects()) {
		o := r.workload(client.ObjectKeyFromObject(old))
		if e := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadEvicted); e == nil || workloadevict.IsEvicted(old) || e.Reason == kueue.WorkloadEvictedDueToNodeFailures {
			continue
		} else if p := apimeta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadPreempted); p != nil {
			targets[client.ObjectKeyFromObject(o).String()] = p.Reason
		} else {
			targets[client.ObjectKeyFromObject(o).String()] = e.Reason
		}
	}
	var none []string
	return fmt.Sprint(outcome, targets, none)
}
