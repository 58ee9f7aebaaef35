package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/util/resource"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// Devices of resource claims (DRA). Kueue's workload controller counts them before it queues a workload: devices by the
// class that a claim template requests, with the names of resources.deviceClassMappings. It does not queue a workload
// whose devices it cannot count.

// devices is what that depends on.
type devices struct {
	mapper *dra.ResourceMapper
	mapped bool                       // resources.deviceClassMappings is configured
	backed *dra.ExtendedResourceCache // resources that device classes provide
	known  bool                       // Kueue's configuration is
}

func newDevices(cfg Config) devices {
	d := devices{mapper: dra.NewResourceMapper(), backed: dra.NewExtendedResourceCache(), known: cfg.OrderByUse != nil, mapped: len(cfg.DeviceClasses) > 0}
	_ = d.mapper.PopulateFromConfiguration(cfg.DeviceClasses) // it never fails
	return d
}

// deviceDemand is what a workload's devices come to.
type deviceDemand struct {
	counts  []workload.InfoOption
	refused verdict // Kueue does not queue it
	unknown bool    // something that affects the decision could not be read
}

// needsDevices reports a pending workload whose devices Kueue counts before it queues it.
func (e *Engine) needsDevices(w *kueue.Workload) bool {
	return !workload.HasQuotaReservation(w) && dra.NeedsDRAReconcile(w, e.devices.backed)
}

// demandOf follows the part about devices of Reconcile in Kueue's workload_controller.go. What a workload with quota
// holds is in its status.
func (e *Engine) demandOf(ctx context.Context, w *kueue.Workload) deviceDemand {
	if workload.HasQuotaReservation(w) {
		return deviceDemand{}
	}
	return e.devicesOf(ctx, w)
}

func (e *Engine) devicesOf(ctx context.Context, w *kueue.Workload) deviceDemand {
	switch {
	case !dra.NeedsDRAReconcile(w, e.devices.backed):
		return deviceDemand{}
	case !features.Enabled(features.KueueDRAIntegration):
		return misfit("Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled")
	case !e.devices.known:
		return deviceDemand{unknown: true}
	case workload.HasResourceClaim(w):
		return misfit("KueueDRAIntegration feature does not support use of resource claims")
	case !e.devices.mapped && workload.HasResourceClaimTemplates(w):
		// Without a mapping every device is one that Kueue refuses, so nobody reads the templates.
		return misfit("Kueue's configuration has no resources.deviceClassMappings, so Kueue counts no devices of resource claim templates")
	}
	r := reader{Client: embedded.NoClient(), store: e.store, missed: new(bool)}
	published := dra.NewResourceSliceCache(r)
	c := e.adjusted(ctx, w)
	counts, errs := dra.GetResourceRequestsForResourceClaimTemplates(ctx, r, published, e.devices.mapper, c)
	var replaced map[kueue.PodSetReference]sets.Set[corev1.ResourceName]
	if len(errs) == 0 && features.Enabled(features.KueueDRAIntegrationExtendedResource) {
		var more map[kueue.PodSetReference]corev1.ResourceList
		more, replaced, errs = dra.ResolveExtendedResourceQuota(ctx, r, e.devices.mapper, c)
		counts = merged(counts, more)
	}
	if len(errs) == 0 && features.Enabled(features.KueueDRAIntegrationPartitionableDevices) {
		var more map[kueue.PodSetReference]corev1.ResourceList
		more, errs = dra.GetCounterResourcesForWorkload(ctx, r, published, e.devices.mapper, c)
		counts = merged(counts, more)
	}
	if len(errs) == 0 && features.Enabled(features.KueueDRAIntegrationConsumableCapacity) {
		var more map[kueue.PodSetReference]corev1.ResourceList
		more, errs = dra.DetermineCapacityResourcesForWorkload(ctx, r, published, e.devices.mapper, c)
		counts = merged(counts, more)
	}
	switch {
	case *r.missed:
		return deviceDemand{unknown: true}
	case len(errs) > 0:
		return misfit(errs.ToAggregate().Error())
	case len(counts) == 0 && len(replaced) == 0:
		return deviceDemand{}
	}
	return deviceDemand{counts: []workload.InfoOption{workload.WithPreprocessedDRAResources(counts, replaced)}}
}

func misfit(message string) deviceDemand {
	return deviceDemand{refused: verdict{kueue.WorkloadQuotaReservedReasonMisconfigured, message}}
}

// merged adds the resources of more to those of the same pod sets (mergeDRAResources in workload_controller.go).
func merged(to, more map[kueue.PodSetReference]corev1.ResourceList) map[kueue.PodSetReference]corev1.ResourceList {
	for name, list := range more {
		if to == nil {
			to = map[kueue.PodSetReference]corev1.ResourceList{}
		}
		to[name] = resource.MergeResourceListKeepSum(to[name], list)
	}
	return to
}

// infoOf is a workload as the queues have it: completed, with its devices.
func (e *Engine) infoOf(ctx context.Context, w *kueue.Workload) *workload.Info {
	return workload.NewInfo(e.adjusted(ctx, w), slices.Concat(e.info, e.demandOf(ctx, w).counts)...)
}

// reconcileDevices keeps a workload out of its queue while Kueue cannot count its devices, and queues it when it can. It
// reports whether it stays out.
func (e *Engine) reconcileDevices(ctx context.Context, w *kueue.Workload) bool {
	if !e.needsDevices(w) {
		return false
	}
	key := workload.Key(w)
	if d := e.devicesOf(ctx, w); d.refused.reason != "" {
		e.queues.DeleteWorkload(e.log, key)
		delete(e.todo, key)
		e.block(key, workload.UnadmittedWorkloadReasonWithFallback(d.refused.reason, kueue.WorkloadInadmissible), d.refused.reason, d.refused.message)
		message := d.refused.message
		if workload.HasResourceClaim(w) && features.Enabled(features.KueueDRAIntegration) {
			message = "DRA resource claims not supported"
		}
		if c := e.writable(key); e.setCondition(c, kueue.WorkloadRequeued, kueue.WorkloadInadmissible, message, false) {
			e.store.put(c)
		}
		return true
	}
	if slices.ContainsFunc(w.Status.Conditions, countFailed) {
		c := e.writable(key)
		c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, countFailed)
		e.store.put(c)
		w = c
	}
	e.enqueue(w)
	return false
}

// countFailed is the condition that keeps a workload out of its queue after Kueue could not count its devices. Kueue
// queues it without the condition once it can.
func countFailed(c metav1.Condition) bool {
	return c.Status == metav1.ConditionFalse && c.Type == kueue.WorkloadRequeued && c.Reason == kueue.WorkloadInadmissible
}

// applyDeviceClass stores a device class, or forgets it (nil), and the resource that it provides by name.
func (e *Engine) applyDeviceClass(name string, class *resourcev1.DeviceClass) {
	if old := e.store.deviceClasses[name]; old != nil && old.Spec.ExtendedResourceName != nil {
		e.devices.backed.Remove(corev1.ResourceName(*old.Spec.ExtendedResourceName), name)
	}
	if delete(e.store.deviceClasses, name); class == nil {
		return
	}
	e.store.deviceClasses[name] = class
	if r := class.Spec.ExtendedResourceName; r != nil {
		e.devices.backed.Add(corev1.ResourceName(*r), name)
	}
}
