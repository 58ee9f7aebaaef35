package admission

import (
	"context"
	"maps"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// Kueue's controller of concurrent admission (pkg/controller/concurrentadmission): it makes the variants of a workload,
// activates and deactivates them, opens their preemption gates one after the other, and gives the parent the admission of
// a variant. Here it acts after a scheduling cycle and before the next one.

// gateTimeout is how long Kueue lets one variant preempt before another one may (preemptionTimeout in controller.go).
const gateTimeout = 5 * time.Minute

// Reasons of the parent's Evicted condition.
const (
	variantEvicted   = "VariantEvicted"
	noVariantRunning = "ConcurrentAdmission"
)

// lead labels a workload as a parent when its queue makes variants (Reconcile in workload_controller.go).
func (e *Engine) lead(key workload.Reference) {
	w := e.store.workloads[key]
	if !variantsOn() || concurrentadmission.IsVariant(w) || concurrentadmission.IsParent(w) || !e.hasPolicy(w) {
		return
	}
	c := *w
	c.Labels = maps.Clone(w.Labels)
	concurrentadmission.SetParentVariantLabel(&c)
	e.store.put(&c)
}

// follow does what the controller does about the families that changed, until nothing is left to do. It reports whether
// something changed.
func (e *Engine) follow(ctx context.Context) (changed bool) {
	if !variantsOn() {
		clear(e.store.touched)
		return false
	}
	maps.Copy(e.store.touched, e.store.gated)
	clear(e.store.gated)
	// A variant is deactivated when another one is admitted and activated when that is evicted, once each: this ends. The bound
	// is for what the API server would never store.
	for range 1000 {
		if len(e.store.touched) == 0 {
			break
		}
		keys := sortedKeys(e.store.touched)
		clear(e.store.touched)
		for _, key := range keys {
			changed = e.followFamily(ctx, key) || changed
		}
	}
	clear(e.store.cleared)
	return changed
}

// wakeFamilies makes follow look at all families again: time has passed.
func (e *Engine) wakeFamilies() {
	if !variantsOn() || len(e.store.variants) == 0 {
		return
	}
	for key, w := range e.store.workloads {
		if concurrentadmission.IsParent(w) {
			e.store.touched[key] = true
		}
	}
}

// kin is a family while the controller looks at it.
type kin struct {
	parent   workload.Reference
	cq       *kueue.ClusterQueue
	flavors  []kueue.ResourceFlavorReference
	variants []workload.Reference // in the order of their flavors
}

// place returns the place of a flavor; like the controller's map, the first one for a flavor that the queue has not.
func (k *kin) place(f kueue.ResourceFlavorReference) int { return max(slices.Index(k.flavors, f), 0) }

// followFamily is one Reconcile of the controller, for a parent. It reports whether something changed.
func (e *Engine) followFamily(ctx context.Context, key workload.Reference) bool {
	parent := e.store.workloads[key]
	if parent == nil || !concurrentadmission.IsParent(parent) || !e.queuesIn[queueKey(parent)] {
		return false
	}
	cq := e.store.cqs[string(e.store.queueOf(parent).Spec.ClusterQueue)]
	k := &kin{parent: key, cq: cq, flavors: offered(cq)}
	if len(k.flavors) == 0 || e.clusterQueueGone(cq) {
		return false
	}
	known := e.Variants(parent.Namespace, parent.Name)
	slices.SortStableFunc(known, func(a, b *kueue.Workload) int {
		return k.place(concurrentadmission.GetVariantFlavor(a)) - k.place(concurrentadmission.GetVariantFlavor(b))
	})
	changed := e.makeVariants(ctx, k, known)
	for _, v := range known {
		if !slices.Contains(k.flavors, concurrentadmission.GetVariantFlavor(v)) {
			e.remove(v) // its flavor is not in the queue any more
			changed = true
			continue
		}
		k.variants = append(k.variants, workload.Key(v))
	}
	if waits, evicted := e.passEviction(ctx, k); waits {
		return changed || evicted
	} else if evicted {
		changed = true
	}
	moved := e.deactivate(ctx, k)
	moved = append(moved, e.activate(ctx, k)...)
	changed = e.passAdmission(ctx, k) || changed || len(moved) > 0
	changed = e.openGate(ctx, k, moved, false) || changed
	for _, v := range moved {
		e.reconcile(ctx, v)
	}
	return changed
}

func (e *Engine) clusterQueueGone(cq *kueue.ClusterQueue) bool { return cq == nil || !e.cqs[cq.Name] }

// newVariant is the variant of a workload for the flavor with a place (generateVariant in controller.go).
func newVariant(parent *kueue.Workload, flavor kueue.ResourceFlavorReference, place int) *kueue.Workload {
	v := &kueue.Workload{Spec: parent.Spec}
	v.Name, v.Namespace = variantName(parent, flavor), parent.Namespace
	// The API server draws it. Of variants of the same second the one with the smallest is first.
	v.UID = types.UID(uidOf(parent) + "-" + string(rune('a'+place)))
	v.Labels, v.Annotations = maps.Clone(parent.Labels), maps.Clone(parent.Annotations)
	delete(v.Labels, constants.ConcurrentAdmissionParentLabelKey)
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, constants.WorkloadAllowedResourceFlavorAnnotation, string(flavor))
	v.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: parent.Name,
		UID: types.UID(uidOf(parent)), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
	v.Spec.PreemptionGates = slices.Clone(v.Spec.PreemptionGates)
	workload.EnsurePreemptionGateOnSpec(v, constants.ConcurrentAdmissionPreemptionGate)
	return v
}

