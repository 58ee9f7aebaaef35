package oracle

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/util/expectations"
)

// named is a resource that a device class provides.
const named = corev1.ResourceName("example.com/named")

// deviceClasses is resources.deviceClassMappings: the devices of three classes count as gpu. Nothing maps other.
var deviceClasses = []config.DeviceClassMapping{{Name: gpu, DeviceClassNames: []corev1.ResourceName{"whole", "part", "named"}}}

// claimed are the claim templates: the devices of each class that one requests.
var claimed = map[string]map[string]int64{"one": {"whole": 1}, "two": {"part": 2}, "both": {"whole": 1, "part": 1}, "other": {"other": 1}}

// deviceObjects are the device classes, and the claim templates of a namespace.
func deviceObjects(namespaces int) []client.Object {
	var out []client.Object
	for _, name := range []string{"whole", "part", "named", "other"} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == "named" {
			class.Spec.ExtendedResourceName = ptr.To(string(named))
		}
		out = append(out, class)
	}
	for n := range namespaces {
		for name, classes := range claimed {
			t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("q", n), Name: name}}
			for _, class := range []string{"whole", "part", "other"} {
				if count := classes[class]; count > 0 {
					t.Spec.Spec.Devices.Requests = append(t.Spec.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: class,
						Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}})
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// claim lets the pods of a set use devices. Some of these cannot be counted: a template that does not exist, a class
// without a mapping, a claim by name.
func claim(r *rand.Rand, set *kueue.PodSet) {
	pod := &set.Template.Spec
	requests := pod.Containers[0].Resources.Requests
	switch n := r.IntN(100); {
	case n < 30:
	case n < 50:
		requests[named] = *qty(1 + r.IntN(3))
	case n < 90:
		delete(requests, gpu)
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimTemplateName: ptr.To(pick(r, []string{"one", "two", "both"}))}}
	case n < 97:
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimTemplateName: ptr.To(pick(r, []string{"other", "nowhere"}))}}
	default:
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimName: ptr.To("mine")}}
	}
}

// claims reports that some pods of a workload use devices.
func claims(w *kueue.Workload) bool {
	for _, ps := range w.Spec.PodSets {
		if _, ok := ps.Template.Spec.Containers[0].Resources.Requests[named]; ok || len(ps.Template.Spec.ResourceClaims) > 0 {
			return true
		}
	}
	return false
}

// newWorkloads is Kueue's workload controller, which counts the devices of a pending workload and queues it.
func (r *real) newWorkloads(store *expectations.Store) {
	r.workloads = core.NewWorkloadReconciler(r.api, r.queues, r.cache, noEvents{}, core.WithDRAMapper(deviceMapper()), core.WithDRABackedResources(r.backed),
		core.WithResourceSliceAPIAvailable(true), core.WithPreemptionExpectations(store))
}

func deviceMapper() *dra.ResourceMapper {
	m := dra.NewResourceMapper()
	must(m.PopulateFromConfiguration(deviceClasses))
	return m
}

// enqueue queues a pending workload as Kueue does: one with devices in its controller.
func (r *real) enqueue(w *kueue.Workload) error {
	if !r.counts(w) {
		return r.queues.AddOrUpdateWorkload(r.log, r.adjusted(w))
	}
	patched := r.api.patched
	// The controller reports a template that does not exist, so that it is tried again.
	_, _ = r.workloads.Reconcile(r.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w)})
	r.api.patched = patched
	return nil
}

// counts reports that the controller counts the devices of a workload before it queues it.
func (r *real) counts(w *kueue.Workload) bool {
	return (r.workloads != nil || r.families != nil) && w != nil && dra.NeedsDRAReconcile(w, r.backed)
}
