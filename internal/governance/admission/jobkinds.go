package admission

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/pytorchjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/tfjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/xgboostjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/mpijob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/raycluster"
	"sigs.k8s.io/kueue/pkg/controller/jobs/rayjob"
)

// integration is one job kind and Kueue's code for it.
type integration struct {
	gvk schema.GroupVersionKind
	new func() jobframework.GenericJob
	// defaults completes an object that did not pass through an API server, as
	// far as the integration relies on it.
	defaults func(client.Object)
}

var integrations = sync.OnceValue(func() []integration {
	var list []integration
	add := func(create func() jobframework.GenericJob, defaults func(client.Object)) {
		list = append(list, integration{gvk: create().GVK(), new: create, defaults: defaults})
	}
	add(func() jobframework.GenericJob { return pytorchjob.NewJob() }, nil)
	add(func() jobframework.GenericJob { return mpijob.NewJob() }, nil)
	add(func() jobframework.GenericJob { return newHyperPodJob() }, nil)
	add(func() jobframework.GenericJob { return batchjob.NewJob() }, func(o client.Object) {
		defaultBatchJob(&o.(*batchv1.Job).Spec)
	})
	add(func() jobframework.GenericJob { return jobset.NewJob() }, func(o client.Object) {
		js := o.(*jobsetapi.JobSet)
		for i := range js.Spec.ReplicatedJobs {
			r := &js.Spec.ReplicatedJobs[i]
			if r.Replicas == 0 {
				r.Replicas = 1
			}
			defaultBatchJob(&r.Template.Spec)
		}
	})
	add(func() jobframework.GenericJob { return new(rayjob.RayJob) }, nil)
	add(func() jobframework.GenericJob { return raycluster.NewJob() }, nil)
	add(func() jobframework.GenericJob { return tfjob.NewJob() }, nil)
	add(func() jobframework.GenericJob { return xgboostjob.NewJob() }, nil)
	return list
})

// defaultBatchJob sets what the API server sets and Kueue's integration
// dereferences without a check (podsCount in job_controller.go).
func defaultBatchJob(s *batchv1.JobSpec) {
	if s.Parallelism == nil && s.Completions == nil {
		s.Completions = ptr.To[int32](1)
	}
	if s.Parallelism == nil {
		s.Parallelism = ptr.To[int32](1)
	}
}
