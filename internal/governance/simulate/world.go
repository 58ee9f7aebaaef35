// Package simulate answers "what if": it changes a copy of a cluster's queues, quotas,
// nodes and jobs, runs Kueue's own decisions until nothing changes, and compares before
// and after.
//
// Everything is a function of a World and its changes: the same input gives the same
// answer. Report.Tie marks answers where Kueue itself is undecided (fair sharing at
// equal shares).
package simulate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// World is the simulated cluster.
type World struct {
	Config  admission.Config
	Objects []client.Object
	Now     time.Time
	// NoPods reports that the pods are unknown, so nodes do not count.
	NoPods bool

	started  map[types.NamespacedName]bool // workloads that got quota in a simulation and have no pods
	variants []*kueue.Workload             // of the workloads of Objects, one for each flavor
	asFound  bool                          // Kueue runs: what it has put aside stays so
	again    *admission.Retried            // unless a change makes Kueue try it again
}

// engine makes an engine of the world. Objects that cannot be right are left out;
// they are in the problems.
func (w World) engine(ctx context.Context, now func() time.Time) (e *admission.Engine, problems error, err error) {
	cfg := w.Config
	cfg.Now = now
	if e, err = admission.New(cfg); err != nil {
		return nil, nil, &Error{Code: InvalidRules, Err: err}
	}
	return e, e.Load(ctx, admission.AddVariants(w.Objects, w.variants)...), nil
}

// joined returns the world with its variants apart: a job is one workload.
func (w World) joined() World {
	var variants []*kueue.Workload
	w.Objects, variants = admission.TakeVariants(w.Objects)
	w.variants = append(w.variants[:len(w.variants):len(w.variants)], variants...)
	return w
}

// change makes the changes. The objects of w are not changed.
func change(ctx context.Context, w World, changes []Change) (*applied, error) {
	a := &applied{World: w, first: map[string]*kueue.ClusterQueue{}}
	a.Objects = slices.Clone(w.Objects)
	for _, k := range order {
		for _, c := range changes {
			if c.Kind != k {
				continue
			}
			if err := a.apply(ctx, c); err != nil {
				return nil, a.afterRemoval(ctx, w, c, err)
			}
		}
	}
	return a, a.accepted(ctx)
}

// afterRemoval marks the error of a change that would find its object in the world as it was.
func (a *applied) afterRemoval(ctx context.Context, w World, c Change, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != NotFound {
		return err
	}
	alone := &applied{World: w, first: map[string]*kueue.ClusterQueue{}}
	alone.Objects = slices.Clone(w.Objects)
	e.Removed = alone.apply(ctx, c) == nil
	return err
}

// applied is a world with changes under way.
type applied struct {
	World
	notes   []Note
	removed []RemovedNode
	gone    []client.Object // the nodes of removed
	added   int
	first   map[string]*kueue.ClusterQueue // changed queues as they were; nil: it is new
}

func (a *applied) apply(ctx context.Context, c Change) error {
	switch c.Kind {
	case RemoveTeam:
		return a.removeTeam(c)
	case RemoveJob:
		job, err := a.job(c.Target)
		if err != nil {
			return err
		}
		a.dropJobs(func(o *kueue.Workload) bool { return slices.Contains(job, o) })
		return nil
	case RemoveNodes:
		return a.removeNodes(c)
	case AddNodes:
		return a.addNodes(c)
	case Objects:
		return a.applyObjects(c)
	case AddTeam:
		return a.addTeam(c)
	case Set:
		return a.set(ctx, c)
	case Priority:
		return a.prioritize(c)
	case AddJob:
		return a.addJob(ctx, c)
	}
	return &Error{Code: UnknownChange, Change: c, Names: kindNames()}
}

func (a *applied) note(n Note) { a.notes = append(a.notes, n) }

// noteOnce notes what happens to a job, once for all its workloads.
func (a *applied) noteOnce(n Note) {
	if !slices.ContainsFunc(a.notes, func(o Note) bool { return o.Code == n.Code && o.Job == n.Job }) {
		a.note(n)
	}
}

func (a *applied) drop(f func(client.Object) bool) { a.Objects = slices.DeleteFunc(a.Objects, f) }

// dropJobs drops workloads with their jobs' pods, which hold places on nodes.
func (a *applied) dropJobs(f func(*kueue.Workload) bool) {
	gone, jobs := map[podHolder]bool{}, a.podJobs()
	for _, w := range all[*kueue.Workload](a.World) {
		if f(w) {
			gone[jobs.holder(w)] = true
		}
	}
	a.drop(func(o client.Object) bool {
		switch o := o.(type) {
		case *kueue.Workload:
			return f(o)
		case *corev1.Pod:
			job, _ := jobs.of(o)
			return gone[job]
		}
		return false
	})
}

