package schema

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/gotype"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// fields returns the type of an object whose spec is known. Its status is not checked.
func fields(spec reflect.Type) reflect.Type {
	of := func(name, key string, t reflect.Type) reflect.StructField {
		return reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(`json:"` + key + `"`)}
	}
	return reflect.StructOf([]reflect.StructField{
		of("APIVersion", "apiVersion", reflect.TypeFor[string]()), of("Kind", "kind", reflect.TypeFor[string]()),
		of("Metadata", "metadata", reflect.TypeFor[metav1.ObjectMeta]()), of("Spec", "spec", spec),
		of("Status", "status", reflect.TypeFor[any]()),
	})
}

// Shape is the Go type with the fields of a kind. A template may use any version of the kind's API group.
type Shape struct {
	APIVersion, Kind string
	Type             reflect.Type
}

// Shapes returns the kinds whose fields are known.
func Shapes() []Shape {
	var out []Shape
	for _, k := range kinds.Jobs() {
		t := gotype.Of(k)
		if t == nil {
			continue
		}
		if spec, ok := t.FieldByName("Spec"); ok {
			out = append(out, Shape{k.GroupVersion(), k.Kind, fields(spec.Type)})
		}
	}
	return append(out, []Shape{
		{"batch/v1", "CronJob", reflect.TypeFor[batchv1.CronJob]()},
		{"apps/v1", "DaemonSet", reflect.TypeFor[appsv1.DaemonSet]()},
		{"apps/v1", "ReplicaSet", reflect.TypeFor[appsv1.ReplicaSet]()},
		{"v1", "Service", reflect.TypeFor[corev1.Service]()},
		{"v1", "ConfigMap", reflect.TypeFor[corev1.ConfigMap]()},
		{"v1", "Secret", reflect.TypeFor[corev1.Secret]()},
		{"v1", "PersistentVolumeClaim", reflect.TypeFor[corev1.PersistentVolumeClaim]()},
		{"v1", "ServiceAccount", reflect.TypeFor[corev1.ServiceAccount]()},
	}...)
}

// VersionOf returns the API version of a kind with known fields, "" for others.
func VersionOf(kind string) string {
	for _, s := range Shapes() {
		if s.Kind == kind {
			return s.APIVersion
		}
	}
	return ""
}

// Knows reports whether the fields of a kind are known.
func Knows(apiVersion, kind string) bool { return shapeOf(apiVersion, kind) != nil }

// shapeOf returns the Go type with the fields of a kind, nil for kinds that are not checked.
func shapeOf(apiVersion, kind string) reflect.Type {
	for _, s := range Shapes() {
		if s.Kind == kind && manifest.GroupOf(s.APIVersion) == manifest.GroupOf(apiVersion) {
			return s.Type
		}
	}
	return nil
}
