package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	_ "unsafe" // go:linkname

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	_ "sigs.k8s.io/kueue/pkg/controller/concurrentadmission" // go:linkname
	controllerconsts "sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	"sigs.k8s.io/kueue/pkg/util/roletracker"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// Concurrent admission: Kueue's own controllers of variants and of workloads make, activate and ungate the variants. Of the
// controller of jobs this file has what it does about an eviction.

// variantReconciler is Kueue's type of the same name.
type variantReconciler struct {
	logName     string
	queues      *qcache.Manager
	client      client.Client
	recorder    events.EventRecorder
	roleTracker *roletracker.RoleTracker
	clock       clock.Clock
}

//go:linkname newVariantReconciler sigs.k8s.io/kueue/pkg/controller/concurrentadmission.newVariantReconciler
func newVariantReconciler(c client.Client, queues *qcache.Manager, recorder events.EventRecorder, roleTracker *roletracker.RoleTracker) *variantReconciler

//go:linkname reconcileVariants sigs.k8s.io/kueue/pkg/controller/concurrentadmission.(*variantReconciler).Reconcile
func reconcileVariants(r *variantReconciler, ctx context.Context, req ctrl.Request) (ctrl.Result, error)

//go:linkname normalizeActiveSlices sigs.k8s.io/kueue/pkg/workloadslicing.normalizeActiveSlices
func normalizeActiveSlices(ctx context.Context, c client.Client, clk clock.Clock, workloads []kueue.Workload) (*kueue.Workload, error)

// families are Kueue's controllers that take part in concurrent admission.
type families struct {
	workloads *core.WorkloadReconciler
	variants  *variantReconciler
	// parents and members are to be reconciled.
	parents, members map[client.ObjectKey]bool
	later            map[client.ObjectKey]bool // parents whose gate does not open yet
}

// newFamilies sets the controllers up.
func (r *real) newFamilies(in *input, store *expectations.Store) {
	f := &families{parents: map[client.ObjectKey]bool{}, members: map[client.ObjectKey]bool{}, later: map[client.ObjectKey]bool{}}
	f.workloads = core.NewWorkloadReconciler(r.api, r.queues, r.cache, noEvents{}, core.WithPreemptionExpectations(store), core.WithDRABackedResources(r.backed),
		core.WithDRAMapper(deviceMapper()), core.WithResourceSliceAPIAvailable(true), core.WithAdmissionFairSharing(in.byUse))
	f.variants = newVariantReconciler(r.api, r.queues, noEvents{}, nil)
	f.variants.clock = r.clock
	r.setClock(f.workloads)
	r.families, r.api.answers, r.api.clock, r.api.busy = f, true, r.clock, r.busy
}

// ofFamily reports that a workload is a parent or a variant, or will be a parent once it is labelled.
func (r *real) ofFamily(w *kueue.Workload) bool {
	return r.families != nil && (concurrentadmission.IsVariant(w) || r.leads(w))
}

func (r *real) leads(w *kueue.Workload) bool {
	lq := r.api.localQueues[client.ObjectKey{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}]
	return r.families != nil && !concurrentadmission.IsVariant(w) && r.api.clusterQueues[lq.Spec.ClusterQueue].Spec.ConcurrentAdmissionPolicy != nil
}

// tell gives the controllers an event of a member of a family.
func (r *real) tell(p change) {
	f := r.families
	w := p.now
	switch {
	case p.old == nil:
		f.workloads.Create(event.TypedCreateEvent[*kueue.Workload]{Object: p.now})
	case p.now == nil:
		w = p.old
		f.workloads.Delete(event.TypedDeleteEvent[*kueue.Workload]{Object: p.old})
	default:
		f.workloads.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: p.old, ObjectNew: p.now})
	}
	if p.now != nil {
		f.members[client.ObjectKeyFromObject(w)] = true
	}
	if concurrentadmission.IsParent(w) {
		f.parents[client.ObjectKeyFromObject(w)] = true
	}
	if name := concurrentadmission.GetParentWorkloadName(w); name != "" {
		f.parents[client.ObjectKey{Namespace: w.Namespace, Name: name}] = true
	}
}

