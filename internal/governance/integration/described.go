package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ErrPodsElsewhere is returned (wrapped) for a job that does not say what its pods need.
var ErrPodsElsewhere = errors.New("it does not say what its pods need")

// describedJob is a job of a kind whose integration of Kueue's is not linked, by the
// kind's description: HyperPodPyTorchJob, which Kueue knows only as an external framework
// whose operator makes the Workload, and the kinds whose integrations link too much.
type describedJob struct {
	unstructured.Unstructured
	kind kinds.Job
}

var _ jobframework.GenericJob = (*describedJob)(nil)

func (j *describedJob) Object() client.Object { return &j.Unstructured }

func (j *describedJob) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: j.kind.Group, Version: j.kind.Version, Kind: j.kind.Kind}
}

// IsSuspended reads the suspend field. A kind without one counts as suspended as long as
// none of its pods is ready, as for Kueue.
func (j *describedJob) IsSuspended() bool {
	if len(j.kind.SuspendPath) == 0 {
		n, _ := kinds.Number(j.Unstructured.Object, j.kind.Status.Ready)
		return n == 0
	}
	on, _ := kinds.At(j.Unstructured.Object, j.kind.SuspendPath...).(bool)
	return on
}

func (j *describedJob) suspend(on bool) {
	if len(j.kind.SuspendPath) > 0 {
		_ = unstructured.SetNestedField(j.Unstructured.Object, on, j.kind.SuspendPath...)
	}
}

func (j *describedJob) Suspend() { j.suspend(true) }

// parts returns the parts of the job with their typed pod templates, whole or as Kueue sees them.
func (j *describedJob) parts(seen bool) ([]kinds.Part, []corev1.PodTemplateSpec, error) {
	parts := j.kind.Parts(j.Unstructured.Object)
	out := make([]corev1.PodTemplateSpec, len(parts))
	for i, p := range parts {
		t := p.Template
		if seen && j.kind.Seen != nil {
			t = j.kind.Seen(j.Unstructured.Object, p.Name, t)
		}
		data, err := json.Marshal(t)
		if err == nil {
			err = json.Unmarshal(data, &out[i])
		}
		if err != nil {
			return nil, nil, fmt.Errorf("pod template of %s: %w", p.Name, err)
		}
	}
	return parts, out, nil
}

// PodSets makes one pod set of each part.
func (j *describedJob) PodSets(context.Context, client.Client) ([]kueue.PodSet, error) {
	parts, templates, err := j.parts(true)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 && j.kind.PodsElsewhere(j.Unstructured.Object) {
		return nil, ErrPodsElsewhere
	}
	if len(parts) == 0 {
		var at []string
		if j.kind.RolesOf != nil || j.kind.Form != nil {
			return nil, errors.New("it has no pods")
		}
		for _, r := range j.kind.Roles {
			at = append(at, strings.Join(slices.Concat(r.Path, r.Template), "."))
		}
		return nil, fmt.Errorf("it has no pods: no template at %s", strings.Join(at, " or "))
	}
	out := make([]kueue.PodSet, 0, len(parts))
	for i, p := range parts {
		n := p.Replicas + p.Spares
		if n > math.MaxInt32 || n < 0 {
			return nil, fmt.Errorf("%s: %d pods", p.Name, n)
		}
		ps := kueue.PodSet{Name: kueue.NewPodSetReference(p.PodSet), Template: templates[i], Count: int32(n)}
		if p.PodSet == "" {
			ps.Name = kueue.DefaultPodSetName
		}
		if features.Enabled(features.TopologyAwareScheduling) {
			t, err := jobframework.NewPodSetTopologyRequest(&templates[i].ObjectMeta).
				PodIndexLabel(given(p.Order.Index)).SubGroup(given(p.Order.Group), given(p.Order.Groups)).Build()
			if err != nil {
				return nil, err
			}
			ps.TopologyRequest = t
		}
		out = append(out, ps)
	}
	return out, nil
}

// given returns a pointer to a value, nil for none.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// edit changes the pod templates and writes back what changed, so that fields that this
// program does not know stay as they are.
func (j *describedJob) edit(n int, change func(i int, t *corev1.PodTemplateSpec) (bool, error)) (bool, error) {
	if j.kind.Form != nil {
		j.kind.Unfold(j.Unstructured.Object)
	}
	parts, templates, err := j.parts(false)
	if err != nil {
		return false, err
	}
	if len(parts) != n {
		return false, podset.BadPodSetsInfoLenError(len(parts), n)
	}
	touched := false
	for i := range parts {
		changed, err := change(i, &templates[i])
		if err != nil {
			return false, err
		}
		if !changed {
			continue
		}
		touched = true
		t, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&templates[i])
		if err != nil {
			return false, err
		}
		for key, fields := range map[string][]string{"metadata": {"labels", "annotations"}, "spec": {"nodeSelector", "tolerations", "schedulingGates"}} {
			from, _ := t[key].(map[string]any)
			to, ok := parts[i].Template[key].(map[string]any)
			if !ok {
				to = map[string]any{}
				parts[i].Template[key] = to
			}
			for _, field := range fields { // what podset.Merge and RestorePodSpec change
				if to[field] = from[field]; from[field] == nil {
					delete(to, field)
				}
			}
		}
	}
	if j.kind.Form != nil {
		return touched, j.kind.Fold(j.Unstructured.Object)
	}
	return touched, nil
}

func (j *describedJob) RunWithPodSetsInfo(ctx context.Context, _ client.Client, infos []podset.PodSetInfo) error {
	j.suspend(false)
	if j.kind.Assign != nil {
		return j.assign(infos)
	}
	_, err := j.edit(len(infos), func(i int, t *corev1.PodTemplateSpec) (bool, error) {
		return true, podset.Merge(discard, &t.ObjectMeta, &t.Spec, infos[i])
	})
	return err
}

// assign writes what each pod set gets where the kind keeps it.
func (j *describedJob) assign(infos []podset.PodSetInfo) error {
	if want := len(j.kind.Parts(j.Unstructured.Object)); len(infos) != want {
		return podset.BadPodSetsInfoLenError(want, len(infos))
	}
	list := make([]map[string]any, len(infos))
	for i, info := range infos {
		data, err := json.Marshal(map[string]any{"labels": info.Labels, "annotations": info.Annotations, "nodeSelector": info.NodeSelector,
			"tolerations": info.Tolerations, "schedulingGates": info.SchedulingGates})
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &list[i]); err != nil {
			return err
		}
		maps.DeleteFunc(list[i], func(_ string, v any) bool { return v == nil })
	}
	j.kind.Assign(j.Unstructured.Object, list)
	return nil
}

func (j *describedJob) RestorePodSetsInfo(_ context.Context, infos []podset.PodSetInfo) bool {
	if j.kind.Assign != nil {
		return j.kind.Assign(j.Unstructured.Object, nil)
	}
	changed, err := j.edit(len(infos), func(i int, t *corev1.PodTemplateSpec) (bool, error) {
		return podset.RestorePodSpec(&t.ObjectMeta, &t.Spec, infos[i]), nil
	})
	return err == nil && changed
}

// Finished, IsActive and PodsReady read what the operator reports; nothing here asks.
func (j *describedJob) Finished(context.Context) (string, bool, bool) { return "", false, false }
func (j *describedJob) IsActive() bool                                { return false }
func (j *describedJob) PodsReady(context.Context, client.Client) bool { return false }
