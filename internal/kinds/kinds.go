// Package kinds is the one table of the API kinds that hyperpod knows: the job kinds that it can start, list
// and explain, and the cluster's own kinds around them. Paths, pod labels, the places of pod templates and
// everything else that depends on a kind is data here, so a new kind is a new row.
package kinds

import "strings"

// Resource names one kind of API object.
type Resource struct {
	Group   string // "" is the core group
	Version string // the version hyperpod prefers
	// Also lists other served versions that are understood, best first.
	Also       []string
	Plural     string
	Kind       string
	Namespaced bool
	Short      []string // short names, as kubectl has them
}

// GroupVersion returns "group/version", or the version alone for the core group.
func (r Resource) GroupVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// FullName returns "plural.group" as kubectl prints resources ("pods",
// "pytorchjobs.kubeflow.org").
func (r Resource) FullName() string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// Path returns the URL path of the resource. An empty namespace means all
// namespaces (or a cluster-scoped kind), an empty name the collection, an empty
// plural the API version itself.
func (r Resource) Path(namespace, name string, sub ...string) string {
	p := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		p = "/api/" + r.Version
	}
	if r.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.Plural
	if name != "" {
		p += "/" + name
	}
	for _, s := range sub {
		p += "/" + s
	}
	return strings.TrimSuffix(p, "/")
}

// All returns every kind of the table, the job kinds first.
func All() []Resource {
	var out []Resource
	for _, j := range Jobs() {
		out = append(out, j.Resource)
	}
	for _, j := range Jobs() {
		if j.Runtime != nil {
			out = append(out, j.Runtime.Kinds...)
		}
	}
	return append(out,
		Namespace, Node, Event, ConfigMap, LimitRange, ServiceAccount, Service, PriorityClass, RuntimeClass,
		DeviceClass, ResourceSlice, ResourceClaimTemplate,
		ClusterQueue, LocalQueue, Cohort, ResourceFlavor, Topology, AdmissionCheck, WorkloadPriorityClass, Workload,
		SelfSubjectAccessReview)
}

// WithVersion returns the resource at another API version.
func (r Resource) WithVersion(v string) Resource { r.Version = v; return r }

// Versions returns the preferred version and then the others that are understood.
func (r Resource) Versions() []string { return append([]string{r.Version}, r.Also...) }

