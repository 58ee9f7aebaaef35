package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// The kinds of inputs. An input can be of several.
const (
	fairSharing     = "fair sharing"
	topology        = "topology"
	transformations = "transformations"
	excludedPrefix  = "excluded prefixes"
	admissionChecks = "admission checks"
	elasticSlices   = "elastic slices"
	resourceGroups  = "two resource groups"
	undeclared      = "undeclared resources ignored"
	pastUse         = "admission fair sharing"
	podOverhead     = "overhead of a runtime class"
	delayedTopology = "delayed topology"
	failedNodes     = "failed nodes"
	underWay        = "evictions under way"
	resourceClaims  = "resource claims"

	concurrentAdmission = "concurrent admission"

	otherGates = "other gates"
)

// everyKind has all of them.
var everyKind = []string{fairSharing, topology, transformations, excludedPrefix, admissionChecks, elasticSlices, resourceGroups, undeclared, pastUse, podOverhead, delayedTopology, failedNodes, underWay, resourceClaims, concurrentAdmission, otherGates}

// kinds returns the kinds of an input.
func (in *input) kinds() []string {
	var out []string
	for name, on := range map[string]bool{
		fairSharing: in.fair != nil, topology: in.tas, transformations: in.transformations != nil, excludedPrefix: len(in.excluded) > 0,
		admissionChecks: in.checks, elasticSlices: in.elastic, resourceGroups: in.split, otherGates: in.gates != nil,
		podOverhead: in.overhead, delayedTopology: in.delayed, failedNodes: in.failing, underWay: in.leaving, resourceClaims: in.claims, concurrentAdmission: in.concurrent, pastUse: in.byUse != nil, undeclared: in.undeclared == config.QuotaCheckIgnoreUndeclared,
	} {
		if on {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// effects counts what happened in recorded runs, so that a kind of input that
// changes nothing is found.
type effects struct {
	cycles, admissions, borrowed, preemptions, partial int
	evictions                                          int // no node replaced a failed one
	migrations                                         int // of variants to a better flavor
	// of counts, by kind of input, the decisions that only this kind can bring about.
	of map[string]int
}

func newEffects() *effects { return &effects{of: map[string]int{}} }

func (e *effects) add(o *effects) {
	e.cycles += o.cycles
	e.admissions += o.admissions
	e.borrowed += o.borrowed
	e.preemptions += o.preemptions
	e.partial += o.partial
	e.evictions += o.evictions
	e.migrations += o.migrations
	for k, n := range o.of {
		e.of[k] += n
	}
}

func (e *effects) borrowing(amounts map[client.ObjectKey]string) {
	for _, a := range amounts {
		if a != "map[]" {
			e.borrowed++
		}
	}
}

// change counts what happened to a workload between two looks at it.
func (e *effects) change(in *input, before, now *kueue.Workload) {
	if now == nil {
		return
	}
	had := before != nil && workload.HasQuotaReservation(before)
	switch has := workload.HasQuotaReservation(now); {
	case workloadfinish.IsFinished(now):
		if had && !workloadfinish.IsFinished(before) {
			e.of[elasticSlices]++ // replaced by its new slice
		}
	case had && !has:
		e.preemptions++
		if c := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadPreempted); c != nil && c.Reason == kueue.InCohortFairSharingReason {
			e.of[fairSharing]++
		}
	case has && !had && concurrentadmission.IsParent(now):
		e.of[concurrentAdmission]++
	case has && !had:
		e.admissions++
		e.admission(in, now)
	}
	if c := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadEvicted); had && !workload.HasQuotaReservation(now) && c != nil && c.Reason == kueue.WorkloadEvictedByFlavorMigration {
		e.migrations++
	}
	if had && workload.HasTopologyAssignmentsPending(before) && workload.HasQuotaReservation(now) && !workload.HasTopologyAssignmentsPending(now) {
		e.of[delayedTopology]++ // placed in a second pass
	}
	if had && len(before.Status.UnhealthyNodes) > 0 && len(now.Status.UnhealthyNodes) == 0 {
		if workload.HasQuotaReservation(now) && asJSON(now.Status.Admission) != asJSON(before.Status.Admission) {
			e.of[failedNodes]++ // replaced
		} else if workloadevict.IsEvicted(now) && !workload.HasQuotaReservation(now) {
			e.evictions++
		}
	}
	if before != nil && had && !workload.IsAdmitted(before) && workload.IsAdmitted(now) {
		e.of[admissionChecks]++ // the checks held it back and then let it through
	}
}

// admission counts what a new quota reservation rests on.
func (e *effects) admission(in *input, w *kueue.Workload) {
	flavors := map[kueue.ResourceFlavorReference]bool{}
	requested := map[corev1.ResourceName]bool{}
	placed, transformed, boxed, counted := false, false, false, false
	for i, a := range w.Status.Admission.PodSetAssignments {
		for _, f := range a.Flavors {
			flavors[f] = true
		}
		placed = placed || a.TopologyAssignment != nil
		if a.Count != nil && *a.Count < w.Spec.PodSets[i].Count {
			e.partial++
		}
		requests := w.Spec.PodSets[i].Template.Spec.Containers[0].Resources.Requests
		for name := range requests {
			requested[name] = true
		}
		pods := int64(ptr.Deref(a.Count, w.Spec.PodSets[i].Count))
		for _, name := range []corev1.ResourceName{gpu, cpu} {
			used, wanted := a.ResourceUsage[name], requests[name]
			more := used.MilliValue() > pods*wanted.MilliValue()
			counted = counted || more && name == gpu && claims(w)
			transformed = transformed || more && in.transformations != nil
			boxed = boxed || more && name == cpu && in.transformations == nil && w.Spec.PodSets[i].Template.Spec.RuntimeClassName != nil
		}
	}
	if placed {
		e.of[topology]++
	}
	if (flavors["f0"] || flavors["f1"]) && (flavors["cpu0"] || flavors["cpu1"]) {
		e.of[resourceGroups]++
	}
	if transformed {
		e.of[transformations]++
	}
	if counted {
		e.of[resourceClaims]++ // devices count as gpu
	}
	if boxed {
		e.of[podOverhead]++
	}
	if requested[port] && in.undeclared == config.QuotaCheckBlockUndeclared {
		e.of[excludedPrefix]++
	}
	if requested[unknown] && in.undeclared == config.QuotaCheckIgnoreUndeclared {
		e.of[undeclared]++
	}
}

// use counts an input whose run the engine never makes without past use.
func (e *effects) use(in *input, run []cycle) {
	if in.byUse == nil {
		return
	}
	plain := *in
	plain.byUse = nil
	for range 10 {
		if r := follow(run, newEngine(&plain)); r.end == len(run) && len(r.texts) == 0 {
			return
		}
	}
	e.of[pastUse]++
}

// gates counts an input whose run the engine never makes without the input's
// feature gates. One try proves nothing: it could differ at a tie.
func (e *effects) gates(in *input, run []cycle) {
	if in.gates == nil {
		return
	}
	plain := *in
	plain.gates = nil
	for range 10 {
		if r := follow(run, newEngine(&plain)); r.end == len(run) && len(r.texts) == 0 {
			return
		}
	}
	e.of[otherGates]++
	e.of[gatesOf(in)]++
}

// gatesOf names an input's set of feature gates.
func gatesOf(in *input) string {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(in.gates)) {
		names = append(names, fmt.Sprintf("%s=%v", n, in.gates[n]))
	}
	return strings.Join(names, ",")
}

