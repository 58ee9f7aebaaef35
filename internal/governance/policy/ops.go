package policy

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Operation is a change of one Kueue object, or of a resource of the service.
type Operation struct {
	Action    Action
	Kind      string
	Namespace string `json:",omitempty"`
	Name      string
	// Team is the team of a compute allocation. ID and Version are those of a resource of
	// the service; an update is made of this version only.
	Team    string `json:",omitempty"`
	ID      string `json:",omitempty"`
	Version int    `json:"TargetVersion,omitempty"`
	// Recovers: the operation repairs a resource that the service failed to change.
	Recovers bool `json:",omitempty"`
	// Fields are the fields of the spec that change, of an update.
	Fields []string `json:",omitempty"`
	// Owners are other field managers whose fields change: only a forced change takes them over.
	Owners []string `json:",omitempty"`
	// Lowers: the change takes quota away.
	Lowers bool `json:",omitempty"`
	// Object is the request to the service; of a Kueue object it is nil, see Body.
	Object map[string]any `json:"-"`
	// want is the object as the document describes it, which Body sends; of a deletion nil.
	want client.Object
	// Before is the object that is changed or deleted, as it was read; of a creation nil.
	Before client.Object `json:"-"`
	// After is the typed object after the change; for a deletion, the deleted object.
	After client.Object `json:"-"`
}

// Body returns what server-side apply sends, nil for a deletion. It is made at each call: most plans are only shown, and a
// plan can have many operations.
func (o *Operation) Body() map[string]any {
	meta := map[string]any{"name": o.Name}
	if o.Namespace != "" {
		meta["namespace"] = o.Namespace
	}
	var r kinds.Resource
	object := map[string]any{"metadata": meta}
	switch want := o.want.(type) {
	case *corev1.Namespace:
		r, meta["labels"] = kinds.Namespace, anyMap(want.Labels)
	case *kueue.WorkloadPriorityClass:
		r, object["value"] = kinds.WorkloadPriorityClass, want.Value
	case *kueue.ResourceFlavor:
		r, object["spec"] = kinds.ResourceFlavor, plainSpec(&want.Spec)
	case *kueue.Cohort:
		r, object["spec"] = kinds.Cohort, plainSpec(&want.Spec)
	case *kueue.ClusterQueue:
		r, object["spec"] = kinds.ClusterQueue, plainSpec(&want.Spec)
	case *kueue.LocalQueue:
		r, object["spec"] = kinds.LocalQueue, map[string]any{"clusterQueue": string(want.Spec.ClusterQueue)}
	default:
		return nil
	}
	object["apiVersion"], object["kind"] = r.GroupVersion(), r.Kind
	return object
}

// Prune names the objects to delete because the document does not have them.
type Prune struct {
	Queues  []string // ClusterQueues, with their LocalQueues
	Classes []string // WorkloadPriorityClasses
}

