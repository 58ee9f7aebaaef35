package api

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/gotype"
)

// resource is a kind that the sandbox serves.
type resource struct {
	kinds.Resource
	// builtin returns an empty value of a built-in kind's Go type, for validation and
	// strategic merge patches; nil for custom resources.
	builtin func() any
	// schema returns an empty value of the Go type behind a custom resource's schema;
	// nil if there is none.
	schema func() any
	// status means that the kind has a status subresource.
	status bool
	// generation means that metadata.generation counts changes of the spec.
	generation bool
	// virtual means that objects can only be created and are never stored.
	virtual    bool
	categories []string
	columns    []column
}

func (r *resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

func (r *resource) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

func (r *resource) singular() string { return strings.ToLower(r.Kind) }

func (r *resource) verbs() []string {
	if r.virtual {
		return []string{"create"}
	}
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

func builtin[T any](r kinds.Resource, status, generation bool, columns ...column) *resource {
	return &resource{Resource: r, builtin: func() any { return new(T) }, status: status, generation: generation, columns: columns}
}

func custom(r kinds.Resource, columns ...column) *resource {
	return &resource{Resource: r, status: true, generation: true, columns: columns}
}

// checked returns a custom resource with a schema from a Go type.
func checked[T any](r kinds.Resource, columns ...column) *resource {
	out := custom(r, columns...)
	out.schema = func() any { return new(T) }
	return out
}

func virtual(r kinds.Resource) *resource { return &resource{Resource: r, virtual: true} }

// Kinds that only the sandbox uses. It stores them so that manifests with several
// documents can be applied. Only the RBAC objects, the reviews and the
// PodDisruptionBudgets have an effect.
var (
	lease = kinds.Resource{Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true}

	daemonSet     = kinds.Resource{Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true, Short: []string{"ds"}}
	replicaSet    = kinds.Resource{Group: "apps", Version: "v1", Plural: "replicasets", Kind: "ReplicaSet", Namespaced: true, Short: []string{"rs"}}
	cronJob       = kinds.Resource{Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true, Short: []string{"cj"}}
	ingress       = kinds.Resource{Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true, Short: []string{"ing"}}
	networkPolicy = kinds.Resource{Group: "networking.k8s.io", Version: "v1", Plural: "networkpolicies", Kind: "NetworkPolicy", Namespaced: true, Short: []string{"netpol"}}
	claim         = kinds.Resource{Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaims", Kind: "ResourceClaim", Namespaced: true}
	budget        = kinds.Resource{Group: "policy", Version: "v1", Plural: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true, Short: []string{"pdb"}}
	storageClass  = kinds.Resource{Group: "storage.k8s.io", Version: "v1", Plural: "storageclasses", Kind: "StorageClass", Short: []string{"sc"}}

	selfRules   = review("selfsubjectrulesreviews", "SelfSubjectRulesReview")
	anyAccess   = review("subjectaccessreviews", "SubjectAccessReview")
	localAccess = kinds.Resource{Group: "authorization.k8s.io", Version: "v1", Plural: "localsubjectaccessreviews", Kind: "LocalSubjectAccessReview", Namespaced: true}
	selfReview  = kinds.Resource{Group: "authentication.k8s.io", Version: "v1", Plural: "selfsubjectreviews", Kind: "SelfSubjectReview"}
)

func review(plural, kind string) kinds.Resource {
	return kinds.Resource{Group: "authorization.k8s.io", Version: "v1", Plural: plural, Kind: kind}
}

// table returns the served kinds, in the order of discovery.
func table() []*resource {
	out := []*resource{
		builtin[corev1.Namespace](kinds.Namespace, true, false, namespaceColumns...),
		builtin[corev1.Node](kinds.Node, true, false, nodeColumns...),
		builtin[corev1.Pod](kinds.Pod, true, true, podColumns...),
		builtin[corev1.Event](kinds.Event, false, false, eventColumns...),
		builtin[corev1.ConfigMap](kinds.ConfigMap, false, false, configMapColumns...),
		builtin[corev1.LimitRange](kinds.LimitRange, false, false),
		builtin[corev1.ServiceAccount](kinds.ServiceAccount, false, false),
		builtin[corev1.Service](kinds.Service, true, false),
		builtin[corev1.Secret](kinds.Secret, false, false),
		builtin[corev1.PersistentVolumeClaim](kinds.PersistentVolumeClaim, true, false),
		builtin[corev1.PersistentVolume](kinds.PersistentVolume, true, false),
		builtin[corev1.ResourceQuota](kinds.ResourceQuota, true, false),
		builtin[nodev1.RuntimeClass](kinds.RuntimeClass, false, false),
		builtin[appsv1.Deployment](kinds.Deployment, true, true),
		builtin[appsv1.StatefulSet](kinds.StatefulSet, true, true),
		builtin[appsv1.DaemonSet](daemonSet, true, true),
		builtin[appsv1.ReplicaSet](replicaSet, true, true),
		builtin[coordinationv1.Lease](lease, false, false),
		builtin[batchv1.CronJob](cronJob, true, true),
		builtin[networkingv1.Ingress](ingress, true, true),
		builtin[networkingv1.NetworkPolicy](networkPolicy, false, true),
		builtin[policyv1.PodDisruptionBudget](budget, true, true),
		builtin[rbacv1.Role](kinds.RBACRole, false, false),
		builtin[rbacv1.RoleBinding](kinds.RBACRoleBinding, false, false, bindingColumns...),
		builtin[rbacv1.ClusterRole](kinds.RBACClusterRole, false, false),
		builtin[rbacv1.ClusterRoleBinding](kinds.RBACClusterRoleBinding, false, false, bindingColumns...),
		builtin[resourcev1.ResourceClaim](claim, true, false),
		builtin[resourcev1.ResourceClaimTemplate](kinds.ResourceClaimTemplate, false, false),
		builtin[resourcev1.DeviceClass](kinds.DeviceClass, false, true),
		builtin[resourcev1.ResourceSlice](kinds.ResourceSlice, false, true),
		builtin[storagev1.StorageClass](storageClass, false, false),
		builtin[batchv1.Job](kinds.BatchJob.Resource, true, true, batchJobColumns...),
		builtin[schedulingv1.PriorityClass](kinds.PriorityClass, false, false, priorityClassColumns...),
		virtual(kinds.SelfSubjectAccessReview), virtual(anyAccess), virtual(localAccess), virtual(selfRules), virtual(selfReview),
	}
	for _, j := range kinds.Jobs() {
		if j.Operator != kinds.Kubernetes { // those are above
			r := custom(j.Resource, jobColumns(j)...)
			if t := gotype.Of(j); t != nil {
				r.schema = func() any { return reflect.New(t).Interface() }
			}
			out = append(out, r)
		}
		if j.Runtime != nil {
			for _, r := range j.Runtime.Kinds {
				out = append(out, custom(r))
			}
		}
	}
	for _, r := range out {
		if r.Kind == "Pod" || r.Kind == "Service" || r.Kind == "Job" {
			r.categories = []string{"all"}
		}
	}
	return append(out,
		checked[kueue.ClusterQueue](kinds.ClusterQueue, clusterQueueColumns...),
		checked[kueue.LocalQueue](kinds.LocalQueue, localQueueColumns...),
		checked[kueue.Cohort](kinds.Cohort),
		checked[kueue.ResourceFlavor](kinds.ResourceFlavor),
		checked[kueue.Topology](kinds.Topology),
		checked[kueue.AdmissionCheck](kinds.AdmissionCheck),
		checked[kueue.WorkloadPriorityClass](kinds.WorkloadPriorityClass, priorityClassColumns...),
		checked[kueue.Workload](kinds.Workload, workloadColumns...),
	)
}

// servedGroup is an API group and its versions, the preferred one first.
type servedGroup struct {
	name     string
	versions []string
}

func (g servedGroup) gv(version string) schema.GroupVersion {
	return schema.GroupVersion{Group: g.name, Version: version}
}

// groups returns the served API groups sorted by name, the core group ("") first.
func (s *Server) groups() []servedGroup {
	var out []servedGroup
	for _, r := range s.resources {
		i := slices.IndexFunc(out, func(g servedGroup) bool { return g.name == r.Group })
		if i < 0 {
			i = len(out)
			out = append(out, servedGroup{name: r.Group})
		}
		if !slices.Contains(out[i].versions, r.Version) {
			out[i].versions = append(out[i].versions, r.Version)
		}
	}
	slices.SortStableFunc(out, func(a, b servedGroup) int { return strings.Compare(a.name, b.name) })
	return out
}

// versions returns every served API version, group by group.
func (s *Server) versions() []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, g := range s.groups() {
		for _, v := range g.versions {
			out = append(out, g.gv(v))
		}
	}
	return out
}

func (s *Server) find(group, version, plural string) *resource {
	for _, r := range s.resources {
		if r.Group == group && r.Version == version && r.Plural == plural {
			return r
		}
	}
	return nil
}
