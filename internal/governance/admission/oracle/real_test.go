package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	_ "unsafe" // go:linkname

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

//go:linkname setAdmissionRoutineWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setAdmissionRoutineWrapper(s *scheduler.Scheduler, w routine.Wrapper)

// inline runs the admission patch at once instead of in a goroutine.
type inline struct{}

func (inline) Run(f func()) { f() }

// real is Kueue's scheduler with a fake API server and the least of its
// controllers: what the workload and job controllers do about an admission, an
// eviction and a pending status.
type real struct {
	ctx     context.Context
	log     logr.Logger
	api     *api
	cache   *schdcache.Cache
	queues  *qcache.Manager
	requeue func(context.Context) int
	sched   *scheduler.Scheduler
	clock   clock.WithDelayedExecution
	byUse   *ledger // nil without admission fair sharing

	workloads *core.WorkloadReconciler // where pods use devices
	backed    *dra.ExtendedResourceCache
	families  *families // nil without concurrent admission
	at        *time.Time
}

func newReal(in *input) *real {
	at := ptr.To(in.from())
	r := &real{ctx: context.Background(), log: logr.Discard(), clock: frozen{at: at}, at: at, backed: dra.NewExtendedResourceCache()}
	r.api = &api{namespaces: map[string]*corev1.Namespace{}, workloads: map[client.ObjectKey]*kueue.Workload{},
		clusterQueues: map[kueue.ClusterQueueReference]*kueue.ClusterQueue{}, localQueues: map[client.ObjectKey]*kueue.LocalQueue{},
		templates: map[client.ObjectKey]*resourcev1.ResourceClaimTemplate{}}
	store := expectations.New()
	r.cache = schdcache.New(r.api, schdcache.WithFairSharing(in.fair != nil), schdcache.WithAdmissionFairSharing(in.byUse),
		schdcache.WithResourceTransformations(in.transformations), schdcache.WithExcludedResourcePrefixes(in.excluded))
	manager, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(r.api, r.cache, qcache.WithPreemptionExpectations(store), qcache.WithAdmissionFairSharing(in.byUse), qcache.WithClock(r.clock), qcache.WithDRABackedResources(r.backed),
		qcache.WithResourceTransformations(in.transformations), qcache.WithExcludedResourcePrefixes(in.excluded))
	r.queues, r.requeue = manager, requeuer.ProcessRequeues
	r.sched = scheduler.New(manager, r.cache, r.api, noEvents{},
		scheduler.WithFairSharing(in.fair), scheduler.WithClock(nil, r.clock), scheduler.WithAdmissionFairSharing(in.byUse),
		scheduler.WithPreemptionExpectations(store), scheduler.WithQuotaCheckStrategy(in.undeclared))
	setAdmissionRoutineWrapper(r.sched, inline{})
	if in.byUse != nil {
		r.newUse(in.byUse, store)
	}
	if in.claims {
		r.newWorkloads(store)
	}
	if in.concurrent {
		r.newFamilies(in, store)
	}
	objects := in.objects()
	for _, o := range objects {
		if w, ok := o.(*kueue.Workload); ok && workload.HasQuotaReservation(w) {
			r.api.workloads[client.ObjectKeyFromObject(w)] = w
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Namespace:
			r.api.namespaces[o.Name] = o
		case *nodev1.RuntimeClass:
			r.api.runtime = o
		case *corev1.Node:
			r.cache.TASCache().SyncNode(o)
		case *corev1.Pod:
			r.cache.TASCache().Update(o, r.log)
		case *corev1.LimitRange:
			r.api.limits = append(r.api.limits, o)
		case *kueue.Topology:
			r.cache.AddOrUpdateTopology(r.log, o)
		case *kueue.ResourceFlavor:
			r.cache.AddOrUpdateResourceFlavor(r.log, o)
		case *kueue.AdmissionCheck:
			r.cache.AddOrUpdateAdmissionCheck(r.log, o)
		case *kueue.Cohort:
			must(r.cache.AddOrUpdateCohort(o))
			r.queues.AddOrUpdateCohort(r.ctx, o)
		case *kueue.ClusterQueue:
			r.api.clusterQueues[kueue.ClusterQueueReference(o.Name)] = o
			must(r.cache.AddClusterQueue(r.ctx, o))
			must(r.queues.AddClusterQueue(r.ctx, o))
		case *kueue.LocalQueue:
			r.api.localQueues[client.ObjectKeyFromObject(o)] = o
			r.seedUse(o)
			must(r.cache.AddLocalQueue(o))
			must(r.queues.AddLocalQueue(r.ctx, o))
		case *kueue.Workload:
			r.api.workloads[client.ObjectKeyFromObject(o)] = o
			if workload.HasQuotaReservation(o) { // the queue was told by AddLocalQueue
				if r.api.clusterQueues[o.Status.Admission.ClusterQueue] != nil && !workloadfinish.IsFinished(o) {
					r.syncChecks(o)
					r.syncAdmitted(o)
				}
				r.cache.AddOrUpdateWorkload(r.log, r.adjusted(o))
				r.queues.QueueSecondPassIfNeeded(r.ctx, r.adjusted(o), 0)
				continue
			}
			if r.ofFamily(o) {
				r.api.patched = append(r.api.patched, change{nil, o})
				continue
			}
			must(r.enqueue(o))
		case *resourcev1.DeviceClass:
			r.api.deviceClasses = append(r.api.deviceClasses, o)
			if o.Spec.ExtendedResourceName != nil {
				r.backed.Add(corev1.ResourceName(*o.Spec.ExtendedResourceName), o.Name)
			}
		case *resourcev1.ResourceClaimTemplate:
			r.api.templates[client.ObjectKeyFromObject(o)] = o
		}
	}
	r.settle()
	r.requeue(r.ctx)
	return r
}

