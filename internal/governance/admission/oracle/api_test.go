package oracle

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// api is the part of an API server the scheduler needs. Preemptions are issued
// from several goroutines.
type api struct {
	client.Client // nil: anything else panics, and the test with it
	mu            sync.Mutex
	namespaces    map[string]*corev1.Namespace
	workloads     map[client.ObjectKey]*kueue.Workload
	clusterQueues map[kueue.ClusterQueueReference]*kueue.ClusterQueue
	localQueues   map[client.ObjectKey]*kueue.LocalQueue
	runtime       *nodev1.RuntimeClass // the only one
	deviceClasses []*resourcev1.DeviceClass
	templates     map[client.ObjectKey]*resourcev1.ResourceClaimTemplate
	limits        []*corev1.LimitRange
	patched       []change
	answers       bool        // a patch returns the whole object
	clock         clock.Clock // where it creates objects
	busy          func(old, now *kueue.Workload) bool
}

func (a *api) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch o := obj.(type) {
	case *corev1.Namespace:
		if n := a.namespaces[key.Name]; n != nil {
			n.DeepCopyInto(o)
			return nil
		}
	case *kueue.Workload:
		if w := a.workloads[key]; w != nil {
			w.DeepCopyInto(o)
			o.SetGroupVersionKind(kueue.SchemeGroupVersion.WithKind("Workload")) // as a cache does
			return nil
		}
	case *nodev1.RuntimeClass:
		if a.runtime != nil && a.runtime.Name == key.Name {
			a.runtime.DeepCopyInto(o)
			return nil
		}
	case *resourcev1.DeviceClass:
		for _, c := range a.deviceClasses {
			if c.Name == key.Name {
				c.DeepCopyInto(o)
				return nil
			}
		}
	case *resourcev1.ResourceClaimTemplate:
		if t := a.templates[key]; t != nil {
			t.DeepCopyInto(o)
			return nil
		}
		return apierrors.NewNotFound(schema.GroupResource{Resource: "resourceclaimtemplates"}, key.String())
	case *kueue.ClusterQueue:
		if q := a.clusterQueues[kueue.ClusterQueueReference(key.Name)]; q != nil {
			q.DeepCopyInto(o)
			return nil
		}
	case *kueue.LocalQueue:
		if q := a.localQueues[key]; q != nil {
			q.DeepCopyInto(o)
			return nil
		}
	default:
		panic(fmt.Sprintf("get of %T", obj))
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.String())
}

func (a *api) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	switch l := list.(type) {
	case *kueue.LocalQueueList, *resourcev1.ResourceSliceList:
	case *corev1.LimitRangeList:
		for _, r := range a.limits {
			if r.Namespace == o.Namespace {
				l.Items = append(l.Items, *r.DeepCopy())
			}
		}
	case *resourcev1.DeviceClassList:
		for _, c := range a.deviceClasses {
			if o.FieldSelector == nil || o.FieldSelector.Matches(fields.Set{"spec.extendedResourceName": ptr.Deref(c.Spec.ExtendedResourceName, "")}) {
				l.Items = append(l.Items, *c.DeepCopy())
			}
		}
	case *kueue.WorkloadList:
		for _, w := range a.workloads {
			set := fields.Set{indexer.WorkloadQueueKey: string(w.Spec.QueueName), indexer.OwnerReferenceUID: string(concurrentadmission.GetParentWorkloadUID(w))}
			if (o.Namespace == "" || o.Namespace == w.Namespace) && o.FieldSelector.Matches(set) {
				l.Items = append(l.Items, *w.DeepCopy())
			}
		}
	default:
		panic(fmt.Sprintf("list of %T", list))
	}
	return nil
}

func (a *api) Status() client.SubResourceWriter { return statusWriter{a: a} }

type statusWriter struct {
	client.SubResourceWriter
	a *api
}

// Patch is the server-side apply of the admission status: everything the field
// manager owns is replaced, conditions of others stay.
func (s statusWriter) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	patch := obj.(*kueue.Workload)
	key := client.ObjectKeyFromObject(patch)
	old := s.a.workloads[key]
	if old == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.String())
	}
	w := old.DeepCopy()
	reclaimable := w.Status.ReclaimablePods
	w.Status = *patch.Status.DeepCopy()
	w.Status.ReclaimablePods = reclaimable
	if s.a.busy != nil && s.a.busy(old, w) {
		return errBusy
	}
	s.a.workloads[key] = w
	s.a.patched = append(s.a.patched, change{old, w})
	if s.a.answers {
		w.DeepCopyInto(patch)
	}
	return nil
}
