package inputs

import (
	"context"
	"encoding/json"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// devices reads what Kueue counts the devices of resource claims by, if its configuration maps device classes. Few jobs
// have claims, so what cannot be read is not in Missing: a decision that needs it is not known.
func (l *loader) devices(ctx context.Context) {
	cfg, err := admission.ConfigFrom([]byte(l.out.Manager.Data))
	if err != nil || len(cfg.DeviceClasses) == 0 {
		return
	}
	in := l.out
	var wg crash.Group
	var classes, published, templates bool
	wg.Go(func() { in.DeviceClasses, classes = all(ctx, l, kinds.DeviceClass, deviceClass) })
	wg.Go(func() { in.DeviceSlices, published = all(ctx, l, kinds.ResourceSlice, deviceSlice) })
	wg.Go(func() { in.ClaimTemplates, templates = all(ctx, l, kinds.ResourceClaimTemplate, claimTemplate) })
	wg.Wait()
	for _, k := range []struct {
		kinds.Resource
		read bool
	}{{kinds.DeviceClass, classes}, {kinds.ResourceSlice, published}, {kinds.ResourceClaimTemplate, templates}} {
		if !k.read {
			in.unreadDevices = append(in.unreadDevices, k.Kind)
		}
	}
}

// all reads a kind, or of a namespaced one what is in the namespaces that are read one at a time. It reports whether that
// is everything that the cluster has.
func all[W any, T client.Object](ctx context.Context, l *loader, r kinds.Resource, convert func(*W) T) ([]T, bool) {
	out, err := listIn(ctx, l, r, "", convert)
	if err == nil {
		return out, true
	}
	m := reader.NewMissing(r, "", "list", err)
	if m.Reason == state.NotServed {
		return nil, true
	}
	if r.Namespaced && m.Refused() {
		for _, ns := range l.r.Namespaces(ctx) {
			if some, err := listIn(ctx, l, r, ns, convert); err == nil {
				out = append(out, some...)
			}
		}
	}
	return out, false
}

// WithTemplates returns the inputs with the claim templates among the objects of a submission, which are created with
// its job. The receiver does not change.
func (in *Inputs) WithTemplates(namespace string, objects []map[string]any) *Inputs {
	out := *in
	for _, o := range objects {
		if kinds.Text(o, "kind") != kinds.ResourceClaimTemplate.Kind || kinds.Text(o, "apiVersion") != kinds.ResourceClaimTemplate.GroupVersion() {
			continue
		}
		data, err := json.Marshal(o)
		t := &resourcev1.ResourceClaimTemplate{}
		if err != nil || json.Unmarshal(data, t) != nil {
			continue
		}
		if t.Namespace == "" {
			t.Namespace = namespace
		}
		withDefaults(t)
		out.ClaimTemplates = append(slices.Clip(out.ClaimTemplates), t)
	}
	return &out
}

// withDefaults sets what the API server sets in a request for devices.
func withDefaults(t *resourcev1.ResourceClaimTemplate) {
	for i := range t.Spec.Spec.Devices.Requests {
		r := t.Spec.Spec.Devices.Requests[i].Exactly
		if r == nil {
			continue
		}
		if r.AllocationMode == "" {
			r.AllocationMode = resourcev1.DeviceAllocationModeExactCount
		}
		if r.AllocationMode == resourcev1.DeviceAllocationModeExactCount && r.Count == 0 {
			r.Count = 1
		}
	}
}
