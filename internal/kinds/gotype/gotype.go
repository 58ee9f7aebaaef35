// Package gotype has the Go types of the job kinds. It is apart from kinds because the
// types' packages link more than reading a cluster needs.
package gotype

import (
	"reflect"

	mpiv2 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	trainerv1 "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	wrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Of returns the Go type of a kind's objects, nil for a kind whose type
// is not linked. Its Spec has the
// fields that manifests may set.
func Of(k kinds.Job) reflect.Type {
	switch k.FullName() {
	case kinds.PyTorchJob.FullName():
		return reflect.TypeFor[trainingv1.PyTorchJob]()
	case kinds.TFJob.FullName():
		return reflect.TypeFor[trainingv1.TFJob]()
	case kinds.XGBoostJob.FullName():
		return reflect.TypeFor[trainingv1.XGBoostJob]()
	case kinds.JAXJob.FullName():
		return reflect.TypeFor[trainingv1.JAXJob]()
	case kinds.PaddleJob.FullName():
		return reflect.TypeFor[trainingv1.PaddleJob]()
	case kinds.MPIJob.FullName():
		return reflect.TypeFor[mpiv2.MPIJob]()
	case kinds.HyperPodPyTorchJob.FullName():
		return reflect.TypeFor[hyperPodJob]()
	case kinds.BatchJob.FullName():
		return reflect.TypeFor[batchv1.Job]()
	case kinds.JobSet.FullName():
		return reflect.TypeFor[jobset.JobSet]()
	case kinds.TrainJob.FullName():
		return reflect.TypeFor[trainerv1.TrainJob]()
	case kinds.RayJob.FullName():
		return reflect.TypeFor[rayJob]()
	case kinds.RayCluster.FullName():
		return reflect.TypeFor[rayCluster]()
	case kinds.RayService.FullName():
		return reflect.TypeFor[rayService]()
	case kinds.LeaderWorkerSet.FullName():
		return reflect.TypeFor[leaderWorkerSet]()
	case kinds.Notebook.FullName():
		return reflect.TypeFor[notebook]()
	case kinds.SparkApplication.FullName():
		return reflect.TypeFor[sparkApplication]()
	case kinds.Workspace.FullName():
		return reflect.TypeFor[workspace]()
	case kinds.InferenceEndpointConfig.FullName():
		return reflect.TypeFor[inferenceEndpointConfig]()
	case kinds.JumpStartModel.FullName():
		return reflect.TypeFor[jumpStartModel]()
	case kinds.AppWrapper.FullName():
		return reflect.TypeFor[wrapper.AppWrapper]()
	case kinds.Pod.FullName():
		return reflect.TypeFor[corev1.Pod]()
	case kinds.Deployment.FullName():
		return reflect.TypeFor[appsv1.Deployment]()
	case kinds.StatefulSet.FullName():
		return reflect.TypeFor[appsv1.StatefulSet]()
	}
	return nil
}
