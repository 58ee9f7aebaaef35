package simulate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Of returns the world that was read from a cluster.
func Of(in *inputs.Inputs) World {
	w := World{Config: in.Rules().Config, Objects: in.Objects(), Now: in.Taken}
	w.NoPods = slices.ContainsFunc(in.Missing, func(m state.Missing) bool { return m.Of(kinds.Pod) })
	return w
}

// NewObjects returns a change of whole objects: put are added or replace those of the same kind and name, as `kubectl
// replace` would, remove are deleted. Both hold typed objects of Kueue's v1beta2 (ClusterQueue, Cohort, ResourceFlavor,
// LocalQueue, WorkloadPriorityClass, Topology, AdmissionCheck) and Namespaces; only kind, namespace and name of objects
// to remove are used. text names the change in the report.
//
// What Kueue and the API server do about such a change is done too:
//
//   - A ClusterQueue that Kueue's API refuses is an error, when it was not refused
//     before.
//   - The workloads of a WorkloadPriorityClass get its new value.
//   - A removed Namespace takes its LocalQueues, workloads and pods along.
//   - A removed ClusterQueue whose quota workloads hold stays, and admits nothing more,
//     until they end (note DeletionWaits).
//   - The namespace of a new LocalQueue is assumed to be created (note NamespaceAssumed).
//
// The objects must not be changed afterwards. To compare before and after:
//
//	report, err := simulate.Run(ctx, simulate.Of(in), []simulate.Change{simulate.NewObjects("plan", put, remove)}, simulate.Options{})
//
// Report.Teams has the figures of each team before and after, Report.Preempted,
// Report.Evicted and Report.Jobs what happens to jobs ([Report.Started] and
// [Report.Never] select some of them), Report.Problems what get-quota would complain
// about (quota over capacity), Report.Loop a policy that never converges.
func NewObjects(text string, put, remove []client.Object) Change {
	return Change{Kind: Objects, Text: text, put: put, remove: remove}
}

// FromFile reads a change from the YAML of objects to put (see [NewObjects]). text
// names it in errors and in the report.
func FromFile(text string, data []byte, namespace func() (string, error)) (Change, error) {
	put, err := decode.Strict(data)
	return fromObjects(text, put, err, namespace)
}

// FromNewerFile is FromFile for objects with fields that this version does not know: it leaves them out. unknown names them.
func FromNewerFile(text string, data []byte, namespace func() (string, error)) (c Change, unknown, err error) {
	put, unknown, err := decode.Known(data)
	c, err = fromObjects(text, put, err, namespace)
	return c, unknown, err
}

func fromObjects(text string, put []client.Object, err error, namespace func() (string, error)) (Change, error) {
	if err != nil {
		return Change{}, &Error{Code: InvalidFile, Change: Change{Text: text}, Err: err}
	}
	if len(put) == 0 {
		return Change{}, &Error{Code: NoObjects, Change: Change{Text: text}}
	}
	for _, o := range put {
		if lq, ok := o.(*kueue.LocalQueue); ok && lq.Namespace == "" {
			if lq.Namespace, err = namespace(); err != nil {
				return Change{}, err
			}
		}
	}
	return NewObjects(text, put, nil), nil
}

// accepts reports the kinds that NewObjects takes.
func accepts(o client.Object) bool {
	switch o.(type) {
	case *kueue.ClusterQueue, *kueue.Cohort, *kueue.ResourceFlavor, *kueue.LocalQueue, *kueue.WorkloadPriorityClass,
		*kueue.Topology, *kueue.AdmissionCheck, *corev1.Namespace:
		return true
	}
	return false
}

// same reports whether two objects have the same kind and name.
func same(a, b client.Object) bool {
	return a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace() && reflect.TypeOf(a) == reflect.TypeOf(b)
}

// applyObjects makes a change of NewObjects.
func (a *applied) applyObjects(c Change) error {
	for _, o := range slices.Concat(c.put, c.remove) {
		if !accepts(o) {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*")
			return &Error{Code: ObjectIgnored, Change: c, Kind: cmp.Or(o.GetObjectKind().GroupVersionKind().Kind, kind), Value: o.GetName()}
		}
	}
	a.removeAll(c.remove)
	places := make(map[place]int, len(a.Objects)+len(c.put))
	for i, o := range slices.Backward(a.Objects) {
		places[placeOf(o)] = i
	}
	for _, o := range c.put {
		a.replace(o, places)
	}
	return nil
}

// place identifies an object: two with the same kind and name have the same one.
type place struct {
	kind reflect.Type
	key  client.ObjectKey
}