// makeVariants makes the variants that a family lacks (createVariants). One that has finished gets none here.
func (e *Engine) makeVariants(ctx context.Context, k *kin, known []*kueue.Workload) (changed bool) {
	parent := e.store.workloads[k.parent]
	if workloadfinish.IsFinished(parent) {
		return false
	}
	for i, flavor := range k.flavors {
		if slices.ContainsFunc(known, func(v *kueue.Workload) bool { return concurrentadmission.GetVariantFlavor(v) == flavor }) {
			continue
		}
		v := newVariant(parent, flavor, i)
		v.CreationTimestamp = metav1.NewTime(e.now())
		if key := workload.Key(v); e.store.workloads[key] == nil {
			e.applyWorkload(ctx, v)
			e.reconcile(ctx, key)
			changed = true
		}
	}
	return changed
}

// passEviction passes the eviction of a variant on to the parent, whose job has to stop first, and then takes the quota
// of the variant (syncVariantEvictionStatus). It reports whether the family waits for the job, and whether something changed.
func (e *Engine) passEviction(ctx context.Context, k *kin) (waits, changed bool) {
	for _, key := range k.variants {
		v, parent := e.store.workloads[key], e.store.workloads[k.parent]
		if !workloadevict.IsEvicted(v) || !workload.HasQuotaReservation(v) {
			continue
		}
		if !workload.HasQuotaReservation(parent) {
			e.clearVariant(ctx, v)
			return false, true
		}
		if workloadevict.IsEvicted(parent) {
			return true, false
		}
		p := e.writable(k.parent)
		workloadevict.SetEvictedCondition(p, e.now(), variantEvicted, "Admitted variant was evicted")
		e.store.put(p)
		return true, true
	}
	return false, false
}

// clearVariant takes the quota of a variant that is being evicted (clearWorkloadAdmission).
func (e *Engine) clearVariant(ctx context.Context, v *kueue.Workload) {
	key := workload.Key(v)
	reason, message := evictedBecause(v)
	e.evict(e.writable(key), reason, message, "")
	e.verdicts[key] = verdict{kueue.WorkloadQuotaReservedReasonPendingEvaluation, message}
	e.reconcile(ctx, key)
}

// evictParent evicts the parent of a variant, whose job stops, before that variant loses its quota. It notes the variant until
// follow has looked at its family: see anyQueued. It does nothing for other workloads, and without quota.
func (e *Engine) evictParent(v *kueue.Workload) {
	p := e.parentOf(v)
	if p != nil && workload.HasQuotaReservation(v) {
		e.store.cleared[workload.Key(v)] = true
	}
	if p == nil || !workload.HasQuotaReservation(v) || !workload.HasQuotaReservation(p) || workloadevict.IsEvicted(p) {
		return
	}
	e.stop(workload.Key(p), variantEvicted, "Admitted variant was evicted")
}

// stop evicts a parent, whose job stops at once. Its eviction is not counted.
func (e *Engine) stop(key workload.Reference, reason, message string) {
	p := e.writable(key)
	workloadevict.SetEvictedCondition(p, e.now(), reason, message)
	e.evict(p, reason, message, "")
	delete(e.started, key)
}

// admittedOf returns the variant that is admitted, the first of several; "" if none is. It must say to what.
func (e *Engine) admittedOf(k *kin) workload.Reference {
	for _, key := range k.variants {
		if v := e.store.workloads[key]; workload.IsAdmitted(v) && v.Status.Admission != nil {
			return key
		}
	}
	return ""
}

