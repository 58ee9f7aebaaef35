package openapi

import (
	"strings"
	"testing"
)

// document has the forms of API servers: references of built-in kinds, and the whole schema of a custom resource.
const document = `{"openapi": "3.0.0", "components": {"schemas": {
  "io.k8s.api.batch.v1.Job": {"type": "object", "properties": {
      "metadata": {"allOf": [{"$ref": "#/components/schemas/meta"}], "default": {}},
      "spec": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.batch.v1.JobSpec"}], "default": {}}},
    "x-kubernetes-group-version-kind": [{"group": "batch", "kind": "Job", "version": "v1"}]},
  "io.k8s.api.batch.v1.JobSpec": {"type": "object", "properties": {
      "parallelism": {"type": "integer"}, "again": {"$ref": "#/components/schemas/io.k8s.api.batch.v1.JobSpec"},
      "rules": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/rule"}]}}}},
  "rule": {"type": "object", "properties": {"action": {"type": "string"}}},
  "meta": {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}},
  "twice": {"allOf": [{"$ref": "#/components/schemas/twice"}, {"$ref": "#/components/schemas/twice"}]},
  "loop": {"$ref": "#/components/schemas/loop"},
  "org.kubeflow.v1.PyTorchJob": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
      "replicaSpecs": {"type": "object", "additionalProperties": {"type": "object", "properties": {"new": {"type": "integer"}}}},
      "twice": {"allOf": [{"$ref": "#/components/schemas/twice"}, {"$ref": "#/components/schemas/twice"}]},
  "loop": {"$ref": "#/components/schemas/loop"},
      "twice": {"$ref": "#/components/schemas/twice"},
      "either": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {}}}]},
      "no": {"type": "object", "additionalProperties": false}, "any": {"type": "object", "additionalProperties": true},
      "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
    "x-kubernetes-group-version-kind": [{"group": "kubeflow.org", "kind": "PyTorchJob", "version": "v1"}]},
  "empty": null}}}`

func TestHas(t *testing.T) {
	d, err := Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, path string
		has        bool
	}{
		{"Job", "spec.parallelism", true},
		{"Job", "spec.paralelism", false},
		{"Job", "status", false},
		{"Job", "spec.again.again.parallelism", true},
		{"Job", "spec.rules.3.action", true},
		{"Job", "spec.rules.3.new", false},
		{"Job", "metadata.labels.x", true},
		{"Job", "metadata.labels.x.y", false},
		{"PyTorchJob", "spec.replicaSpecs.Worker.new", true},
		{"PyTorchJob", "spec.replicaSpecs.Worker.old", false},
		{"PyTorchJob", "spec.loop", true},
		{"PyTorchJob", "spec.loop.a", false},
		{"PyTorchJob", "spec.twice.a", false},
		{"PyTorchJob", "spec.either.a", true},
		{"PyTorchJob", "spec.either.b", false},
		{"PyTorchJob", "spec.no.a", false},
		{"PyTorchJob", "spec.any.a.b", true},
		{"PyTorchJob", "spec.raw.a.b", true},
	} {
		group := map[string]string{"Job": "batch", "PyTorchJob": "kubeflow.org"}[c.kind]
		if has, known := d.Has(group, "v1", c.kind, strings.Split(c.path, ".")); has != c.has || !known {
			t.Errorf("%s %s: %v %v", c.kind, c.path, has, known)
		}
	}
	if has, known := d.Has("batch", "v2", "Job", []string{"spec"}); has || known {
		t.Error("another version is known")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(document), "spec.loop.a")
	f.Fuzz(func(_ *testing.T, data []byte, path string) {
		if d, err := Read(data); err == nil {
			d.Has("kubeflow.org", "v1", "PyTorchJob", strings.Split(path, "."))
		}
	})
}