// put replaces an object by its changed copy.
func (a *applied) put(old, changed client.Object) {
	a.Objects[slices.IndexFunc(a.Objects, func(o client.Object) bool { return o == old })] = changed
}

// all returns the objects of one type.
func all[T client.Object](w World) []T {
	var out []T
	for _, o := range w.Objects {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// find returns the cluster-scoped object of a type and name; the zero value when there
// is none.
func find[T client.Object](w World, name string) T {
	var none T
	for _, o := range w.Objects {
		if t, ok := o.(T); ok && t.GetName() == name {
			return t
		}
	}
	return none
}

// queue finds a team's ClusterQueue: by its name, the team's, or a namespace that
// has a LocalQueue on it.
func (a *applied) queue(team string) (*kueue.ClusterQueue, error) {
	queues := all[*kueue.ClusterQueue](a.World)
	names := map[string]bool{}
	for _, q := range queues {
		if q.Name == team || quota.TeamOf(q.Name) == team {
			return q, nil
		}
		names[quota.TeamOf(q.Name)] = true
	}
	of := map[kueue.ClusterQueueReference]bool{}
	for _, lq := range all[*kueue.LocalQueue](a.World) {
		if lq.Namespace == team {
			of[lq.Spec.ClusterQueue] = true
		}
	}
	if len(of) == 1 {
		for _, q := range queues {
			if of[kueue.ClusterQueueReference(q.Name)] {
				return q, nil
			}
		}
	}
	return nil, notFound(aTeam, team, names)
}

func (a *applied) removeTeam(c Change) error {
	q, err := a.queue(c.Target)
	if err != nil {
		return err
	}
	local := map[string]bool{}
	for _, lq := range all[*kueue.LocalQueue](a.World) {
		if string(lq.Spec.ClusterQueue) == q.Name {
			local[lq.Namespace+"/"+lq.Name] = true
		}
	}
	a.dropJobs(func(w *kueue.Workload) bool { return local[w.Namespace+"/"+string(w.Spec.QueueName)] })
	a.drop(func(o client.Object) bool {
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			return o.Name == q.Name
		case *kueue.LocalQueue:
			return local[o.Namespace+"/"+o.Name]
		}
		return false
	})
	return nil
}

// managedPrefix begins the names that task governance gives its objects.
const managedPrefix = "hyperpod-ns-"

// addTeam adds a team with the quota and policy of another, and a namespace and queue
// for it, all named as those of the other.
func (a *applied) addTeam(c Change) error {
	like, err := a.queue(c.Value)
	if err != nil {
		return err
	}
	name, namespace, localQueue := c.Target, c.Target, c.Target
	if like.Name == quota.ManagedQueue(managedPrefix+quota.TeamOf(like.Name)) {
		namespace = managedPrefix + c.Target
		name, localQueue = quota.ManagedQueue(namespace), namespace+"-localqueue"
	}
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		if q.Name == name {
			return &Error{Code: TeamExists, Change: c, Value: name}
		}
	}
	labels := map[string]string{corev1.LabelMetadataName: namespace}
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *like.Spec.DeepCopy()}
	if s := q.Spec.NamespaceSelector; s != nil && s.MatchLabels[corev1.LabelMetadataName] != "" {
		s.MatchLabels[corev1.LabelMetadataName] = namespace
	} else if s != nil {
		maps.Copy(labels, s.MatchLabels)
	}
	a.changed(name, nil)
	if !slices.ContainsFunc(all[*corev1.Namespace](a.World), func(n *corev1.Namespace) bool { return n.Name == namespace }) {
		a.Objects = append(a.Objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}})
	}
	a.Objects = append(a.Objects, q, &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: localQueue},
		Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
	return nil
}

// shownNames returns the function that names the job of a workload for people: the Deployment, or another job with a workload for each pod,
// in place of its pod.
func (w World) shownNames() func(*kueue.Workload) string {
	jobs := inputs.JobsOf(func() []*corev1.Pod { return all[*corev1.Pod](w) })
	return func(wl *kueue.Workload) string {
		name, _ := jobs(wl)
		return name
	}
}

// JobName returns the name of the job of a workload, which its pods have too; the workload's own name if it has no owner.
func JobName(w *kueue.Workload) string {
	name, _ := inputs.JobOf(w)
	return name
}

