package oracle

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	_ "unsafe" // go:linkname

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core"
	_ "sigs.k8s.io/kueue/pkg/controller/tas" // go:linkname
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// metaOf is the metadata of an object.
func metaOf(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "-" + name), CreationTimestamp: metav1.NewTime(now)}
}

// parkedQueue is a ClusterQueue with a LocalQueue: a job runs on all its quota, and jobs wait.
func parkedQueue(name, cohort string) []client.Object {
	running := parkedJob(name, "runs", 4)
	running.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(name), PodSetAssignments: []kueue.PodSetAssignment{{Name: "main", Count: ptr.To[int32](2),
		Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "f0"}, ResourceUsage: corev1.ResourceList{gpu: *qty(4)}}}}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		apimeta.SetStatusCondition(&running.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c, LastTransitionTime: metav1.NewTime(now)})
	}
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{CohortName: kueue.CohortReference(cohort), NamespaceSelector: &metav1.LabelSelector{},
			QueueingStrategy: kueue.BestEffortFIFO,
			Preemption:       &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyNever, ReclaimWithinCohort: kueue.PreemptionPolicyNever},
			ResourceGroups:   []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{gpu}, Flavors: []kueue.FlavorQuotas{{Name: "f0", Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: *qty(4)}}}}}}}},
		&kueue.LocalQueue{ObjectMeta: metaOf(name, "lq"), Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name), StopPolicy: ptr.To(kueue.None)}},
		running, parkedJob(name, "waits", 4), parkedJob(name, "small", 2),
	}
}

func parkedJob(namespace, name string, gpus int64) *kueue.Workload {
	return &kueue.Workload{ObjectMeta: metaOf(namespace, name), Spec: kueue.WorkloadSpec{QueueName: "lq", Active: ptr.To(true), Priority: ptr.To[int32](0), PodSets: []kueue.PodSet{{Name: "main", Count: 2,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{gpu: *resource.NewQuantity(gpus/2, resource.DecimalSI)}}}}}}}}}}
}

// parkedCluster has two queues in one tree, in different cohorts of it, one in another tree, and one without a cohort.
func parkedCluster() []client.Object {
	list := []client.Object{
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "f0"}},
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "unused"}},
		&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "root"}},
		&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: kueue.CohortSpec{ParentName: "root"}},
		&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "right"}, Spec: kueue.CohortSpec{ParentName: "root"}},
		&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
	}
	list = slices.Concat(list, parkedQueue("a", "left"), parkedQueue("b", "right"), parkedQueue("c", "other"), parkedQueue("d", ""))
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "check"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "example.com/check"}}
	apimeta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
	return edited(append([]client.Object{check}, list...), "", "a", func(q *kueue.ClusterQueue) bool {
		q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "check"}}}
		return true
	})
}

// edited returns a list with other versions of the objects of a type and a name, and without those that edit removes.
func edited[T client.Object](list []client.Object, namespace, name string, edit func(T) bool) []client.Object {
	var out []client.Object
	for _, o := range list {
		if same, ok := o.(T); ok && o.GetNamespace() == namespace && o.GetName() == name {
			c := same.DeepCopyObject().(T)
			if edit(c) {
				out = append(out, c)
			}
			continue
		}
		out = append(out, o)
	}
	return out
}

func remove[T client.Object](T) bool { return false }

