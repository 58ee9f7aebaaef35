package admission

import (
	"context"
	"maps"
	"slices"

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
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// Kueue's controller of concurrent admission (pkg/controller/concurrentadmission): it makes the variants of a workload,
// activates and deactivates them, opens their preemption gates one after the other, and gives the parent the admission of
// a variant. Here it acts after a scheduling cycle and before the next one.

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
	e.store.replaced = nil
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
	e.replaceParent(ctx, p)
	return true
}

// replaceParent finishes the old slice of an elastic job whose new slice was admitted (normalizeActiveSlices in
// workloadslicing.go). The scheduler does not: it looks for the old slice among the workloads that hold quota, where only its
// variants are, so that the new one needs its quota beside the old one.
func (e *Engine) replaceParent(ctx context.Context, p *kueue.Workload) {
	key := workloadslicing.ReplacementForKey(p)
	if key == nil || !features.Enabled(features.ElasticJobsViaWorkloadSlices) {
		return
	}
	if old := e.store.workloads[*key]; old != nil && old.Namespace == p.Namespace && !workloadfinish.IsFinished(old) {
		w := e.writable(*key)
		e.setCondition(w, kueue.WorkloadFinished, kueue.WorkloadSliceReplaced, "Replaced to accommodate a new workload slice", true)
		e.applyWorkload(ctx, w)
		e.store.replaced = append(e.store.replaced, Event{Kind: EventReplaced, Namespace: old.Namespace, Name: old.Name, ClusterQueue: string(p.Status.Admission.ClusterQueue),
			Reason: kueue.WorkloadSliceReplaced, Message: "Replaced to accommodate a new workload slice", By: string(workload.Key(p))})
	}
}
