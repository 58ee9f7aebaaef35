package admission

import (
	"maps"
	"reflect"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	utilpod "sigs.k8s.io/kueue/pkg/util/pod"
	"sigs.k8s.io/kueue/pkg/util/priority"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// Retried are the pending workloads that Kueue tries again after a change of a cluster's objects, although it has put them aside.
// Kueue moves the workloads of a whole tree of cohorts when one of its ClusterQueues, cohorts or flavors changes, or one of
// its workloads ends or is deactivated, also one that waits. A new workload, a deleted ClusterQueue and a deleted cohort
// move no others. The zero value is none of them.
type Retried struct {
	all         bool
	roots       sets.Set[string] // of trees, see forest.rootOf
	localQueues sets.Set[string] // "namespace/name": Kueue queues their workloads again
	workloads   sets.Set[workload.Reference]
	forest      forest
}

// RetriedAfter compares a cluster before and after a change. The objects must be those of a kind that [Engine.Load] takes, and
// one that did not change may be the same pointer on both sides. With whole, the engine's [Config] changed, too: Kueue starts
// again, and tries all workloads.
func RetriedAfter(before, after []client.Object, whole bool) *Retried {
	old, now := newForest(before), newForest(after)
	// Of the objects, only those that make the trees are kept.
	r := &Retried{all: whole, roots: sets.New[string](), localQueues: sets.New[string](), workloads: sets.New[workload.Reference](), forest: forest{queues: now.queues, cohorts: now.cohorts}}
	if whole {
		return r
	}
	for key, o := range now.objects {
		if was := old.objects[key]; was != o {
			r.changed(old, now, was, o)
		}
	}
	for key, was := range old.objects {
		if now.objects[key] == nil {
			r.deleted(old, now, was)
		}
	}
	return r
}

// of reports whether Kueue tries a pending workload of a LocalQueue again.
func (r *Retried) of(w *kueue.Workload, lq *kueue.LocalQueue) bool {
	return r != nil && (r.all || r.workloads.Has(workload.Key(w)) || r.localQueues.Has(lq.Namespace+"/"+lq.Name) || r.roots.Has(r.forest.rootOf(string(lq.Spec.ClusterQueue))))
}

// changed notes what follows from an object that was created (was is nil) or updated.
func (r *Retried) changed(old, now forest, was, o client.Object) {
	switch o := o.(type) {
	case *kueue.ClusterQueue: // clusterqueue_controller.go; of the tree that it left, Kueue moves nothing
		if was == nil || !equality.Semantic.DeepEqual(was.(*kueue.ClusterQueue).Spec, o.Spec) {
			r.roots.Insert(now.rootOf(o.Name))
		}
	case *kueue.Cohort: // cohort_controller.go
		if was == nil || !equality.Semantic.DeepEqual(was.(*kueue.Cohort).Spec, o.Spec) {
			r.roots.Insert(now.top(o.Name))
		}
	case *kueue.LocalQueue: // localqueue_controller.go
		if was == nil || !equality.Semantic.DeepEqual(was.(*kueue.LocalQueue).Spec, o.Spec) {
			r.localQueues.Insert(o.Namespace + "/" + o.Name)
			if was != nil && ptr.Deref(o.Spec.StopPolicy, kueue.None) == kueue.HoldAndDrain { // it evicts
				r.tree(old, now, string(o.Spec.ClusterQueue))
			}
		}
	case *kueue.ResourceFlavor: // resourceflavor_controller.go, and resource_flavor.go for topologies
		if was == nil || !equality.Semantic.DeepEqual(was.(*kueue.ResourceFlavor).Spec, o.Spec) {
			r.flavor(now, o.Name)
			r.all = r.all || o.Spec.TopologyName != nil
		}
	case *kueue.Topology: // NotifyTopologyUpdate in clusterqueue_controller.go
		if was == nil {
			for name, f := range now.flavors {
				if f.Spec.TopologyName != nil && string(*f.Spec.TopologyName) == o.Name {
					r.flavor(now, name)
				}
			}
		}
	case *kueue.AdmissionCheck: // admissioncheck_controller.go: queues that become active
		if old, _ := was.(*kueue.AdmissionCheck); !passes(old) && passes(o) {
			for _, cq := range now.queues {
				if checks(cq).Has(o.Name) {
					r.roots.Insert(now.rootOf(cq.Name))
				}
			}
		}
	case *corev1.Namespace: // cqNamespaceHandler in clusterqueue_controller.go
		if was != nil {
			for _, cq := range now.queues {
				if !selects(cq, was.GetLabels()) && selects(cq, o.Labels) {
					r.roots.Insert(now.rootOf(cq.Name))
				}
			}
		}
	case *corev1.Node: // nodeHandler in resource_flavor.go
		if was == nil || !sameNode(was.(*corev1.Node), o) {
			r.all = r.all || old.hasTopologyOn(was) || now.hasTopologyOn(o)
		}
	case *corev1.Pod:
		if was != nil && utilpod.IsTerminated(o) {
			r.freed(old, now, was.(*corev1.Pod))
		}
	case *kueue.Workload: // Update in workload_controller.go
		r.workload(old, now, was, o)
	case *kueue.WorkloadPriorityClass, *schedulingv1.PriorityClass: // their workloads change
	default: // what the requests of workloads follow from
		if was == nil || !equality.Semantic.DeepEqual(was, o) {
			r.all = true
		}
	}
}

// workload notes what follows from a workload that was created or updated.
func (r *Retried) workload(old, now forest, was client.Object, w *kueue.Workload) {
	r.workloads.Insert(workload.Key(w))
	if was == nil {
		return
	}
	o, log := was.(*kueue.Workload), logr.Discard()
	// A workload's priority follows its WorkloadPriorityClass. A simulation may give a number and no class.
	moved := priority.EffectivePriority(log, o) != priority.EffectivePriority(log, w)
	held, holds := o.Status.Admission, w.Status.Admission
	ends := workload.IsActive(o) && !workload.IsActive(w) || !workloadfinish.IsFinished(o) && workloadfinish.IsFinished(w)
	switch {
	case held == nil && ends:
		r.unqueued(old, now, o)
	case held != nil && (ends || holds == nil || !equality.Semantic.DeepEqual(held, holds) || moved ||
		!equality.Semantic.DeepEqual(o.Status.ReclaimablePods, w.Status.ReclaimablePods)):
		r.tree(old, now, string(held.ClusterQueue))
	}
}

// unqueued notes a waiting workload that leaves its queue for good. Kueue moves nothing if it never queued it.
func (r *Retried) unqueued(old, now forest, w *kueue.Workload) {
	if lq := old.localQueues[queueKey(w)]; lq != nil && (workload.IsAdmissible(w) || workloadevict.IsEvicted(w)) {
		r.tree(old, now, string(lq.Spec.ClusterQueue))
	}
}

// deleted notes what follows from an object that was deleted.
func (r *Retried) deleted(old, now forest, was client.Object) {
	switch o := was.(type) {
	case *kueue.Workload: // Delete in workload_controller.go
		if a := o.Status.Admission; a != nil {
			r.tree(old, now, string(a.ClusterQueue))
		} else {
			r.unqueued(old, now, o)
		}
	case *corev1.Node:
		r.all = r.all || old.hasTopologyOn(o)
	case *corev1.Pod:
		r.freed(old, now, o)
	case *kueue.ClusterQueue, *kueue.Cohort, *kueue.LocalQueue, *kueue.ResourceFlavor, *kueue.Topology, *kueue.AdmissionCheck, *corev1.Namespace,
		*kueue.WorkloadPriorityClass, *schedulingv1.PriorityClass:
		// Kueue moves nothing.
	default:
		r.all = true
	}
}

// tree notes the tree of a ClusterQueue, where it was and where it is now.
func (r *Retried) tree(old, now forest, cq string) { r.roots.Insert(old.rootOf(cq), now.rootOf(cq)) }

// flavor notes the trees of the ClusterQueues with a flavor.
func (r *Retried) flavor(f forest, name string) {
	for _, cq := range f.queues {
		for _, g := range cq.Spec.ResourceGroups {
			if slices.ContainsFunc(g.Flavors, func(q kueue.FlavorQuotas) bool { return string(q.Name) == name }) {
				r.roots.Insert(f.rootOf(cq.Name))
			}
		}
	}
}

// freed notes a pod that ended, and that no topology assignment accounted for (non_tas_usage_controller.go).
func (r *Retried) freed(old, now forest, p *corev1.Pod) {
	if p.Spec.NodeName == "" || utiltas.IsTAS(p) || utilpod.IsTerminated(p) {
		return
	}
	node := old.nodes[p.Spec.NodeName]
	for name := range now.flavors {
		if node != nil && now.offers(name, node) {
			r.flavor(now, name)
		}
	}
}

// forest has the objects of a cluster, and the trees of cohorts.
type forest struct {
	objects     map[objectKey]client.Object
	queues      map[string]*kueue.ClusterQueue
	cohorts     map[string]*kueue.Cohort
	localQueues map[string]*kueue.LocalQueue
	flavors     map[string]*kueue.ResourceFlavor
	topologies  map[string]*kueue.Topology
	nodes       map[string]*corev1.Node
}

type objectKey struct {
	kind            reflect.Type
	namespace, name string
}

func newForest(objects []client.Object) forest {
	f := forest{map[objectKey]client.Object{}, map[string]*kueue.ClusterQueue{}, map[string]*kueue.Cohort{}, map[string]*kueue.LocalQueue{},
		map[string]*kueue.ResourceFlavor{}, map[string]*kueue.Topology{}, map[string]*corev1.Node{}}
	for _, o := range objects {
		if loadRank(o) < 0 {
			continue
		}
		f.objects[objectKey{reflect.TypeOf(o), o.GetNamespace(), o.GetName()}] = o
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			f.queues[o.Name] = o
		case *kueue.Cohort:
			f.cohorts[o.Name] = o
		case *kueue.LocalQueue:
			f.localQueues[o.Namespace+"/"+o.Name] = o
		case *kueue.ResourceFlavor:
			f.flavors[o.Name] = o
		case *kueue.Topology:
			f.topologies[o.Name] = o
		case *corev1.Node:
			f.nodes[o.Name] = o
		}
	}
	return f
}