// TestRetriedAfter: after a change, the engine tries again what Kueue's own controllers move back into the queues.
func TestRetriedAfter(t *testing.T) {
	queue := func(l []client.Object, name string, f func(*kueue.ClusterQueue)) []client.Object {
		return edited(l, "", name, func(q *kueue.ClusterQueue) bool { f(q); return true })
	}
	localQueue := func(l []client.Object, f func(*kueue.LocalQueue)) []client.Object {
		return edited(l, "a", "lq", func(q *kueue.LocalQueue) bool { f(q); return true })
	}
	job := func(l []client.Object, name string, f func(*kueue.Workload)) []client.Object {
		return edited(l, "a", name, func(w *kueue.Workload) bool { f(w); w.Generation++; return true })
	}
	flavor := func(l []client.Object, name string, f func(*kueue.ResourceFlavor)) []client.Object {
		return edited(l, "", name, func(r *kueue.ResourceFlavor) bool { f(r); return true })
	}
	cohort := func(l []client.Object, name string, f func(*kueue.Cohort)) []client.Object {
		return edited(l, "", name, func(c *kueue.Cohort) bool { f(c); return true })
	}
	all := []string{"a/small", "a/waits", "b/small", "b/waits", "c/small", "c/waits", "d/small", "d/waits"}
	tree, others := all[4:], all[2:]
	inactive := func(l []client.Object) []client.Object {
		return edited(l, "", "check", func(c *kueue.AdmissionCheck) bool {
			c.Status.Conditions[0].Status = metav1.ConditionFalse
			return true
		})
	}
	for name, c := range map[string]struct {
		change func([]client.Object) []client.Object
		want   []string // that stay aside
	}{
		"nothing":           {func(l []client.Object) []client.Object { return l }, all},
		"a new job":         {func(l []client.Object) []client.Object { return append(l, parkedJob("a", "new", 6)) }, all},
		"a job ends":        {func(l []client.Object) []client.Object { return edited(l, "a", "runs", remove[*kueue.Workload]) }, tree},
		"a job ends apart":  {func(l []client.Object) []client.Object { return edited(l, "d", "runs", remove[*kueue.Workload]) }, all[:6]},
		"a job is finished": {func(l []client.Object) []client.Object { return job(l, "runs", finished) }, tree},
		"a job is evicted":  {func(l []client.Object) []client.Object { return job(l, "runs", unreserved) }, tree},
		"a job is stopped":  {func(l []client.Object) []client.Object { return job(l, "runs", stopped) }, tree},
		"pods are not needed any more": {func(l []client.Object) []client.Object {
			return job(l, "runs", func(w *kueue.Workload) {
				w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: "main", Count: 1}}
			})
		}, tree},
		"the priority of a job that runs": {func(l []client.Object) []client.Object {
			return job(l, "runs", func(w *kueue.Workload) {
				w.Spec.Priority = ptr.To[int32](7)
				w.Spec.PriorityClassRef = &kueue.PriorityClassRef{Group: kueue.WorkloadPriorityClassGroup, Kind: kueue.WorkloadPriorityClassKind, Name: "high"}
			})
		}, tree},
		"a waiting job is deleted":  {func(l []client.Object) []client.Object { return edited(l, "a", "small", remove[*kueue.Workload]) }, tree},
		"a waiting job is stopped":  {func(l []client.Object) []client.Object { return job(l, "small", stopped) }, tree},
		"a waiting job is finished": {func(l []client.Object) []client.Object { return job(l, "small", finished) }, tree},
		"a job that was never queued is deleted": {func(l []client.Object) []client.Object {
			return edited(l, "a", "stopped", remove[*kueue.Workload])
		}, all},
		"the priority of a waiting job": {func(l []client.Object) []client.Object {
			return job(l, "small", func(w *kueue.Workload) { w.Spec.Priority = ptr.To[int32](7) })
		}, all[1:]},
		"quota": {func(l []client.Object) []client.Object {
			return queue(l, "a", func(q *kueue.ClusterQueue) { q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = *qty(3) })
		}, tree},
		"a label of a queue": {func(l []client.Object) []client.Object {
			return queue(l, "a", func(q *kueue.ClusterQueue) { q.Labels = map[string]string{"team": "a"} })
		}, all},
		"a queue moves": {func(l []client.Object) []client.Object {
			return queue(l, "a", func(q *kueue.ClusterQueue) { q.Spec.CohortName = "other" })
		}, slices.Concat(all[2:4], all[6:])},
		"a queue leaves": {func(l []client.Object) []client.Object {
			return queue(l, "a", func(q *kueue.ClusterQueue) { q.Spec.CohortName = "" })
		}, others},
		"a new queue": {func(l []client.Object) []client.Object { return slices.Concat(l, parkedQueue("e", "right")[:3]) }, tree},
		"quota of a cohort": {func(l []client.Object) []client.Object {
			return cohort(l, "right", func(c *kueue.Cohort) {
				c.Spec.ResourceGroups = []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{gpu}, Flavors: []kueue.FlavorQuotas{{Name: "f0", Resources: []kueue.ResourceQuota{{Name: gpu, NominalQuota: *qty(1)}}}}}}
			})
		}, tree},
		"a cohort moves": {func(l []client.Object) []client.Object {
			return cohort(l, "right", func(c *kueue.Cohort) { c.Spec.ParentName = "other" })
		}, slices.Concat(all[:2], all[6:])},
		"a taint": {func(l []client.Object) []client.Object {
			return flavor(l, "f0", func(f *kueue.ResourceFlavor) {
				f.Spec.NodeTaints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}
			})
		}, nil},
		"a flavor without queues": {func(l []client.Object) []client.Object {
			return flavor(l, "unused", func(f *kueue.ResourceFlavor) { f.Spec.NodeLabels = map[string]string{"k": "v"} })
		}, all},
		"a label of an admission check": {func(l []client.Object) []client.Object {
			return edited(l, "", "check", func(c *kueue.AdmissionCheck) bool { c.Labels = map[string]string{"k": "v"}; return true })
		}, all},
		"the message of an admission check": {func(l []client.Object) []client.Object {
			return edited(l, "", "check", func(c *kueue.AdmissionCheck) bool { c.Status.Conditions[0].Message = "ready"; return true })
		}, all},
		"an admission check is inactive": {inactive, others},
		"an admission check is deleted": {func(l []client.Object) []client.Object {
			return edited(l, "", "check", remove[*kueue.AdmissionCheck])
		}, others},
		"an admission check is active again": {func(l []client.Object) []client.Object {
			return edited(l, "", "check", func(c *kueue.AdmissionCheck) bool {
				c.Status.Conditions[0].Status = metav1.ConditionTrue
				return true
			})
		}, tree},
		"a LocalQueue moves": {func(l []client.Object) []client.Object {
			return localQueue(l, func(q *kueue.LocalQueue) { q.Spec.ClusterQueue = "d" })
		}, all[2:]},
		"a LocalQueue is deleted": {func(l []client.Object) []client.Object { return edited(l, "a", "lq", remove[*kueue.LocalQueue]) }, others},
		"a LocalQueue is held": {func(l []client.Object) []client.Object {
			return localQueue(l, func(q *kueue.LocalQueue) { q.Spec.StopPolicy = ptr.To(kueue.Hold) })
		}, others},
	} {
		t.Run(name, func(t *testing.T) {
			in := &input{make: parkedCluster}
			r := newReal(in)
			for range 6 {
				r.step()
			}
			if got := r.aside(); !slices.Equal(got, all) {
				t.Fatalf("Kueue has put aside %v", got)
			}
			never := parkedJob("a", "stopped", 2) // Kueue never queues it
			stopped(never)
			r.event(nil, never)
			before := append(r.objects(parkedCluster()), never)
			if strings.HasSuffix(name, " again") {
				changed := inactive(before)
				r.happen(before, changed)
				before = changed
			}
			after := c.change(before)
			r.happen(before, after)
			if got := r.aside(); !slices.Equal(got, c.want) {
				t.Errorf("Kueue leaves %v, want %v", got, c.want)
			}
			e := newEngine(&input{make: func() []client.Object { return after }})
			e.SetAside(context.Background(), admission.RetriedAfter(before, after, false))
			if got := slices.Sorted(maps.Keys(e.Parked())); !slices.Equal(got, r.aside()) {
				t.Errorf("the engine leaves %v, Kueue %v", got, r.aside())
			}
		})
	}
}