// Differences returns the operations that lead from a cluster to the desired objects, in
// the order in which they keep every team's quota: what others refer to first, then
// quotas that rise, then those that fall, then what goes. Objects that only the cluster
// has stay, but for the pruned ones.
func Differences(live *Live, want *Objects, prune Prune) []Operation {
	o := &operations{out: make([]Operation, 0, more(want.Namespaces, live.Namespaces)+more(want.ClusterQueues, live.ClusterQueues)+more(want.LocalQueues, live.LocalQueues))}
	clusterQueues := byName(live.ClusterQueues)
	namespaces := byName(live.Namespaces)
	for _, n := range want.Namespaces {
		old := namespaces[named(n)]
		queue, unstated := want.Unstated[n.Name]
		keep := unstated && clusterQueues[client.ObjectKey{Name: queue}] != nil
		o.add(before(old), kinds.Namespace, labelFields(old, n, keep), false, labelled(old, n), n)
	}
	classes := byName(live.Classes)
	for _, c := range want.Classes {
		old := classes[named(c)]
		var fields []string
		if old != nil && old.Value != c.Value {
			fields = []string{"value"}
		}
		o.add(before(old), kinds.WorkloadPriorityClass, fields, false, c, c)
	}
	flavors := byName(live.Flavors)
	for _, f := range want.Flavors {
		old := flavors[named(f)]
		var fields []string
		if old != nil && !derived(f) {
			fields = fieldsOf(f.Spec, old.Spec)
		}
		after := applied(old, f, fields, func(o *kueue.ResourceFlavor) *kueue.ResourceFlavorSpec { return &o.Spec })
		o.add(before(old), kinds.ResourceFlavor, fields, false, after, f)
	}
	cohorts := byName(live.Cohorts)
	for _, c := range want.Cohorts {
		old := cohorts[named(c)]
		var fields []string
		if old != nil {
			fields = fieldsOf(canonicalCohort(&c.Spec), canonicalCohort(&old.Spec))
		}
		after := applied(old, c, fields, func(o *kueue.Cohort) *kueue.CohortSpec { return &o.Spec })
		o.add(before(old), kinds.Cohort, fields, false, after, c)
	}
	for _, q := range want.ClusterQueues {
		old := clusterQueues[named(q)]
		var fields []string
		lowers := false
		if old != nil {
			q = stated(q, &old.Spec)
			fields = changing(&q.Spec, &old.Spec)
			lowers = lower(&old.Spec, &q.Spec)
		}
		after := applied(old, q, fields, func(o *kueue.ClusterQueue) *kueue.ClusterQueueSpec { return &o.Spec })
		o.add(before(old), kinds.ClusterQueue, fields, lowers, after, q)
	}
	localQueues := byName(live.LocalQueues)
	for _, l := range want.LocalQueues {
		old := localQueues[named(l)]
		var fields []string
		if old != nil && old.Spec.ClusterQueue != l.Spec.ClusterQueue {
			fields = []string{"clusterQueue"}
		}
		o.add(before(old), kinds.LocalQueue, fields, false, l, l)
	}
	o.prune(live, prune)
	slices.SortStableFunc(o.out, func(a, b Operation) int { return cmp.Compare(turn(a), turn(b)) })
	return o.out
}

// more returns how many more objects are wanted than there are: at least so many are created.
func more[T any](want, have []T) int { return max(0, len(want)-len(have)) }

// turn is when an operation is made.
func turn(o Operation) int {
	switch {
	case o.Action == Delete && o.Kind == kinds.LocalQueue.Kind:
		return 4
	case o.Action == Delete:
		return 5
	case o.Kind == kinds.LocalQueue.Kind:
		return 2
	case o.Lowers:
		return 3
	case o.Kind == kinds.ClusterQueue.Kind:
		return 1
	}
	return 0
}

type operations struct{ out []Operation }

func (o *operations) prune(live *Live, p Prune) {
	queues, classes := sets.New(p.Queues...), sets.New(p.Classes...)
	for _, l := range live.LocalQueues {
		if queues.Has(string(l.Spec.ClusterQueue)) {
			o.out = append(o.out, Operation{Action: Delete, Kind: kinds.LocalQueue.Kind, Namespace: l.Namespace, Name: l.Name, Before: l, After: l})
		}
	}
	for _, q := range live.ClusterQueues {
		if queues.Has(q.Name) {
			o.out = append(o.out, Operation{Action: Delete, Kind: kinds.ClusterQueue.Kind, Name: q.Name, Lowers: true, Before: q, After: q})
		}
	}
	for _, c := range live.Classes {
		if classes.Has(c.Name) {
			o.out = append(o.out, Operation{Action: Delete, Kind: kinds.WorkloadPriorityClass.Kind, Name: c.Name, Before: c, After: c})
		}
	}
}

// applied returns an object as it is once the wanted fields are applied: the wanted one itself if old is nil, because it does
// not exist, and if no fields change.
func applied[O any, P interface {
	*O
	DeepCopy() *O
}, S any](old, want P, fields []string, spec func(*O) *S) *O {
	if old == nil || len(fields) == 0 {
		return want
	}
	out := old.DeepCopy()
	over(spec(out), *spec(old), *spec(want))
	return out
}

// over overrides fields of a spec with those of another, as apply does.
func over[T any](into *T, under, fields T) {
	u, err := toPlain(under)
	if err != nil {
		return // a typed spec always has a JSON form
	}
	f, err := toPlain(fields)
	if err != nil {
		return
	}
	var out T
	if fromPlain(overlay(u, f).(map[string]any), &out) == nil {
		*into = out
	}
}

