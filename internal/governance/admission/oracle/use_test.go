package oracle

import (
	"context"
	"reflect"
	"unsafe" // also go:linkname

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	queueafs "sigs.k8s.io/kueue/pkg/cache/queue/afs"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
	"sigs.k8s.io/kueue/pkg/workload"
)

// Admission fair sharing: Kueue's own controllers of workloads and LocalQueues keep the ledger of past use.

//go:linkname settleUse sigs.k8s.io/kueue/pkg/controller/core.(*WorkloadReconciler).updateAfsConsumedUsage
func settleUse(r *core.WorkloadReconciler, log logr.Logger, w *kueue.Workload)

//go:linkname sampleUse sigs.k8s.io/kueue/pkg/controller/core.(*LocalQueueReconciler).reconcileConsumedUsage
func sampleUse(r *core.LocalQueueReconciler, ctx context.Context, lq *kueue.LocalQueue) error

// ledger are the controllers that write to it.
type ledger struct {
	*config.AdmissionFairSharing
	workloads *core.WorkloadReconciler
	queues    *core.LocalQueueReconciler
}

func (r *real) newUse(cfg *config.AdmissionFairSharing, store *expectations.Store) {
	r.byUse = &ledger{cfg,
		core.NewWorkloadReconciler(r.api, r.queues, r.cache, noEvents{}, core.WithPreemptionExpectations(store), core.WithAdmissionFairSharing(cfg)),
		core.NewLocalQueueReconciler(r.api, r.queues, r.cache, core.WithAdmissionFairSharingConfig(cfg), core.WithClock(r.clock)),
	}
	r.setClock(r.byUse.workloads)
}

// setClock gives a controller the clock of the run.
func (r *real) setClock(controller *core.WorkloadReconciler) {
	at := reflect.ValueOf(controller).Elem().FieldByName("clock")
	*(*clock.Clock)(unsafe.Pointer(at.UnsafeAddr())) = r.clock
}

// seedUse starts the ledger of past use with a LocalQueue's status (initializeAfsIfNeeded of the LocalQueue controller).
func (r *real) seedUse(lq *kueue.LocalQueue) {
	if r.byUse == nil {
		return
	}
	entry := queueafs.UsageLedgerEntry{Resources: corev1.ResourceList{}, LastUpdate: r.clock.Now(), StatusAccounted: true}
	if s := lq.Status.FairSharing; s != nil {
		entry.Resources = s.AdmissionFairSharingStatus.ConsumedResources.DeepCopy()
	}
	r.queues.AfsUsageLedger.Update(utilqueue.Key(lq), func(queueafs.UsageLedgerEntry, bool) queueafs.UsageLedgerEntry { return entry })
}

// settleUse makes the penalty of a workload that was admitted part of the use of its LocalQueue.
func (r *real) settleUse(w *kueue.Workload) {
	if r.byUse != nil && r.cache.ClusterQueueUsesAdmissionFairSharing(w.Status.Admission.ClusterQueue) {
		settleUse(r.byUse.workloads, r.log, w)
		r.rebuild(w)
	}
}

// forgetUse drops the penalty of a workload that is deleted or finished.
func (r *real) forgetUse(w *kueue.Workload) {
	if r.byUse != nil {
		r.queues.AfsUsageLedger.SubPenalty(utilqueue.KeyFromWorkload(w), queueafs.WorkloadReference(workload.Key(w)))
	}
}

// sampleUse is the LocalQueue controller, once the use of a queue is due.
func (r *real) sampleUse() {
	if r.byUse == nil {
		return
	}
	for _, lq := range r.api.localQueues {
		if entry, _ := r.queues.AfsUsageLedger.Get(utilqueue.Key(lq)); r.clock.Since(entry.LastUpdate) >= r.byUse.UsageSamplingInterval.Duration {
			due := lq.DeepCopy()
			due.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{}}
			must(sampleUse(r.byUse.queues, r.ctx, due))
		}
	}
}

// rebuild is what the LocalQueue controller does about a change of past use.
func (r *real) rebuild(w *kueue.Workload) {
	if cq := r.api.clusterQueues[w.Status.Admission.ClusterQueue]; r.byUse != nil {
		must(r.queues.RebuildClusterQueue(cq, string(w.Spec.QueueName)))
	}
}
