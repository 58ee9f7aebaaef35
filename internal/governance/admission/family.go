package admission

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// A family is a workload of a job, the parent, and its variants: workloads that Kueue makes of it, one for each flavor.
// Variants queue and hold quota, and the parent takes the admission of one of them. To the outside a family is one
// workload, the parent.

// variantsOn reports whether the gate of concurrent admission is on.
func variantsOn() bool { return features.Enabled(features.ConcurrentAdmission) }

// leads reports whether a workload is a parent, or becomes one once Kueue labels it.
func (e *Engine) leads(w *kueue.Workload) bool {
	if !variantsOn() || concurrentadmission.IsVariant(w) {
		return false
	}
	return concurrentadmission.IsParent(w) || e.hasPolicy(w)
}

// hasPolicy reports whether the ClusterQueue of a workload makes variants.
func (e *Engine) hasPolicy(w *kueue.Workload) bool {
	lq := e.store.queueOf(w)
	if lq == nil {
		return false
	}
	cq := e.store.cqs[string(lq.Spec.ClusterQueue)]
	return cq != nil && cq.Spec.ConcurrentAdmissionPolicy != nil
}

// parentOf returns the known parent of a variant, nil for another workload.
func (e *Engine) parentOf(w *kueue.Workload) *kueue.Workload {
	if w == nil || !variantsOn() || !concurrentadmission.IsVariant(w) {
		return nil
	}
	p := e.store.workloads[workload.NewReference(w.Namespace, concurrentadmission.GetParentWorkloadName(w))]
	if p == nil || !e.leads(p) || !have(parentsAmong([]*kueue.Workload{p}), w) {
		return nil
	}
	return p
}

// headOf returns the workload that stands for a family: the parent of a variant, or the workload itself.
func (e *Engine) headOf(w *kueue.Workload) *kueue.Workload {
	if p := e.parentOf(w); p != nil {
		return p
	}
	return w
}

// named returns the workload that stands for the family of a key.
func (e *Engine) named(key workload.Reference) workload.Reference {
	if p := e.parentOf(e.store.workloads[key]); p != nil {
		return workload.Key(p)
	}
	return key
}

