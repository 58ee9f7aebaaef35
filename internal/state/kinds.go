package state

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// part is one kind of a State: it can be loaded once, or followed.
type part interface {
	load(context.Context, *loader)
	follow(context.Context, *follower)
}

// partOf is the part of one kind, which is decoded as a W and kept as a T.
type partOf[W, T any] struct {
	resource kinds.Resource
	options  kube.ListOptions
	convert  func(*W) T
	// convertAt, where it is not nil, makes convert for the version that the cluster serves.
	convertAt func(kinds.Resource) func(*W) T
	field     func(*State) *[]T
	// names returns the objects to read when their list is forbidden.
	names func(context.Context) ([]string, error)
}

// parts returns the parts that are wanted. Jobs are not among them: their kinds
// share one field (see follower.jobParts).
func (w Want) parts() []part {
	var out []part
	add := func(wanted bool, p part) {
		if wanted {
			out = append(out, p)
		}
	}
	workloads := kube.ListOptions{LabelSelector: w.WorkloadSelector}
	add(w.Workloads && w.PodSets, &partOf[wireWorkloadFull, Workload]{resource: kinds.Workload, options: workloads,
		convert: (*wireWorkloadFull).workload, field: func(s *State) *[]Workload { return &s.Workloads }})
	add(w.Workloads && !w.PodSets, &partOf[wireWorkload, Workload]{resource: kinds.Workload, options: workloads,
		convert: (*wireWorkload).workload, field: func(s *State) *[]Workload { return &s.Workloads }})
	add(w.ClusterQueues, &partOf[wireClusterQueue, ClusterQueue]{resource: kinds.ClusterQueue, names: w.FallbackQueues,
		convert: (*wireClusterQueue).queue, field: func(s *State) *[]ClusterQueue { return &s.ClusterQueues }})
	add(w.LocalQueues, &partOf[wireLocalQueue, LocalQueue]{resource: kinds.LocalQueue,
		convert: (*wireLocalQueue).queue, field: func(s *State) *[]LocalQueue { return &s.LocalQueues }})
	add(w.Cohorts, &partOf[wireCohort, Cohort]{resource: kinds.Cohort,
		convert: (*wireCohort).cohort, field: func(s *State) *[]Cohort { return &s.Cohorts }})
	add(w.Flavors, &partOf[wireFlavor, ResourceFlavor]{resource: kinds.ResourceFlavor,
		convert: (*wireFlavor).flavor, field: func(s *State) *[]ResourceFlavor { return &s.Flavors }})
	add(w.PriorityClasses, &partOf[wirePriorityClass, PriorityClass]{resource: kinds.WorkloadPriorityClass,
		convert: (*wirePriorityClass).class, field: func(s *State) *[]PriorityClass { return &s.PriorityClasses }})
	add(w.Namespaces, &partOf[wireNamespace, Namespace]{resource: kinds.Namespace,
		convert: (*wireNamespace).namespace, field: func(s *State) *[]Namespace { return &s.Namespaces }})
	add(w.Nodes, &partOf[wireNode, Node]{resource: kinds.Node,
		convert: (*wireNode).node, field: func(s *State) *[]Node { return &s.Nodes }})
	add(w.Pods, &partOf[wirePod, Pod]{resource: kinds.Pod, options: kube.Selecting(w.PodSelector),
		convert: (*wirePod).pod, field: func(s *State) *[]Pod { return &s.Pods }})
	return out
}

func (p *partOf[W, T]) load(ctx context.Context, l *loader) {
	*p.field(l.out) = reader.Read(ctx, l.r, reader.Kind[T]{Resource: p.resource, Namespace: l.w.Namespace, Names: p.names,
		List: func(ctx context.Context, namespace string) ([]T, error) {
			return reader.List(ctx, l.c, p.resource, namespace, p.options, p.convert)
		},
		Get: func(ctx context.Context, name string) (T, error) {
			return get(ctx, l.c, p.resource, "", name, p.convert)
		},
	})
}

// get reads one object at the served version.
func get[W, T any](ctx context.Context, c *kube.Client, r kinds.Resource, namespace, name string, convert func(*W) T) (T, error) {
	var none T
	at, err := reader.Served(ctx, c, r)
	if err != nil {
		return none, err
	}
	var w W
	if err := c.Get(ctx, at, namespace, name, &w); err != nil {
		return none, err
	}
	return convert(&w), nil
}
