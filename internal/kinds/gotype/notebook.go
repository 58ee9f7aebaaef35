package gotype

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// notebook has the fields of Notebook (v1). Only names and types matter. Source: the CRD of
// Kubeflow's notebook controller (v1.10).
type notebook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Template struct {
			Metadata any            `json:"metadata"`
			Spec     corev1.PodSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status any `json:"status"`
}
