package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields of the kind, which has no public Go type. Only names and types matter
// here. Source: the CRD of the HyperPod training operator as
// sagemaker-hyperpod-cli v3.9.0 models it.
type (
	hyperPodReplica struct {
		Name        string                 `json:"name"`
		Replicas    *int32                 `json:"replicas"`
		MaxReplicas *int32                 `json:"maxReplicas"`
		Spares      *int32                 `json:"spares"`
		Template    corev1.PodTemplateSpec `json:"template"`
	}
	hyperPodLogMonitor struct {
		Name                                string `json:"name"`
		LogPattern                          string `json:"logPattern"`
		StopPattern                         string `json:"stopPattern"`
		Operator                            string `json:"operator"`
		MetricThreshold                     any    `json:"metricThreshold"`
		MetricEvaluationDataPoints          *int32 `json:"metricEvaluationDataPoints"`
		ExpectedStartCutOffInSeconds        *int32 `json:"expectedStartCutOffInSeconds"`
		ExpectedRecurringFrequencyInSeconds *int32 `json:"expectedRecurringFrequencyInSeconds"`
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
	hyperPodJob struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              hyperPodJobSpec `json:"spec"`
		Status            any             `json:"status"`
	}
	hyperPodJobSpec struct {
		NprocPerNode  string                 `json:"nprocPerNode"`
		ReplicaSpecs  []hyperPodReplica      `json:"replicaSpecs"`
		RunPolicy     *hyperPodRunPolicy     `json:"runPolicy"`
		ElasticPolicy *hyperPodElasticPolicy `json:"elasticPolicy"`
	}
)
