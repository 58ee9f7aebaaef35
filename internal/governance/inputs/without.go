package inputs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Job names a job by kind, namespace and name.
type Job struct{ Kind, Namespace, Name string }

// Has reports whether a job has an unfinished workload.
func (in *Inputs) Has(j Job) bool { return slices.ContainsFunc(in.Workloads, j.owns) }

// Waits reports whether Kueue keeps a job from running: its workload is not admitted, or, if it is a pod, its gate is there.
func (in *Inputs) Waits(j Job) bool {
	if j.Kind == kinds.PodKind.Kind {
		return slices.ContainsFunc(in.Pods, func(p *corev1.Pod) bool {
			return p.Namespace == j.Namespace && p.Name == j.Name &&
				slices.ContainsFunc(p.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == kinds.Gate })
		})
	}
	return slices.ContainsFunc(in.Workloads, func(w *kueue.Workload) bool {
		return j.owns(w) && !apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted)
	})
}

// Without returns the inputs without the workloads and pods of a job: what they are once
// it is deleted. The receiver does not change.
func (in *Inputs) Without(j Job) *Inputs {
	out := *in
	out.Workloads = slices.DeleteFunc(slices.Clone(in.Workloads), j.owns)
	var pods labels.Selector = labels.Nothing()
	if k, ok := kinds.JobNamed(j.Kind); ok {
		text := k.PodSelector(map[string]any{"metadata": map[string]any{"name": j.Name}})
		if s, err := labels.Parse(text); err == nil && text != "" {
			pods = s
		}
	}
	out.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(p *corev1.Pod) bool {
		return p.Namespace == j.Namespace && pods.Matches(labels.Set(p.Labels))
	})
	return &out
}

// owns reports whether a workload belongs to the job.
func (j Job) owns(w *kueue.Workload) bool {
	o := jobOwner(w)
	return o != nil && w.Namespace == j.Namespace && o.Name == j.Name && o.Kind == j.Kind
}