func (r *real) workload(k client.ObjectKey) *kueue.Workload { return r.api.workloads[k] }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (r *real) adjusted(w *kueue.Workload) *kueue.Workload {
	c := w.DeepCopy()
	workload.AdjustResources(r.ctx, r.api, c)
	return c
}

// step runs one scheduling cycle; false when there was nothing to schedule.
// Heads blocks on empty queues, and a cancelled context would keep the scheduler
// from issuing preemptions, so it is only called when there is something.
func (r *real) step() (bool, map[client.ObjectKey]string) {
	if !r.waiting() && !r.secondPass() {
		return false, nil
	}
	if r.byUse != nil { // each LocalQueue's controller samples its use, and the queue moves its workloads
		for _, lq := range r.api.localQueues {
			must(r.queues.RebuildClusterQueue(r.api.clusterQueues[lq.Spec.ClusterQueue], lq.Name))
		}
	}
	before, err := r.cache.Snapshot(r.ctx)
	must(err)
	schedule(r.sched, r.ctx)
	borrowed := map[client.ObjectKey]string{}
	for _, p := range r.api.patched {
		if workload.HasQuotaReservation(p.now) && !workload.HasQuotaReservation(p.old) {
			borrowed[client.ObjectKeyFromObject(p.now)] = r.borrowed(p.now, before)
		}
	}
	patched := r.conflicts(r.api.patched)
	r.api.patched = nil
	patched = ordered(patched)
	for _, evictions := range []bool{false, true} {
		for i, p := range patched {
			again := i+1 < len(patched) && workload.Key(patched[i+1].now) == workload.Key(p.now) && leaves(patched[i+1].now)
			if leaves(p.now) == evictions && !(evictions && again) { // a job stops once, for the last reason
				r.react(p)
			}
		}
	}
	r.settle()
	r.requeue(r.ctx)
	return true, borrowed
}

// ordered sorts the changes of a cycle by their workloads. An old slice ends after its new slice got its quota, as
// the scheduler writes it: the use that counts then is that of both.
func ordered(patched []change) []change {
	by := map[workload.Reference]workload.Reference{}
	for _, p := range patched {
		if key, ok := oldSlice(p.now); ok && workload.HasQuotaReservation(p.now) && !workload.HasQuotaReservation(p.old) {
			by[workload.NewReference(key.Namespace, key.Name)] = workload.Key(p.now)
		}
	}
	place := func(c change) string {
		key := workload.Key(c.now)
		if next := by[key]; next != "" && workloadfinish.IsFinished(c.now) {
			return string(next) + " replaced"
		}
		return string(key)
	}
	return slices.SortedStableFunc(slices.Values(patched), func(a, b change) int { return cmp.Compare(place(a), place(b)) })
}

// waiting reports that some workload is in an active queue.
func (r *real) waiting() bool {
	for name := range r.queues.Dump() {
		if r.cache.ClusterQueueActive(name) {
			return true
		}
	}
	return false
}

