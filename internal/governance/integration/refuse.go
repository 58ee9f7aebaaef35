package integration

import (
	"context"
	"encoding/json"
	"strings"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/raycluster"
	"sigs.k8s.io/kueue/pkg/features"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

var _ jobframework.JobWithCustomValidation = (*describedJob)(nil)

// ValidateOnCreate runs what Kueue's webhook for the kind adds to the rules of every kind.
func (j *describedJob) ValidateOnCreate(ctx context.Context) (field.ErrorList, error) {
	var all field.ErrorList
	if j.kind.Refuse != nil {
		if at, why := j.kind.Refuse(j.Unstructured.Object); why != "" {
			all = append(all, refusedField(at, why))
		}
	}
	if j.kind.Kind == kinds.RayService.Kind && j.kind.Group == kinds.RayService.Group && jobframework.QueueName(j) != "" {
		more, err := j.rayService()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	if j.kind.ChecksTopology && features.Enabled(features.TopologyAwareScheduling) {
		all = append(all, j.topologyFaults(ctx)...)
	}
	return all, nil
}

// ValidateOnUpdate has no rules of its own.
func (j *describedJob) ValidateOnUpdate(context.Context, jobframework.GenericJob) (field.ErrorList, error) {
	return nil, nil
}

// refusedField is an error in the words of a kind's description, which begin with the type of the error where it has one.
func refusedField(at, why string) *field.Error {
	for _, kind := range []field.ErrorType{field.ErrorTypeRequired, field.ErrorTypeForbidden} {
		if rest, ok := strings.CutPrefix(why, kind.String()+": "); ok {
			return &field.Error{Type: kind, Field: at, Detail: rest}
		}
	}
	return &field.Error{Type: field.ErrorTypeInvalid, Field: at, BadValue: field.OmitValueType{}, Detail: why}
}

// rayService are the rules about the cluster of a RayService (pkg/controller/jobs/rayservice/rayservice_webhook.go).
func (j *describedJob) rayService() (field.ErrorList, error) {
	spec := &rayv1.RayClusterSpec{}
	cluster := kinds.At(j.Unstructured.Object, "spec", "rayClusterConfig")
	data, err := json.Marshal(cluster)
	if err == nil {
		err = json.Unmarshal(data, spec)
	}
	if err != nil || cluster == nil {
		return nil, err
	}
	return raycluster.ValidateCreate(&j.Unstructured, spec, field.NewPath("spec", "rayClusterConfig")), nil
}

// topologyFaults are those of the topology annotations of the pods.
func (j *describedJob) topologyFaults(ctx context.Context) (all field.ErrorList) {
	_, templates, err := j.parts(true)
	if err != nil {
		return nil // the pod sets say so
	}
	sets, setsErr := j.PodSets(ctx, nil)
	paths := map[kueue.PodSetReference]*field.Path{}
	for i, p := range j.kind.PlacedParts(j.Unstructured.Object) {
		meta := field.NewPath("metadata")
		if len(p.At) > 0 {
			meta = field.NewPath(p.At[0], p.At[1:]...).Child("metadata")
		}
		all = append(all, jobframework.ValidateTASPodSetRequest(meta, &templates[i].ObjectMeta)...)
		if setsErr == nil {
			all = append(all, jobframework.ValidateSliceSizeAnnotationUpperBound(meta, &templates[i].ObjectMeta, &sets[i])...)
			paths[sets[i].Name] = meta.Child("annotations")
		}
	}
	if setsErr == nil {
		all = append(all, jobframework.ValidatePodSetGroupingTopology(sets, paths)...)
	}
	return all
}
