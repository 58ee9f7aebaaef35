package state

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func ptr[T any](v T) *T { return &v }

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

var someTime = metav1.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))

// The samples are Kueue's own types, so that their JSON is Kueue's.
func sampleWorkload() *v1beta2.Workload {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Overhead: corev1.ResourceList{"cpu": quantity("100m")},
		Containers: []corev1.Container{
			{Name: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("1500m"), "memory": quantity("4Gi")}, Limits: corev1.ResourceList{"nvidia.com/gpu": quantity("8")}}},
			{Name: "b", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("500m")}}},
		},
		InitContainers: []corev1.Container{
			{Name: "sidecar", RestartPolicy: ptr(corev1.ContainerRestartPolicyAlways), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("1")}}},
			{Name: "big", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": quantity("8Gi"), "cpu": quantity("3")}}},
		},
	}}
	return &v1beta2.Workload{
		TypeMeta: metav1.TypeMeta{Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{Name: "pytorchjob-train-1", Namespace: "team", UID: "w-1", ResourceVersion: "9", CreationTimestamp: someTime,
			Labels:          map[string]string{kinds.JobUIDLabel: "u-1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "train", UID: "u-1", Controller: ptr(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kueue", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}}},
		Spec: v1beta2.WorkloadSpec{
			PodSets: []v1beta2.PodSet{{Name: "worker", Count: 4, MinCount: ptr[int32](2), Template: template,
				TopologyRequest: &v1beta2.PodSetTopologyRequest{Required: ptr("topology.k8s.aws/network-node-layer-3")}}},
			QueueName: "lq", PriorityClassRef: v1beta2.NewWorkloadPriorityClassRef("training-priority"), Priority: ptr[int32](40), Active: ptr(false), MaximumExecutionTimeSeconds: ptr[int32](3600),
		},
		Status: v1beta2.WorkloadStatus{
			Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "True", Reason: "QuotaReserved", Message: "m", LastTransitionTime: someTime}},
			Admission: &v1beta2.Admission{ClusterQueue: "cq", PodSetAssignments: []v1beta2.PodSetAssignment{{Name: "worker", Count: ptr[int32](4),
				Flavors:       map[corev1.ResourceName]v1beta2.ResourceFlavorReference{"nvidia.com/gpu": "ml.p5.48xlarge"},
				ResourceUsage: corev1.ResourceList{"nvidia.com/gpu": quantity("32"), "memory": quantity("16Gi")}}}},
			RequeueState:    &v1beta2.RequeueState{Count: ptr[int32](3), RequeueAt: &someTime},
			AdmissionChecks: []v1beta2.AdmissionCheckState{{Name: "check", State: v1beta2.CheckStatePending, Message: "soon", LastTransitionTime: someTime}},
			SchedulingStats: &v1beta2.SchedulingStats{Evictions: []v1beta2.WorkloadSchedulingStatsEviction{{Reason: "Preempted", UnderlyingCause: "InClusterQueue", Count: 2}}},
		},
	}
}

func sampleClusterQueue() *v1beta2.ClusterQueue {
	usage := []v1beta2.FlavorUsage{{Name: "ml.p5.48xlarge", Resources: []v1beta2.ResourceUsage{{Name: "nvidia.com/gpu", Total: quantity("12"), Borrowed: quantity("4")}}}}
	return &v1beta2.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: "cq", UID: "c-1"},
		Spec: v1beta2.ClusterQueueSpec{
			CohortName: "shared-pool", QueueingStrategy: "BestEffortFIFO", StopPolicy: ptr(v1beta2.None),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "In", Values: []string{"v"}}}},
			FlavorFungibility: &v1beta2.FlavorFungibility{WhenCanBorrow: "MayStopSearch", WhenCanPreempt: "TryNextFlavor"},
			Preemption: &v1beta2.ClusterQueuePreemption{ReclaimWithinCohort: "Any", WithinClusterQueue: "LowerPriority",
				BorrowWithinCohort: &v1beta2.BorrowWithinCohort{Policy: "LowerPriority", MaxPriorityThreshold: ptr[int32](10)}},
			FairSharing: &v1beta2.FairSharing{Weight: ptr(quantity("2"))},
			ResourceGroups: []v1beta2.ResourceGroup{{CoveredResources: []corev1.ResourceName{"nvidia.com/gpu"}, Flavors: []v1beta2.FlavorQuotas{{Name: "ml.p5.48xlarge",
				Resources: []v1beta2.ResourceQuota{{Name: "nvidia.com/gpu", NominalQuota: quantity("8"), BorrowingLimit: ptr(quantity("4")), LendingLimit: ptr(quantity("0"))}}}}}},
		},
		Status: v1beta2.ClusterQueueStatus{FlavorsReservation: usage, FlavorsUsage: usage, PendingWorkloads: 5, ReservingWorkloads: 2, AdmittedWorkloads: 1,
			FairSharing: &v1beta2.FairSharingStatus{WeightedShare: 250}, Conditions: []metav1.Condition{{Type: "Active", Status: "True", LastTransitionTime: someTime}}},
	}
}

