package integration

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

var discard = logr.Discard()

// StartJob returns the job as Kueue leaves it when its workload is admitted (startJob in Kueue's
// jobframework/reconciler.go): unsuspended, with the node labels and tolerations of the assigned flavors, the
// labels of the pod set and queue, and the number of pods of a partial admission. Other fields are those of the
// input. lookup must know the assigned flavors. The result is JSON.
func StartJob(ctx context.Context, job []byte, wl *kueue.Workload, lookup Lookup) ([]byte, error) {
	if wl.Status.Admission == nil {
		return nil, fmt.Errorf("workload %s/%s is not admitted", wl.Namespace, wl.Name)
	}
	c := clientFor(lookup)
	return changeJob(job, func(gj jobframework.GenericJob) error {
		infos, err := podSetInfos(ctx, c, wl)
		if err != nil {
			return err
		}
		return gj.RunWithPodSetsInfo(ctx, c, infos)
	})
}

// SuspendJob returns the job as Kueue leaves it after an eviction: suspended, its
// pod templates as they were when the workload was made. The result is JSON.
func SuspendJob(ctx context.Context, job []byte, wl *kueue.Workload) ([]byte, error) {
	return changeJob(job, func(gj jobframework.GenericJob) error {
		gj.Suspend()
		if wl != nil {
			gj.RestorePodSetsInfo(ctx, jobframework.GetPodSetsInfoFromWorkload(wl))
		}
		return nil
	})
}

// changeJob applies a change made on the typed object to the original document,
// as a merge patch, so that fields the types do not have survive.
func changeJob(job []byte, change func(jobframework.GenericJob) error) ([]byte, error) {
	gj, original, err := parseJob(job)
	if err != nil {
		return nil, err
	}
	if original, err = withoutChild(original); err != nil {
		return nil, err
	}
	what := gj.GVK().Kind + " " + gj.Object().GetName()
	var out []byte
	err = embedded.Guard(what, func() error {
		before, err := json.Marshal(gj.Object())
		if err != nil {
			return err
		}
		if err := change(gj); err != nil {
			return err
		}
		after, err := json.Marshal(gj.Object())
		if err != nil {
			return err
		}
		patch, err := jsonpatch.CreateMergePatch(before, after)
		if err != nil {
			return err
		}
		out, err = jsonpatch.MergePatch(original, patch)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// podSetInfos returns what an admission adds to each pod template
// (getPodSetsInfoFromStatus in Kueue's jobframework/reconciler.go).
func podSetInfos(ctx context.Context, c client.Client, wl *kueue.Workload) ([]podset.PodSetInfo, error) {
	assigned := wl.Status.Admission.PodSetAssignments
	if len(assigned) > len(wl.Spec.PodSets) {
		return nil, fmt.Errorf("workload %s: status.admission and the spec have different numbers of pod sets: %d and %d", wl.Name, len(assigned), len(wl.Spec.PodSets))
	}
	out := make([]podset.PodSetInfo, 0, len(assigned))
	for i := range assigned {
		info, err := podset.FromAssignment(ctx, c, &assigned[i], &wl.Spec.PodSets[i])
		if err != nil {
			return nil, err
		}
		if features.Enabled(features.TopologyAwareScheduling) {
			info.Annotations[kueue.WorkloadAnnotation] = wl.Name
		}
		info.Labels[constants.PodSetLabel] = string(assigned[i].Name)
		if features.Enabled(features.AssignQueueLabelsForPods) {
			info.Labels[constants.LocalQueueLabel] = string(wl.Spec.QueueName)
			if cq := string(wl.Status.Admission.ClusterQueue); len(validation.IsDNS1123Label(cq)) == 0 {
				info.Labels[constants.ClusterQueueLabel] = cq
			}
		}
		for _, check := range wl.Status.AdmissionChecks {
			for u := range check.PodSetUpdates {
				if check.PodSetUpdates[u].Name != info.Name {
					continue
				}
				if err := info.Merge(podset.FromUpdate(&check.PodSetUpdates[u])); err != nil {
					return nil, fmt.Errorf("admission check %s: %w", check.Name, err)
				}
				break
			}
		}
		out = append(out, info)
	}
	return out, nil
}

// withoutChild returns a job as an API server has it (kinds.WithChild).
func withoutChild(job []byte) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(job, &object); err != nil || kinds.ChildOf(object) == nil {
		return job, err
	}
	return json.Marshal(kinds.WithoutChild(object))
}
