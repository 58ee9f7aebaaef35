package admission

import (
	"context"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// gateTimeout is how long Kueue lets one variant preempt before another one may (preemptionTimeout in controller.go).
const gateTimeout = 5 * time.Minute

// openGate lets the next variant preempt (selectVariantToOpenPreemptionGate). The scheduler is faster than the controller:
// it has tried the other variants by then, except those that the controller has just moved. With now, the caller has tried them.
func (e *Engine) openGate(ctx context.Context, k *kin, moved []workload.Reference, now bool) bool {
	list := e.workloadsOf(k.variants)
	candidate, at := e.nextGate(list)
	if candidate == nil || at.After(e.now()) {
		return false
	}
	if !now && e.anyQueued(ctx, list, moved) {
		e.store.gated[k.parent] = true
		return false
	}
	w := e.writable(workload.Key(candidate))
	if !workload.OpenPreemptionGate(w, constants.ConcurrentAdmissionPreemptionGate, metav1.NewTime(e.now())) {
		return false
	}
	e.store.put(w)
	e.enqueue(w)
	return true
}

// anyQueued reports whether the scheduler will try some of the variants without a change. One that has just lost its quota or
// was just moved does not count: the controller takes the quota, activates variants and opens the gate in one go.
func (e *Engine) anyQueued(ctx context.Context, variants []*kueue.Workload, moved []workload.Reference) bool {
	e.flush(ctx)
	queued := map[workload.Reference]bool{}
	for _, list := range e.queues.Dump() {
		for _, key := range list {
			queued[key] = true
		}
	}
	return slices.ContainsFunc(variants, func(v *kueue.Workload) bool {
		key := workload.Key(v)
		return queued[key] && !e.store.cleared[key] && !slices.Contains(moved, key)
	})
}

func (e *Engine) workloadsOf(keys []workload.Reference) []*kueue.Workload {
	out := make([]*kueue.Workload, 0, len(keys))
	for _, key := range keys {
		if w := e.store.workloads[key]; w != nil {
			out = append(out, w)
		}
	}
	return out
}

// nextGate returns the variant whose preemption gate is the next to open, and from when on it may; nil if there is none.
func (e *Engine) nextGate(variants []*kueue.Workload) (*kueue.Workload, time.Time) {
	for _, v := range variants {
		if !workload.IsAdmissible(v) || workload.HasOpenPreemptionGate(v, constants.ConcurrentAdmissionPreemptionGate) {
			continue
		}
		if workload.BlockedOnPreemptionGatesCondition(v) != nil {
			return v, lastOpened(variants)
		}
		if apimeta.FindStatusCondition(v.Status.Conditions, kueue.WorkloadQuotaReserved) == nil && !stamped() {
			return nil, time.Time{} // it was not evaluated yet
		}
	}
	return nil, time.Time{}
}

// stamped reports whether Kueue writes the QuotaReserved condition of a workload before its first evaluation.
func stamped() bool {
	return features.Enabled(features.UnadmittedWorkloadsObservability) && features.Enabled(features.UnadmittedWorkloadsExplicitStatus)
}

// lastOpened returns when the timeout of the gate that was opened last ends; the zero time if no gate is open.
func lastOpened(variants []*kueue.Workload) (end time.Time) {
	for _, v := range variants {
		g := workload.FindPreemptionGate(v, constants.ConcurrentAdmissionPreemptionGate)
		if !workload.IsAdmissible(v) || g == nil || g.Position != kueue.PreemptionGatePositionOpen {
			continue
		}
		if at := g.LastTransitionTime.Add(gateTimeout); at.After(end) {
			end = at
		}
	}
	return end
}

// opened returns a variant with its preemption gate open.
func opened(v *kueue.Workload, now time.Time) *kueue.Workload {
	c := *v
	c.Status = *v.Status.DeepCopy()
	workload.OpenPreemptionGate(&c, constants.ConcurrentAdmissionPreemptionGate, metav1.NewTime(now))
	return &c
}

// NextGate returns when the next preemption gate of a variant opens. Without one, ok is false. Until then [Engine.Run] has
// nothing to do about it.
func (e *Engine) NextGate() (at time.Time, ok bool) {
	if !variantsOn() || len(e.store.variants) == 0 {
		return at, false
	}
	for _, w := range e.store.workloads {
		if !concurrentadmission.IsParent(w) {
			continue
		}
		candidate, opens := e.nextGate(e.ordered(w))
		if candidate != nil && opens.After(e.now()) && (!ok || opens.Before(at)) {
			at, ok = opens, true
		}
	}
	return at, ok
}

// ordered returns the variants of a parent in the order of their flavors.
func (e *Engine) ordered(parent *kueue.Workload) []*kueue.Workload {
	lq := e.store.queueOf(parent)
	if lq == nil {
		return nil
	}
	k := kin{flavors: offered(e.store.cqs[string(lq.Spec.ClusterQueue)])}
	list := e.Variants(parent.Namespace, parent.Name)
	slices.SortStableFunc(list, func(a, b *kueue.Workload) int {
		return k.place(concurrentadmission.GetVariantFlavor(a)) - k.place(concurrentadmission.GetVariantFlavor(b))
	})
	return list
}
