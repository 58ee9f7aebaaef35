package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaderWorkerSet has the fields of LeaderWorkerSet (v1). Only names and types matter. Source: sigs.k8s.io/lws
// v0.9.0; its package would link its clients.
type leaderWorkerSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas             *int32 `json:"replicas"`
		LeaderWorkerTemplate struct {
			LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
			WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
			Size           *int32                  `json:"size"`
			RestartPolicy  string                  `json:"restartPolicy"`
			SubGroupPolicy *struct {
				SubGroupPolicyType string `json:"subGroupPolicyType"`
				SubGroupSize       *int32 `json:"subGroupSize"`
			} `json:"subGroupPolicy"`
			VolumeClaimTemplates                 []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates"`
			PersistentVolumeClaimRetentionPolicy any                            `json:"persistentVolumeClaimRetentionPolicy"`
		} `json:"leaderWorkerTemplate"`
		RolloutStrategy struct {
			Type                       string `json:"type"`
			RollingUpdateConfiguration any    `json:"rollingUpdateConfiguration"`
		} `json:"rolloutStrategy"`
		StartupPolicy string `json:"startupPolicy"`
		NetworkConfig *struct {
			SubdomainPolicy string `json:"subdomainPolicy"`
		} `json:"networkConfig"`
	} `json:"spec"`
	Status any `json:"status"`
}
