package admission

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	utilpod "sigs.k8s.io/kueue/pkg/util/pod"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

const (
	rankClusterQueue = 7
	rankWorkload     = 10
)

// loadRank orders kinds so that what others refer to comes first; -1 is a kind
// the engine has no use for. Workloads come last: Kueue's caches count them into
// queues and quotas that must exist by then.
func loadRank(o client.Object) int {
	switch o.(type) {
	case *corev1.Namespace:
		return 0
	case *corev1.LimitRange, *nodev1.RuntimeClass, *resourcev1.DeviceClass, *resourcev1.ResourceClaimTemplate, *resourcev1.ResourceSlice, *schedulingv1.PriorityClass, *kueue.WorkloadPriorityClass:
		return 1
	case *corev1.Node:
		return 2
	case *kueue.Topology:
		return 3
	case *kueue.ResourceFlavor:
		return 4
	case *kueue.AdmissionCheck:
		return 5
	case *kueue.Cohort:
		return 6
	case *kueue.ClusterQueue:
		return rankClusterQueue
	case *kueue.LocalQueue:
		return 8
	case *corev1.Pod:
		return 9
	case *kueue.Workload:
		return rankWorkload
	}
	return -1
}

// Load adds objects, or replaces those of the same kind and name, in any order. It ignores kinds that decide nothing.
// The engine keeps the pointers and never writes through them; the caller must not change the objects afterwards.
//
// Loading has the effect Kueue's controllers would have: a workload with a quota
// reservation holds its quota, a finished or deactivated one frees it, others are
// queued; conditions Kueue would write (a stopped queue, a missing one, an
// admission gate) are written. A changed queue, cohort, flavor or check wakes up
// the waiting workloads it concerns. No scheduling cycle is run.
//
// Objects that cannot be right (cohorts in a cycle, a negative quota, a workload
// with negative requests) are reported in the error, all of them, and left out or,
// for a cohort cycle, kept inactive; everything else is loaded all the same.
func (e *Engine) Load(ctx context.Context, objs ...client.Object) error {
	sorted := make([]client.Object, 0, len(objs))
	for _, o := range objs {
		if loadRank(o) >= 0 && !reflect.ValueOf(o).IsNil() {
			sorted = append(sorted, o)
		}
	}
	slices.SortStableFunc(sorted, func(a, b client.Object) int { return loadRank(a) - loadRank(b) })

	workloads := slices.IndexFunc(sorted, func(o client.Object) bool { return loadRank(o) == rankWorkload })
	if workloads < 0 {
		workloads = len(sorted)
	}
	if workloads > 0 {
		e.touch()
		e.asFound = false
	}
	var errs []error
	if err := e.gather(e.crowded(sorted[:workloads])); err != nil {
		errs = append(errs, err)
	}
	for _, o := range sorted[:workloads] {
		if len(e.gathering) > 0 && loadRank(o) > rankClusterQueue {
			errs = append(errs, e.join(ctx))
		}
		err := embedded.Guard(fmt.Sprintf("%T %s", o, o.GetName()), func() error { return e.applyPolicy(ctx, o) })
		if err != nil {
			errs = append(errs, err)
		}
	}
	if workloads > 0 {
		errs = append(errs, e.join(ctx))
		// Before any workload: nothing may be counted into a tree with a cycle.
		if err := e.settleCohorts(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, e.loadWorkloads(ctx, sorted[workloads:], workloads > 0)...)
	e.sampleUse()
	e.requeue(ctx)
	return errors.Join(errs...)
}

// loadWorkloads stores workloads and follows what Kueue's controllers do about them,
// or, with all, about every workload that is known: anything may have become
// admissible or blocked.
func (e *Engine) loadWorkloads(ctx context.Context, list []client.Object, all bool) (errs []error) {
	errs = e.applyWorkloads(ctx, list, all)
	err := embedded.Guard("variants of workloads", func() error { // it may fill the queues, which need hashes
		if e.follow(ctx) {
			e.touch()
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return errs
}

// applyWorkloads is loadWorkloads without what follows for the variants of workloads.
func (e *Engine) applyWorkloads(ctx context.Context, list []client.Object, all bool) (errs []error) {
	defer embedded.WithoutHashes()()
	var changed []workload.Reference
	for _, o := range list {
		w := o.(*kueue.Workload)
		if old := e.store.workloads[workload.Key(w)]; old != nil && !all {
			e.moved(old)
		}
		if !all {
			e.moved(w)
		}
		err := CheckWorkload(w)
		if err == nil {
			err = embedded.Guard("workload "+string(workload.Key(w)), func() error { e.applyWorkload(ctx, w); return nil })
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		changed = append(changed, workload.Key(w))
	}
	if all {
		changed = sortedKeys(e.store.workloads)
	}
	for _, key := range changed {
		if err := embedded.Guard("workload "+string(key), func() error { e.reconcile(ctx, key); return nil }); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// applyPolicy stores one object that is not a workload and tells both caches.
func (e *Engine) applyPolicy(ctx context.Context, obj client.Object) error {
	e.relist(ctx)
	e.rules++
	s := e.store
	wake := sets.New[kueue.ClusterQueueReference]()
	switch o := obj.(type) {
	case *corev1.Namespace:
		s.namespaces[o.Name] = o
		e.wakeAll(wake)
	case *corev1.LimitRange:
		if s.limitRanges[o.Namespace] == nil {
			s.limitRanges[o.Namespace] = map[string]*corev1.LimitRange{}
		}
		s.limitRanges[o.Namespace][o.Name] = o
	case *nodev1.RuntimeClass:
		s.runtimes[o.Name] = o
	case *resourcev1.DeviceClass:
		e.applyDeviceClass(o.Name, o)
	case *resourcev1.ResourceClaimTemplate:
		s.claimTemplates[o.Namespace+"/"+o.Name] = o
	case *resourcev1.ResourceSlice:
		s.deviceSlices[o.Name] = o
	case *schedulingv1.PriorityClass:
		s.priorities[o.Name] = o
	case *kueue.WorkloadPriorityClass:
		s.wlPriority[o.Name] = o
	case *corev1.Node:
		// Kueue no longer lists nodes: without this every topology request fails.
		e.cache.TASCache().SyncNode(o)
		e.wakeAll(wake)
	case *corev1.Pod:
		e.applyPod(o)
	case *kueue.Topology:
		if len(o.Spec.Levels) == 0 {
			return fmt.Errorf("Topology %s: it has no levels", o.Name)
		}
		if old := s.topologies[o.Name]; old != nil && !equality.Semantic.DeepEqual(old.Spec, o.Spec) {
			e.cache.DeleteTopology(e.log, kueue.TopologyReference(o.Name))
		}
		s.topologies[o.Name] = o
		wake = e.cache.AddOrUpdateTopology(e.log, o)
	case *kueue.ResourceFlavor:
		if old := s.flavors[o.Name]; old != nil && !equality.Semantic.DeepEqual(old.Spec, o.Spec) {
			e.cache.DeleteResourceFlavor(e.log, old)
			e.wakeUsing(wake, o.Name)
		}
		s.flavors[o.Name] = o
		wake = wake.Union(e.cache.AddOrUpdateResourceFlavor(e.log, o))
	case *kueue.AdmissionCheck:
		s.checks[o.Name] = o
		if o.Spec.ControllerName == kueue.MultiKueueControllerName {
			e.warn(Warning{Code: MultiKueueCheck, Name: o.Name})
		}
		wake = e.cache.AddOrUpdateAdmissionCheck(e.log, o)
	case *kueue.Cohort:
		if err := checkCohort(o); err != nil {
			return err
		}
		s.cohorts[o.Name] = o // settleCohorts tells the caches
		e.stale[o.Name] = true
	case *kueue.ClusterQueue:
		if bad := ClusterQueueFaults(o); len(bad) > 0 {
			if err := e.Delete(ctx, o); err != nil { // as it was before
				return err
			}
			e.faulty[o.Name] = true
			return &InvalidError{"ClusterQueue", o.Name, bad}
		}
		delete(e.faulty, o.Name)
		o = withDefaults(o)
		s.cqs[o.Name] = o
		return e.applyClusterQueue(ctx, o, e.held[o.Name])
	case *kueue.LocalQueue:
		return e.applyLocalQueue(ctx, o)
	}
	qcache.NotifyRetryInadmissible(e.queues, wake)
	return nil
}

// applyPod counts a pod that no topology assignment accounts for against its
// node (belongsToNonTASCache in Kueue's non_tas_usage_controller.go).
func (e *Engine) applyPod(p *corev1.Pod) {
	e.store.notePod(p)
	if p.Spec.NodeName != "" && !utiltas.IsTAS(p) && !utilpod.IsTerminated(p) {
		e.cache.TASCache().Update(p, e.log)
		return
	}
	e.cache.TASCache().DeletePodByKey(client.ObjectKeyFromObject(p), e.log)
}

// applyClusterQueue adds or updates the queue in both caches. hold keeps a queue
// under a cohort cycle out of the tree and inactive: Kueue marks it inactive too,
// but walks up the cycle for ever when a workload is counted into it.
func (e *Engine) applyClusterQueue(ctx context.Context, cq *kueue.ClusterQueue, hold bool) error {
	if hold {
		cq = cq.DeepCopy()
		cq.Spec.CohortName = ""
		cq.Spec.StopPolicy = ptr.To(kueue.Hold)
	}
	var err error
	if e.cqs[cq.Name] {
		err = errors.Join(e.cache.UpdateClusterQueue(e.log, cq), e.queues.UpdateClusterQueue(ctx, cq, true))
	} else {
		err = e.cache.AddClusterQueue(ctx, cq)
		if e.gathering[string(cq.Spec.CohortName)] && errors.Is(err, schdcache.ErrCohortHasCycle) {
			err = nil // join completes it
		}
		err = errors.Join(err, e.queues.AddClusterQueue(ctx, cq))
		e.cqs[cq.Name] = true // also after an error: the caches keep the half-made queue
	}
	if err != nil {
		return fmt.Errorf("ClusterQueue %s: %w", cq.Name, err)
	}
	if cq.DeletionTimestamp != nil { // it stays until its workloads end (clusterqueue_controller.go)
		e.cache.TerminateClusterQueue(kueue.ClusterQueueReference(cq.Name))
	}
	return nil
}

// applyLocalQueue follows LocalQueueReconciler: a stopped queue leaves the queue
// manager with its workloads, the usage cache keeps it.
func (e *Engine) applyLocalQueue(ctx context.Context, lq *kueue.LocalQueue) error {
	key := lq.Namespace + "/" + lq.Name
	old := e.store.lqs[key]
	e.store.lqs[key] = lq
	if old == nil || !equality.Semantic.DeepEqual(old.Status.FairSharing, lq.Status.FairSharing) {
		e.unseeded[key] = true
	}
	var err error
	if old == nil {
		err = e.cache.AddLocalQueue(lq)
	} else {
		err = e.cache.UpdateLocalQueue(old, lq)
	}
	stopped := ptr.Deref(lq.Spec.StopPolicy, kueue.None) != kueue.None
	switch {
	case stopped && e.queuesIn[key]:
		e.queues.DeleteLocalQueue(e.log, old)
		delete(e.queuesIn, key)
	case stopped:
	case e.queuesIn[key]:
		err = errors.Join(err, e.queues.UpdateLocalQueue(e.log, lq))
	default:
		err = errors.Join(err, e.queues.AddLocalQueue(ctx, lq))
		e.queuesIn[key] = true
	}
	if err != nil {
		return fmt.Errorf("LocalQueue %s: %w", key, err)
	}
	if cq := e.store.cqs[string(lq.Spec.ClusterQueue)]; e.byPastUse(cq) {
		e.reorder(cq, lq.Name) // its weight may be another
	}
	qcache.NotifyRetryInadmissible(e.queues, sets.New(lq.Spec.ClusterQueue))
	return nil
}

// settleCohorts tells the caches about cohorts, leaving out those in or under a
// cycle, and about the ClusterQueues below them.
func (e *Engine) settleCohorts(ctx context.Context) error {
	broken := e.cohortCycles()
	var errs []error
	apply := func(name string, detached bool) {
		c := e.store.cohorts[name]
		if detached {
			c = c.DeepCopy()
			c.Spec.ParentName = ""
		}
		if err := e.cache.AddOrUpdateCohort(c); err != nil {
			errs = append(errs, fmt.Errorf("Cohort %s: %w", name, err))
			return
		}
		e.queues.AddOrUpdateCohort(ctx, c)
	}
	for name := range broken {
		e.stale[name] = true
	}
	// Detach all of them first: a tree that is turned around must not form a cycle in between.
	for _, name := range sortedKeys(e.stale) {
		apply(name, true)
	}
	for _, name := range sortedKeys(e.stale) {
		if !broken[name] {
			apply(name, false)
			delete(e.stale, name)
		}
	}
	for _, name := range sortedKeys(e.store.cqs) {
		cq := e.store.cqs[name]
		if hold := broken[string(cq.Spec.CohortName)]; hold != e.held[name] {
			e.held[name] = hold
			if err := e.applyClusterQueue(ctx, cq, hold); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(broken) > 0 {
		names := sortedKeys(broken)
		errs = append(errs, fmt.Errorf("cohorts form a cycle: %s; their ClusterQueues are inactive", strings.Join(names, ", ")))
	}
	return errors.Join(errs...)
}

// cohortCycles returns the cohorts whose chain of parents never ends.
func (e *Engine) cohortCycles() map[string]bool {
	broken := map[string]bool{}
	for name := range e.store.cohorts {
		seen := map[string]bool{}
		for at := name; at != ""; {
			if seen[at] {
				broken[name] = true
				break
			}
			seen[at] = true
			parent := e.store.cohorts[at]
			if parent == nil {
				break
			}
			at = string(parent.Spec.ParentName)
		}
	}
	return broken
}

func (e *Engine) wakeAll(wake sets.Set[kueue.ClusterQueueReference]) {
	for name := range e.store.cqs {
		wake.Insert(kueue.ClusterQueueReference(name))
	}
}

func (e *Engine) wakeUsing(wake sets.Set[kueue.ClusterQueueReference], flavor string) {
	wake.Insert(e.cache.ClusterQueuesUsingFlavor(kueue.ResourceFlavorReference(flavor))...)
}