// settle lets the controllers work until nothing is left to do.
func (r *real) settle() {
	if r.families == nil {
		return
	}
	f := r.families
	maps.Copy(f.parents, f.later)
	clear(f.later)
	for range 10000 {
		switch {
		case len(r.api.patched) > 0:
			p := r.api.patched[0]
			r.api.patched = r.api.patched[1:]
			r.tell(p)
		case len(f.members) > 0:
			key := firstOf(f.members)
			delete(f.members, key)
			r.stopped(key)
			r.replaced(key)
			if len(r.api.patched) == 0 {
				if _, err := f.workloads.Reconcile(r.ctx, reconcile.Request{NamespacedName: key}); !r.counts(r.api.workloads[key]) {
					must(err) // a claim template that does not exist is an error, so that the controller tries again
				}
			}
		case len(f.parents) > 0:
			key := firstOf(f.parents)
			delete(f.parents, key)
			if _, err := reconcileVariants(f.variants, r.ctx, ctrl.Request{NamespacedName: key}); errors.Is(err, errBusy) {
				f.later[key] = true // and everything else is done
			} else {
				must(err)
			}
		default:
			return
		}
	}
	panic("the controllers never settle")
}

// conflicts returns the changes of a cycle without those that an API server refuses: a second pass of a workload of a
// family that loses its quota in the same cycle.
func (r *real) conflicts(patched []change) []change {
	for _, p := range patched {
		if !r.ofFamily(p.now) || !leaves(p.now) {
			continue
		}
		key := client.ObjectKeyFromObject(p.now)
		patched = slices.DeleteFunc(slices.Clone(patched), func(o change) bool { return client.ObjectKeyFromObject(o.now) == key && !leaves(o.now) })
		for _, o := range patched {
			if client.ObjectKeyFromObject(o.now) == key {
				r.api.workloads[key] = o.now
			}
		}
	}
	return patched
}

// errBusy holds a gate closed until the scheduler, which is faster than the controller, has tried all variants.
var errBusy = errors.New("the scheduler is not done")

// busy reports that the patch of a variant opens its gate, and that the scheduler will still try a variant of the same job.
func (r *real) busy(old, w *kueue.Workload) bool {
	open := func(w *kueue.Workload) bool {
		return workload.HasOpenPreemptionGate(w, controllerconsts.ConcurrentAdmissionPreemptionGate)
	}
	if open(old) || !open(w) {
		return false
	}
	for _, list := range r.queues.Dump() {
		for _, key := range list {
			ns, name, _ := strings.Cut(string(key), "/")
			if o := r.api.workloads[client.ObjectKey{Namespace: ns, Name: name}]; o != nil && concurrentadmission.GetParentWorkloadUID(o) == concurrentadmission.GetParentWorkloadUID(w) {
				return true
			}
		}
	}
	return false
}

// firstOf returns the first key.
func firstOf(keys map[client.ObjectKey]bool) client.ObjectKey {
	var list []client.ObjectKey
	for k := range keys {
		list = append(list, k)
	}
	return slices.MinFunc(list, compareKeys)
}

// stopped is the job controller: the job of an evicted parent has stopped, so that it loses its quota (step 6 of the job
// reconciler).
func (r *real) stopped(key client.ObjectKey) {
	old := r.api.workloads[key]
	if old == nil || !concurrentadmission.IsParent(old) || !leaves(old) {
		return
	}
	w := old.DeepCopy()
	ev := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	workload.SetRequeuedCondition(w, ev.Reason, ev.Message, ev.Reason == kueue.WorkloadEvictedByPreemption || ev.Reason == kueue.WorkloadEvictedDueToNodeFailures)
	reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation, kueue.WorkloadPending) //nolint:staticcheck
	workload.UnsetQuotaReservationWithCondition(w, reason, ev.Message, r.clock.Now())
	r.api.workloads[key] = w
	r.api.patched = append(r.api.patched, change{old, w})
}

// replaced is the job controller: once the new slice of an elastic job is admitted, the old one ends.
func (r *real) replaced(key client.ObjectKey) {
	w := r.api.workloads[key]
	if !concurrentadmission.IsParent(w) || !workload.IsAdmitted(w) {
		return
	}
	key, ok := oldSlice(w)
	if old := r.api.workloads[key]; ok && old != nil && !workloadfinish.IsFinished(old) {
		_, err := normalizeActiveSlices(r.ctx, r.api, r.clock, []kueue.Workload{*old.DeepCopy(), *w.DeepCopy()})
		must(err)
	}
}

// appear creates a workload of a family.
func (r *real) appear(w *kueue.Workload) {
	r.api.workloads[client.ObjectKeyFromObject(w)] = w
	r.api.patched = append(r.api.patched, change{nil, w})
	r.settle()
}

// vanish deletes a parent, and its variants with it.
func (r *real) vanish(key client.ObjectKey) {
	gone := []*kueue.Workload{r.api.workloads[key]}
	for _, w := range r.api.workloads {
		if concurrentadmission.GetParentWorkloadUID(w) == gone[0].UID {
			gone = append(gone, w)
		}
	}
	for _, w := range gone {
		delete(r.api.workloads, client.ObjectKeyFromObject(w))
		r.api.patched = append(r.api.patched, change{w, nil})
	}
	r.settle()
}