func sampleLocalQueue() *v1beta2.LocalQueue {
	usage := []v1beta2.LocalQueueFlavorUsage{{Name: "f", Resources: []v1beta2.LocalQueueResourceUsage{{Name: "cpu", Total: quantity("3")}}}}
	return &v1beta2.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "lq", Namespace: "team"},
		Spec:   v1beta2.LocalQueueSpec{ClusterQueue: "cq", StopPolicy: ptr(v1beta2.Hold)},
		Status: v1beta2.LocalQueueStatus{PendingWorkloads: 3, ReservingWorkloads: 2, AdmittedWorkloads: 1, FlavorsReservation: usage, FlavorsUsage: usage}}
}

func sampleCohort() *v1beta2.Cohort {
	return &v1beta2.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "shared-pool"}, Spec: v1beta2.CohortSpec{ParentName: "root", FairSharing: &v1beta2.FairSharing{Weight: ptr(quantity("1500m"))},
		ResourceGroups: sampleClusterQueue().Spec.ResourceGroups}, Status: v1beta2.CohortStatus{FairSharing: &v1beta2.FairSharingStatus{WeightedShare: 7}}}
}

func wantWorkload() Workload {
	return Workload{
		Meta: Meta{Name: "pytorchjob-train-1", Namespace: "team", UID: "w-1", ResourceVersion: "9", CreationTimestamp: someTime.Time,
			Labels: map[string]string{kinds.JobUIDLabel: "u-1"}, Owners: []Owner{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "train", UID: "u-1", Controller: true}}},
		Active: false, QueueName: "lq", PriorityClass: "training-priority", PriorityClassKind: "WorkloadPriorityClass", Priority: 40, MaxExecution: 3600,
		Conditions: []Condition{{Type: "QuotaReserved", Status: "True", Reason: "QuotaReserved", Message: "m", LastTransitionTime: someTime.Time}},
		Admission: &Admission{ClusterQueue: "cq", PodSets: []PodSetAssignment{{Name: "worker", Count: 4, Flavors: map[string]string{"nvidia.com/gpu": "ml.p5.48xlarge"},
			Usage: map[string]string{"nvidia.com/gpu": "32", "memory": "16Gi"}}}},
		Requeue: &RequeueState{Count: 3, At: &someTime.Time}, Checks: []CheckState{{Name: "check", State: "Pending", Message: "soon"}},
		Evictions: []Eviction{{Reason: "Preempted", Cause: "InClusterQueue", Count: 2}}, OwnerUID: "u-1",
		PodSets: []PodSet{{Name: "worker", Count: 4, MinCount: ptr[int64](2), RequiredTopology: "topology.k8s.aws/network-node-layer-3",
			// cpu: 3 of the init container and 1 of the sidecar before it, more than the
			// 1.5 + 0.5 + 1 later, and 0.1 overhead
			Requests: Amounts{"cpu": 4100, "memory": 8 << 30, "nvidia.com/gpu": 8}}},
	}
}

