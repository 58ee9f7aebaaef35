package schema

import (
	"reflect"
	"slices"
	"sync"

	rayv1alpha1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
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
	Only             bool // the fields are those of this version alone
}

// Shapes returns the kinds whose fields are known. Callers do not change the result.
func Shapes() []Shape { return shapes() }

// shapes makes the types once: a file of many objects needs them several times for each.
var shapes = sync.OnceValue(func() []Shape {
	var out []Shape
	for _, k := range kinds.Jobs() {
		t := gotype.Of(k)
		if t == nil {
			continue
		}
		if spec, ok := t.FieldByName("Spec"); ok {
			out = append(out, Shape{k.GroupVersion(), k.Kind, fields(spec.Type), false})
		}
	}
	return slices.Concat(out, companions(), formerRay())
})

// companions are the kinds that manifests bring along with their jobs.
func companions() []Shape {
	out := []Shape{
		{APIVersion: "batch/v1", Kind: "CronJob", Type: reflect.TypeFor[batchv1.CronJob]()},
		{APIVersion: "apps/v1", Kind: "DaemonSet", Type: reflect.TypeFor[appsv1.DaemonSet]()},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Type: reflect.TypeFor[appsv1.ReplicaSet]()},
	}
	only := func(version string, t reflect.Type) {
		out = append(out, Shape{APIVersion: version, Kind: t.Name(), Type: t, Only: true})
	}
	only("v1", reflect.TypeFor[corev1.Namespace]())
	only("v1", reflect.TypeFor[corev1.Service]())
	only("v1", reflect.TypeFor[corev1.ConfigMap]())
	only("v1", reflect.TypeFor[corev1.Secret]())
	only("v1", reflect.TypeFor[corev1.ServiceAccount]())
	only("v1", reflect.TypeFor[corev1.PersistentVolumeClaim]())
	only("v1", reflect.TypeFor[corev1.PersistentVolume]())
	only("v1", reflect.TypeFor[corev1.LimitRange]())
	only("v1", reflect.TypeFor[corev1.ResourceQuota]())
	only("networking.k8s.io/v1", reflect.TypeFor[networkingv1.Ingress]())
	only("networking.k8s.io/v1", reflect.TypeFor[networkingv1.NetworkPolicy]())
	only("policy/v1", reflect.TypeFor[policyv1.PodDisruptionBudget]())
	only("rbac.authorization.k8s.io/v1", reflect.TypeFor[rbacv1.Role]())
	only("rbac.authorization.k8s.io/v1", reflect.TypeFor[rbacv1.RoleBinding]())
	only("rbac.authorization.k8s.io/v1", reflect.TypeFor[rbacv1.ClusterRole]())
	only("rbac.authorization.k8s.io/v1", reflect.TypeFor[rbacv1.ClusterRoleBinding]())
	only("resource.k8s.io/v1", reflect.TypeFor[resourcev1.ResourceClaim]())
	only("resource.k8s.io/v1", reflect.TypeFor[resourcev1.ResourceClaimTemplate]())
	only("resource.k8s.io/v1", reflect.TypeFor[resourcev1.DeviceClass]())
	only("scheduling.k8s.io/v1", reflect.TypeFor[schedulingv1.PriorityClass]())
	only("storage.k8s.io/v1", reflect.TypeFor[storagev1.StorageClass]())
	only("node.k8s.io/v1", reflect.TypeFor[nodev1.RuntimeClass]())
	return out
}

// formerRay are the kinds of KubeRay's v1alpha1, which has fields that v1 lacks and lacks
// others.
func formerRay() []Shape {
	of := func(k kinds.Job, spec reflect.Type) Shape {
		return Shape{APIVersion: k.Group + "/v1alpha1", Kind: k.Kind, Type: fields(spec), Only: true}
	}
	return []Shape{
		of(kinds.RayCluster, reflect.TypeFor[rayv1alpha1.RayClusterSpec]()),
		of(kinds.RayJob, reflect.TypeFor[rayv1alpha1.RayJobSpec]()),
		of(kinds.RayService, reflect.TypeFor[rayv1alpha1.RayServiceSpec]()),
	}
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

// exact reports whether the fields of this very version of a kind are known.
func exact(apiVersion, kind string) bool {
	return slices.ContainsFunc(Shapes(), func(s Shape) bool { return s.Only && s.APIVersion == apiVersion && s.Kind == kind })
}

// shapeOf returns the Go type with the fields of a kind, nil for kinds that are not checked.
func shapeOf(apiVersion, kind string) reflect.Type {
	var found reflect.Type
	for _, s := range Shapes() {
		switch {
		case s.Kind != kind:
		case s.APIVersion == apiVersion:
			return s.Type
		case !s.Only && manifest.GroupOf(s.APIVersion) == manifest.GroupOf(apiVersion):
			found = s.Type
		}
	}
	return found
}
