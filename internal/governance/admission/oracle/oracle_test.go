package oracle

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

var (
	inputs = flag.Int("inputs", 3000, "how many random inputs")
	first  = flag.Int("first", 1, "seed of the first input")
	repeat = flag.Int("repeat", 200, "how often a differing input is repeated against Kueue itself, at most")
	full   = flag.Bool("full", false, "larger inputs and more cycles each")
	itself = flag.Int("itself", 0, "run Kueue against itself on every so many-th input too, to measure how often it differs")
)

// TestMain leaves the garbage collector more room: the inputs are small and many.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// side is one of the two schedulers that are run in step.
type side interface {
	// step is one scheduling cycle; false when nothing was waiting. borrowed is what
	// each workload that got its quota took beyond its queue's own.
	step() (worked bool, borrowed map[client.ObjectKey]string)
	arrive(*kueue.Workload)
	finish(client.ObjectKey)
	pass(client.ObjectKey) // all admission checks of a workload become ready
	workload(client.ObjectKey) *kueue.Workload
}

func (r *real) workload(k client.ObjectKey) *kueue.Workload { return r.api.workloads[k] }

type engine struct{ *admission.Engine }

func newEngine(in *input) engine {
	cfg := admission.Config{FairSharing: in.fair != nil, Now: func() time.Time { return now }, Gates: in.gates,
		Transformations: in.transformations, ExcludeResourcePrefixes: in.excluded,
		IgnoreUndeclaredResources: in.undeclared == config.QuotaCheckIgnoreUndeclared}
	if in.fair != nil {
		for _, s := range in.fair.PreemptionStrategies {
			cfg.FairSharingStrategies = append(cfg.FairSharingStrategies, string(s))
		}
	}
	e, err := admission.New(cfg)
	must(err)
	if w := e.Warnings(); len(w) > 0 {
		panic(fmt.Sprint(w))
	}
	must(e.Load(context.Background(), in.objects()...))
	return engine{e}
}

func (e engine) step() (bool, map[client.ObjectKey]string) {
	t, err := e.Run(context.Background(), 1)
	must(err)
	borrowed := map[client.ObjectKey]string{}
	for _, ev := range t.Events {
		if ev.Kind == admission.EventAdmitted || ev.Kind == admission.EventQuotaReserved {
			amounts := map[string]int64{}
			for _, q := range ev.Borrowed {
				amounts[q.Flavor+"/"+q.Resource] = q.Value
			}
			borrowed[client.ObjectKey{Namespace: ev.Namespace, Name: ev.Name}] = fmt.Sprint(amounts)
		}
	}
	return t.Cycles > 0, borrowed
}
func (e engine) arrive(w *kueue.Workload)  { must(e.Load(context.Background(), w)) }
func (e engine) finish(k client.ObjectKey) { must(e.Remove(context.Background(), k.Namespace, k.Name)) }
func (e engine) pass(k client.ObjectKey)   { must(e.Load(context.Background(), passed(e.workload(k)))) }
func (e engine) workload(k client.ObjectKey) *kueue.Workload {
	return e.Workload(k.Namespace, k.Name)
}

// String says what kind of input it is.
func (in *input) String() string {
	return fmt.Sprintf("fair sharing %v, topology %v, transformations %v, checks %v, elastic %v, gates %v",
		in.fair != nil, in.tas, in.transformations != nil, in.checks, in.elastic, in.gates)
}

type stats struct{ cycles, admissions, borrowed, preemptions, replaced int }

// compare runs both sides in step and returns the first difference, "" if none.
// Every few cycles a running workload finishes, so that there is always movement.
func compare(in *input, a, b side) (string, stats) {
	r := rand.New(rand.NewPCG(uint64(in.seed), 99))
	var keys []client.ObjectKey
	for _, o := range in.objects() {
		if w, ok := o.(*kueue.Workload); ok {
			keys = append(keys, client.ObjectKeyFromObject(w))
		}
	}
	late := in.late
	var s stats
	was := map[client.ObjectKey]bool{}
	var pairs []*kueue.Workload // workloads that may be new slices
	cycles := 24
	if in.full {
		cycles = 80
	}
	for cycle := range cycles {
		// Most workloads come later, so that there is something to preempt for.
		for ; len(late) > 0 && r.IntN(3) > 0; late = late[1:] {
			a.arrive(late[0].DeepCopy())
			b.arrive(late[0].DeepCopy())
			keys = append(keys, client.ObjectKeyFromObject(late[0]))
			pairs = append(pairs, late[0])
		}
		// The job's controller keeps no old slice that does not run.
		for _, w := range pairs {
			if old, ok := oldSlice(w); ok {
				if o := a.workload(old); o != nil && !workload.HasQuotaReservation(o) && !workloadfinish.IsFinished(o) {
					a.finish(old)
					b.finish(old)
					delete(was, old)
					keys = slices.DeleteFunc(keys, func(k client.ObjectKey) bool { return k == old })
				}
			}
		}
		x, tookA := a.step()
		y, tookB := b.step()
		if x != y {
			return fmt.Sprintf("cycle %d: had work %v, %v", cycle, x, y), s
		}
		if !maps.Equal(tookA, tookB) {
			return fmt.Sprintf("cycle %d borrowed:\n  %v\n  %v", cycle, tookA, tookB), s
		}
		for _, amounts := range tookA {
			if amounts != "map[]" {
				s.borrowed++
			}
		}
		if x {
			s.cycles++
		}
		var running []client.ObjectKey
		for _, k := range keys {
			wa, wb := a.workload(k), b.workload(k)
			if da, db := describe(wa), describe(wb); !same(da, db) {
				return fmt.Sprintf("cycle %d, %s:\n  %s\n  %s", cycle, k, da, db), s
			}
			if wa == nil {
				continue
			}
			if workloadfinish.IsFinished(wa) {
				if was[k] {
					s.replaced++
				}
				delete(was, k)
				continue
			}
			on := workload.HasQuotaReservation(wa)
			if on && !was[k] {
				s.admissions++
			}
			if !on && was[k] {
				s.preemptions++
			}
			if was[k] = on; on {
				running = append(running, k)
			}
		}
		if in.checks && len(running) > 0 && r.IntN(2) == 0 {
			if k := running[r.IntN(len(running))]; len(a.workload(k).Status.AdmissionChecks) > 0 {
				a.pass(k)
				b.pass(k)
			}
		}
		if len(running) > 0 && (!x || r.IntN(4) == 0) {
			k := running[r.IntN(len(running))]
			a.finish(k)
			b.finish(k)
			delete(was, k)
			keys = slices.DeleteFunc(keys, func(o client.ObjectKey) bool { return o == k })
		}
	}
	return "", s
}

