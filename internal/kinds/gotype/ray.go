package gotype

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of KubeRay v1.7: the linked types are those of v1.6. A cluster with an older
// operator refuses the newer fields itself. Source: ray-operator/apis/ray/v1 of v1.7.0.
type (
	rayCluster struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec   rayClusterSpec `json:"spec"`
		Status any            `json:"status"`
	}

	rayJob struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec   rayJobSpec `json:"spec"`
		Status any        `json:"status"`
	}

	rayService struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`

		Spec   rayServiceSpec `json:"spec"`
		Status any            `json:"status"`
	}

	rayJobSpec struct {
		rayv1.RayJobSpec `json:",inline"`
		RayClusterSpec   *rayClusterSpec `json:"rayClusterSpec"`
	}

	rayServiceSpec struct {
		rayv1.RayServiceSpec `json:",inline"`
		RayClusterSpec       rayClusterSpec `json:"rayClusterConfig"`
		Suspend              bool           `json:"suspend"`
	}

	rayClusterSpec struct {
		rayv1.RayClusterSpec     `json:",inline"`
		AutoscalerOptions        *rayAutoscaler     `json:"autoscalerOptions"`
		GcsFaultToleranceOptions *rayFaultTolerance `json:"gcsFaultToleranceOptions"`
		HeadGroupSpec            rayHead            `json:"headGroupSpec"`
		WorkerGroupSpecs         []rayWorkers       `json:"workerGroupSpecs"`
		HistoryServerOptions     any                `json:"historyServerOptions"`
		NetworkPolicy            any                `json:"networkPolicy"`
		TLSOptions               *struct {
			Enabled *bool `json:"enabled"`
		} `json:"tlsOptions"`
	}

	rayAutoscaler struct {
		rayv1.AutoscalerOptions `json:",inline"`
		Command                 []string `json:"command"`
		Args                    []string `json:"args"`
	}

	rayFaultTolerance struct {
		rayv1.GcsFaultToleranceOptions `json:",inline"`
		Backend                        string `json:"backend"`
		Storage                        any    `json:"storage"`
	}

	rayHead struct {
		rayv1.HeadGroupSpec `json:",inline"`
		IngressOptions      any `json:"ingressOptions"`
	}

	rayWorkers struct {
		rayv1.WorkerGroupSpec `json:",inline"`
		Priority              *int32 `json:"priority"`
	}
)