// nodeChanged is not 0 if Kueue looks at a node that changed.
//
//go:linkname nodeChanged sigs.k8s.io/kueue/pkg/controller/tas.checkNodeSchedulingPropertiesChanged
func nodeChanged(now, old *corev1.Node) int64

// TestRetriedAfterNodes: after a change of a node in a topology, the engine tries jobs again if Kueue looks at the node.
func TestRetriedAfterNodes(t *testing.T) {
	labels := map[string]string{corev1.LabelHostname: "n"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{gpu: *qty(8)},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	cluster := append(edited(parkedCluster(), "", "unused", func(f *kueue.ResourceFlavor) bool {
		f.Spec.TopologyName = ptr.To(kueue.TopologyReference("t"))
		return true
	}),
		&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: kueue.TopologySpec{Levels: []kueue.TopologyLevel{{NodeLabel: corev1.LabelHostname}}}})
	in := &input{make: parkedCluster}
	r := newReal(in)
	for range 6 {
		r.step()
	}
	looked := 0
	for name, change := range map[string]func(*corev1.Node){
		"nothing":            func(*corev1.Node) {},
		"a label":            func(n *corev1.Node) { n.Labels["k"] = "v" },
		"an annotation":      func(n *corev1.Node) { n.Annotations = map[string]string{"k": "v"} },
		"a taint":            func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}} },
		"cordoned":           func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"the provider's ID":  func(n *corev1.Node) { n.Spec.ProviderID = "i-1" },
		"less to allocate":   func(n *corev1.Node) { n.Status.Allocatable[gpu] = *qty(7) },
		"not ready":          func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse },
		"a heartbeat":        func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(now) },
		"a reason":           func(n *corev1.Node) { n.Status.Conditions[0].Reason = "KubeletReady" },
		"the kubelet's info": func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.33.0" },
	} {
		after := node.DeepCopy()
		change(after)
		list := r.objects(slices.Clone(cluster))
		e := newEngine(&input{make: func() []client.Object { return append(slices.Clone(list), after) }})
		e.SetAside(context.Background(), admission.RetriedAfter(append(slices.Clone(list), node), append(slices.Clone(list), after), false))
		looks := nodeChanged(after, node) != 0
		if again := len(e.Parked()) == 0; again != looks {
			t.Errorf("%s: Kueue looks at the node: %v, and the engine tries jobs again: %v", name, looks, again)
		}
		if looks {
			looked++
		}
	}
	if looked != 6 {
		t.Errorf("Kueue looks at %d nodes", looked)
	}
}

