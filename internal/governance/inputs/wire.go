package inputs

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The wire types are the API's own types without what no decision depends on and
// most of a list consists of: managed fields, environments, commands, probes and
// volumes of pod templates, image lists of nodes. A field declared beside an
// embedded API type hides that type's field of the same name; a struct without
// fields passes over the value.

type skipped struct{}

type wireMeta struct {
	ManagedFields skipped `json:"managedFields"`
	metav1.ObjectMeta
}

// wire is an object with spec and status in types of the API.
type wire[Spec, Status any] struct {
	APIVersion string   `json:"apiVersion"`
	Metadata   wireMeta `json:"metadata"`
	Spec       Spec     `json:"spec"`
	Status     Status   `json:"status"`
}

func (w *wire[Spec, Status]) version() string { return w.APIVersion }

type wireContainer struct {
	Name          string                         `json:"name"`
	Ports         []corev1.ContainerPort         `json:"ports"`
	Resources     corev1.ResourceRequirements    `json:"resources"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
}

type wirePodSpec struct {
	InitContainers   []wireContainer `json:"initContainers"`
	Containers       []wireContainer `json:"containers"`
	Volumes          skipped         `json:"volumes"`
	Ephemeral        skipped         `json:"ephemeralContainers"`
	SecurityContext  skipped         `json:"securityContext"`
	ImagePullSecrets skipped         `json:"imagePullSecrets"`
	HostAliases      skipped         `json:"hostAliases"`
	DNSConfig        skipped         `json:"dnsConfig"`
	corev1.PodSpec
}

func (w *wirePodSpec) spec() corev1.PodSpec {
	out := w.PodSpec
	out.InitContainers, out.Containers = containers(w.InitContainers), containers(w.Containers)
	return out
}

func containers(ws []wireContainer) []corev1.Container {
	if ws == nil {
		return nil
	}
	out := make([]corev1.Container, len(ws))
	for i, w := range ws {
		out[i] = corev1.Container{Name: w.Name, Ports: w.Ports, Resources: w.Resources, RestartPolicy: w.RestartPolicy}
	}
	return out
}

type wirePodSet struct {
	Template struct {
		Metadata wireMeta    `json:"metadata"`
		Spec     wirePodSpec `json:"spec"`
	} `json:"template"`
	kueue.PodSet
}

type wireWorkloadSpec struct {
	PodSets []wirePodSet `json:"podSets"`
	kueue.WorkloadSpec
}

type wireWorkload = wire[wireWorkloadSpec, kueue.WorkloadStatus]

func workload(w *wireWorkload) *kueue.Workload {
	out := &kueue.Workload{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec.WorkloadSpec, Status: w.Status}
	out.Spec.PodSets = make([]kueue.PodSet, len(w.Spec.PodSets))
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		ps.PodSet.Template = corev1.PodTemplateSpec{ObjectMeta: ps.Template.Metadata.ObjectMeta, Spec: ps.Template.Spec.spec()}
		out.Spec.PodSets[i] = ps.PodSet
	}
	return out
}

type wirePod = wire[wirePodSpec, struct {
	Phase corev1.PodPhase `json:"phase"`
}]

func pod(w *wirePod) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec.spec(), Status: corev1.PodStatus{Phase: w.Status.Phase}}
}

type wireNode = wire[corev1.NodeSpec, struct {
	Capacity    corev1.ResourceList    `json:"capacity"`
	Allocatable corev1.ResourceList    `json:"allocatable"`
	Conditions  []corev1.NodeCondition `json:"conditions"`
}]

func node(w *wireNode) *corev1.Node {
	return &corev1.Node{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: corev1.NodeStatus{
		Capacity: w.Status.Capacity, Allocatable: w.Status.Allocatable, Conditions: w.Status.Conditions,
	}}
}

type (
	wireNamespace      = wire[corev1.NamespaceSpec, corev1.NamespaceStatus]
	wireLimitRange     = wire[corev1.LimitRangeSpec, skipped]
	wireClusterQueue   = wire[kueue.ClusterQueueSpec, wireQueueStatus]
	wireLocalQueue     = wire[kueue.LocalQueueSpec, kueue.LocalQueueStatus]
	wireCohort         = wire[kueue.CohortSpec, wireCohortStatus]
	wireFlavor         = wire[kueue.ResourceFlavorSpec, skipped]
	wireTopology       = wire[kueue.TopologySpec, skipped]
	wireAdmissionCheck = wire[kueue.AdmissionCheckSpec, kueue.AdmissionCheckStatus]
)

func namespace(w *wireNamespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: w.Status}
}

func limitRange(w *wireLimitRange) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

type wireQueueStatus struct {
	kueue.ClusterQueueStatus
	wireQuotas
}

type wireCohortStatus struct {
	kueue.CohortStatus
	wireQuotas
}

func (l *loader) clusterQueue(w *wireClusterQueue) *kueue.ClusterQueue {
	l.noteQuotas(kinds.ClusterQueue, w.Metadata.Name, w.Status.wireQuotas)
	return &kueue.ClusterQueue{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: w.Status.ClusterQueueStatus}
}

func localQueue(w *wireLocalQueue) *kueue.LocalQueue {
	return &kueue.LocalQueue{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: w.Status}
}

func (l *loader) cohort(w *wireCohort) *kueue.Cohort {
	l.noteQuotas(kinds.Cohort, w.Metadata.Name, w.Status.wireQuotas)
	return &kueue.Cohort{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: w.Status.CohortStatus}
}

func flavor(w *wireFlavor) *kueue.ResourceFlavor {
	return &kueue.ResourceFlavor{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

func topology(w *wireTopology) *kueue.Topology {
	return &kueue.Topology{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

func admissionCheck(w *wireAdmissionCheck) *kueue.AdmissionCheck {
	return &kueue.AdmissionCheck{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec, Status: w.Status}
}

type (
	wireDeviceClass   = wire[resourcev1.DeviceClassSpec, skipped]
	wireDeviceSlice   = wire[resourcev1.ResourceSliceSpec, skipped]
	wireClaimTemplate = wire[resourcev1.ResourceClaimTemplateSpec, skipped]
)

func deviceClass(w *wireDeviceClass) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

func deviceSlice(w *wireDeviceSlice) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

func claimTemplate(w *wireClaimTemplate) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{ObjectMeta: w.Metadata.ObjectMeta, Spec: w.Spec}
}

type wireRuntimeClass struct {
	APIVersion string           `json:"apiVersion"`
	Metadata   wireMeta         `json:"metadata"`
	Overhead   *nodev1.Overhead `json:"overhead"`
}

func (w *wireRuntimeClass) version() string { return w.APIVersion }

func runtimeClass(w *wireRuntimeClass) *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{ObjectMeta: w.Metadata.ObjectMeta, Overhead: w.Overhead}
}

// wirePriority is both kinds of priority class.
type wirePriority struct {
	APIVersion    string                   `json:"apiVersion"`
	Metadata      wireMeta                 `json:"metadata"`
	Value         int32                    `json:"value"`
	GlobalDefault bool                     `json:"globalDefault"`
	Description   string                   `json:"description"`
	Preemption    *corev1.PreemptionPolicy `json:"preemptionPolicy"`
}

func (w *wirePriority) version() string { return w.APIVersion }

func workloadPriority(w *wirePriority) *kueue.WorkloadPriorityClass {
	return &kueue.WorkloadPriorityClass{ObjectMeta: w.Metadata.ObjectMeta, Value: w.Value, Description: w.Description}
}

func podPriority(w *wirePriority) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: w.Metadata.ObjectMeta, Value: w.Value, GlobalDefault: w.GlobalDefault,
		Description: w.Description, PreemptionPolicy: w.Preemption}
}
