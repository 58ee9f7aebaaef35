package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

var (
	inputs  = flag.Int("inputs", 3000, "number of random inputs")
	first   = flag.Int("first", 1, "seed of the first input")
	repeat  = flag.Int("repeat", 200, "how often Kueue may reach a cycle with another outcome than the engine's before the test fails")
	full    = flag.Bool("full", false, "larger inputs with more cycles")
	only    = flag.String("kind", "", "the only kind of input to run")
	changed = flag.Int("variants", 600, "number of varied cases of Kueue's tests")
	itself  = flag.Int("itself", 0, "run Kueue against itself on every n-th input, to measure how often it differs")
)

// TestMain lets the heap grow more between collections: the inputs are small and many.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

type engine struct {
	*admission.Engine
	at *time.Time
}

func newEngine(in *input) engine {
	at := in.from()
	cfg := admission.Config{FairSharing: in.fair != nil, Now: func() time.Time { return at }, Gates: in.gates,
		Transformations: in.transformations, ExcludeResourcePrefixes: in.excluded,
		AdmissionFairSharing: in.byUse, OrderByUse: ptr.To(in.byUse != nil),
		IgnoreUndeclaredResources: in.undeclared == config.QuotaCheckIgnoreUndeclared}
	if in.fair != nil {
		for _, s := range in.fair.PreemptionStrategies {
			cfg.FairSharingStrategies = append(cfg.FairSharingStrategies, string(s))
		}
	}
	if in.claims {
		cfg.DeviceClasses = deviceClasses
	}
	e, err := admission.New(cfg)
	must(err)
	if w := e.Warnings(); len(w) > 0 {
		panic(fmt.Sprint(w))
	}
	if in.leaving {
		e.KeepEvictions()
	}
	must(e.Load(context.Background(), in.objects()...))
	return engine{e, &at}
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
			borrowed[client.ObjectKey{Namespace: ev.Namespace, Name: cmp.Or(ev.Variant, ev.Name)}] = fmt.Sprint(amounts)
		}
	}
	return t.Cycles > 0, borrowed
}
func (e engine) arrive(w *kueue.Workload)  { must(e.Load(context.Background(), w)) }
func (e engine) finish(k client.ObjectKey) { must(e.Remove(context.Background(), k.Namespace, k.Name)) }
func (e engine) pass(k client.ObjectKey)   { must(e.Load(context.Background(), passed(e.workload(k)))) }
func (e engine) wait(d time.Duration)      { *e.at = e.at.Add(d) }
func (e engine) end(k client.ObjectKey)    { e.EndEviction(context.Background(), k.Namespace, k.Name) }
func (e engine) node(ev nodeEvent) {
	must(e.Load(context.Background(), ev.node.DeepCopy()))
	for _, k := range ev.of {
		must(e.Load(context.Background(), ev.noted(e.workload(k))))
	}
}
func (e engine) workload(k client.ObjectKey) *kueue.Workload {
	return e.Workload(k.Namespace, k.Name)
}

// String names the kinds of the input.
func (in *input) String() string { return strings.Join(append(in.kinds(), gatesOf(in)), ", ") }

// from is the time of the first cycle.
func (in *input) from() time.Time {
	if in.start.IsZero() {
		return now
	}
	return in.start
}

// cycles is how many scheduling cycles a run has.
func (in *input) cycles() int {
	if in.length > 0 {
		return in.length
	}
	if in.full {
		return 80
	}
	return 24
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	must(err)
	return string(b)
}

// TestAgainstKueue is the proof of the engine: every input's run on the engine is
// a run that Kueue's own scheduler makes, too.
func TestAgainstKueue(t *testing.T) {
	total := newEffects()
	kinds := map[string]int{}
	tied, ties, measured, differing := 0, 0, 0, 0
	for seed := *first; seed < *first+*inputs; seed++ {
		in := newInput(seed, *full)
		if *only != "" && !slices.Contains(in.kinds(), *only) {
			continue
		}
		for _, k := range in.kinds() {
			kinds[k]++
		}
		if in.gates != nil {
			kinds[gatesOf(in)]++
		}
		seen := newEffects()
		run := record(in, newEngine(in), seen)
		switch n, diff := verify(run, *repeat, func() side { return newReal(in) }); {
		case diff != "":
			t.Errorf("seed %d (%s): %s", seed, in, diff)
		case n > 0:
			tied++
			ties += n
		}
		if *itself > 0 && seed%*itself == 0 {
			measured++
			if r := follow(record(in, newReal(in), newEffects()), newReal(in)); r.end < in.cycles() || len(r.texts) > 0 {
				differing++
			}
		}
		seen.use(in, run)
		seen.gates(in, run) // last: feature gates are global
		total.add(seen)
	}
	t.Logf("%d inputs, %s; %d inputs with ties in Kueue, at %d cycles, compared to the end", *inputs, total, tied, ties)
	t.Logf("kinds of inputs:\n%s", total.counts(kinds))
	if measured > 0 {
		t.Logf("Kueue against itself, once each: %d of %d inputs differ", differing, measured)
	}
	if *only == "" {
		total.demand(t, kinds, *inputs)
	}
}

// TestDiffered repeats inputs on which the two sides once differed, beyond the inputs of CI: two evictions of one workload in a
// cycle, a gate that opens for a variant that was just activated, variants with devices that start again, or are tried
// again, after a migration; what the old slice of an elastic job counts as past use when its new slice is admitted; variants
// that arrive while a gate of another job opens; and a queue that has more than its borrowing limit and reserves quota.
func TestDiffered(t *testing.T) {
	for _, seed := range []int{3543, 9353, 13241, 50003273, 70020773, 91009713, 91010133, 91012113, 91016193, 91017453,
		91029273, 91038062, 91059993, 91069653, 91092273} {
		in := newInput(seed, false)
		if _, diff := verify(record(in, newEngine(in), newEffects()), *repeat, func() side { return newReal(in) }); diff != "" {
			t.Errorf("seed %d (%s): %s", seed, in, diff)
		}
	}
}