// rootOf names the root of a ClusterQueue's tree; without a cohort, it is the queue.
func (f forest) rootOf(cq string) string {
	q := f.queues[cq]
	if q == nil || q.Spec.CohortName == "" {
		return "queue/" + cq
	}
	return f.top(string(q.Spec.CohortName))
}

// top names the root of a cohort's tree. Of cohorts in a cycle, it is the first by its name.
func (f forest) top(cohort string) string {
	seen := sets.New[string]()
	for !seen.Has(cohort) {
		seen.Insert(cohort)
		c := f.cohorts[cohort]
		if c == nil || c.Spec.ParentName == "" {
			return "cohort/" + cohort
		}
		cohort = string(c.Spec.ParentName)
	}
	return "cohort/" + slices.Min(seen.UnsortedList())
}

// hasTopologyOn reports whether a flavor with a topology has a node.
func (f forest) hasTopologyOn(o client.Object) bool {
	node, ok := o.(*corev1.Node)
	for name := range f.flavors {
		if ok && node != nil && f.offers(name, node) {
			return true
		}
	}
	return false
}

// offers reports whether a flavor has a topology and the node.
func (f forest) offers(flavor string, node *corev1.Node) bool {
	rf := f.flavors[flavor]
	if rf.Spec.TopologyName == nil {
		return false
	}
	t := f.topologies[string(*rf.Spec.TopologyName)]
	return t != nil && utiltas.NodeMatchesFlavor(node.Labels, rf.Spec.NodeLabels, utiltas.Levels(t))
}

