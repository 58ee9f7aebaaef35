package admission

import (
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// Lost reports a workload whose pods Kueue has deleted, and that waits outside of its queue for new ones (WaitingForReplacementPods).
// It is that of a pod group without a controller. Kueue deletes the workload of a single pod; the engine keeps it in this state.
// (Stop in pod_controller.go, IsAdmissible in pkg/workload, v0.19)
func Lost(w *kueue.Workload) bool {
	return !workload.HasQuotaReservation(w) && !workloadfinish.IsFinished(w) && workload.IsActive(w) &&
		apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadWaitingForReplacementPods)
}

// loses reports whether an eviction of a workload loses its job: Kueue deletes the pods of an admitted workload, and nothing
// makes pods without a controller again. Pods that wait for admission stay.
func (e *Engine) loses(w *kueue.Workload) bool {
	if !workload.IsAdmitted(w) {
		return false
	}
	if w.Annotations[podconstants.IsGroupWorkloadAnnotationKey] != podconstants.IsGroupWorkloadAnnotationValue {
		if !workload.OwnedBySinglePod(w) {
			return false
		}
		made, known := e.store.made[string(w.OwnerReferences[0].UID)]
		return known && !made || w.OwnerReferences[0].UID == "" // a Deployment's pods have such workloads, too
	}
	for _, o := range w.OwnerReferences { // a StatefulSet owns its workload beside its pods
		if o.Kind != "Pod" || o.APIVersion != "v1" || e.store.made[string(o.UID)] {
			return false
		}
	}
	return true
}

// lose makes an evicted workload wait for pods (waitingForReplacementPodsCondition in pod_controller.go).
func (e *Engine) lose(w *kueue.Workload, reason, message string) {
	e.setCondition(w, kueue.WorkloadWaitingForReplacementPods, reason, message, true)
}

// notePod notes whether a controller made a pod.
func (s *store) notePod(p *corev1.Pod) {
	if p.UID != "" {
		s.made[string(p.UID)] = metav1.GetControllerOfNoCopy(p) != nil
	}
}
