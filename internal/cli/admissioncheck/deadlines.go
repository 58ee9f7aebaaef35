package admissioncheck

import (
	"cmp"
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// limited is what of a job says how long it may run: beside the switch that
// suspends it, in the spec or its run policy. Source: batch/v1 JobSpec, Kubeflow's
// RunPolicy, KubeRay's RayJobSpec. It also has who created the job.
type limited struct {
	Metadata struct {
		UID       string `json:"uid"`
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Labels    struct {
			Creator string `json:"sagemaker.user/created-by"` // kinds.CreatedByLabel
		} `json:"labels"`
		Annotations struct {
			Creator string `json:"cli.hyperpod/created-by"` // kinds.CreatedByAnnotation
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Seconds   *int64 `json:"activeDeadlineSeconds"`
		RunPolicy struct {
			Seconds *int64 `json:"activeDeadlineSeconds"`
		} `json:"runPolicy"`
	} `json:"spec"`
	// Reported is what a TrainJob says about its progress (Kubeflow Trainer v2.2).
	Status struct {
		Reported struct {
			Left *int64      `json:"estimatedRemainingSeconds"`
			At   metav1.Time `json:"lastUpdatedTime"`
		} `json:"trainerStatus"`
	} `json:"status"`
}

// left returns the remaining run time that a job reports, at a time; 0 for none.
func (l limited) left(now time.Time) time.Duration {
	r := l.Status.Reported
	if r.Left == nil {
		return 0
	}
	left := time.Duration(*r.Left) * time.Second
	if !r.At.IsZero() {
		left -= now.Sub(r.At.Time)
	}
	return max(left, time.Second)
}

// Deadlines reads what the jobs that hold quota say about their end, which Kueue does
// not copy to their workloads: one list for each kind that holds some, or one for
// each of its namespaces where all may not be listed. What cannot be read has none. It notes who created the jobs in
// creators, which may be nil.
func Deadlines(ctx context.Context, c *factory.Cluster, in *inputs.Inputs, creators *Creators) func(*kueue.Workload) forecast.StatedEnd {
	type kind struct {
		kinds.Resource
		namespaces map[string]bool
	}
	wanted := map[string]kind{} // by name
	for _, w := range in.Workloads {
		o := metav1.GetControllerOf(w)
		if o == nil || !inputs.Reserves(w) {
			continue
		}
		if k, ok := kinds.JobFor(o.APIVersion, o.Kind); ok && (w.Spec.MaximumExecutionTimeSeconds == nil || k.Runtime != nil) {
			if _, again := wanted[k.FullName()]; !again {
				wanted[k.FullName()] = kind{k.Resource, map[string]bool{}}
			}
			wanted[k.FullName()].namespaces[w.Namespace] = true
		}
	}
	found := map[string]forecast.StatedEnd{} // by UID
	var mu sync.Mutex
	var wg crash.Group
	read := func(r kinds.Resource, namespace string) error {
		page, err := kube.List[limited](ctx, c.Client, r, namespace, kube.ListOptions{})
		mu.Lock()
		defer mu.Unlock()
		for _, j := range page.Items {
			told := forecast.StatedEnd{Left: j.left(in.Taken)}
			for _, s := range []*int64{j.Spec.Seconds, j.Spec.RunPolicy.Seconds} {
				if s != nil && *s > 0 {
					told.Deadline = time.Duration(*s) * time.Second
				}
			}
			found[j.Metadata.UID] = told
			creators.note(jobKey{r.Kind, j.Metadata.Namespace, j.Metadata.Name}, cmp.Or(j.Metadata.Labels.Creator, j.Metadata.Annotations.Creator))
		}
		return err
	}
	for _, k := range wanted {
		wg.Go(func() {
			err := read(k.Resource, "")
			if err == nil {
				creators.noteAll(k.Kind)
			}
			if !kube.IsForbidden(err) {
				return
			}
			for ns := range k.namespaces {
				_ = read(k.Resource, ns)
			}
		})
	}
	wg.Wait()
	return func(w *kueue.Workload) forecast.StatedEnd { return found[inputs.OwnerUID(w)] }
}