// oldSlice is the workload that a new slice of an elastic job replaces.
func oldSlice(w *kueue.Workload) (client.ObjectKey, bool) {
	ref := workloadslicing.ReplacementForKey(w)
	if ref == nil {
		return client.ObjectKey{}, false
	}
	ns, name, _ := strings.Cut(string(*ref), "/")
	return client.ObjectKey{Namespace: ns, Name: name}, true
}

var noReason = regexp.MustCompile(`QuotaReserved=False/\w* `)

// same compares two descriptions. Under UnadmittedWorkloadsObservability Kueue
// leaves the reason empty when none of its flavor attempts has one; the engine
// names one (an API server would refuse a condition without), so there it counts
// for nothing.
func same(a, b string) bool {
	if strings.Contains(a, "QuotaReserved=False/ ") || strings.Contains(b, "QuotaReserved=False/ ") {
		a, b = noReason.ReplaceAllString(a, ""), noReason.ReplaceAllString(b, "")
	}
	return a == b
}

// describe is all of a workload's status that must be the same.
func describe(w *kueue.Workload) string {
	if w == nil {
		return "gone"
	}
	var parts []string
	for _, c := range w.Status.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s/%s %q", c.Type, c.Status, c.Reason, c.Message))
	}
	for _, c := range w.Status.AdmissionChecks {
		parts = append(parts, fmt.Sprintf("check %s=%s", c.Name, c.State))
	}
	slices.Sort(parts)
	admission, err := json.Marshal(w.Status.Admission)
	must(err)
	requests, err := json.Marshal(w.Status.ResourceRequests)
	must(err)
	if len(w.Status.ResourceRequests) == 0 {
		requests = nil
	}
	return strings.Join(parts, "; ") + " " + string(admission) + string(requests)
}

// TestAgainstKueue is the proof of the engine. Where Kueue differs from itself on
// the same input, which happens at equal shares and equal places, the input is
// counted as undecided.
func TestAgainstKueue(t *testing.T) {
	var total stats
	kinds := map[string]int{}
	undecided, measured, differing := 0, 0, 0
	for seed := *first; seed < *first+*inputs; seed++ {
		in := newInput(seed, *full)
		in.count(kinds)
		diff, s := compare(in, newEngine(in), newReal(in))
		total.cycles += s.cycles
		total.admissions += s.admissions
		total.borrowed += s.borrowed
		total.preemptions += s.preemptions
		total.replaced += s.replaced
		if *itself > 0 && seed%*itself == 0 {
			measured++
			if d, _ := compare(in, newReal(in), newReal(in)); d != "" {
				differing++
			}
		}
		if diff == "" {
			continue
		}
		// Kueue need differ from itself only once: then the input has no one answer.
		tries := 0
		for ; tries < *repeat; tries++ {
			if d, _ := compare(in, newReal(in), newReal(in)); d != "" {
				break
			}
		}
		if tries < *repeat {
			undecided++
			t.Logf("seed %d (%s): Kueue differs from itself at try %d", seed, in, tries+1)
			continue
		}
		t.Errorf("seed %d (%s) differs, Kueue never from itself in %d tries: %s", seed, in, tries, diff)
	}
	t.Logf("%d inputs (%s), %d cycles, %d admissions (%d that borrow), %d preemptions, %d slices replaced; %d undecided in Kueue itself",
		*inputs, counts(kinds), total.cycles, total.admissions, total.borrowed, total.preemptions, total.replaced, undecided)
	if measured > 0 {
		t.Logf("Kueue against itself, once each: %d of %d inputs differ", differing, measured)
	}
	if total.preemptions == 0 || total.borrowed == 0 {
		t.Error("the inputs are too tame to prove anything")
	}
}

// count notes what an input covers.
func (in *input) count(kinds map[string]int) {
	for name, on := range map[string]bool{
		"fair sharing": in.fair != nil, "topology": in.tas, "transformations": in.transformations != nil,
		"admission checks": in.checks, "elastic slices": in.elastic, "two resource groups": in.split, "other gates": in.gates != nil,
		"undeclared resources ignored": in.undeclared == config.QuotaCheckIgnoreUndeclared,
	} {
		if on {
			kinds[name]++
		}
	}
}

func counts(kinds map[string]int) string {
	var parts []string
	for name, n := range kinds {
		parts = append(parts, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