// The cluster's own kinds. Kueue's are written at v1beta2; v1beta1 is converted
// in process.
var (
	Namespace      = Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace", Short: []string{"ns"}}
	Node           = Resource{Version: "v1", Plural: "nodes", Kind: "Node", Short: []string{"no"}}
	Pod            = Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true, Short: []string{"po"}}
	Event          = Resource{Version: "v1", Plural: "events", Kind: "Event", Namespaced: true, Short: []string{"ev"}}
	ConfigMap      = Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true, Short: []string{"cm"}}
	LimitRange     = Resource{Version: "v1", Plural: "limitranges", Kind: "LimitRange", Namespaced: true, Short: []string{"limits"}}
	ServiceAccount = Resource{Version: "v1", Plural: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true, Short: []string{"sa"}}
	Service        = Resource{Version: "v1", Plural: "services", Kind: "Service", Namespaced: true, Short: []string{"svc"}}
	Ingress        = Resource{Group: "networking.k8s.io", Version: "v1", Plural: "ingresses", Kind: "Ingress", Namespaced: true, Short: []string{"ing"}}

	Deployment  = Resource{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true, Short: []string{"deploy"}}
	StatefulSet = Resource{Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true, Short: []string{"sts"}}

	PriorityClass = Resource{Group: "scheduling.k8s.io", Version: "v1", Plural: "priorityclasses", Kind: "PriorityClass", Short: []string{"pc"}}

	// Objects that pods need. They are not in All: a snapshot holds no secrets.
	Secret                = Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
	PersistentVolumeClaim = Resource{Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true, Short: []string{"pvc"}}
	PersistentVolume      = Resource{Version: "v1", Plural: "persistentvolumes", Kind: "PersistentVolume", Short: []string{"pv"}}
	ResourceQuota         = Resource{Version: "v1", Plural: "resourcequotas", Kind: "ResourceQuota", Namespaced: true, Short: []string{"quota"}}
	RuntimeClass          = Resource{Group: "node.k8s.io", Version: "v1", Plural: "runtimeclasses", Kind: "RuntimeClass"}

	// What counts the devices of resource claims.
	DeviceClass           = Resource{Group: "resource.k8s.io", Version: "v1", Plural: "deviceclasses", Kind: "DeviceClass"}
	ResourceSlice         = Resource{Group: "resource.k8s.io", Version: "v1", Plural: "resourceslices", Kind: "ResourceSlice"}
	ResourceClaimTemplate = Resource{Group: "resource.k8s.io", Version: "v1", Plural: "resourceclaimtemplates", Kind: "ResourceClaimTemplate", Namespaced: true}

	// What names the worker clusters of MultiKueue. They are not in All either.
	MultiKueueConfig  = kueue("multikueueconfigs", "MultiKueueConfig", false)
	MultiKueueCluster = kueue("multikueueclusters", "MultiKueueCluster", false)

	// Who may do what. They are not in All either.
	RBACRole               = rbac("roles", "Role", true)
	RBACRoleBinding        = rbac("rolebindings", "RoleBinding", true)
	RBACClusterRole        = rbac("clusterroles", "ClusterRole", false)
	RBACClusterRoleBinding = rbac("clusterrolebindings", "ClusterRoleBinding", false)

	ClusterQueue          = kueue("clusterqueues", "ClusterQueue", false, "cq")
	LocalQueue            = kueue("localqueues", "LocalQueue", true, "lq", "queue", "queues")
	Cohort                = kueue("cohorts", "Cohort", false, "co")
	ResourceFlavor        = kueue("resourceflavors", "ResourceFlavor", false, "rf", "flavor", "flavors")
	Topology              = kueue("topologies", "Topology", false, "topo")
	AdmissionCheck        = kueue("admissionchecks", "AdmissionCheck", false, "ac")
	WorkloadPriorityClass = kueue("workloadpriorityclasses", "WorkloadPriorityClass", false, "wpc")
	Workload              = kueue("workloads", "Workload", true, "kwl", "kueueworkload", "kueueworkloads")

	SelfSubjectAccessReview = Resource{Group: "authorization.k8s.io", Version: "v1", Plural: "selfsubjectaccessreviews", Kind: "SelfSubjectAccessReview"}

	// Only administrators can ask about others. It is not in All.
	SubjectAccessReview = Resource{Group: "authorization.k8s.io", Version: "v1", Plural: "subjectaccessreviews", Kind: "SubjectAccessReview"}
)

// VisibilityGroup is the API group in which Kueue publishes the order of its queues.
const VisibilityGroup = "visibility.kueue.x-k8s.io"

// QueueVisibility is a LocalQueue in that group; what waits is its subresource.
var QueueVisibility = Resource{Group: VisibilityGroup, Version: "v1beta2", Also: []string{"v1beta1"}, Plural: "localqueues", Kind: "LocalQueue", Namespaced: true}

func rbac(plural, kind string, namespaced bool) Resource {
	return Resource{Group: "rbac.authorization.k8s.io", Version: "v1", Plural: plural, Kind: kind, Namespaced: namespaced}
}

func kueue(plural, kind string, namespaced bool, short ...string) Resource {
	return Resource{Group: KueueGroup, Version: "v1beta2", Also: []string{"v1beta1"},
		Plural: plural, Kind: kind, Namespaced: namespaced, Short: short}
}

// KueueGroup is the API group of Kueue.
const KueueGroup = "kueue.x-k8s.io"

