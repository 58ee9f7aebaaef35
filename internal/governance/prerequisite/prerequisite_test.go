package prerequisite

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The API server copies the old name of the service account to the new one.
func TestServiceAccounts(t *testing.T) {
	for _, spec := range []corev1.PodSpec{{ServiceAccountName: "a"}, {DeprecatedServiceAccount: "a"}, {ServiceAccountName: "a", DeprecatedServiceAccount: "b"}} {
		refs := References([]Pods{{Template: corev1.PodTemplateSpec{Spec: spec}}})
		if len(refs) != 1 || refs[0].Resource.Kind != kinds.ServiceAccount.Kind || refs[0].Name != "a" {
			t.Errorf("%+v: %+v", spec, refs)
		}
	}
}