// sameNode reports whether Kueue does not look at a node that changed (checkNodeSchedulingPropertiesChanged in pkg/controller/tas).
func sameNode(a, b *corev1.Node) bool {
	return equality.Semantic.DeepEqual(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Annotations, b.Annotations) &&
		equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) && a.Spec.Unschedulable == b.Spec.Unschedulable &&
		equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable) && maps.Equal(conditionsOf(a), conditionsOf(b))
}

func conditionsOf(n *corev1.Node) map[corev1.NodeConditionType]corev1.ConditionStatus {
	out := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range n.Status.Conditions {
		out[c.Type] = c.Status
	}
	return out
}

// passes reports whether an admission check is active.
func passes(c *kueue.AdmissionCheck) bool {
	return c != nil && apimeta.IsStatusConditionTrue(c.Status.Conditions, kueue.AdmissionCheckActive)
}

// checks are the admission checks of a ClusterQueue.
func checks(cq *kueue.ClusterQueue) sets.Set[string] {
	out := sets.New[string]()
	for _, c := range ptr.Deref(cq.Spec.AdmissionChecksStrategy, kueue.AdmissionChecksStrategy{}).AdmissionChecks {
		out.Insert(string(c.Name))
	}
	return out
}

// selects reports whether a ClusterQueue takes workloads of namespaces with these labels.
func selects(cq *kueue.ClusterQueue, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector)
	return err == nil && s.Matches(labels.Set(of))
}
