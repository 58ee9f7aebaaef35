package admission

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

// waitsForPods is Kueue's message while waitForPodsReady.blockAdmission delays an admission.
const waitsForPods = "waiting for all admitted workloads to be in PodsReady condition"

// notReady returns the workloads ("namespace/name") that hold quota and whose pods are not ready, by name. With
// waitForPodsReady.blockAdmission Kueue admits nothing while there are any (waitForPodsReadyIfNeeded in scheduler.go).
// The pods of a workload that a run admitted count as ready. Empty without blockAdmission.
func (e *Engine) notReady() []string {
	if !e.podsFirst {
		return nil
	}
	out := []string{}
	for _, key := range sortedKeys(e.store.workloads) {
		w := e.store.workloads[key]
		switch {
		case w.Status.Admission == nil || !workload.HasActiveQuotaReservation(w) || e.leads(w):
		case workload.IsAdmitted(w) && (e.assumeReady || e.started[key] && apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPodsReady) == nil):
		case !apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadPodsReady):
			out = append(out, string(key))
		}
	}
	return out
}

// AssumeReady makes the pods of all admitted workloads count as ready from now on. It reports whether that changes
// something, so that [Engine.Run] may do more. Use it for questions about later: Kueue evicts workloads whose pods are
// not ready in time.
func (e *Engine) AssumeReady() bool {
	before := len(e.notReady())
	e.assumeReady = true
	return len(e.notReady()) < before
}

// heldBack reports whether an entry waits for the pods of others. What is already running only takes a second pass and is
// exempt.
func (e *Engine) heldBack(en *entry, r *round) bool {
	if !e.podsFirst || workload.NeedsSecondPass(en.Obj) {
		return false
	}
	if r.waitsFor == nil {
		r.waitsFor = e.notReady()
	}
	if len(r.waitsFor) > 0 {
		return true
	}
	if len(e.missingChecks(en.Obj, en)) > 0 { // no pods before its admission checks pass
		r.waitsFor = []string{string(workload.Key(en.Obj))}
	}
	return false
}