func placeOf(o client.Object) place { return place{reflect.TypeOf(o), client.ObjectKeyFromObject(o)} }

// append adds an object that is not in the world yet.
func (a *applied) append(o client.Object, places map[place]int) {
	places[placeOf(o)] = len(a.Objects)
	a.Objects = append(a.Objects, o)
}

// replace adds an object, or puts it in the place of the one there is. What a server
// fills in stays as it was.
func (a *applied) replace(o client.Object, places map[place]int) {
	at, known := places[placeOf(o)]
	switch o := o.(type) {
	case *kueue.ClusterQueue:
		var old *kueue.ClusterQueue
		if known {
			old = a.Objects[at].(*kueue.ClusterQueue)
		}
		a.changed(o.Name, old)
	case *kueue.WorkloadPriorityClass:
		a.revalue(o)
	case *kueue.LocalQueue:
		a.home(o, places)
	}
	if !known {
		a.append(o, places)
		return
	}
	old := a.Objects[at]
	o = o.DeepCopyObject().(client.Object)
	o.SetUID(old.GetUID())
	o.SetCreationTimestamp(old.GetCreationTimestamp())
	a.Objects[at] = o
}

// changed remembers a queue as it was before all changes; nil: it is new.
func (a *applied) changed(name string, old *kueue.ClusterQueue) {
	if _, again := a.first[name]; !again {
		a.first[name] = old
	}
}

// revalue gives workloads the new value of their class (Kueue's
// workloadpriorityclass_controller.go).
func (a *applied) revalue(class *kueue.WorkloadPriorityClass) {
	for _, old := range all[*kueue.Workload](a.World) {
		if r := old.Spec.PriorityClassRef; r == nil || r.Kind != kueue.WorkloadPriorityClassKind || r.Name != class.Name {
			continue
		}
		w := *old
		w.Spec.Priority = ptr.To(class.Value)
		a.put(old, &w)
	}
}

// home makes sure that the namespace of a new LocalQueue exists.
func (a *applied) home(lq *kueue.LocalQueue, places map[place]int) {
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: lq.Namespace, Labels: map[string]string{corev1.LabelMetadataName: lq.Namespace}}}
	if _, known := places[placeOf(home)]; known {
		return
	}
	a.append(home, places)
	a.note(Note{Code: NamespaceAssumed, Namespace: lq.Namespace})
}

// removeAll deletes objects with what goes with them, in order.
func (a *applied) removeAll(list []client.Object) {
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(o client.Object) bool { _, ok := o.(*corev1.Namespace); return ok })
		if n == 0 {
			name := list[0].GetName()
			a.drop(func(x client.Object) bool { return x.GetNamespace() == name || same(x, list[0]) })
			list = list[1:]
			continue
		}
		if n < 0 {
			n = len(list)
		}
		a.remove(list[:n])
		list = list[n:]
	}
}

// remove deletes objects other than Namespaces.
func (a *applied) remove(list []client.Object) {
	held := map[string]int{} // workloads with quota, by ClusterQueue
	for _, w := range all[*kueue.Workload](a.World) {
		if inputs.Reserves(w) {
			held[string(w.Status.Admission.ClusterQueue)]++
		}
	}
	gone, stopped := map[place]bool{}, map[place]bool{}
	for _, o := range list {
		q, ok := o.(*kueue.ClusterQueue)
		if !ok || held[q.Name] == 0 {
			gone[placeOf(o)] = true
			continue
		}
		stopped[placeOf(o)] = true
		a.note(Note{Code: DeletionWaits, Team: q.Name, Count: held[q.Name]})
	}
	for i, o := range a.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && stopped[placeOf(q)] {
			q = q.DeepCopy()
			q.Spec.StopPolicy = ptr.To(kueue.Hold)
			a.Objects[i] = q
		}
	}
	a.drop(func(x client.Object) bool { return gone[placeOf(x)] })
}

// Started returns the jobs that run after the changes and did not before.
func (r *Report) Started() []Job {
	return r.filter(func(j Job) bool { return j.After.runs() && !j.Before.runs() })
}

// Never returns the jobs that can never run after the changes, and could before or are new.
func (r *Report) Never() []Job {
	return r.filter(func(j Job) bool {
		return j.After != nil && j.After.State == Never && (j.Before == nil || j.Before.State != Never)
	})
}

func (r *Report) filter(f func(Job) bool) []Job {
	return slices.DeleteFunc(slices.Clone(r.Jobs), func(j Job) bool { return !f(j) })
}

// runs reports whether a job has quota and its pods fit on nodes.
func (s *JobState) runs() bool {
	return s != nil && (s.State == Admitted || s.State == QuotaReserved)
}
