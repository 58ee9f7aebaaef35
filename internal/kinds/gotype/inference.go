package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the HyperPod inference operator's kinds (v1). Only names and types matter. Source: the CRDs in
// aws/sagemaker-hyperpod-cli, helm_chart.
type (
	inferenceEndpointConfig struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec   endpointSpec `json:"spec"`
		Status any          `json:"status"`
	}

	endpointSpec struct {
		servingSpec         `json:",inline"`
		InitialReplicaCount *int32   `json:"InitialReplicaCount"`
		EndpointName        string   `json:"endpointName"`
		InstanceType        string   `json:"instanceType"`
		InstanceTypes       []string `json:"instanceTypes"`
		InvocationEndpoint  string   `json:"invocationEndpoint"`
		Kubernetes          *struct {
			InitContainers     []corev1.Container `json:"initContainers"`
			SchedulerName      string             `json:"schedulerName"`
			ServiceAccountName string             `json:"serviceAccountName"`
			Volumes            []corev1.Volume    `json:"volumes"`
		} `json:"kubernetes"`
		ModelName         string               `json:"modelName"`
		ModelSourceConfig any                  `json:"modelSourceConfig"`
		ModelVersion      string               `json:"modelVersion"`
		NodeAffinity      *corev1.NodeAffinity `json:"nodeAffinity"`
		PDSpec            *struct {
			AutoScalingSpec  any         `json:"autoScalingSpec"`
			DecodingSpec     servingRole `json:"decodingSpec"`
			PrefillSpec      servingRole `json:"prefillSpec"`
			RoutingThreshold *int32      `json:"routingThreshold"`
			TopologySpec     any         `json:"topologySpec"`
		} `json:"pdSpec"`
		Tags   []any         `json:"tags"`
		Worker servingWorker `json:"worker"`
	}

	servingRole struct {
		Args         []string                    `json:"args"`
		NodeSelector map[string]string           `json:"nodeSelector"`
		Replicas     *int32                      `json:"replicas"`
		Resources    corev1.ResourceRequirements `json:"resources"`
	}

	servingWorker struct {
		Args                 []string        `json:"args"`
		Command              []string        `json:"command"`
		EnvironmentVariables []corev1.EnvVar `json:"environmentVariables"`
		Image                string          `json:"image"`
		ModelInvocationPort  struct {
			ContainerPort int32  `json:"containerPort"`
			Name          string `json:"name"`
		} `json:"modelInvocationPort"`
		ModelVolumeMount struct {
			MountPath string `json:"mountPath"`
			Name      string `json:"name"`
		} `json:"modelVolumeMount"`
		Probes        any                         `json:"probes"`
		RequestLimits any                         `json:"requestLimits"`
		Resources     corev1.ResourceRequirements `json:"resources"`
		WorkingDir    string                      `json:"workingDir"`
	}

	jumpStartModel struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			servingSpec          `json:",inline"`
			EnvironmentVariables []corev1.EnvVar `json:"environmentVariables"`
			Model                struct {
				AcceptEula             *bool  `json:"acceptEula"`
				AdditionalConfigs      []any  `json:"additionalConfigs"`
				GatedModelDownloadRole string `json:"gatedModelDownloadRole"`
				ModelHubName           string `json:"modelHubName"`
				ModelID                string `json:"modelId"`
				ModelVersion           string `json:"modelVersion"`
			} `json:"model"`
			SageMakerEndpoint any `json:"sageMakerEndpoint"`
			Server            struct {
				AcceleratorPartitionType string `json:"acceleratorPartitionType"`
				ExecutionRole            string `json:"executionRole"`
				InstanceType             string `json:"instanceType"`
				Validations              any    `json:"validations"`
			} `json:"server"`
		} `json:"spec"`
		Status any `json:"status"`
	}

	// servingSpec are the fields of both kinds. HyperPod's pages about model deployment describe modelCacheConfig, which is
	// newer than the CRDs.
	servingSpec struct {
		AutoScalingSpec        any    `json:"autoScalingSpec"`
		DataCapture            any    `json:"dataCapture"`
		DNSConfig              any    `json:"dnsConfig"`
		IntelligentRoutingSpec any    `json:"intelligentRoutingSpec"`
		KVCacheSpec            any    `json:"kvCacheSpec"`
		LoadBalancer           any    `json:"loadBalancer"`
		MaxDeployTimeInSeconds *int32 `json:"maxDeployTimeInSeconds"`
		Metrics                any    `json:"metrics"`
		ModelCacheConfig       *struct {
			ImageCache   any `json:"imageCache"`
			WeightsCache any `json:"weightsCache"`
		} `json:"modelCacheConfig"`
		Replicas  *int32 `json:"replicas"`
		TLSConfig any    `json:"tlsConfig"`
	}
)
