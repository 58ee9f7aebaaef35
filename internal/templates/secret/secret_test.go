package secret

import (
	"fmt"
	"testing"
)

func TestField(t *testing.T) {
	for path, want := range map[string]bool{
		"spec.containers[0].env[1].value": true, "env[0].value": true, "spec.env[0]": true, "spec.env.TOKEN": true, "spec.env": true,
		"spec.containers[0].env[1].name": false, "spec.env[0].valueFrom.secretKeyRef.name": false,
		"spec.envFrom[0].secretRef.name": false, "spec.environment": false, "spec.image": false,
		"data.token": true, "stringData.token": true, "dataset": false, "spec.data.x": false,
		"metadata.annotations.kubectl.kubernetes.io/last-applied-configuration": true,
	} {
		if got := Field("Secret", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if Field("ConfigMap", "data.a") || !Field("", "data.a") {
		t.Error("data of a kind")
	}
}

func TestHide(t *testing.T) {
	v := []any{map[string]any{"image": "i", "env": []any{map[string]any{"name": "A", "value": "s3cret"}}}}
	if got, want := fmt.Sprint(Hide("Pod", "spec.containers", v)), "[map[env:[map[name:A value:(not shown)]] image:i]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
