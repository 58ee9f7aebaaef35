package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconsts "sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// leave makes some workloads hold quota of the first flavors and lose it.
func leave(r *rand.Rand, list []client.Object) {
	queues := map[string]*kueue.ClusterQueue{}
	for _, o := range list {
		if cq, ok := o.(*kueue.ClusterQueue); ok {
			queues[cq.Name] = cq
		}
	}
	for _, o := range list {
		w, ok := o.(*kueue.Workload)
		if !ok || chance(r, 40) || claims(w) {
			continue
		}
		admission := &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(w.Namespace)}
		for _, ps := range w.Spec.PodSets {
			a := kueue.PodSetAssignment{Name: ps.Name, Count: ptr.To(ps.Count), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
			for res, q := range ps.Template.Spec.Containers[0].Resources.Requests {
				for _, g := range queues[w.Namespace].Spec.ResourceGroups {
					if slices.Contains(g.CoveredResources, res) {
						a.Flavors[res] = g.Flavors[0].Name
						a.ResourceUsage[res] = *resource.NewMilliQuantity(q.MilliValue()*int64(ps.Count), resource.DecimalSI)
					}
				}
			}
			admission.PodSetAssignments = append(admission.PodSetAssignments, a)
		}
		w.Status.Admission = admission
		w.Status.Conditions = []metav1.Condition{
			{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue, Reason: "QuotaReserved", LastTransitionTime: metav1.NewTime(now)},
			{Type: kueue.WorkloadAdmitted, Status: metav1.ConditionTrue, Reason: "Admitted", LastTransitionTime: metav1.NewTime(now)},
		}
		if chance(r, 70) {
			w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedByPreemption, Message: "Preempted", LastTransitionTime: metav1.NewTime(now)})
		}
	}
}

// variants are a workload once for each flavor, as concurrent admission makes them, in any order.
func variants(r *rand.Rand, w *kueue.Workload, flavors []string) []*kueue.Workload {
	var out []*kueue.Workload
	for i, f := range flavors {
		v := w.DeepCopy()
		v.Name, v.UID = fmt.Sprintf("%s-%d", w.Name, i), types.UID(fmt.Sprintf("%s-%d", w.UID, i))
		v.OwnerReferences = []metav1.OwnerReference{{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: w.Name, UID: w.UID}}
		metav1.SetMetaDataAnnotation(&v.ObjectMeta, controllerconsts.WorkloadAllowedResourceFlavorAnnotation, f)
		v.Spec.PreemptionGates = []kueue.PreemptionGate{{Name: controllerconsts.ConcurrentAdmissionPreemptionGate}}
		if chance(r, 40) {
			openGate(v)
		}
		out = append(out, v)
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// openGate opens the preemption gate of a workload.
func openGate(w *kueue.Workload) {
	w.Status.PreemptionGates = []kueue.PreemptionGateState{{Name: w.Spec.PreemptionGates[0].Name, Position: kueue.PreemptionGatePositionOpen, LastTransitionTime: metav1.NewTime(now)}}
}

// grown is a new slice of an elastic job, with more pods than the old one.
func grown(r *rand.Rand, old *kueue.Workload, n int) *kueue.Workload {
	old.Annotations = map[string]string{constants.ElasticJobAnnotation: "true"}
	w := old.DeepCopy()
	w.Name, w.UID = fmt.Sprintf("w%02d", n), types.UID(fmt.Sprint("uid-", n))
	w.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour + time.Duration(n)*time.Second))
	w.Annotations[workloadslicing.WorkloadSliceReplacementFor] = string(workload.Key(old))
	for i := range w.Spec.PodSets {
		w.Spec.PodSets[i].Count += int32(1 + r.IntN(3))
		w.Spec.PodSets[i].MinCount = nil
	}
	return w
}

// age is different for most workloads. Equally old ones of one priority are in
// Kueue's hands, that is, in those of a map.
func age(r *rand.Rand, n int) int {
	if chance(r, 3) {
		return r.IntN(40)
	}
	return n
}

func (in *input) workload(r *rand.Rand, n, teams int, flavors []string) *kueue.Workload {
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("w%02d", n), Namespace: fmt.Sprint("q", r.IntN(teams)), UID: types.UID(fmt.Sprint("uid-", n)),
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour + time.Duration(age(r, n))*time.Second)),
		},
		// The later, the more important: so that there is somebody to preempt for.
		Spec: kueue.WorkloadSpec{QueueName: "lq", Priority: ptr.To(int32(r.IntN(6) + n/5)), Active: ptr.To(true)},
	}
	if in.gates["MultiKueueOrchestratedPreemption"] && chance(r, 50) {
		w.Spec.PreemptionGates = []kueue.PreemptionGate{{Name: "kueue.x-k8s.io/multikueue"}}
		if chance(r, 40) {
			openGate(w)
		}
	}
	if in.byUse != nil {
		w.Spec.QueueName = kueue.LocalQueueName(pick(r, in.localQueues()))
	}
	for ps := range 1 + r.IntN(2) {
		count := 1 + r.IntN(4)
		set := kueue.PodSet{Name: kueue.PodSetReference(fmt.Sprint("ps", ps)), Count: int32(count)}
		req := corev1.ResourceList{gpu: *qty(r.IntN(5))}
		if chance(r, 50) {
			req[cpu] = *resource.NewMilliQuantity(int64(250*(1+r.IntN(12))), resource.DecimalSI)
		}
		if in.transformations != nil {
			switch r.IntN(4) {
			case 0:
				delete(req, gpu)
				req[slice] = *qty(1 + r.IntN(2))
			case 1:
				req[lanes] = *qty(1 + r.IntN(2))
			case 2:
				req[free] = *qty(1)
				req[port] = *qty(1)
			}
		}
		if in.undeclared == config.QuotaCheckIgnoreUndeclared && chance(r, 30) {
			req[unknown] = *qty(1)
		}
		set.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: req}}}
		if in.overhead && chance(r, 50) {
			set.Template.Spec.RuntimeClassName = ptr.To("boxed")
		}
		if in.claims {
			claim(r, &set)
		}
		if chance(r, 8) {
			set.Template.Spec.NodeSelector = map[string]string{"pool": pick(r, flavors)}
		}
		if ps == 0 && count > 1 && chance(r, 30) && !in.tas {
			set.MinCount = ptr.To(int32(1 + r.IntN(count-1)))
		}
		if in.tas {
			switch r.IntN(4) {
			case 0:
				set.TopologyRequest = &kueue.PodSetTopologyRequest{Required: ptr.To(pick(r, []string{"block", "rack", corev1.LabelHostname}))}
			case 1:
				set.TopologyRequest = &kueue.PodSetTopologyRequest{Preferred: ptr.To(pick(r, []string{"block", "rack", corev1.LabelHostname}))}
			case 2:
				set.TopologyRequest = &kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true)}
			}
		}
		w.Spec.PodSets = append(w.Spec.PodSets, set)
	}
	return w
}
