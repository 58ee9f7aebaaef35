package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of SparkApplication (v1beta2). Only names and types matter. Source: api/v1beta2 of the Spark operator
// v2.5; its module would add another release of the Kubernetes client.
type (
	sparkApplication struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec   sparkSpec `json:"spec"`
		Status any       `json:"status"`
	}

	sparkSpec struct {
		Suspend                   *bool             `json:"suspend"`
		Type                      string            `json:"type"`
		SparkVersion              string            `json:"sparkVersion"`
		Mode                      string            `json:"mode"`
		ProxyUser                 *string           `json:"proxyUser"`
		Image                     *string           `json:"image"`
		ImagePullPolicy           *string           `json:"imagePullPolicy"`
		ImagePullSecrets          []string          `json:"imagePullSecrets"`
		MainClass                 *string           `json:"mainClass"`
		MainApplicationFile       *string           `json:"mainApplicationFile"`
		Arguments                 []string          `json:"arguments"`
		SparkConf                 map[string]string `json:"sparkConf"`
		HadoopConf                map[string]string `json:"hadoopConf"`
		SparkConfigMap            *string           `json:"sparkConfigMap"`
		HadoopConfigMap           *string           `json:"hadoopConfigMap"`
		Volumes                   []corev1.Volume   `json:"volumes"`
		Driver                    sparkDriver       `json:"driver"`
		Executor                  sparkExecutor     `json:"executor"`
		Deps                      any               `json:"deps"`
		RestartPolicy             sparkRestart      `json:"restartPolicy"`
		NodeSelector              map[string]string `json:"nodeSelector"`
		FailureRetries            *int32            `json:"failureRetries"`
		RetryInterval             *int64            `json:"retryInterval"`
		PythonVersion             *string           `json:"pythonVersion"`
		MemoryOverheadFactor      *string           `json:"memoryOverheadFactor"`
		Monitoring                any               `json:"monitoring"`
		BatchScheduler            *string           `json:"batchScheduler"`
		TimeToLiveSeconds         *int64            `json:"timeToLiveSeconds"`
		BatchSchedulerOptions     any               `json:"batchSchedulerOptions"`
		SparkUIOptions            any               `json:"sparkUIOptions"`
		DriverIngressOptions      []any             `json:"driverIngressOptions"`
		DynamicAllocation         *sparkDynamic     `json:"dynamicAllocation"`
		DriverPodDisruptionBudget *bool             `json:"driverPodDisruptionBudget"`
	}

	sparkPod struct {
		Template                      map[string]any             `json:"template"` // of any fields, as in the definition
		Cores                         *int32                     `json:"cores"`
		CoreRequest                   *string                    `json:"coreRequest"`
		CoreLimit                     *string                    `json:"coreLimit"`
		Memory                        *string                    `json:"memory"`
		MemoryLimit                   *string                    `json:"memoryLimit"`
		MemoryOverhead                *string                    `json:"memoryOverhead"`
		GPU                           *sparkGPU                  `json:"gpu"`
		Image                         *string                    `json:"image"`
		ConfigMaps                    []any                      `json:"configMaps"`
		Secrets                       []any                      `json:"secrets"`
		Env                           []corev1.EnvVar            `json:"env"`
		EnvVars                       map[string]string          `json:"envVars"`
		EnvFrom                       []corev1.EnvFromSource     `json:"envFrom"`
		EnvSecretKeyRefs              map[string]any             `json:"envSecretKeyRefs"`
		Labels                        map[string]string          `json:"labels"`
		Annotations                   map[string]string          `json:"annotations"`
		VolumeMounts                  []corev1.VolumeMount       `json:"volumeMounts"`
		Affinity                      *corev1.Affinity           `json:"affinity"`
		Tolerations                   []corev1.Toleration        `json:"tolerations"`
		PodSecurityContext            *corev1.PodSecurityContext `json:"podSecurityContext"`
		SecurityContext               *corev1.SecurityContext    `json:"securityContext"`
		SchedulerName                 *string                    `json:"schedulerName"`
		Sidecars                      []corev1.Container         `json:"sidecars"`
		InitContainers                []corev1.Container         `json:"initContainers"`
		HostNetwork                   *bool                      `json:"hostNetwork"`
		NodeSelector                  map[string]string          `json:"nodeSelector"`
		DNSConfig                     *corev1.PodDNSConfig       `json:"dnsConfig"`
		TerminationGracePeriodSeconds *int64                     `json:"terminationGracePeriodSeconds"`
		ServiceAccount                *string                    `json:"serviceAccount"`
		HostAliases                   []corev1.HostAlias         `json:"hostAliases"`
		ShareProcessNamespace         *bool                      `json:"shareProcessNamespace"`
		JavaOptions                   *string                    `json:"javaOptions"`
		Lifecycle                     *corev1.Lifecycle          `json:"lifecycle"`
		Ports                         []any                      `json:"ports"`
		PriorityClassName             *string                    `json:"priorityClassName"`
	}

	sparkDriver struct {
		sparkPod           `json:",inline"`
		PodName            *string           `json:"podName"`
		KubernetesMaster   *string           `json:"kubernetesMaster"`
		ServiceAnnotations map[string]string `json:"serviceAnnotations"`
		ServiceLabels      map[string]string `json:"serviceLabels"`
	}

	sparkExecutor struct {
		sparkPod            `json:",inline"`
		Instances           *int32 `json:"instances"`
		DeleteOnTermination *bool  `json:"deleteOnTermination"`
	}

	sparkGPU struct {
		Name     string `json:"name"`
		Quantity int64  `json:"quantity"`
	}

	sparkRestart struct {
		Type                             string `json:"type"`
		OnSubmissionFailureRetries       *int32 `json:"onSubmissionFailureRetries"`
		OnFailureRetries                 *int32 `json:"onFailureRetries"`
		OnSubmissionFailureRetryInterval *int64 `json:"onSubmissionFailureRetryInterval"`
		OnFailureRetryInterval           *int64 `json:"onFailureRetryInterval"`
	}

	sparkDynamic struct {
		Enabled                bool   `json:"enabled"`
		InitialExecutors       *int32 `json:"initialExecutors"`
		MinExecutors           *int32 `json:"minExecutors"`
		MaxExecutors           *int32 `json:"maxExecutors"`
		ShuffleTrackingEnabled *bool  `json:"shuffleTrackingEnabled"`
		ShuffleTrackingTimeout *int64 `json:"shuffleTrackingTimeout"`
	}
)