const (
	// enough is how many inputs of a kind must show its effect at least once.
	enough = 20
	// enoughGates is the same for one set of feature gates. The rarest effect shows
	// in one input of 30.
	enoughGates = 40
)

// demand fails the test for each kind of input that had no effect, and in a long run for each kind with too few
// inputs. The rarest kind is one input in 23.
func (e *effects) demand(t *testing.T, inputs map[string]int, all int) {
	for _, kind := range everyKind {
		if n := inputs[kind]; all >= 25*enough && n < enough {
			t.Errorf("%d of %d inputs with %s, want %d", n, all, kind, enough)
		}
	}
	for kind, n := range inputs {
		least := enough
		if strings.Contains(kind, "=") {
			least = enoughGates
		}
		if n >= least && e.of[kind] == 0 {
			t.Errorf("%d inputs with %s, and none of them shows an effect of it", n, kind)
		}
	}
	for what, n := range map[string]int{"preempts": e.preemptions, "borrows": e.borrowed, "is admitted with fewer pods": e.partial, "is evicted without another node": e.evictions} {
		if n == 0 {
			t.Errorf("no workload %s: the inputs prove nothing about it", what)
		}
	}
}

func (e *effects) String() string {
	return fmt.Sprintf("%d cycles, %d admissions (%d that borrow, %d partial), %d preemptions, %d evictions because of nodes, %d migrations of variants", e.cycles, e.admissions, e.borrowed, e.partial, e.preemptions, e.evictions, e.migrations)
}

// counts lists how many inputs of each kind there were, and how many effects.
func (e *effects) counts(inputs map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(inputs)) {
		parts = append(parts, fmt.Sprintf("  %s: %d inputs, %d effects", kind, inputs[kind], e.of[kind]))
	}
	return strings.Join(parts, "\n")
}
