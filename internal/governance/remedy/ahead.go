package remedy

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// ahead lists the pending workloads that the queue orders before the job's, and
// reports whether each of them has to start before it (StrictFIFO).
func (f *finder) ahead() (out []*kueue.Workload, strict bool) {
	lq := f.In.LocalQueue(f.Workload.Namespace, string(f.Workload.Spec.QueueName))
	if lq == nil {
		return nil, false
	}
	if cq := f.In.ClusterQueue(string(lq.Spec.ClusterQueue)); cq != nil {
		strict = cq.Spec.QueueingStrategy == kueue.StrictFIFO
	}
	for _, p := range f.Engine.Pending(string(lq.Spec.ClusterQueue)) {
		own := p.Namespace == f.Workload.Namespace && p.Name == f.Workload.Name
		if own || len(out) > mostAhead || p.Priority < int64(priority(f.Workload)) {
			break
		}
		if w := f.In.Workload(p.Namespace, p.Name); w != nil && !p.BacksOff {
			out = append(out, w)
		}
	}
	return out, strict
}

// admitAhead admits the workloads ahead of the job's, in their order, so that the job
// gets only the freed quota that they leave. It reports whether the job's turn comes,
// and returns the function that restores the engine.
func (f *finder) admitAhead(ctx context.Context) (turn bool, undo func()) {
	var back [][]*kueue.Workload
	undo = func() {
		for _, family := range back {
			f.put(ctx, family)
		}
	}
	for _, w := range f.before {
		d, err := f.Engine.Probe(ctx, w)
		if err != nil || !d.Outcome.Starts() {
			if f.strict {
				return false, undo
			}
			continue
		}
		family := f.Engine.Family(w.Namespace, w.Name)
		if f.put(ctx, allGiven(family, &d)) {
			back = append(back, family)
		}
	}
	return true, undo
}

// put replaces a workload, and those that belong to it, in the engine.
func (f *finder) put(ctx context.Context, family []*kueue.Workload) bool {
	ctx = context.WithoutCancel(ctx)
	if len(family) == 0 || f.Engine.Remove(ctx, family[0].Namespace, family[0].Name) != nil {
		return false
	}
	if err := f.Engine.Load(ctx, objects(family)...); err != nil {
		if f.err == nil {
			f.err = err
		}
		return false
	}
	return true
}

func objects(workloads []*kueue.Workload) []client.Object {
	out := make([]client.Object, len(workloads))
	for i, w := range workloads {
		out[i] = w
	}
	return out
}

// allGiven gives a workload the quota of a decision, and, of those that belong to it, the one for the flavor of the decision.
func allGiven(family []*kueue.Workload, d *admission.Decision) []*kueue.Workload {
	out := slices.Clone(family)
	for i, w := range out {
		if i == 0 || uses(d, admission.FlavorOf(w)) {
			out[i] = given(w, d)
		}
	}
	return out
}

// uses reports whether a decision assigns a flavor.
func uses(d *admission.Decision, flavor string) bool {
	for _, ps := range d.PodSets {
		for _, f := range ps.Flavors {
			if f == flavor {
				return true
			}
		}
	}
	return false
}

// given returns a copy of a workload that has the quota of a decision.
func given(w *kueue.Workload, d *admission.Decision) *kueue.Workload {
	out := w.DeepCopy()
	a := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(d.ClusterQueue)}
	for _, ps := range d.PodSets {
		one := kueue.PodSetAssignment{Name: kueue.PodSetReference(ps.Name), Count: &ps.Count,
			Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
		for res, flavor := range ps.Flavors {
			one.Flavors[corev1.ResourceName(res)] = kueue.ResourceFlavorReference(flavor)
		}
		for _, r := range ps.Requests {
			one.ResourceUsage[corev1.ResourceName(r.Resource)] = quota.QuantityOf(r.Resource, r.Value)
		}
		a.PodSetAssignments = append(a.PodSetAssignments, one)
	}
	out.Status = kueue.WorkloadStatus{Admission: a}
	for _, kind := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		out.Status.Conditions = append(out.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
	}
	return out
}