// job finds the workloads of a job that has not finished: by the job's name or its
// own, with "namespace/" in front where there are several. A job with a workload for each pod, group or slice has more than one.
func (a *applied) job(name string) ([]*kueue.Workload, error) {
	ns, short, qualified := strings.Cut(name, "/")
	if !qualified {
		short = name
	}
	var found []*kueue.Workload
	shown := inputs.JobsOf(func() []*corev1.Pod { return all[*corev1.Pod](a.World) })
	names, homes, matches := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, w := range all[*kueue.Workload](a.World) {
		maker, kind := shown(w)
		own, ownKind := inputs.JobOf(w)
		names[maker] = true
		switch {
		case qualified && w.Namespace != ns:
			continue
		case own == short:
			maker, kind = own, ownKind
		case w.Name == short:
			maker, kind = own, kinds.Workload.Kind
		case maker == short:
		default:
			continue
		}
		found = append(found, w)
		homes[w.Namespace+"/"+maker], matches[w.Namespace+"/"+kind] = true, true
	}
	switch len(matches) {
	case 0:
		return nil, notFound(aJob, name, names)
	case 1:
		return found, nil
	}
	return nil, &Error{Code: Ambiguous, Value: name, Count: len(found), Names: slices.Sorted(maps.Keys(homes))}
}

// addJob adds the workload that Kueue would make of a manifest.
func (a *applied) addJob(ctx context.Context, c Change) error {
	lookup := integration.NewLookup(a.Objects...)
	w, err := integration.WorkloadFor(ctx, c.Manifest, lookup)
	if err == nil {
		err = integration.Validate(ctx, c.Manifest)
	}
	if errors.Is(err, integration.ErrUnknownJob) {
		var kinds []string
		for _, k := range integration.SupportedJobs() {
			kinds = append(kinds, k.Kind)
		}
		return &Error{Code: NoJob, Change: c, Names: kinds, Err: err}
	}
	if err != nil {
		return &Error{Code: InvalidJob, Change: c, Err: err}
	}
	if w.Namespace == "" {
		w.Namespace = c.Namespace
	}
	if w.Namespace == "" {
		return &Error{Code: NoNamespace, Change: c}
	}
	if len(c.Group) > 0 {
		if w, err = a.podGroup(ctx, c, w, lookup); err != nil {
			return err
		}
	}
	if w.Spec.QueueName == "" {
		if w.Spec.QueueName, err = a.onlyQueue(w.Namespace); err != nil {
			return &Error{Code: InvalidJob, Change: c, Err: err}
		}
	}
	// Kueue orders what is equal otherwise by UID, which a server would have given.
	w.UID = types.UID("new-" + w.Namespace + "-" + w.Name)
	a.added++
	w.CreationTimestamp.Time = a.Now.Add(time.Duration(a.added) * time.Millisecond)
	if err := cmp.Or(admission.CheckWorkload(w), admission.CheckRequests(w)); err != nil {
		return &Error{Code: InvalidJob, Change: c, Err: err}
	}
	if slices.ContainsFunc(all[*kueue.Workload](a.World), func(old *kueue.Workload) bool { return sameJob(old, w) }) {
		name, kind := inputs.JobOf(w)
		return &Error{Code: JobExists, Change: c, Kind: cmp.Or(kind, aPodGroup), Value: name, Namespace: w.Namespace}
	}
	a.Objects = append(a.Objects, w)
	return nil
}

// sameJob reports whether two workloads are of one job: a server has one of a kind and name. The
// names of workloads do not tell, as they hold part of the job's UID.
func sameJob(a, b *kueue.Workload) bool {
	nameA, kindA := inputs.JobOf(a)
	nameB, kindB := inputs.JobOf(b)
	return a.Namespace == b.Namespace && (a.Name == b.Name || nameA == nameB && kindA == kindB)
}

// onlyQueue returns the queue of a namespace that has one: the managed one of several.
func (a *applied) onlyQueue(namespace string) (kueue.LocalQueueName, error) {
	var names []string
	for _, lq := range all[*kueue.LocalQueue](a.World) {
		if lq.Namespace == namespace {
			names = append(names, lq.Name)
		}
	}
	slices.Sort(names)
	switch {
	case slices.Contains(names, namespace+"-localqueue"):
		return kueue.LocalQueueName(namespace + "-localqueue"), nil
	case len(names) == 1:
		return kueue.LocalQueueName(names[0]), nil
	case len(names) == 0:
		return "", &Error{Code: NoQueue, Value: namespace}
	}
	return "", &Error{Code: WhichQueue, Value: namespace, Names: names}
}
