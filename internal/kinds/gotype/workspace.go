package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workspace has the fields of Workspace (v1alpha1). Only names and types matter. Source: the CRD in
// jupyter-infra/jupyter-k8s, config/crd.
type workspace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		AccessStrategy  *namedObject `json:"accessStrategy"`
		AccessType      string       `json:"accessType"`
		AppType         string       `json:"appType"`
		ContainerConfig *struct {
			Args    []string `json:"args"`
			Command []string `json:"command"`
		} `json:"containerConfig"`
		ContainerSecurityContext *corev1.SecurityContext      `json:"containerSecurityContext"`
		DesiredStatus            string                       `json:"desiredStatus"`
		DisplayName              string                       `json:"displayName"`
		Env                      []corev1.EnvVar              `json:"env"`
		IdleShutdown             any                          `json:"idleShutdown"`
		Image                    string                       `json:"image"`
		InitContainers           []corev1.Container           `json:"initContainers"`
		Lifecycle                *corev1.Lifecycle            `json:"lifecycle"`
		NodeSelector             map[string]string            `json:"nodeSelector"`
		Affinity                 *corev1.Affinity             `json:"affinity"`
		OwnershipType            string                       `json:"ownershipType"`
		PodSecurityContext       *corev1.PodSecurityContext   `json:"podSecurityContext"`
		ReadinessProbe           *corev1.Probe                `json:"readinessProbe"`
		Resources                *corev1.ResourceRequirements `json:"resources"`
		ServiceAccountName       string                       `json:"serviceAccountName"`
		Storage                  *struct {
			MountPath        string `json:"mountPath"`
			Size             any    `json:"size"`
			StorageClassName string `json:"storageClassName"`
		} `json:"storage"`
		TemplateRef *namedObject        `json:"templateRef"`
		Tolerations []corev1.Toleration `json:"tolerations"`
		Volumes     []struct {
			Name                      string `json:"name"`
			MountPath                 string `json:"mountPath"`
			PersistentVolumeClaimName string `json:"persistentVolumeClaimName"`
		} `json:"volumes"`
	} `json:"spec"`
	Status any `json:"status"`
}

type namedObject struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}
