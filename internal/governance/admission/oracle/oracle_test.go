package oracle

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

var (
	inputs = flag.Int("inputs", 300, "how many random inputs")
	first  = flag.Int("first", 1, "seed of the first input")
	repeat = flag.Int("repeat", 20, "how often a differing input is repeated against Kueue itself")
)

// side is one of the two schedulers that are run in step.
type side interface {
	step() bool // one scheduling cycle; false when nothing was waiting
	arrive(*kueue.Workload)
	finish(client.ObjectKey)
	workload(client.ObjectKey) *kueue.Workload
}

func (r *real) step() bool                                  { return r.cycle() }
func (r *real) workload(k client.ObjectKey) *kueue.Workload { return r.api.workloads[k] }

type engine struct{ *admission.Engine }

func newEngine(in *input) engine {
	cfg := admission.Config{FairSharing: in.fair != nil, Now: func() time.Time { return now }, Gates: in.gates}
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

func (e engine) step() bool {
	t, err := e.Run(context.Background(), 1)
	must(err)
	return t.Cycles > 0
}
func (e engine) arrive(w *kueue.Workload)  { must(e.Load(context.Background(), w)) }
func (e engine) finish(k client.ObjectKey) { must(e.Remove(context.Background(), k.Namespace, k.Name)) }
func (e engine) workload(k client.ObjectKey) *kueue.Workload {
	return e.Workload(k.Namespace, k.Name)
}

// String says what kind of input it is.
func (in *input) String() string {
	return fmt.Sprintf("fair sharing %v, topology %v, gates %v", in.fair != nil, in.tas, in.gates)
}

type stats struct{ cycles, admissions, preemptions int }

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
	for cycle := range 80 {
		// Most workloads come later, so that there is something to preempt for.
		for ; len(late) > 0 && r.IntN(3) > 0; late = late[1:] {
			a.arrive(late[0].DeepCopy())
			b.arrive(late[0].DeepCopy())
			keys = append(keys, client.ObjectKeyFromObject(late[0]))
		}
		x, y := a.step(), b.step()
		if x != y {
			return fmt.Sprintf("cycle %d: had work %v, %v", cycle, x, y), s
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
// the same input, which happens with fair sharing at equal shares, the input is
// counted as undecided.
func TestAgainstKueue(t *testing.T) {
	var total stats
	undecided := 0
	for seed := *first; seed < *first+*inputs; seed++ {
		in := newInput(seed)
		diff, s := compare(in, newEngine(in), newReal(in))
		total.cycles += s.cycles
		total.admissions += s.admissions
		total.preemptions += s.preemptions
		if diff == "" {
			continue
		}
		itself, again := 0, 0
		for range *repeat {
			if d, _ := compare(in, newReal(in), newReal(in)); d != "" {
				itself++
			}
			if d, _ := compare(in, newEngine(in), newReal(in)); d != "" {
				again++
			}
		}
		if itself > 0 {
			undecided++
			t.Logf("seed %d (%s): Kueue differs from itself %d of %d times, the engine from Kueue %d", seed, in, itself, *repeat, again)
			continue
		}
		t.Errorf("seed %d (%s) differs %d of %d times, Kueue never from itself: %s", seed, in, again, *repeat, diff)
	}
	t.Logf("%d inputs, %d cycles, %d admissions, %d preemptions; %d undecided in Kueue itself", *inputs, total.cycles, total.admissions, total.preemptions, undecided)
	if total.preemptions == 0 || total.admissions == 0 {
		t.Error("the inputs are too tame to prove anything")
	}
}