// leaves reports that a workload is being evicted and still holds quota.
func leaves(w *kueue.Workload) bool {
	return workloadevict.IsEvicted(w) && workload.HasQuotaReservation(w)
}

// secondPass reports that some workload is in the queue for the second pass.
func (r *real) secondPass() bool {
	for _, w := range r.api.workloads {
		if workload.NeedsSecondPass(w) && !concurrentadmission.IsParent(w) {
			return true
		}
	}
	return false
}

// borrowed is what a workload that was given its quota took beyond the nominal one
// of its queue, as the usage was before. An elastic job's new slice has what the old
// one had.
func (r *real) borrowed(w *kueue.Workload, before *schdcache.Snapshot) string {
	cq := before.ClusterQueue(w.Status.Admission.ClusterQueue)
	if key, ok := oldSlice(w); ok {
		if old := cq.Workloads[workload.NewReference(key.Namespace, key.Name)]; old != nil {
			defer before.SimulateWorkloadUsageRemoval([]*workload.Info{old})()
		}
	}
	amounts := map[string]int64{}
	for fr, n := range workload.NewInfo(r.adjusted(w)).FlavorResourceUsage() {
		over := func(used resources.Amount) int64 { return max(used.Sub(cq.QuotaFor(fr).Nominal).Int64(), 0) }
		used := cq.ResourceNode.Usage[fr]
		if took := over(used.Add(n)) - over(used); took > 0 {
			amounts[string(fr.Flavor)+"/"+string(fr.Resource)] = took
		}
	}
	return fmt.Sprint(amounts)
}

// react does what Kueue's controllers do after a status change.
func (r *real) react(p change) {
	key := workload.Key(p.now)
	switch {
	case r.ofFamily(p.now):
		r.tell(p)
	case workloadfinish.IsFinished(p.now):
		r.queues.DeleteWorkload(r.log, key)
		r.forgetUse(p.now)
		r.queues.QueueAssociatedInadmissibleWorkloadsAfter(r.ctx, key, func() { _ = r.cache.DeleteWorkload(r.log, key) })
	case workload.HasQuotaReservation(p.now) && workloadevict.IsEvicted(p.now):
		// The job controller stops the job and drops the reservation (step 6 of
		// the job reconciler); the workload controller requeues.
		w := p.now.DeepCopy()
		ev := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
		workload.SetRequeuedCondition(w, ev.Reason, ev.Message, ev.Reason == kueue.WorkloadEvictedByPreemption || ev.Reason == kueue.WorkloadEvictedDueToNodeFailures)
		reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation, kueue.WorkloadPending) //nolint:staticcheck
		workload.UnsetQuotaReservationWithCondition(w, reason, ev.Message, r.clock.Now())
		for i := range w.Status.AdmissionChecks {
			if c := &w.Status.AdmissionChecks[i]; c.State != kueue.CheckStatePending {
				*c = kueue.AdmissionCheckState{Name: c.Name, State: kueue.CheckStatePending}
			}
		}
		r.api.workloads[client.ObjectKeyFromObject(w)] = w
		r.queues.QueueAssociatedInadmissibleWorkloadsAfter(r.ctx, key, func() {
			must(r.cache.DeleteWorkload(r.log, key))
			if !r.counts(w) {
				must(r.queues.AddOrUpdateWorkloadWithoutLock(r.log, r.adjusted(w)))
			}
			r.queues.DeleteSecondPassWithoutLock(key)
		})
		if r.counts(w) {
			must(r.enqueue(w))
		}
	case workload.HasQuotaReservation(p.now):
		r.queues.DeleteWorkload(r.log, key)
		w := p.now.DeepCopy()
		r.syncChecks(w)
		r.syncAdmitted(w)
		r.api.workloads[client.ObjectKeyFromObject(w)] = w
		r.cache.AddOrUpdateWorkload(r.log, r.adjusted(w))
		r.rebuild(w) // the penalty of its admission
		if workload.IsAdmitted(w) && !workload.IsAdmitted(p.old) {
			r.settleUse(w)
		}
		r.queues.QueueSecondPassIfNeeded(r.ctx, r.adjusted(w), 0)
	default:
		_ = r.enqueue(p.now)
	}
}