// policyOf returns the mode of migration and the place of the last flavor to migrate to, -1 without one.
func (k *kin) policyOf() (retain bool, last int) {
	p := k.cq.Spec.ConcurrentAdmissionPolicy
	if p == nil {
		return false, -1
	}
	if c := p.Migration.Constraints; c != nil && c.LastAcceptableFlavorName != nil {
		last = k.place(*c.LastAcceptableFlavorName)
	} else {
		last = -1
	}
	return p.Migration.Mode == kueue.ConcurrentAdmissionRetainFirstAdmission, last
}

// deactivate deactivates the variants that must not start any more (deactivateVariants) and returns those that it changed.
func (e *Engine) deactivate(ctx context.Context, k *kin) (moved []workload.Reference) {
	running := workload.IsActive(e.store.workloads[k.parent])
	best := e.admittedOf(k)
	if running && best == "" {
		return nil
	}
	retain, last := k.policyOf()
	mine := 0
	if best != "" {
		mine = k.place(concurrentadmission.GetVariantFlavor(e.store.workloads[best]))
	}
	for _, key := range k.variants {
		v := e.store.workloads[key]
		place := k.place(concurrentadmission.GetVariantFlavor(v))
		switch {
		case !running:
		case retain:
			if key == best {
				continue
			}
		case last >= 0 && place > last && key != best, place > mine:
		default:
			continue
		}
		if workload.IsActive(v) {
			e.setActive(ctx, key, false)
			moved = append(moved, key)
		}
		if v = e.store.workloads[key]; workloadevict.IsEvicted(v) && workload.HasQuotaReservation(v) {
			e.clearVariant(ctx, v)
		}
	}
	return moved
}

// activate activates the variants that may start, or may take the place of the one that runs (activateVariants), and
// returns those that it changed.
func (e *Engine) activate(ctx context.Context, k *kin) (moved []workload.Reference) {
	if !workload.IsActive(e.store.workloads[k.parent]) {
		return nil
	}
	best := e.admittedOf(k)
	retain, last := k.policyOf()
	if best != "" && retain {
		return nil
	}
	for _, key := range k.variants {
		v := e.store.workloads[key]
		if workload.IsActive(v) {
			continue
		}
		if best != "" {
			place := k.place(concurrentadmission.GetVariantFlavor(v))
			if place >= k.place(concurrentadmission.GetVariantFlavor(e.store.workloads[best])) || last >= 0 && place > last {
				continue
			}
		}
		e.setActive(ctx, key, true)
		moved = append(moved, key)
	}
	return moved
}

// setActive changes spec.active of a variant.
func (e *Engine) setActive(ctx context.Context, key workload.Reference, on bool) {
	e.applyWorkload(ctx, active(e.store.workloads[key], on))
}

// passAdmission gives the parent the admission of the variant that is admitted, takes it away if none is, and ends the
// variants of a parent that has finished (syncAdmissionStatus).
func (e *Engine) passAdmission(ctx context.Context, k *kin) (changed bool) {
	parent := e.store.workloads[k.parent]
	if workloadfinish.IsFinished(parent) {
		c := apimeta.FindStatusCondition(parent.Status.Conditions, kueue.WorkloadFinished)
		for _, key := range k.variants {
			if !workloadfinish.IsFinished(e.store.workloads[key]) {
				w := e.writable(key)
				e.setCondition(w, kueue.WorkloadFinished, c.Reason, c.Message, true)
				e.applyWorkload(ctx, w)
				changed = true
			}
		}
		return changed
	}
	best := e.admittedOf(k)
	switch {
	case best == "" && !workload.IsAdmitted(parent):
		return false
	case best == "" && workloadevict.IsEvicted(parent): // and its job is still stopping
		p := e.writable(k.parent)
		if changed = workloadevict.SetEvictedCondition(p, e.now(), noVariantRunning, "No variant is running"); changed {
			e.store.put(p)
		}
		return changed
	case best == "":
		e.stop(k.parent, noVariantRunning, "No variant is running")
		return true
	}
	if ready := apimeta.FindStatusCondition(parent.Status.Conditions, kueue.WorkloadPodsReady); ready != nil {
		v := e.writable(best)
		if apimeta.SetStatusCondition(&v.Status.Conditions, *ready) {
			e.store.put(v)
			e.count(e.adjusted(ctx, v))
			changed = true
		}
	}
	if workload.IsAdmitted(parent) {
		return changed
	}
	v, p := e.store.workloads[best], e.writable(k.parent)
	workload.SetQuotaReservation(p, v.Status.Admission.DeepCopy(), e.clock)
	workload.SetAdmittedCondition(p, e.now(), "Admitted", "The variant "+v.Name+" is admitted")
	e.store.put(p)
	delete(e.verdicts, k.parent)
	delete(e.todo, k.parent)
	return true
}

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
