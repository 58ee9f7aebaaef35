package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const gpu = corev1.ResourceName("nvidia.com/gpu")

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// fixture builds a small cluster: one flavor "a100", queues of the same name as
// their namespace, workloads that get older in the order they are made.
type fixture struct {
	objs []client.Object
	age  int
}

func newFixture() *fixture {
	f := &fixture{}
	return f.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}})
}

func (f *fixture) add(o ...client.Object) *fixture {
	f.objs = append(f.objs, o...)
	return f
}

type queueOption func(*kueue.ClusterQueue)

// team adds namespace, ClusterQueue and LocalQueue "queue".
func (f *fixture) team(name, cohort string, gpus string, opts ...queueOption) *fixture {
	cq := &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{
			CohortName:        kueue.CohortReference(cohort),
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueue.ResourceGroup{{
				CoveredResources: []corev1.ResourceName{gpu},
				Flavors: []kueue.FlavorQuotas{{
					Name:      "a100",
					Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: resource.MustParse(gpus)}},
				}},
			}},
		},
	}
	for _, o := range opts {
		o(cq)
	}
	return f.add(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		cq,
		&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "queue", Namespace: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}},
	)
}

func borrowingLimit(q string) queueOption {
	return func(cq *kueue.ClusterQueue) {
		cq.Spec.ResourceGroups[0].Flavors[0].Resources[0].BorrowingLimit = ptr.To(resource.MustParse(q))
	}
}

func weight(q string) queueOption {
	return func(cq *kueue.ClusterQueue) {
		cq.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(q))}
	}
}

func preempts(within, reclaim kueue.PreemptionPolicy) queueOption {
	return func(cq *kueue.ClusterQueue) {
		cq.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: within, ReclaimWithinCohort: reclaim}
	}
}

func strict(cq *kueue.ClusterQueue) { cq.Spec.QueueingStrategy = kueue.StrictFIFO }

type workloadOption func(*kueue.Workload)

// job makes a pending workload of one pod set with one pod asking for gpus.
func (f *fixture) job(namespace, name string, gpus int, opts ...workloadOption) *kueue.Workload {
	f.age++
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name),
			CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour + time.Duration(f.age)*time.Second)),
		},
		Spec: kueue.WorkloadSpec{
			QueueName: "queue", Priority: ptr.To[int32](0),
			PodSets: []kueue.PodSet{podSet("main", 1, gpus)},
		},
	}
	for _, o := range opts {
		o(w)
	}
	return w
}

func podSet(name string, count int32, gpus int) kueue.PodSet {
	return kueue.PodSet{
		Name: kueue.PodSetReference(name), Count: count,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "c",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{gpu: *resource.NewQuantity(int64(gpus), resource.DecimalSI)}},
		}}}},
	}
}

func prio(p int32) workloadOption { return func(w *kueue.Workload) { w.Spec.Priority = &p } }

func pods(count, least int32) workloadOption {
	return func(w *kueue.Workload) {
		w.Spec.PodSets[0].Count = count
		if least > 0 {
			w.Spec.PodSets[0].MinCount = &least
		}
	}
}

// running gives the workload a quota reservation in the queue of its namespace.
func running(w *kueue.Workload) {
	psa := kueue.PodSetAssignment{
		Name: w.Spec.PodSets[0].Name, Count: ptr.To(w.Spec.PodSets[0].Count),
		Flavors:       map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "a100"},
		ResourceUsage: corev1.ResourceList{},
	}
	q := w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests[gpu]
	psa.ResourceUsage[gpu] = *resource.NewQuantity(q.Value()*int64(w.Spec.PodSets[0].Count), resource.DecimalSI)
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(w.Namespace), PodSetAssignments: []kueue.PodSetAssignment{psa}}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute))})
	}
}

func (f *fixture) engine(t testing.TB, cfg Config) *Engine {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return noon }
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(context.Background(), f.objs...); err != nil {
		t.Fatal(err)
	}
	return e
}

func run(t testing.TB, e *Engine) Timeline {
	t.Helper()
	tl, err := e.Run(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func probe(t testing.TB, e *Engine, w *kueue.Workload) Decision {
	t.Helper()
	d, err := e.Probe(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// short is a timeline in one line: "1 Admitted b/new; 2 Preempted a/low by b/new".
func short(t Timeline) string {
	var parts []string
	for _, e := range t.Events {
		s := fmt.Sprintf("%d %s %s/%s", e.Cycle, e.Kind, e.Namespace, e.Name)
		if e.By != "" {
			s += " by " + e.By
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

func amounts(qs []Quantity) string {
	var parts []string
	for _, q := range qs {
		parts = append(parts, fmt.Sprintf("%s/%s=%s", q.Flavor, q.Resource, q.Amount))
	}
	return strings.Join(parts, ",")
}