func (o *operations) add(before client.Object, r kinds.Resource, fields []string, lowers bool, after, want client.Object) {
	action := Create
	if before != nil {
		if len(fields) == 0 {
			return
		}
		action = Update
	}
	namespace, name := after.GetNamespace(), after.GetName()
	o.out = append(o.out, Operation{Action: action, Kind: r.Kind, Namespace: namespace, Name: name,
		Fields: fields, Lowers: lowers, Before: before, After: after, want: want})
}

// before returns what find found, nil where it found nothing.
func before[T any, P interface {
	*T
	client.Object
}](old P) client.Object {
	if old == nil {
		return nil
	}
	return old
}

// byName returns objects by their names, the first one of each.
func byName[T any, P interface {
	*T
	client.Object
}](list []P) map[client.ObjectKey]P {
	out := make(map[client.ObjectKey]P, len(list))
	for _, x := range list {
		if out[named(x)] == nil {
			out[named(x)] = x
		}
	}
	return out
}

func named(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// derived reports a flavor that ToKueue made of an instance type: an existing one of
// that name stays as it is, since the service gives it further labels.
func derived(f *kueue.ResourceFlavor) bool {
	return len(f.Spec.NodeLabels) == 1 && f.Spec.NodeLabels["node.kubernetes.io/instance-type"] == f.Name &&
		len(f.Spec.NodeTaints)+len(f.Spec.Tolerations) == 0 && f.Spec.TopologyName == nil
}

// labelFields names the labels if an existing namespace needs others. With keep, and where quota is not to be enforced, only
// the label of the activation matters: task governance enforces quota where a namespace has all labels, so further ones
// would begin to. The labels of an assumed namespace are not compared.
func labelFields(old, n *corev1.Namespace, keep bool) []string {
	if old == nil || kinds.Assumed(old.Annotations) {
		return nil
	}
	changed := false
	if disabled := n.Labels[labelActivate] == Disabled; keep || disabled {
		changed = disabled != (old.Labels[labelActivate] == Disabled)
	} else {
		for k, v := range n.Labels {
			changed = changed || old.Labels[k] != v
		}
	}
	if !changed {
		return nil
	}
	return []string{"labels"}
}

// labelled returns a namespace with further labels.
func labelled(old, n *corev1.Namespace) *corev1.Namespace {
	if old == nil {
		return n
	}
	out := old.DeepCopy()
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, n.Labels)
	return out
}

func anyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// fieldsOf returns the fields that a spec sets and the other one has otherwise.
func fieldsOf(want, have any) []string {
	x, err := toPlain(want)
	if err != nil {
		return nil
	}
	y, err := toPlain(have)
	if err != nil {
		return nil
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(x)) {
		if !reflect.DeepEqual(overlay(y[k], x[k]), y[k]) {
			out = append(out, k)
		}
	}
	return out
}

// lower reports whether some quota or limit falls.
func lower(from, to *kueue.ClusterQueueSpec) bool {
	before, after := ceilings(from), ceilings(to)
	for k, old := range before {
		if now := after[k]; now.nominal < old.nominal || now.most < old.most {
			return true
		}
	}
	return false
}

// ceiling is the nominal quota of a resource in a flavor, and the most that a queue can hold of it with its borrowing limit.
type ceiling struct{ nominal, most int64 }

// ceilings returns the ceilings of a queue by flavor and resource.
func ceilings(s *kueue.ClusterQueueSpec) map[quota.Key]ceiling {
	out := map[quota.Key]ceiling{}
	for _, g := range s.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				name := string(r.Name)
				c := ceiling{quota.AmountOf(name, r.NominalQuota), quota.Unlimited}
				if s.CohortName == "" {
					c.most = c.nominal
				} else if r.BorrowingLimit != nil {
					c.most = quota.AmountOf(name, *r.BorrowingLimit)
					if c.nominal != quota.Unlimited && c.most < quota.Unlimited-c.nominal {
						c.most += c.nominal
					}
				}
				out[quota.Key{Flavor: string(f.Name), Resource: name}] = c
			}
		}
	}
	return out
}