// nameAll replaces variants ("namespace/name") by their parents, each once.
func (e *Engine) nameAll(keys []string) []string {
	if !variantsOn() || len(keys) == 0 {
		return keys
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = string(e.named(workload.Reference(k)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// headsOf replaces variants by their parents. A parent has the place of its first variant. One that has quota waits for
// nothing: its other variants would only replace the one that runs.
func (e *Engine) headsOf(list []*kueue.Workload) []*kueue.Workload {
	if !variantsOn() {
		return list
	}
	out := make([]*kueue.Workload, 0, len(list))
	seen := map[*kueue.Workload]bool{}
	for _, w := range list {
		if h := e.headOf(w); !seen[h] && (h == w || !workload.HasQuotaReservation(h)) {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// familyKey names the family that a variant belongs to, by the UID of its parent.
func familyKey(w *kueue.Workload) string {
	return w.Namespace + "/" + string(concurrentadmission.GetParentWorkloadUID(w))
}

// uidOf returns the UID of a parent. One that does not exist yet has none, and its variants need it to find each other.
func uidOf(parent *kueue.Workload) string {
	return cmp.Or(string(parent.UID), string(workload.Key(parent)))
}

// Variants returns the workloads that Kueue makes of a workload, one for each flavor, by name. The caller must not change
// them.
func (e *Engine) Variants(namespace, name string) []*kueue.Workload {
	w := e.Stored(namespace, name)
	if w == nil || !e.leads(w) {
		return nil
	}
	members := e.store.variants[w.Namespace+"/"+uidOf(w)]
	out := make([]*kueue.Workload, 0, len(members))
	for _, key := range sortedKeys(members) {
		out = append(out, e.store.workloads[key])
	}
	return out
}

// Family returns a workload and, after it, those that [Engine.Remove] removes with it. Together they can be loaded again. The
// caller must not change them.
func (e *Engine) Family(namespace, name string) []*kueue.Workload {
	w := e.Stored(namespace, name)
	if w == nil {
		return nil
	}
	return append([]*kueue.Workload{w}, e.owned(w)...)
}

// owned returns the variants of a parent, by name.
func (e *Engine) owned(parent *kueue.Workload) (out []*kueue.Workload) {
	if !concurrentadmission.IsParent(parent) {
		return nil
	}
	for _, key := range sortedKeys(e.store.variants[parent.Namespace+"/"+uidOf(parent)]) {
		out = append(out, e.store.workloads[key])
	}
	return out
}

// offered returns the flavors that a queue makes variants for, in its order.
func offered(cq *kueue.ClusterQueue) []kueue.ResourceFlavorReference {
	if cq == nil || len(cq.Spec.ResourceGroups) == 0 {
		return nil
	}
	out := make([]kueue.ResourceFlavorReference, len(cq.Spec.ResourceGroups[0].Flavors))
	for i := range cq.Spec.ResourceGroups[0].Flavors {
		out[i] = cq.Spec.ResourceGroups[0].Flavors[i].Name
	}
	return out
}

// variantName returns the name that Kueue gives to a variant. Its function panics if the name of the parent has no hyphen;
// the names that Kueue makes have one.
func variantName(parent *kueue.Workload, flavor kueue.ResourceFlavorReference) string {
	name := parent.Name
	if !strings.Contains(name, "-") {
		name += "-"
	}
	return jobframework.GetWorkloadNameForVariant(name, parent.UID, kueue.SchemeGroupVersion.WithKind("Workload"), string(flavor))
}

// translate turns an event of a variant into one of its job. It reports false for what does not concern the job: that
// a further variant of a running job waits.
func (e *Engine) translate(ev *Event) bool {
	if !variantsOn() {
		return true
	}
	p := e.parentOf(e.store.workloads[workload.NewReference(ev.Namespace, ev.Name)])
	if ev.By != "" {
		ev.By = string(e.named(workload.Reference(ev.By)))
	}
	if p == nil {
		return true
	}
	ev.Variant, ev.Name = ev.Name, p.Name
	return (ev.Kind != EventPending && ev.Kind != EventSkipped) || !workload.HasQuotaReservation(p)
}

// family returns the variants of a workload as a Probe tries them, in the order of their flavors: those that exist, or
// those that Kueue will make.
func (e *Engine) family(w *kueue.Workload) []*kueue.Workload {
	var known []*kueue.Workload
	if stored := e.store.workloads[workload.Key(w)]; stored != nil && equality.Semantic.DeepEqual(&stored.Spec, &w.Spec) {
		known = e.Variants(w.Namespace, w.Name)
	}
	var out []*kueue.Workload
	for i, flavor := range offered(e.store.cqs[string(e.store.queueOf(w).Spec.ClusterQueue)]) {
		at := slices.IndexFunc(known, func(v *kueue.Workload) bool { return concurrentadmission.GetVariantFlavor(v) == flavor })
		if at >= 0 {
			out = append(out, known[at])
			continue
		}
		v := newVariant(w, flavor, i)
		v.CreationTimestamp = w.CreationTimestamp
		out = append(out, v)
	}
	return out
}

// probeFamily answers for a workload with variants: what comes of them one after the other, in the order of their
// flavors. A gate opens once all were tried. Then the first variant that needs it preempts, also in place of another one
// that has started and has a worse flavor, unless the policy forbids that. If none starts, the reason is that of the first
// whose gate opens later, or that can start later.
func (e *Engine) probeFamily(ctx context.Context, w *kueue.Workload) (Decision, error) {
	list := e.family(w)
	cq := e.store.cqs[string(e.store.queueOf(w).Spec.ClusterQueue)]
	k := kin{cq: cq, flavors: offered(cq)}
	retain, last := k.policyOf()
	var starts, waits, never *Decision
	var gated *kueue.Workload
	var behind Decision // of gated
	for _, v := range list {
		if !workload.IsActive(v) {
			continue
		}
		d, err := e.probeVariant(ctx, v)
		if err != nil {
			return d, err
		}
		switch {
		case d.Reason == kueue.WorkloadAdmissionGated && workload.HasClosedPreemptionGate(v):
			if gated == nil {
				gated, behind = v, d
			}
			continue
		case d.Outcome.Starts(), d.Reason == kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks:
			starts = &d
		case d.Outcome == Never && (never == nil || never.Reason == kueue.WorkloadQuotaReservedReasonNoMatchingFlavor):
			never = &d
		case d.Outcome == Waits && waits == nil:
			waits = &d
		}
		if starts != nil {
			break
		}
	}
	if gated != nil && starts != nil && starts.Outcome.Starts() {
		if retain || last >= 0 && k.place(concurrentadmission.GetVariantFlavor(gated)) > last {
			gated = nil
		}
	}
	if gated != nil && (starts == nil || starts.Outcome.Starts()) {
		opens := lastOpened(list)
		if !opens.After(e.now()) {
			return e.probeVariant(ctx, opened(gated, e.now()))
		}
		if starts == nil {
			behind.Reason, behind.GateOpens = kueue.PreemptionGated, opens
			return behind, nil
		}
	}
	if d := cmp.Or(starts, waits, never); d != nil {
		return *d, nil
	}
	return Decision{Outcome: Waits, Reason: kueue.WorkloadQuotaReservedReasonPendingEvaluation,
		ClusterQueue: string(cq.Name), Message: "No variant of the workload is active"}, nil
}

// probeVariant is probe for one variant.
func (e *Engine) probeVariant(ctx context.Context, v *kueue.Workload) (Decision, error) {
	w := *v
	w.Status = kueue.WorkloadStatus{ReclaimablePods: v.Status.ReclaimablePods, PreemptionGates: v.Status.PreemptionGates, Conditions: e.evictions(v)}
	if d, done := e.notQueued(ctx, &w); done {
		return d, nil
	}
	return e.probeQueued(ctx, &w)
}

// tells returns why a job waits: like in [Engine.Probe] it is the reason of the first variant whose gate opens later, or
// that may start later. It is empty if no variant is active.
func (e *Engine) tells(parent *kueue.Workload) (out verdict) {
	for _, v := range e.ordered(parent) {
		if !workload.IsActive(v) {
			continue
		}
		reason, message := e.whyPending(v)
		one := verdict{reason, message}
		switch {
		case reason == kueue.WorkloadAdmissionGated && workload.HasClosedPreemptionGate(v):
			return verdict{kueue.PreemptionGated, message}
		case out.reason == "" || NeverAdmitted(out.reason) && !NeverAdmitted(reason):
			out = one
		}
	}
	return out
}

// active returns a copy of a workload that is active, or not.
func active(w *kueue.Workload, on bool) *kueue.Workload {
	c := *w
	c.Spec.Active = ptr.To(on)
	return &c
}
