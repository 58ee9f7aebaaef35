package prerequisite

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// A claim of a StatefulSet's own takes the place of the volume with its name.
func TestClaimTemplates(t *testing.T) {
	volume := func(name string) any {
		return map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": "claim-" + name}}
	}
	refs := References(PodsOf(map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": map[string]any{
		"template":             map[string]any{"spec": map[string]any{"volumes": []any{volume("a"), volume("b")}}},
		"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "a"}}},
	}}))
	if len(refs) != 1 || refs[0].Name != "claim-b" {
		t.Errorf("got %+v", refs)
	}
}

// The API server copies the old name of the service account to the new one.
func TestServiceAccounts(t *testing.T) {
	for _, spec := range []corev1.PodSpec{{ServiceAccountName: "a"}, {DeprecatedServiceAccount: "a"}, {ServiceAccountName: "a", DeprecatedServiceAccount: "b"}} {
		refs := References([]Pods{{Template: corev1.PodTemplateSpec{Spec: spec}}})
		if len(refs) != 1 || refs[0].Resource.Kind != kinds.ServiceAccount.Kind || refs[0].Name != "a" {
			t.Errorf("%+v: %+v", spec, refs)
		}
	}
}
