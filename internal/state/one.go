package state

import (
	"context"
	"encoding/json"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// GetJob reads one job.
func GetJob(ctx context.Context, c *kube.Client, k kinds.Job, namespace, name string) (Job, error) {
	r, err := reader.Served(ctx, c, k.Resource)
	if err != nil {
		return Job{}, err
	}
	var object json.RawMessage
	if err := c.Get(ctx, r, namespace, name, &object); err != nil {
		return Job{}, err
	}
	k.Resource = r
	return DecodeJob(k, NewRuntimes(c).wholeJSON(ctx, k, object))
}

// DecodeJob makes a Job of an object's JSON.
func DecodeJob(k kinds.Job, object json.RawMessage) (Job, error) {
	if !decodesRoles(k) {
		w := describedJob{raw: object}
		return w.job(k), nil
	}
	var w wireJob
	err := kube.Decode(object, &w)
	return w.job(k), err
}

// DecodeWorkload makes a Workload of an object's JSON, of any served version.
func DecodeWorkload(object json.RawMessage) (Workload, error) {
	var w wireWorkloadFull
	err := kube.Decode(object, &w)
	return w.workload(), err
}

// GetNamespace reads one namespace.
func GetNamespace(ctx context.Context, c *kube.Client, name string) (Namespace, error) {
	return get(ctx, c, kinds.Namespace, "", name, (*wireNamespace).namespace)
}

// GetClusterQueue reads one ClusterQueue.
func GetClusterQueue(ctx context.Context, c *kube.Client, name string) (ClusterQueue, error) {
	return get(ctx, c, kinds.ClusterQueue, "", name, (*wireClusterQueue).queue)
}

// FollowJobs is kube.Follow for objects of one kind of jobs. Those that count as jobs have the labels of
// CountingSelector.
func FollowJobs(ctx context.Context, c *kube.Client, k kinds.Job, namespace string, o kube.ListOptions, f func(kube.Event[Job]) error) error {
	r, err := reader.Served(ctx, c, k.Resource)
	if err != nil {
		return err
	}
	k.Resource = r
	if !decodesRoles(k) {
		runtimes := NewRuntimes(c)
		return follow(ctx, c, r, namespace, o, func(w *describedJob) Job { return w.whole(ctx, k, runtimes) }, f)
	}
	return follow(ctx, c, r, namespace, o, func(w *wireJob) Job { return w.job(k) }, f)
}

// FollowWorkloads is kube.Follow for workloads, pod sets included, without variants, as in [ListWorkloads]: a change of a variant
// is one of its workload.
func FollowWorkloads(ctx context.Context, c *kube.Client, namespace string, o kube.ListOptions, f func(kube.Event[Workload]) error) error {
	r, err := reader.Served(ctx, c, kinds.Workload)
	if err != nil {
		return err
	}
	known := families{}
	return follow(ctx, c, r, namespace, o, (*wireWorkloadFull).workload, func(e kube.Event[Workload]) error {
		if e.Type == kube.Synced {
			return f(e)
		}
		for _, e := range known.follow(e) {
			if err := f(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// FollowPods is kube.Follow for pods.
func FollowPods(ctx context.Context, c *kube.Client, namespace string, o kube.ListOptions, f func(kube.Event[Pod]) error) error {
	return follow(ctx, c, kinds.Pod, namespace, o, (*wirePod).pod, f)
}

func follow[W, T any](ctx context.Context, c *kube.Client, r kinds.Resource, namespace string, o kube.ListOptions, convert func(*W) T, f func(kube.Event[T]) error) error {
	return kube.Follow(ctx, c, r, namespace, o, func(e kube.Event[W]) error {
		return f(kube.Event[T]{Type: e.Type, Object: convert(&e.Object)})
	})
}

// ListNamespaces reads namespaces.
func ListNamespaces(ctx context.Context, c *kube.Client, o kube.ListOptions) ([]Namespace, error) {
	return reader.List(ctx, c, kinds.Namespace, "", o, (*wireNamespace).namespace)
}

// ListNodes reads nodes.
func ListNodes(ctx context.Context, c *kube.Client, o kube.ListOptions) ([]Node, error) {
	return reader.List(ctx, c, kinds.Node, "", o, (*wireNode).node)
}

// ListLocalQueues reads the local queues of a namespace.
func ListLocalQueues(ctx context.Context, c *kube.Client, namespace string) ([]LocalQueue, error) {
	return reader.List(ctx, c, kinds.LocalQueue, namespace, kube.ListOptions{}, (*wireLocalQueue).queue)
}

// ListPriorityClasses reads the WorkloadPriorityClasses.
func ListPriorityClasses(ctx context.Context, c *kube.Client) ([]PriorityClass, error) {
	return reader.List(ctx, c, kinds.WorkloadPriorityClass, "", kube.ListOptions{}, (*wirePriorityClass).class)
}

// ListPods reads pods.
func ListPods(ctx context.Context, c *kube.Client, namespace string, o kube.ListOptions) ([]Pod, error) {
	return reader.List(ctx, c, kinds.Pod, namespace, o, (*wirePod).pod)
}

// ListWorkloads reads workloads, pod sets included.
func ListWorkloads(ctx context.Context, c *kube.Client, namespace string, o kube.ListOptions) ([]Workload, error) {
	all, err := reader.List(ctx, c, kinds.Workload, namespace, o, (*wireWorkloadFull).workload)
	return withoutVariants(all), err
}

// ServedJobs returns the job kinds that the cluster serves, at the version it
// serves.
func ServedJobs(ctx context.Context, c *kube.Client) ([]kinds.Job, error) {
	all := kinds.Jobs()
	errors := make([]error, len(all))
	var wg crash.Group
	for i := range all {
		wg.Go(func() { all[i].Resource, errors[i] = reader.Served(ctx, c, all[i].Resource) })
	}
	wg.Wait()
	var out []kinds.Job
	for i, err := range errors {
		switch {
		case err == nil:
			out = append(out, all[i])
		case !kube.IsNotServed(err):
			return nil, err
		}
	}
	return out, nil
}

// DecodePod makes a Pod of an object's JSON.
func DecodePod(object json.RawMessage) (Pod, error) {
	var w wirePod
	err := kube.Decode(object, &w)
	return w.pod(), err
}