func finished(w *kueue.Workload) {
	apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue, Reason: "Succeeded"})
}

func stopped(w *kueue.Workload) { w.Spec.Active = ptr.To(false) }

func unreserved(w *kueue.Workload) {
	w.Status = kueue.WorkloadStatus{Conditions: []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending", LastTransitionTime: metav1.NewTime(now)}}}
}

// aside are the workloads that Kueue has put aside in active ClusterQueues.
func (r *real) aside() []string {
	var out []string
	for cq, list := range r.queues.DumpInadmissible() {
		for _, key := range list {
			if !r.cache.ClusterQueueActive(cq) {
				continue
			}
			out = append(out, string(key))
		}
	}
	slices.Sort(out)
	return out
}

// objects are those of a list, with the workloads as they are now.
func (r *real) objects(list []client.Object) []client.Object {
	for i, o := range list {
		if w, ok := o.(*kueue.Workload); ok {
			list[i] = r.workload(client.ObjectKeyFromObject(w)).DeepCopy()
		}
	}
	return list
}

// happen gives Kueue's controllers the events of a change.
func (r *real) happen(before, after []client.Object) {
	type id struct {
		kind            reflect.Type
		namespace, name string
	}
	idOf := func(o client.Object) id { return id{reflect.TypeOf(o), o.GetNamespace(), o.GetName()} }
	was := map[id]client.Object{}
	for _, o := range before {
		was[idOf(o)] = o
	}
	for _, o := range after {
		if old := was[idOf(o)]; old != o {
			r.event(old, o)
		}
		delete(was, idOf(o))
	}
	for _, o := range was {
		r.event(o, nil)
	}
	r.requeue(r.ctx)
}

// event is one event; was is nil for a new object, o for one that was deleted.
func (r *real) event(was, o client.Object) {
	switch k := cmpOr(o, was).(type) {
	case *kueue.Workload:
		key := client.ObjectKeyFromObject(k)
		if o == nil {
			delete(r.api.workloads, key)
		} else {
			r.api.workloads[key] = o.(*kueue.Workload)
		}
		send(core.NewWorkloadReconciler(r.api, r.queues, r.cache, noEvents{}, core.WithPreemptionExpectations(expectations.New())), was, o, k)
	case *kueue.ClusterQueue:
		send(core.NewClusterQueueReconciler(r.api, r.queues, r.cache), was, o, k)
	case *kueue.LocalQueue:
		send(core.NewLocalQueueReconciler(r.api, r.queues, r.cache), was, o, k)
	case *kueue.ResourceFlavor:
		send(core.NewResourceFlavorReconciler(r.api, r.queues, r.cache, nil), was, o, k)
	case *kueue.AdmissionCheck:
		send(core.NewAdmissionCheckReconciler(r.api, r.queues, r.cache, nil), was, o, k)
	case *kueue.Cohort: // its controller does it when it reconciles
		must(r.cache.AddOrUpdateCohort(k))
		r.queues.AddOrUpdateCohort(r.ctx, k)
	}
}

// controller gets events.
type controller[T client.Object] interface {
	Create(event.TypedCreateEvent[T]) bool
	Update(event.TypedUpdateEvent[T]) bool
	Delete(event.TypedDeleteEvent[T]) bool
}

func send[T client.Object](c controller[T], was, o client.Object, _ T) {
	switch {
	case was == nil:
		c.Create(event.TypedCreateEvent[T]{Object: o.(T)})
	case o == nil:
		c.Delete(event.TypedDeleteEvent[T]{Object: was.(T)})
	default:
		c.Update(event.TypedUpdateEvent[T]{ObjectOld: was.(T), ObjectNew: o.(T)})
	}
}

// cmpOr is the first object that is not nil.
func cmpOr(list ...client.Object) client.Object {
	return list[slices.IndexFunc(list, func(o client.Object) bool { return o != nil })]
}
