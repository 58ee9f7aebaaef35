package admission

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// store keeps the API objects. Objects are never changed in place: a new status
// is a new object, so what a caller loaded stays as it was.
type store struct {
	namespaces  map[string]*corev1.Namespace
	limitRanges map[string]map[string]*corev1.LimitRange // namespace, name
	runtimes    map[string]*nodev1.RuntimeClass
	priorities  map[string]*schedulingv1.PriorityClass
	wlPriority  map[string]*kueue.WorkloadPriorityClass
	flavors     map[string]*kueue.ResourceFlavor
	topologies  map[string]*kueue.Topology
	checks      map[string]*kueue.AdmissionCheck
	cohorts     map[string]*kueue.Cohort
	cqs         map[string]*kueue.ClusterQueue
	lqs         map[string]*kueue.LocalQueue // "namespace/name"
	workloads   map[workload.Reference]*kueue.Workload
	inQueue     map[string]map[workload.Reference]*kueue.Workload // the same by LocalQueue, "namespace/name"
	second      map[workload.Reference]bool                       // those that need a second pass
	variants    map[string]map[workload.Reference]bool            // by their family, see familyKey
	touched     map[workload.Reference]bool                       // parents of families that changed, see follow
	gated       map[workload.Reference]bool                       // parents of families in which a gate is to open
	cleared     map[workload.Reference]bool                       // variants that lost their quota since follow
	replaced    []Event                                           // old slices of elastic jobs that follow has finished
	made        map[string]bool                                   // by the UID of a pod: a controller made it

	deviceClasses  map[string]*resourcev1.DeviceClass
	claimTemplates map[string]*resourcev1.ResourceClaimTemplate // "namespace/name"
	deviceSlices   map[string]*resourcev1.ResourceSlice
	unread         []string                   // kinds with objects that could not be read
	claiming       func(*kueue.Workload) bool // pending, with devices to count first
}

func newStore() *store {
	return &store{
		namespaces:  map[string]*corev1.Namespace{},
		limitRanges: map[string]map[string]*corev1.LimitRange{},
		runtimes:    map[string]*nodev1.RuntimeClass{},
		priorities:  map[string]*schedulingv1.PriorityClass{},
		wlPriority:  map[string]*kueue.WorkloadPriorityClass{},
		flavors:     map[string]*kueue.ResourceFlavor{},
		topologies:  map[string]*kueue.Topology{},
		checks:      map[string]*kueue.AdmissionCheck{},
		cohorts:     map[string]*kueue.Cohort{},
		cqs:         map[string]*kueue.ClusterQueue{},
		lqs:         map[string]*kueue.LocalQueue{},
		workloads:   map[workload.Reference]*kueue.Workload{},
		inQueue:     map[string]map[workload.Reference]*kueue.Workload{},
		second:      map[workload.Reference]bool{},
		variants:    map[string]map[workload.Reference]bool{},
		touched:     map[workload.Reference]bool{},
		gated:       map[workload.Reference]bool{},
		cleared:     map[workload.Reference]bool{},
		made:        map[string]bool{},

		deviceClasses:  map[string]*resourcev1.DeviceClass{},
		claimTemplates: map[string]*resourcev1.ResourceClaimTemplate{},
		deviceSlices:   map[string]*resourcev1.ResourceSlice{},
	}
}

// queueKey names the LocalQueue of a workload ("namespace/name").
func queueKey(w *kueue.Workload) string { return w.Namespace + "/" + string(w.Spec.QueueName) }

// put stores a workload, in place of the one of its name.
func (s *store) put(w *kueue.Workload) {
	key, queue := workload.Key(w), queueKey(w)
	if old := s.workloads[key]; old != nil && old.Spec.QueueName != w.Spec.QueueName {
		delete(s.inQueue[queueKey(old)], key)
	}
	if s.inQueue[queue] == nil {
		s.inQueue[queue] = map[workload.Reference]*kueue.Workload{}
	}
	s.workloads[key], s.inQueue[queue][key] = w, w
	s.relate(w, true)
	if w.Status.Admission != nil && !concurrentadmission.IsParent(w) && workload.NeedsSecondPass(w) { // Kueue takes the admission for granted
		s.second[key] = true
	} else {
		delete(s.second, key)
	}
}

