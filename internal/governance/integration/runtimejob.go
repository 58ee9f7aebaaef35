package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ErrNoRuntime is returned (wrapped) for a job whose runtime was not found: the runtime defines the job's pods.
var ErrNoRuntime = errors.New("runtime not found")

// runtimeJob is a TrainJob: its pod sets are those of the JobSet that its operator makes,
// and Kueue leaves what it changes in a patch of the runtime (pkg/controller/jobs/trainjob).
// The object comes with its child (kinds.WithChild).
type runtimeJob struct{ describedJob }

func (j *runtimeJob) child() (*jobset.JobSet, error) {
	made := kinds.ChildOf(j.Unstructured.Object)
	if made == nil {
		ref, _ := j.kind.RuntimeOf(j.Unstructured.Object)
		return nil, fmt.Errorf("%w: %s %s", ErrNoRuntime, ref.Kind, ref.Name)
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	var out jobsetapi.JobSet
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	return (*jobset.JobSet)(&out), nil
}

func (j *runtimeJob) PodSets(ctx context.Context, c client.Client) ([]kueue.PodSet, error) {
	child, err := j.child()
	if err != nil {
		return nil, err
	}
	return child.PodSets(ctx, c)
}

// RunWithPodSetsInfo writes what each pod set gets into Kueue's patch.
func (j *runtimeJob) RunWithPodSetsInfo(_ context.Context, _ client.Client, infos []podset.PodSetInfo) error {
	child, err := j.child()
	if err != nil {
		return err
	}
	if want := len(child.Spec.ReplicatedJobs); len(infos) != want {
		return podset.BadPodSetsInfoLenError(want, len(infos))
	}
	jobs := make([]any, 0, len(infos))
	for _, info := range infos {
		pods := corev1.PodTemplateSpec{}
		pods.Labels, pods.Annotations = info.Labels, info.Annotations
		pods.Spec.NodeSelector, pods.Spec.Tolerations, pods.Spec.SchedulingGates = info.NodeSelector, info.Tolerations, info.SchedulingGates
		data, err := json.Marshal(pods)
		if err != nil {
			return err
		}
		var template map[string]any
		if err := json.Unmarshal(data, &template); err != nil {
			return err
		}
		if spec, ok := template["spec"].(map[string]any); ok {
			delete(spec, "containers") // null, which is not for a patch
		}
		jobs = append(jobs, map[string]any{"name": string(info.Name), "template": map[string]any{"spec": map[string]any{"template": template}}})
	}
	j.suspend(false)
	j.patch(jobs)
	return nil
}

func (j *runtimeJob) RestorePodSetsInfo(context.Context, []podset.PodSetInfo) bool {
	j.patch(nil)
	return true
}

// patch sets the jobs of Kueue's patch of the runtime, which its webhook adds to new jobs.
func (j *runtimeJob) patch(jobs []any) {
	spec := kinds.Child(j.Unstructured.Object, "spec")
	list, _ := spec["runtimePatches"].([]any)
	with := map[string]any{}
	if jobs != nil {
		with["replicatedJobs"] = jobs
	}
	entry := map[string]any{"manager": kinds.KueueManager, "trainingRuntimeSpec": map[string]any{"template": map[string]any{"spec": with}}}
	for i, p := range list {
		if kinds.Text(p, "manager") == kinds.KueueManager {
			list[i] = entry
			return
		}
	}
	spec["runtimePatches"] = append(list, entry)
}

var _ jobframework.GenericJob = (*runtimeJob)(nil)
