package schema

import (
	"reflect"

	mpiv2 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// The fields of the job kind that has no public Go type. Only names and types
// matter here. Source: the CRD of the HyperPod training operator as
// sagemaker-hyperpod-cli v3.9.0 models it.
type (
	anyValue any

	hyperPodReplica struct {
		Name        string                 `json:"name"`
		Replicas    *int32                 `json:"replicas"`
		MaxReplicas *int32                 `json:"maxReplicas"`
		Spares      *int32                 `json:"spares"`
		Template    corev1.PodTemplateSpec `json:"template"`
	}
	hyperPodLogMonitor struct {
		Name                                string   `json:"name"`
		LogPattern                          string   `json:"logPattern"`
		StopPattern                         string   `json:"stopPattern"`
		Operator                            string   `json:"operator"`
		MetricThreshold                     anyValue `json:"metricThreshold"`
		MetricEvaluationDataPoints          *int32   `json:"metricEvaluationDataPoints"`
		ExpectedStartCutOffInSeconds        *int32   `json:"expectedStartCutOffInSeconds"`
		ExpectedRecurringFrequencyInSeconds *int32   `json:"expectedRecurringFrequencyInSeconds"`
	}
	hyperPodRestart struct {
		EvalPeriodSeconds              *int32 `json:"evalPeriodSeconds"`
		MaxFullJobRestarts             *int32 `json:"maxFullJobRestarts"`
		NumRestartBeforeFullJobRestart *int32 `json:"numRestartBeforeFullJobRestart"`
		MaxNumRepeatOffendersToAvoid   *int32 `json:"maxNumRepeatOffendersToAvoid"`
		ScaleUpSnoozeTimeInSeconds     *int32 `json:"scaleUpSnoozeTimeInSeconds"`
	}
	hyperPodRunPolicy struct {
		ActiveDeadlineSeconds      *int64               `json:"activeDeadlineSeconds"`
		CleanPodPolicy             *string              `json:"cleanPodPolicy"`
		FaultDeadlineSeconds       *int32               `json:"faultDeadlineSeconds"`
		JobMaxRetryCount           *int32               `json:"jobMaxRetryCount"`
		LogMonitoringConfiguration []hyperPodLogMonitor `json:"logMonitoringConfiguration"`
		RestartPolicy              *hyperPodRestart     `json:"restartPolicy"`
		StartupDeadlineSeconds     *int32               `json:"startupDeadlineSeconds"`
		Suspend                    *bool                `json:"suspend"`
		TTLSecondsAfterFinished    *int32               `json:"ttlSecondsAfterFinished"`
		WorkloadMode               string               `json:"workloadMode"`
	}
	hyperPodElasticPolicy struct {
		MinReplicas                      *int32  `json:"minReplicas"`
		MaxReplicas                      *int32  `json:"maxReplicas"`
		ReplicaIncrementStep             *int32  `json:"replicaIncrementStep"`
		ReplicaDiscreteValues            []int32 `json:"replicaDiscreteValues"`
		ScalingTimeoutInSeconds          *int32  `json:"scalingTimeoutInSeconds"`
		GracefulShutdownTimeoutInSeconds *int32  `json:"gracefulShutdownTimeoutInSeconds"`
		FaultyScaleDownTimeoutInSeconds  *int32  `json:"faultyScaleDownTimeoutInSeconds"`
	}
	hyperPodJobSpec struct {
		NprocPerNode  string                 `json:"nprocPerNode"`
		ReplicaSpecs  []hyperPodReplica      `json:"replicaSpecs"`
		RunPolicy     *hyperPodRunPolicy     `json:"runPolicy"`
		ElasticPolicy *hyperPodElasticPolicy `json:"elasticPolicy"`
	}
)

// object is the shape of a kind whose spec is known.
type object[S any] struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Spec       S                 `json:"spec"`
	Status     anyValue          `json:"status"`
}

// Shape is the Go type whose fields a kind of object has. A template may say any
// version of the kind's API group.
type Shape struct {
	APIVersion, Kind string
	Type             reflect.Type
}

// Shapes returns the kinds whose fields are known.
func Shapes() []Shape {
	return []Shape{
		{"kubeflow.org/v1", "PyTorchJob", reflect.TypeFor[object[trainingv1.PyTorchJobSpec]]()},
		{"kubeflow.org/v2beta1", "MPIJob", reflect.TypeFor[object[mpiv2.MPIJobSpec]]()},
		{"kubeflow.org/v1", "TFJob", reflect.TypeFor[object[trainingv1.TFJobSpec]]()},
		{"kubeflow.org/v1", "XGBoostJob", reflect.TypeFor[object[trainingv1.XGBoostJobSpec]]()},
		{"jobset.x-k8s.io/v1alpha2", "JobSet", reflect.TypeFor[object[jobset.JobSetSpec]]()},
		{"ray.io/v1", "RayJob", reflect.TypeFor[object[rayv1.RayJobSpec]]()},
		{"ray.io/v1", "RayCluster", reflect.TypeFor[object[rayv1.RayClusterSpec]]()},
		{"sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob", reflect.TypeFor[object[hyperPodJobSpec]]()},
		{"batch/v1", "Job", reflect.TypeFor[batchv1.Job]()},
		{"apps/v1", "Deployment", reflect.TypeFor[appsv1.Deployment]()},
		{"apps/v1", "StatefulSet", reflect.TypeFor[appsv1.StatefulSet]()},
		{"v1", "Pod", reflect.TypeFor[corev1.Pod]()},
		{"v1", "Service", reflect.TypeFor[corev1.Service]()},
		{"v1", "ConfigMap", reflect.TypeFor[corev1.ConfigMap]()},
		{"v1", "Secret", reflect.TypeFor[corev1.Secret]()},
		{"v1", "PersistentVolumeClaim", reflect.TypeFor[corev1.PersistentVolumeClaim]()},
		{"v1", "ServiceAccount", reflect.TypeFor[corev1.ServiceAccount]()},
	}
}

// VersionOf is the API version of a kind whose fields are known, "" for others.
func VersionOf(kind string) string {
	for _, s := range Shapes() {
		if s.Kind == kind {
			return s.APIVersion
		}
	}
	return ""
}

// Knows tells the kinds whose fields are known.
func Knows(apiVersion, kind string) bool { return shapeOf(apiVersion, kind) != nil }

// shapeOf returns the Go type whose fields a kind has, nil for kinds that are
// passed through as they are.
func shapeOf(apiVersion, kind string) reflect.Type {
	for _, s := range Shapes() {
		if s.Kind == kind && manifest.GroupOf(s.APIVersion) == manifest.GroupOf(apiVersion) {
			return s.Type
		}
	}
	return nil
}
