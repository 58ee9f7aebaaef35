package admission

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/podset"
)

// hyperPodJob is the HyperPod training operator's kind. Kueue knows it only as an
// external framework: the operator makes the Workload. Its shape is taken from
// the operator's documentation: spec.replicaSpecs[] with name, replicas, spares
// and template, spec.runPolicy.suspend to hold it back. Spare pods hold devices
// like the others, so they are counted; that is an assumption.
type hyperPodJob struct{ unstructured.Unstructured }

var hyperPodGVK = schema.GroupVersionKind{Group: "sagemaker.amazonaws.com", Version: "v1", Kind: "HyperPodPyTorchJob"}

var _ jobframework.GenericJob = (*hyperPodJob)(nil)

func newHyperPodJob() *hyperPodJob { return &hyperPodJob{} }

// hyperPodReplica is one element of spec.replicaSpecs.
type hyperPodReplica struct {
	Name     string                 `json:"name"`
	Replicas *int32                 `json:"replicas"`
	Spares   *int32                 `json:"spares"`
	Template corev1.PodTemplateSpec `json:"template"`
}

func (j *hyperPodJob) Object() client.Object        { return &j.Unstructured }
func (j *hyperPodJob) GVK() schema.GroupVersionKind { return hyperPodGVK }

func (j *hyperPodJob) IsSuspended() bool {
	on, _, _ := unstructured.NestedBool(j.Unstructured.Object, "spec", "runPolicy", "suspend")
	return on
}

func (j *hyperPodJob) suspend(on bool) {
	_ = unstructured.SetNestedField(j.Unstructured.Object, on, "spec", "runPolicy", "suspend")
}

func (j *hyperPodJob) Suspend() { j.suspend(true) }

// replicas returns the raw elements and their typed form.
func (j *hyperPodJob) replicas() ([]any, []hyperPodReplica, error) {
	raw, _, err := unstructured.NestedSlice(j.Unstructured.Object, "spec", "replicaSpecs")
	if err != nil {
		return nil, nil, err
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return nil, nil, err
	}
	var typed []hyperPodReplica
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, nil, fmt.Errorf("spec.replicaSpecs: %w", err)
	}
	return raw, typed, nil
}

// PodSets makes one pod set of each element, as the jobframework asks for.
func (j *hyperPodJob) PodSets(context.Context, client.Client) ([]kueue.PodSet, error) {
	_, replicas, err := j.replicas()
	if err != nil {
		return nil, err
	}
	out := make([]kueue.PodSet, 0, len(replicas))
	for i := range replicas {
		r := &replicas[i]
		ps := kueue.PodSet{Name: kueue.NewPodSetReference(r.Name), Template: r.Template, Count: 1}
		if r.Name == "" {
			ps.Name = kueue.DefaultPodSetName
		}
		if r.Replicas != nil {
			ps.Count = *r.Replicas
		}
		if r.Spares != nil {
			ps.Count += *r.Spares
		}
		if features.Enabled(features.TopologyAwareScheduling) {
			t, err := jobframework.NewPodSetTopologyRequest(&r.Template.ObjectMeta).Build()
			if err != nil {
				return nil, err
			}
			ps.TopologyRequest = t
		}
		out = append(out, ps)
	}
	return out, nil
}

// edit changes the pod templates and writes back those that changed, so that
// fields this program does not know stay as they are.
func (j *hyperPodJob) edit(n int, change func(i int, t *corev1.PodTemplateSpec) (bool, error)) (bool, error) {
	raw, replicas, err := j.replicas()
	if err != nil {
		return false, err
	}
	if len(replicas) != n {
		return false, podset.BadPodSetsInfoLenError(len(replicas), n)
	}
	touched := false
	for i := range replicas {
		changed, err := change(i, &replicas[i].Template)
		if err != nil {
			return false, err
		}
		if changed {
			touched = true
			t, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&replicas[i].Template)
			if err != nil {
				return false, err
			}
			raw[i].(map[string]any)["template"] = t
		}
	}
	return touched, unstructured.SetNestedSlice(j.Unstructured.Object, raw, "spec", "replicaSpecs")
}

func (j *hyperPodJob) RunWithPodSetsInfo(ctx context.Context, _ client.Client, infos []podset.PodSetInfo) error {
	j.suspend(false)
	_, err := j.edit(len(infos), func(i int, t *corev1.PodTemplateSpec) (bool, error) {
		return true, podset.Merge(discard, &t.ObjectMeta, &t.Spec, infos[i])
	})
	return err
}

func (j *hyperPodJob) RestorePodSetsInfo(_ context.Context, infos []podset.PodSetInfo) bool {
	changed, err := j.edit(len(infos), func(i int, t *corev1.PodTemplateSpec) (bool, error) {
		return podset.RestorePodSpec(&t.ObjectMeta, &t.Spec, infos[i]), nil
	})
	return err == nil && changed
}

// Finished, IsActive and PodsReady read what the operator reports; nothing here asks.
func (j *hyperPodJob) Finished(context.Context) (string, bool, bool) { return "", false, false }
func (j *hyperPodJob) IsActive() bool                                { return false }
func (j *hyperPodJob) PodsReady(context.Context, client.Client) bool { return false }
