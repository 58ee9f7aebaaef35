package integration

import (
	"context"
	"slices"
	"sync"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/jaxjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/paddlejob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/pytorchjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/tfjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/xgboostjob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/mpijob"
	"sigs.k8s.io/kueue/pkg/controller/jobs/raycluster"
	"sigs.k8s.io/kueue/pkg/controller/jobs/rayjob"
	"sigs.k8s.io/kueue/pkg/features"
	utilpod "sigs.k8s.io/kueue/pkg/util/pod"
	"sigs.k8s.io/kueue/pkg/workloadslicing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// integration is one job kind and Kueue's code for it, or its description.
type integration struct {
	gvk schema.GroupVersionKind
	new func() jobframework.GenericJob
	// defaults completes an object that did not pass through an API server, as
	// far as the integration relies on it.
	defaults func(client.Object)
	// validate and validateUpdate are the validation of Kueue's webhook beyond the one of
	// every kind, nil where there is none.
	validate       func(context.Context, client.Object) error
	validateUpdate func(ctx context.Context, old, o client.Object) error
}

// webhook is what Kueue's webhooks have in common.
type webhook[T client.Object] interface {
	ValidateCreate(context.Context, T) (ctrladmission.Warnings, error)
	ValidateUpdate(ctx context.Context, old, o T) (ctrladmission.Warnings, error)
}

// ownWebhook is the validation of a kind's own webhook.
type ownWebhook struct {
	create func(context.Context, client.Object) error
	update func(ctx context.Context, old, o client.Object) error
}

func validated[T client.Object](w webhook[T]) *ownWebhook {
	return &ownWebhook{
		create: func(ctx context.Context, o client.Object) error {
			_, err := w.ValidateCreate(ctx, o.(T))
			return err
		},
		update: func(ctx context.Context, old, o client.Object) error {
			_, err := w.ValidateUpdate(ctx, old.(T), o.(T))
			return err
		},
	}
}

var integrations = sync.OnceValue(func() []integration {
	var list []integration
	add := func(create func() jobframework.GenericJob, defaults func(client.Object), own *ownWebhook) {
		in := integration{gvk: create().GVK(), new: create, defaults: defaults}
		if own != nil {
			in.validate, in.validateUpdate = own.create, own.update
		}
		list = append(list, in)
	}
	add(func() jobframework.GenericJob { return pytorchjob.NewJob() }, nil, nil)
	add(func() jobframework.GenericJob { return mpijob.NewJob() }, nil, validated(new(mpijob.MpiJobWebhook)))
	add(func() jobframework.GenericJob { return batchjob.NewJob() }, func(o client.Object) {
		defaultBatchJob(&o.(*batchv1.Job).Spec)
	}, validated(new(batchjob.JobWebhook)))
	add(func() jobframework.GenericJob { return jobset.NewJob() }, func(o client.Object) {
		js := o.(*jobsetapi.JobSet)
		for i := range js.Spec.ReplicatedJobs {
			r := &js.Spec.ReplicatedJobs[i]
			if r.Replicas == 0 {
				r.Replicas = 1
			}
			defaultBatchJob(&r.Template.Spec)
		}
	}, validated(new(jobset.JobSetWebhook)))
	add(func() jobframework.GenericJob { return new(rayjob.RayJob) }, func(o client.Object) {
		job := o.(*rayv1.RayJob)
		if job.Spec.SubmissionMode == "" {
			job.Spec.SubmissionMode = rayv1.K8sJobMode
		}
		if job.Spec.RayClusterSpec != nil {
			defaultRayCluster(job.Spec.RayClusterSpec)
		}
	}, validated(new(rayjob.RayJobWebhook)))
	add(func() jobframework.GenericJob { return raycluster.NewJob() }, func(o client.Object) {
		defaultRayCluster(&o.(*rayv1.RayCluster).Spec)
	}, validated(new(raycluster.RayClusterWebhook)))
	add(func() jobframework.GenericJob { return tfjob.NewJob() }, nil, nil)
	add(func() jobframework.GenericJob { return xgboostjob.NewJob() }, nil, nil)
	add(func() jobframework.GenericJob { return jaxjob.NewJob() }, nil, nil)
	add(func() jobframework.GenericJob { return paddlejob.NewJob() }, nil, nil)
	var out []integration // in the order of kinds, those without a row by their description
	for _, k := range kinds.Jobs() {
		i := slices.IndexFunc(list, func(in integration) bool { return in.gvk.Group == k.Group && in.gvk.Kind == k.Kind })
		if i >= 0 {
			out = append(out, list[i])
			continue
		}
		described := func() jobframework.GenericJob { return &describedJob{kind: k} }
		if k.Runtime != nil {
			described = func() jobframework.GenericJob { return &runtimeJob{describedJob{kind: k}} }
		}
		out = append(out, integration{gvk: described().GVK(), new: described})
	}
	return out
})

// defaultRayCluster sets the defaults of KubeRay's CRDs. A group of workers that gives
// no number of replicas has none.
func defaultRayCluster(s *rayv1.RayClusterSpec) {
	for i := range s.WorkerGroupSpecs {
		if g := &s.WorkerGroupSpecs[i]; g.Replicas == nil {
			g.Replicas = ptr.To[int32](0)
		}
	}
}

// gateElastic adds the scheduling gates of an elastic RayCluster, as Kueue's webhook does before it validates the object
// (Default in raycluster_webhook.go).
func gateElastic(o client.Object) {
	cluster, ok := o.(*rayv1.RayCluster)
	if !ok || !features.Enabled(features.ElasticJobsViaWorkloadSlices) || !workloadslicing.Enabled(o) {
		return
	}
	utilpod.GateTemplate(&cluster.Spec.HeadGroupSpec.Template, kueue.ElasticJobSchedulingGate)
	for i := range cluster.Spec.WorkerGroupSpecs {
		utilpod.GateTemplate(&cluster.Spec.WorkerGroupSpecs[i].Template, kueue.ElasticJobSchedulingGate)
	}
}

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