// Labels and annotations hyperpod reads or writes. Sources: Kueue's label
// constants; the SageMaker HyperPod task-governance pages.
const (
	QueueLabel    = "kueue.x-k8s.io/queue-name"
	PrebuiltLabel = "kueue.x-k8s.io/prebuilt-workload-name"
	PriorityLabel = "kueue.x-k8s.io/priority-class"
	JobUIDLabel   = "kueue.x-k8s.io/job-uid"
	// Gate is the scheduling gate by which Kueue holds pods.
	Gate = "kueue.x-k8s.io/admission"
	// ManagedLabel marks the pods that Kueue governs one by one or as a group.
	ManagedLabel = "kueue.x-k8s.io/managed"

	ManagedQueueLabel    = "sagemaker.amazonaws.com/sagemaker-managed-queue"
	QuotaAllocationLabel = "sagemaker.amazonaws.com/quota-allocation-id"
	NodeHealthLabel      = "sagemaker.amazonaws.com/node-health-status"
	NodeHealthy          = "Schedulable" // its value on a node that takes jobs
	// NodePendingReplacement and NodePendingReboot are its values on a node that HyperPod
	// has marked: it failed a check.
	NodePendingReplacement = "UnschedulablePendingReplacement"
	NodePendingReboot      = "UnschedulablePendingReboot"
	DeepHealthLabel        = "sagemaker.amazonaws.com/deep-health-check-status"
	InstanceTypeLabel      = "node.kubernetes.io/instance-type"
	ClusterNameLabel       = "sagemaker.amazonaws.com/cluster-name"
	FaultTypesLabel        = "sagemaker.amazonaws.com/fault-types"
	FaultReasonsLabel      = "sagemaker.amazonaws.com/fault-reasons"
	// FaultDetailsAnnotation lists a node's latest faults as JSON.
	FaultDetailsAnnotation = "sagemaker.amazonaws.com/fault-details"

	// Annotations by which HyperPod resumes a job after it has replaced a node. Its
	// documentation promises that for PyTorchJobs with restartPolicy OnFailure.
	AutoResumeAnnotation = "sagemaker.amazonaws.com/enable-job-auto-resume"
	MaxRetryAnnotation   = "sagemaker.amazonaws.com/job-max-retry-count"

	// OwnPrefix is the prefix of every label and annotation of hyperpod.
	OwnPrefix = "cli.hyperpod/"
	// CreatedByLabel names the creator of a job, as the official CLI v2 and its admission policy set it.
	CreatedByLabel = "sagemaker.user/created-by"

	// IdempotencyAnnotation carries the key of start-job --idempotency-key.
	IdempotencyAnnotation = OwnPrefix + "idempotency-key"
	// DefinitionAnnotation is the fingerprint of the definition of a job with such a key, or of a sweep.
	DefinitionAnnotation = OwnPrefix + "definition"
	// CreatedByAnnotation names the creator of the job, as far as the client knows.
	CreatedByAnnotation = OwnPrefix + "created-by"
	// TogetherLabel, on an object, is the name of the job that it was submitted with.
	TogetherLabel = OwnPrefix + "job"
	// TogetherAnnotation, on a job, lists what was submitted with it and goes with it.
	TogetherAnnotation = OwnPrefix + "with"
	// CommandAnnotation is the command line that created the job.
	CommandAnnotation = OwnPrefix + "command"
	// ParametersAnnotation says which fields of the job the parameters of its template
	// filled in (package templates/origin).
	ParametersAnnotation = OwnPrefix + "parameters"
	// TemplateAnnotation names the template that a job was created from.
	TemplateAnnotation = OwnPrefix + "template"
	// TemplateLabel marks a ConfigMap with a template of the team.
	TemplateLabel = OwnPrefix + "template"
	// SweepLabel, on a job, is the name of the sweep that it belongs to; SweepParameterPrefix
	// with the name of a parameter is the label of its value; SweepAnnotation has all
	// parameters, NAME=VALUE,NAME=VALUE; SweepPositionAnnotation is the position of the job
	// among those of the command that started it, from 0.
	SweepLabel              = OwnPrefix + "sweep"
	SweepParameterPrefix    = OwnPrefix + "sweep."
	SweepAnnotation         = OwnPrefix + "sweep-parameters"
	SweepPositionAnnotation = OwnPrefix + "sweep-position"
	// AssumedAnnotation marks a namespace in a file without namespaces: only its name is known.
	AssumedAnnotation = OwnPrefix + "assumed"
	// DurationAnnotation says how long a job runs in a sandbox (a Go duration).
	DurationAnnotation = OwnPrefix + "sandbox-duration"
)

// Assumed reports whether only the name of the namespace with these annotations is known.
func Assumed(annotations map[string]string) bool { return annotations[AssumedAnnotation] != "" }