// remove forgets a workload.
func (s *store) remove(w *kueue.Workload) {
	key := workload.Key(w)
	delete(s.workloads, key)
	delete(s.inQueue[queueKey(w)], key)
	delete(s.second, key)
	s.relate(w, false)
}

// relate notes a change of a parent or a variant. The owner of a variant never changes.
func (s *store) relate(w *kueue.Workload, there bool) {
	switch {
	case concurrentadmission.IsVariant(w):
		family := familyKey(w)
		if s.variants[family] == nil {
			s.variants[family] = map[workload.Reference]bool{}
		}
		if there {
			s.variants[family][workload.Key(w)] = true
		} else if delete(s.variants[family], workload.Key(w)); len(s.variants[family]) == 0 {
			delete(s.variants, family)
		}
		s.touched[workload.NewReference(w.Namespace, concurrentadmission.GetParentWorkloadName(w))] = true
	case concurrentadmission.IsParent(w):
		s.touched[workload.Key(w)] = true
	}
}

// queueOf returns the LocalQueue of a workload, nil when it is not known.
func (s *store) queueOf(w *kueue.Workload) *kueue.LocalQueue { return s.lqs[queueKey(w)] }

// reader is the store as the client.Client Kueue's packages ask for: reads of
// the kinds they use, an error for everything else, never a panic.
type reader struct {
	client.Client
	store  *store
	missed *bool // set when Kueue requests something that could not be read
}

// miss notes a request for a kind with objects that could not be read.
func (r reader) miss(kind string) {
	if r.missed != nil && slices.Contains(r.store.unread, kind) {
		*r.missed = true
	}
}

var _ client.Client = reader{}

func found[T any](m map[string]*T, key, resource string, copyTo func(*T)) error {
	if v, ok := m[key]; ok {
		copyTo(v)
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key)
}

// Get returns the stored object. The result may share maps with the store. Callers in Kueue change only the parts of a
// workload that adjustable copies.
func (r reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	s := r.store
	switch o := obj.(type) {
	case *corev1.Namespace:
		return found(s.namespaces, key.Name, "namespaces", func(v *corev1.Namespace) { *o = *v })
	case *nodev1.RuntimeClass:
		return found(s.runtimes, key.Name, "runtimeclasses", func(v *nodev1.RuntimeClass) { *o = *v })
	case *schedulingv1.PriorityClass:
		return found(s.priorities, key.Name, "priorityclasses", func(v *schedulingv1.PriorityClass) { *o = *v })
	case *kueue.WorkloadPriorityClass:
		return found(s.wlPriority, key.Name, "workloadpriorityclasses", func(v *kueue.WorkloadPriorityClass) { *o = *v })
	case *kueue.ResourceFlavor:
		return found(s.flavors, key.Name, "resourceflavors", func(v *kueue.ResourceFlavor) { v.DeepCopyInto(o) })
	case *kueue.Topology:
		return found(s.topologies, key.Name, "topologies", func(v *kueue.Topology) { *o = *v })
	case *kueue.AdmissionCheck:
		return found(s.checks, key.Name, "admissionchecks", func(v *kueue.AdmissionCheck) { *o = *v })
	case *kueue.ClusterQueue:
		return found(s.cqs, key.Name, "clusterqueues", func(v *kueue.ClusterQueue) { *o = *v })
	case *kueue.LocalQueue:
		return found(s.lqs, key.String(), "localqueues", func(v *kueue.LocalQueue) { *o = *v })
	case *resourcev1.DeviceClass:
		if s.deviceClasses[key.Name] == nil {
			r.miss("DeviceClass")
		}
		return found(s.deviceClasses, key.Name, "deviceclasses", func(v *resourcev1.DeviceClass) { *o = *v })
	case *resourcev1.ResourceClaimTemplate:
		if s.claimTemplates[key.String()] == nil {
			r.miss("ResourceClaimTemplate")
		}
		return found(s.claimTemplates, key.String(), "resourceclaimtemplates", func(v *resourcev1.ResourceClaimTemplate) { *o = *v })
	case *kueue.Workload:
		if v, ok := s.workloads[workload.NewReference(key.Namespace, key.Name)]; ok {
			*o = *adjustable(v)
			return nil
		}
		return apierrors.NewNotFound(schema.GroupResource{Group: kueue.SchemeGroupVersion.Group, Resource: "workloads"}, key.String())
	}
	return r.Client.Get(ctx, key, obj, opts...)
}

