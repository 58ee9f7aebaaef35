package api

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// resource is a kind that the sandbox serves.
type resource struct {
	kinds.Resource
	// builtin makes an empty value of the Go type of a built-in kind, which
	// decides how a strategic merge patch works and what a valid object is; nil
	// for custom resources.
	builtin func() any
	// status: the kind has a status subresource.
	status bool
	// generation: changes of the spec are counted.
	generation bool
	// virtual kinds can only be created and are never stored.
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

func virtual(r kinds.Resource) *resource { return &resource{Resource: r, virtual: true} }

// Kinds that only the sandbox has a use for: they are stored so that manifests
// with several documents can be applied, and nothing acts on them.
var (
	secret = kinds.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
	claim  = kinds.Resource{Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true, Short: []string{"pvc"}}
	lease  = kinds.Resource{Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true}

	selfRules  = kinds.Resource{Group: "authorization.k8s.io", Version: "v1", Plural: "selfsubjectrulesreviews", Kind: "SelfSubjectRulesReview"}
	selfReview = kinds.Resource{Group: "authentication.k8s.io", Version: "v1", Plural: "selfsubjectreviews", Kind: "SelfSubjectReview"}
)

// table returns the kinds served, in the order of discovery.
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
		builtin[corev1.Secret](secret, false, false),
		builtin[corev1.PersistentVolumeClaim](claim, true, false),
		builtin[coordinationv1.Lease](lease, false, false),
		builtin[batchv1.Job](kinds.BatchJob.Resource, true, true, batchJobColumns...),
		builtin[schedulingv1.PriorityClass](kinds.PriorityClass, false, false, priorityClassColumns...),
		virtual(kinds.SelfSubjectAccessReview), virtual(selfRules), virtual(selfReview),
	}
	for _, j := range kinds.Jobs() {
		if j.Kind != kinds.BatchJob.Kind || j.Group != kinds.BatchJob.Group {
			out = append(out, custom(j.Resource, jobColumns(j)...))
		}
	}
	return append(out,
		custom(kinds.ClusterQueue, clusterQueueColumns...),
		custom(kinds.LocalQueue, localQueueColumns...),
		custom(kinds.Cohort),
		custom(kinds.ResourceFlavor),
		custom(kinds.Topology),
		custom(kinds.AdmissionCheck),
		custom(kinds.WorkloadPriorityClass, priorityClassColumns...),
		custom(kinds.Workload, workloadColumns...),
	)
}

// groups returns the API groups served, the core group ("") first, each with
// its version. Every group is served at one version.
func (s *Server) groups() []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, r := range s.resources {
		gv := schema.GroupVersion{Group: r.Group, Version: r.Version}
		if !slices.Contains(out, gv) {
			out = append(out, gv)
		}
	}
	slices.SortStableFunc(out, func(a, b schema.GroupVersion) int { return strings.Compare(a.Group, b.Group) })
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