// wait lets time pass.
func (r *real) wait(d time.Duration) {
	*r.at = r.at.Add(d)
	r.sampleUse()
	for key, w := range r.api.workloads {
		if concurrentadmission.IsParent(w) {
			r.families.parents[key] = true
		}
	}
	r.settle()
	r.requeue(r.ctx)
}

// Create stores a variant as an API server does: without a status. Its UID is the one that the engine gives it, because
// it decides which of two variants is first.
func (a *api) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	w := obj.(*kueue.Workload).DeepCopy()
	w.Status = kueue.WorkloadStatus{}
	flavor := string(concurrentadmission.GetVariantFlavor(w))
	w.UID = types.UID(fmt.Sprintf("%s-%c", concurrentadmission.GetParentWorkloadUID(w), 'a'+flavor[1]-'0'))
	w.CreationTimestamp = metav1.NewTime(a.clock.Now())
	a.workloads[client.ObjectKeyFromObject(w)] = w
	a.patched = append(a.patched, change{nil, w})
	return nil
}

// Update replaces what is not the status.
func (a *api) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	key := client.ObjectKeyFromObject(obj)
	old, w := a.workloads[key], obj.(*kueue.Workload).DeepCopy()
	w.Status = *old.Status.DeepCopy()
	a.workloads[key] = w
	w.DeepCopyInto(obj.(*kueue.Workload))
	a.patched = append(a.patched, change{old, w})
	return nil
}

func (a *api) Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	must(kueue.AddToScheme(s))
	return s
}

// Update replaces the status.
func (s statusWriter) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	if _, ok := obj.(*kueue.LocalQueue); ok {
		return nil // nobody reads its past use there
	}
	key := client.ObjectKeyFromObject(obj)
	old := s.a.workloads[key]
	w := old.DeepCopy()
	obj.(*kueue.Workload).Status.DeepCopyInto(&w.Status)
	s.a.workloads[key] = w
	s.a.patched = append(s.a.patched, change{old, w})
	return nil
}

// concurrently makes some queues of an input use concurrent admission.
func (in *input) concurrently(list []client.Object) {
	r := rand.New(rand.NewPCG(uint64(in.seed), 55))
	in.gates = map[string]bool{"ConcurrentAdmission": true}
	in.families = map[string][]string{}
	for _, o := range list {
		cq, ok := o.(*kueue.ClusterQueue)
		if !ok || !chance(r, 70) {
			continue
		}
		var flavors []string
		for _, f := range cq.Spec.ResourceGroups[0].Flavors {
			flavors = append(flavors, string(f.Name))
		}
		in.families[cq.Name] = flavors
		cq.Spec.QueueingStrategy = kueue.BestEffortFIFO
		p := &kueue.ConcurrentAdmissionPolicy{Migration: kueue.ConcurrentAdmissionMigration{Mode: kueue.ConcurrentAdmissionTryPreferredFlavors}}
		if chance(r, 35) {
			p.Migration.Mode = kueue.ConcurrentAdmissionRetainFirstAdmission
		} else if chance(r, 40) {
			p.Migration.Constraints = &kueue.ConcurrentAdmissionConstraints{LastAcceptableFlavorName: ptr.To(kueue.ResourceFlavorReference(pick(r, flavors)))}
		}
		cq.Spec.ConcurrentAdmissionPolicy = p
	}
	// Kueue wants a hash at the end of the name of a parent.
	for _, o := range list {
		if w, ok := o.(*kueue.Workload); ok && in.families[w.Namespace] != nil {
			w.Name += "-x"
		}
	}
	for _, w := range in.late {
		if in.families[w.Namespace] == nil {
			continue
		}
		w.Name += "-x"
		if old, ok := oldSlice(w); ok {
			w.Annotations[workloadslicing.WorkloadSliceReplacementFor] = old.String() + "-x"
		}
	}
}

// members are the variants that a workload has or may get.
func (in *input) members(w *kueue.Workload) []client.ObjectKey {
	var out []client.ObjectKey
	for _, flavor := range in.families[w.Namespace] {
		name := jobframework.GetWorkloadNameForVariant(w.Name, w.UID, kueue.SchemeGroupVersion.WithKind("Workload"), flavor)
		out = append(out, client.ObjectKey{Namespace: w.Namespace, Name: name})
	}
	return out
}

// isMember reports the key of a variant.
func (in *input) isMember(k client.ObjectKey) bool {
	return in.families != nil && strings.Contains(k.Name, "-variant-")
}