// List follows the namespace and the field selectors of Kueue's indexes.
func (r reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	s := r.store
	var o client.ListOptions
	o.ApplyOptions(opts)
	match := func(namespace string, set func() fields.Set) bool {
		if o.Namespace != "" && namespace != "" && o.Namespace != namespace {
			return false
		}
		return o.FieldSelector == nil || o.FieldSelector.Empty() || o.FieldSelector.Matches(set())
	}
	switch l := list.(type) {
	case *corev1.LimitRangeList:
		for _, name := range sortedKeys(s.limitRanges[o.Namespace]) {
			lr := s.limitRanges[o.Namespace][name]
			if match(lr.Namespace, func() fields.Set {
				return fields.Set{indexer.LimitRangeHasContainerOrPodType: boolString(limitsPods(lr))}
			}) {
				l.Items = append(l.Items, *lr)
			}
		}
		return nil
	case *schedulingv1.PriorityClassList:
		for _, name := range sortedKeys(s.priorities) {
			l.Items = append(l.Items, *s.priorities[name])
		}
		return nil
	case *resourcev1.DeviceClassList:
		r.miss("DeviceClass")
		for _, name := range sortedKeys(s.deviceClasses) {
			class := s.deviceClasses[name]
			if match("", func() fields.Set {
				return fields.Set{"spec.extendedResourceName": ptr.Deref(class.Spec.ExtendedResourceName, "")}
			}) {
				l.Items = append(l.Items, *class)
			}
		}
		return nil
	case *resourcev1.ResourceSliceList:
		r.miss("ResourceSlice")
		for _, name := range sortedKeys(s.deviceSlices) {
			slice := s.deviceSlices[name]
			if match("", func() fields.Set { return fields.Set{"spec.driver": slice.Spec.Driver} }) {
				l.Items = append(l.Items, *slice)
			}
		}
		return nil
	case *kueue.LocalQueueList:
		for _, name := range sortedKeys(s.lqs) {
			lq := s.lqs[name]
			if match(lq.Namespace, func() fields.Set {
				return fields.Set{indexer.QueueClusterQueueKey: string(lq.Spec.ClusterQueue)}
			}) {
				l.Items = append(l.Items, *lq)
			}
		}
		return nil
	case *kueue.WorkloadList:
		for _, key := range sortedKeys(s.workloads) {
			w := s.workloads[key]
			if s.claiming != nil && s.claiming(w) {
				continue // the queue manager would hand it to the controller that counts its devices: see reconcileDevices
			}
			if match(w.Namespace, func() fields.Set { return workloadFields(w) }) {
				l.Items = append(l.Items, *w.DeepCopy())
			}
		}
		return nil
	}
	return r.Client.List(ctx, list, opts...)
}

func workloadFields(w *kueue.Workload) fields.Set {
	set := fields.Set{indexer.WorkloadQueueKey: string(w.Spec.QueueName)}
	if w.Status.Admission != nil {
		set[indexer.WorkloadClusterQueueKey] = string(w.Status.Admission.ClusterQueue)
	}
	return set
}

func limitsPods(lr *corev1.LimitRange) bool {
	return slices.ContainsFunc(lr.Spec.Limits, func(i corev1.LimitRangeItem) bool {
		return i.Type == corev1.LimitTypeContainer || i.Type == corev1.LimitTypePod
	})
}

func boolString(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return strings.Compare(string(a), string(b)) })
	return keys
}

// noEvents is the event recorder of a cluster nobody watches.
type noEvents struct{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
