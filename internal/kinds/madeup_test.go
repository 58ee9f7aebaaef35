package kinds

import (
	"fmt"
	"testing"
)

// A kind of the training operators is described by its name and the field of its roles.
func TestDescription(t *testing.T) {
	k := mastered(kubeflow("OddJob", "oddjobs", "oddReplicaSpecs", "odd"))
	object := map[string]any{
		"metadata": map[string]any{"name": "x"},
		"spec": map[string]any{"oddReplicaSpecs": map[string]any{
			"Master": map[string]any{"template": map[string]any{}},
			"Worker": map[string]any{"replicas": int64(3), "template": map[string]any{}},
		}},
	}
	roles := map[string]int64{}
	for _, p := range k.Parts(object) {
		roles[p.Name] = p.Replicas
	}
	if fmt.Sprint(roles) != "map[Master:1 Worker:3]" {
		t.Errorf("roles %v", roles)
	}
	if s := k.PodSelector(object); s != "training.kubeflow.org/job-name=x" {
		t.Error(s)
	}
	if p := k.PodRole(map[string]string{replicaTypeLabel: "worker", replicaIndexLabel: "1"}, roles); p != (PodRole{"Worker", 1, 2}) {
		t.Errorf("%+v", p)
	}
	if p := k.Path("ns", "x"); p != "/apis/kubeflow.org/v1/namespaces/ns/oddjobs/x" {
		t.Error(p)
	}
}

// Every kind says what commands read of it.
func TestDescriptionsAreComplete(t *testing.T) {
	for _, k := range Jobs() {
		if k.Style == "" || k.PodLabel == "" && len(k.SelectorAt)+len(k.SelectorText) == 0 && !k.Itself || len(k.Roles) == 0 && k.RolesOf == nil && k.Runtime == nil && k.Form == nil || k.Operator == "" {
			t.Errorf("%s lacks a part: %+v", k.Kind, k)
		}
		if Installed(k.Group) == (k.Operator == Kubernetes) {
			t.Errorf("%s: its group is taken for the wrong one", k.Kind)
		}
	}
}
