package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/crd"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/limits"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// mutate changes a new object like the webhooks of Kueue. A job with a queue is suspended:
// the scheduler decides when it starts. A job without one gets the namespace's LocalQueue
// "default", if there is one. ClusterQueues and flavors get the finalizer that holds them
// while they are in use. A pod gets the defaults of its namespace's LimitRanges.
func mutate(st *store.Store, r *resource, m map[string]any) error {
	if r.Kind == kinds.Pod.Kind {
		if err := limits.Default(st, object.Text(m, "metadata", "namespace"), m); err != nil {
			return err
		}
	}
	if j, ok := kinds.JobFor(r.GroupVersion(), r.Kind); ok {
		owned := len(object.List(m, "metadata", "ownerReferences")) > 0
		if object.Text(m, "metadata", "labels", kinds.QueueLabel) == "" && !owned && hasDefaultQueue(st, object.Text(m, "metadata", "namespace")) {
			object.Set(m, defaultQueue, "metadata", "labels", kinds.QueueLabel)
		}
		if queue := object.Text(m, "metadata", "labels", kinds.QueueLabel); queue != "" && !(owned && j.Uncontrolled) {
			if err := hold(j, m, queue); err != nil {
				return err
			}
		}
	}
	if r.Group == kinds.KueueGroup && slices.Contains(heldKinds, r.Kind) {
		object.AddFinalizer(m, kueue.ResourceInUseFinalizerName)
	}
	return nil
}

// hold keeps a new job from running until Kueue admits it.
func hold(j kinds.Job, m map[string]any, queue string) error {
	switch {
	case len(j.SuspendPath) > 0:
		object.Set(m, true, j.SuspendPath...)
		if j.Runtime != nil {
			patches := object.List(m, "spec", "runtimePatches")
			object.Set(m, append(patches, map[string]any{"manager": kinds.KueueManager,
				"trainingRuntimeSpec": map[string]any{"template": map[string]any{"spec": map[string]any{}}}}), "spec", "runtimePatches")
		}
	case j.Itself:
		object.Gate(m)
		if _, grouped := kinds.PodGroupOf(m); grouped {
			return setRole(m)
		}
	case j.OnePod: // Kueue governs the pods, so they get the labels
		for _, p := range j.Parts(m) {
			labels := object.Child(object.Child(p.Template, "metadata"), "labels")
			labels[kinds.QueueLabel], labels[kinds.ManagedLabel] = queue, "true"
			if class := object.Text(m, "metadata", "labels", kinds.PriorityLabel); class != "" {
				labels[kinds.PriorityLabel] = class
			}
		}
	}
	return nil
}

// setRole writes a pod's role in its group, before an admission changes the pod.
func setRole(pod map[string]any) error {
	raw, err := store.Encode(pod)
	if err != nil {
		return err
	}
	role, err := integration.RoleOf(raw)
	if err != nil {
		return nil // its fields are checked later
	}
	object.Set(pod, role, "metadata", "annotations", integration.RoleAnnotation)
	return nil
}

// defaultQueue is the name of the LocalQueue that jobs without a queue get.
const defaultQueue = "default"

// heldKinds are the kinds of Kueue that cannot go while something uses them.
var heldKinds = []string{kinds.ClusterQueue.Kind, kinds.ResourceFlavor.Kind, kinds.AdmissionCheck.Kind}

func hasDefaultQueue(st *store.Store, namespace string) bool {
	return st.Get(kinds.LocalQueue.FullName(), namespace, defaultQueue) != nil
}

// checkPolicy runs what decides about a new or changed object on a cluster with Kueue: the
// schemas of Kueue's definitions, then its webhooks. old is nil for a new object.
func checkPolicy(ctx context.Context, st *store.Store, r *resource, old *store.Object, m map[string]any) error {
	if r.Group == kinds.KueueGroup {
		if !crd.Known(r.Kind) && r.Kind != kinds.Workload.Kind {
			return nil
		}
		var before map[string]any
		if old != nil {
			before = old.Map()
		}
		if all := crd.Validate(r.Kind, m, before); len(all) > 0 {
			return apierrors.NewInvalid(r.groupKind(), object.Text(m, "metadata", "name"), all)
		}
	} else if _, ok := kinds.JobFor(r.GroupVersion(), r.Kind); !ok {
		return nil
	}
	raw, err := store.Encode(m)
	if err != nil {
		return err
	}
	if r.Group != kinds.KueueGroup {
		return checkJob(ctx, st, r, old, m, raw)
	}
	var before []byte
	if old != nil {
		before = old.Raw
	}
	return denied(r, integration.ValidatePolicy(r.Kind, before, raw))
}

func checkJob(ctx context.Context, st *store.Store, r *resource, old *store.Object, m map[string]any, raw []byte) error {
	if err := checkRuntime(st, r, old, m); err != nil {
		return err
	}
	var err error
	if old == nil {
		err = integration.Validate(ctx, raw)
	} else {
		err = integration.ValidateUpdate(ctx, old.Raw, raw, hasDefaultQueue(st, object.Text(m, "metadata", "namespace")))
	}
	if !errors.Is(err, integration.ErrRefused) {
		return nil // the scheduler reports objects that it cannot use
	}
	return denied(r, errors.New(strings.TrimPrefix(err.Error(), integration.ErrRefused.Error()+": ")))
}

// checkRuntime refuses a job whose runtime does not exist, as its operator's webhook does.
func checkRuntime(st *store.Store, r *resource, old *store.Object, m map[string]any) error {
	k, _ := kinds.JobFor(r.GroupVersion(), r.Kind)
	if k.Runtime == nil || old != nil {
		return nil
	}
	ref, named := k.RuntimeOf(m)
	path := strings.Join(k.Runtime.Ref, ".")
	switch {
	case !named:
		return apierrors.NewInvalid(r.groupKind(), object.Text(m, "metadata", "name"), field.ErrorList{field.Required(field.NewPath(path), "")})
	case st.Get(ref.FullName(), ref.Namespace, ref.Name) == nil:
		return denied(r, fmt.Errorf("%s: Invalid value: %s %q not found: the runtime must be created before the %s", path, ref.Kind, ref.Name, r.Kind))
	}
	return nil
}

// denied returns the answer of an API server to a request that a webhook of Kueue refuses.
func denied(r *resource, err error) error {
	if err == nil {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: fmt.Sprintf("admission webhook %q denied the request: %v", "v"+strings.ToLower(r.Kind)+".kb.io", err)}}
}
