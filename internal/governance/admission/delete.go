package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
)

// Delete forgets an object of any kind that [Engine.Load] takes. Only its kind, namespace and name matter.
// Workloads of a deleted queue stay, with Kueue's reason for waiting. It returns an error if a deleted workload
// is unknown, or the remaining objects are invalid.
func (e *Engine) Delete(ctx context.Context, obj client.Object) error {
	if w, ok := obj.(*kueue.Workload); ok {
		return e.Remove(ctx, w.Namespace, w.Name)
	}
	e.relist(ctx)
	e.rules++
	if err := e.drop(obj); err != nil {
		return err
	}
	e.touch()
	e.asFound = false
	err := e.settleCohorts(ctx)
	wake := sets.New[kueue.ClusterQueueReference]()
	e.wakeAll(wake)
	qcache.NotifyRetryInadmissible(e.queues, wake)
	for _, key := range sortedKeys(e.store.workloads) {
		e.reconcile(ctx, key)
	}
	e.wakeFamilies()
	e.follow(ctx)
	e.requeue(ctx)
	return err
}

// drop takes an object that is not a workload from the store and from both caches.
func (e *Engine) drop(obj client.Object) error {
	s, name := e.store, obj.GetName()
	switch o := obj.(type) {
	case *corev1.Namespace:
		delete(s.namespaces, name)
	case *corev1.LimitRange:
		delete(s.limitRanges[o.Namespace], name)
	case *nodev1.RuntimeClass:
		delete(s.runtimes, name)
	case *resourcev1.DeviceClass:
		e.applyDeviceClass(name, nil)
	case *resourcev1.ResourceClaimTemplate:
		delete(s.claimTemplates, o.Namespace+"/"+name)
	case *resourcev1.ResourceSlice:
		delete(s.deviceSlices, name)
	case *schedulingv1.PriorityClass:
		delete(s.priorities, name)
	case *kueue.WorkloadPriorityClass:
		delete(s.wlPriority, name)
	case *corev1.Node:
		e.cache.TASCache().DeleteNodeByName(name)
	case *corev1.Pod:
		e.cache.TASCache().DeletePodByKey(client.ObjectKeyFromObject(o), e.log)
	case *kueue.Topology:
		delete(s.topologies, name)
		e.cache.DeleteTopology(e.log, kueue.TopologyReference(name))
	case *kueue.ResourceFlavor:
		if old := s.flavors[name]; old != nil {
			delete(s.flavors, name)
			e.cache.DeleteResourceFlavor(e.log, old)
		}
	case *kueue.AdmissionCheck:
		if old := s.checks[name]; old != nil {
			delete(s.checks, name)
			e.cache.DeleteAdmissionCheck(e.log, old)
		}
	case *kueue.Cohort:
		delete(s.cohorts, name)
		delete(e.stale, name)
		e.cache.DeleteCohort(kueue.CohortReference(name))
		e.queues.DeleteCohort(kueue.CohortReference(name))
	case *kueue.ClusterQueue:
		e.dropClusterQueue(name)
	case *kueue.LocalQueue:
		e.dropLocalQueue(o.Namespace + "/" + name)
	default:
		return fmt.Errorf("the admission checker does not store %T", obj)
	}
	return nil
}

func (e *Engine) dropClusterQueue(name string) {
	delete(e.faulty, name)
	old := e.store.cqs[name]
	if old == nil {
		return
	}
	delete(e.store.cqs, name)
	delete(e.cqs, name)
	delete(e.held, name)
	e.cache.DeleteClusterQueue(old)
	e.queues.DeleteClusterQueue(e.log, old)
}

func (e *Engine) dropLocalQueue(key string) {
	old := e.store.lqs[key]
	if old == nil {
		return
	}
	delete(e.store.lqs, key)
	e.cache.DeleteLocalQueue(old)
	delete(e.unseeded, key)
	e.queues.AfsUsageLedger.Delete(utilqueue.Key(old))
	if e.queuesIn[key] {
		e.queues.DeleteLocalQueue(e.log, old)
		delete(e.queuesIn, key)
	}
}
