package integration

import (
	"cmp"
	"context"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// Lookup returns the objects that a job refers to; nil, or an empty slice, if there are none. Callers do not change the
// results.
type Lookup interface {
	WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass
	// PriorityClasses returns all classes, sorted by name, to find the global default.
	PriorityClasses() []*schedulingv1.PriorityClass
	ResourceFlavor(name string) *kueue.ResourceFlavor
}

// NewLookup returns a Lookup over the given objects; other kinds are ignored.
func NewLookup(objs ...client.Object) Lookup {
	l := lookup{priorities: map[string]*kueue.WorkloadPriorityClass{}, flavors: map[string]*kueue.ResourceFlavor{}}
	for _, o := range objs {
		switch o := o.(type) {
		case *kueue.WorkloadPriorityClass:
			l.priorities[o.Name] = o
		case *schedulingv1.PriorityClass:
			l.classes = append(l.classes, o)
		case *kueue.ResourceFlavor:
			l.flavors[o.Name] = o
		}
	}
	slices.SortStableFunc(l.classes, func(a, b *schedulingv1.PriorityClass) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

// lookup is a Lookup over objects.
type lookup struct {
	priorities map[string]*kueue.WorkloadPriorityClass
	classes    []*schedulingv1.PriorityClass
	flavors    map[string]*kueue.ResourceFlavor
}

func (l lookup) WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass {
	return l.priorities[name]
}
func (l lookup) PriorityClasses() []*schedulingv1.PriorityClass   { return l.classes }
func (l lookup) ResourceFlavor(name string) *kueue.ResourceFlavor { return l.flavors[name] }

// reader is a Lookup as the client that Kueue's job integrations read with. Without one it has no objects.
type reader struct {
	client.Client
	lookup Lookup
}

func clientFor(l Lookup) client.Client {
	if l == nil {
		l = lookup{}
	}
	return reader{embedded.NoClient(), l}
}

// Get returns the object of a name. It may share its maps with the Lookup, but for a flavor, whose node labels and tolerations
// Kueue hands on.
func (r reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	switch o := obj.(type) {
	case *kueue.WorkloadPriorityClass:
		if class := r.lookup.WorkloadPriorityClass(key.Name); class != nil {
			*o = *class
			return nil
		}
		return notFound("workloadpriorityclasses", key)
	case *kueue.ResourceFlavor:
		if flavor := r.lookup.ResourceFlavor(key.Name); flavor != nil {
			flavor.DeepCopyInto(o)
			return nil
		}
		return notFound("resourceflavors", key)
	case *schedulingv1.PriorityClass:
		for _, class := range r.lookup.PriorityClasses() {
			if class.Name == key.Name {
				*o = *class
				return nil
			}
		}
		return notFound("priorityclasses", key)
	}
	return r.Client.Get(ctx, key, obj, opts...)
}

func notFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.Name)
}

// List returns all priority classes.
func (r reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	l, ok := list.(*schedulingv1.PriorityClassList)
	if !ok {
		return r.Client.List(ctx, list, opts...)
	}
	for _, class := range r.lookup.PriorityClasses() {
		l.Items = append(l.Items, *class)
	}
	return nil
}