// kueueServer serves the samples at one version of Kueue's API only.
func kueueServer(t *testing.T, version string) *httptest.Server {
	objects := map[string]any{}
	if version == "v1beta2" {
		objects = map[string]any{"workloads": sampleWorkload(), "clusterqueues": sampleClusterQueue(), "localqueues": sampleLocalQueue(), "cohorts": sampleCohort()}
	} else {
		w, q, l, c := &v1beta1.Workload{}, &v1beta1.ClusterQueue{}, &v1beta1.LocalQueue{}, &v1beta1.Cohort{}
		for _, err := range []error{w.ConvertFrom(sampleWorkload()), q.ConvertFrom(sampleClusterQueue()), l.ConvertFrom(sampleLocalQueue()), c.ConvertFrom(sampleCohort())} {
			if err != nil {
				t.Fatal(err)
			}
		}
		q.Spec.FlavorFungibility.WhenCanBorrow = v1beta1.Borrow // its name in v1beta1
		objects = map[string]any{"workloads": w, "clusterqueues": q, "localqueues": l, "cohorts": c}
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "/apis/" + kinds.KueueGroup
		if r.URL.Path == base {
			fmt.Fprintf(w, `{"kind":"APIGroup","versions":[{"version":%q}],"preferredVersion":{"version":%q}}`, version, version)
			return
		}
		o, ok := objects[strings.TrimPrefix(r.URL.Path, base+"/"+version+"/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		data, _ := json.Marshal(o)
		fmt.Fprintf(w, `{"kind":"List","items":[%s]}`, data)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// Objects of Kueue's two API versions are the same values.
func TestKueueVersions(t *testing.T) {
	want := Want{Workloads: true, PodSets: true, ClusterQueues: true, LocalQueues: true, Cohorts: true}
	states := map[string]*State{}
	for _, version := range []string{"v1beta2", "v1beta1"} {
		c := liveClient(t, kueueServer(t, version))
		s, err := Load(t.Context(), c, want, someTime.Time)
		if err != nil || len(s.Missing) != 0 {
			t.Fatalf("%s: %v, missing %v", version, err, s)
		}
		if c.Requests() != 5 {
			t.Errorf("%s: %d requests, want one a kind and one for the group", version, c.Requests())
		}
		s.Server = ""
		states[version] = s
	}
	if !reflect.DeepEqual(states["v1beta1"], states["v1beta2"]) {
		t.Errorf("v1beta1 %+v\nv1beta2 %+v", states["v1beta1"], states["v1beta2"])
	}
	s := states["v1beta2"]
	if got, want := s.Workloads[0], wantWorkload(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	q := s.ClusterQueues[0]
	if q.Cohort != "shared-pool" || q.Fungibility.WhenCanBorrow != "MayStopSearch" || q.Preemption.ReclaimWithinCohort != "Any" || q.Preemption.BorrowWithinCohort != "LowerPriority" ||
		*q.Preemption.MaxPriorityThreshold != 10 || q.FairWeight.Value() != 2 || q.WeightedShare != 250 || q.Pending != 5 || q.Reserving != 2 || q.Admitted != 1 || q.StopPolicy != "None" ||
		q.Namespaces.MatchLabels["a"] != "b" || q.Namespaces.MatchExpressions[0].Values[0] != "v" || len(q.Conditions) != 1 {
		t.Errorf("got %+v", q)
	}
	r := q.ResourceGroups[0].Flavors[0].Resources[0]
	if r.Name != "nvidia.com/gpu" || r.Nominal.Value() != 8 || r.BorrowingLimit.Value() != 4 || r.LendingLimit == nil || !r.LendingLimit.IsZero() {
		t.Errorf("got %+v", r)
	}
	if u := q.Usage[0].Resources[0]; u.Total.Value() != 12 || u.Borrowed.Value() != 4 || !reflect.DeepEqual(q.Usage, q.Reservation) {
		t.Errorf("got %+v", u)
	}
	if l := s.LocalQueues[0]; l.ClusterQueue != "cq" || l.StopPolicy != "Hold" || l.Pending != 3 || l.Usage[0].Resources[0].Total.Value() != 3 {
		t.Errorf("got %+v", l)
	}
	if c := s.Cohorts[0]; c.Parent != "root" || c.FairWeight.MilliValue() != 1500 || c.WeightedShare != 7 || len(c.ResourceGroups) != 1 {
		t.Errorf("got %+v", c)
	}
}

// Quotas that an orchestrator sets take the place of those of spec, also if there are none.
func TestEffectiveQuotas(t *testing.T) {
	group := func(n int) string {
		return fmt.Sprintf(`[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"%d"}]}]}]`, n)
	}
	var q wireClusterQueue
	var c wireCohort
	for _, to := range []any{&q, &c} {
		if err := json.Unmarshal([]byte(`{"spec":{"resourceGroups":`+group(8)+`},"status":{"effectiveQuotas":{"orchestratorRef":{"kind":"K","name":"o"},"resourceGroups":`+group(4)+`}}}`), to); err != nil {
			t.Fatal(err)
		}
	}
	for _, groups := range [][]ResourceGroup{q.queue().ResourceGroups, c.cohort().ResourceGroups} {
		if len(groups) != 1 || groups[0].Flavors[0].Resources[0].Nominal.Value() != 4 {
			t.Errorf("%+v", groups)
		}
	}
	var none wireClusterQueue
	if err := json.Unmarshal([]byte(`{"spec":{"resourceGroups":`+group(8)+`},"status":{"effectiveQuotas":{"resourceGroups":[]}}}`), &none); err != nil || len(none.queue().ResourceGroups) != 0 {
		t.Errorf("%v %+v", err, none.queue().ResourceGroups)
	}
}

func TestWorkloadDefaults(t *testing.T) {
	w, err := DecodeWorkload(json.RawMessage(`{"metadata":{"name":"w","ownerReferences":[{"kind":"Pod","uid":"p-1"}]},"spec":{"queueName":"q"}}`))
	if err != nil || !w.Active || w.OwnerUID != "p-1" || w.Admission != nil || w.PriorityClassKind != "" {
		t.Errorf("got %+v, %v", w, err)
	}
	w, _ = DecodeWorkload(json.RawMessage(`{"spec":{"priorityClassName":"p","priorityClassSource":"scheduling.k8s.io/priorityclass"}}`))
	if w.PriorityClass != "p" || w.PriorityClassKind != "PriorityClass" {
		t.Errorf("got %+v", w)
	}
}