// syncChecks is reconcileSyncAdmissionChecks of the workload controller: the checks
// that the admission needs are listed in the status.
func (r *real) syncChecks(w *kueue.Workload) {
	want := workload.AdmissionChecksForWorkload(r.log, w, r.api.clusterQueues[w.Status.Admission.ClusterQueue])
	var next []kueue.AdmissionCheckState
	for _, s := range w.Status.AdmissionChecks {
		if want.Has(s.Name) {
			next = append(next, s)
			want.Delete(s.Name)
		}
	}
	for name := range want {
		next = append(next, kueue.AdmissionCheckState{Name: name, State: kueue.CheckStatePending})
	}
	w.Status.AdmissionChecks = next
}

// syncAdmitted admits a workload that has passed its checks. One that is admitted stays so until it is evicted (Reconcile in
// workload_controller.go).
func (r *real) syncAdmitted(w *kueue.Workload) {
	if !workload.IsAdmitted(w) {
		workload.SyncAdmittedCondition(w, r.clock.Now())
	}
}

// pass makes all admission checks of a workload ready.
func (r *real) pass(key client.ObjectKey) {
	w := passed(r.api.workloads[key])
	if r.ofFamily(w) {
		r.api.patched = append(r.api.patched, change{r.api.workloads[key], w})
		r.api.workloads[key] = w
		r.settle()
		r.requeue(r.ctx)
		return
	}
	r.syncAdmitted(w)
	admitted := workload.IsAdmitted(w) && !workload.IsAdmitted(r.api.workloads[key])
	r.api.workloads[key] = w
	r.cache.AddOrUpdateWorkload(r.log, r.adjusted(w))
	if admitted {
		r.settleUse(w)
	}
	r.queues.QueueSecondPassIfNeeded(r.ctx, r.adjusted(w), 0)
}

// end ends an eviction.
func (r *real) end(key client.ObjectKey) {
	w := r.api.workloads[key]
	r.react(change{w, w})
	r.requeue(r.ctx)
}

// node does what Kueue does about a node that fails or is ready again.
func (r *real) node(ev nodeEvent) {
	r.cache.TASCache().SyncNode(ev.node.DeepCopy())
	all := sets.New[kueue.ClusterQueueReference]()
	for name := range r.api.clusterQueues {
		all.Insert(name)
	}
	qcache.NotifyRetryInadmissible(r.queues, all)
	for _, key := range ev.of {
		w := ev.noted(r.api.workloads[key])
		r.api.workloads[key] = w
		r.cache.AddOrUpdateWorkload(r.log, r.adjusted(w))
		r.queues.QueueSecondPassIfNeeded(r.ctx, r.adjusted(w), 0)
	}
	r.requeue(r.ctx)
}

// passed is a workload with all its admission checks ready.
func passed(old *kueue.Workload) *kueue.Workload {
	w := old.DeepCopy()
	for i := range w.Status.AdmissionChecks {
		w.Status.AdmissionChecks[i].State = kueue.CheckStateReady
	}
	return w
}

// arrive creates a workload.
func (r *real) arrive(w *kueue.Workload) {
	if r.ofFamily(w) {
		r.appear(w)
		return
	}
	r.api.workloads[client.ObjectKeyFromObject(w)] = w
	must(r.enqueue(w))
}

// finish deletes a workload.
func (r *real) finish(key client.ObjectKey) {
	ref := workload.NewReference(key.Namespace, key.Name)
	w := r.api.workloads[key]
	if r.ofFamily(w) {
		r.vanish(key)
		r.requeue(r.ctx)
		return
	}
	delete(r.api.workloads, key)
	r.forgetUse(w)
	r.queues.QueueAssociatedInadmissibleWorkloadsAfter(r.ctx, ref, func() { must(r.cache.DeleteWorkload(r.log, ref)) })
	r.queues.DeleteAndForgetWorkload(r.log, ref)
	r.requeue(r.ctx)
}

type change struct{ old, now *kueue.Workload }

type noEvents struct{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// frozen is a clock that stands still between cycles: order then depends on creation times only.
type frozen struct {
	clock.RealClock
	at *time.Time
}

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func (f frozen) Now() time.Time { return *f.at }

// AfterFunc does not wait: the second pass is in the next cycle.
func (frozen) AfterFunc(_ time.Duration, f func()) clock.Timer { f(); return nil }
func (f frozen) Since(t time.Time) time.Duration               { return f.at.Sub(t) }
