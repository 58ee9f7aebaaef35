package factory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/namecache"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// InNamespace completes the names of objects in the namespace of the command.
func InNamespace(r kinds.Resource) Lookup {
	return func(ctx context.Context, f *Factory) ([]string, error) {
		ns, err := namespaceFor(ctx, f)
		if err != nil {
			return nil, err
		}
		return list(ctx, f, r, ns, "")
	}
}

// NodeLabels completes labels of nodes as K=V. A label that is another one on each node chooses no group of nodes and is left out.
func NodeLabels(ctx context.Context, f *Factory) ([]string, error) {
	nodes, err := listMeta(ctx, f, kinds.Node, "", "")
	nodesWith, values := map[string]int{}, map[string]map[string]bool{}
	for _, n := range nodes {
		for key, value := range n.Metadata.Labels {
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			nodesWith[key]++
			values[key][value] = true
		}
	}
	var out []string
	for key, all := range values {
		if len(all) > 1 && len(all) == nodesWith[key] {
			continue
		}
		for value := range all {
			out = append(out, key+"="+value)
		}
	}
	return out, err
}

// Taints completes the taints of nodes as KEY=VALUE:EFFECT.
func Taints(ctx context.Context, f *Factory) ([]string, error) {
	type node struct {
		Spec struct {
			Taints []struct {
				Key    string `json:"key"`
				Value  string `json:"value"`
				Effect string `json:"effect"`
			} `json:"taints"`
		} `json:"spec"`
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	r := kinds.Node
	nodes, err := namecache.Recall(c.Names, func() ([]node, error) {
		page, err := kube.List[node](ctx, c.Client, r, "", kube.ListOptions{})
		return page.Items, err
	}, r.Group, r.Version, r.Plural, "taints")
	with := map[string]int{}
	for _, n := range nodes {
		for _, t := range n.Spec.Taints {
			if t.Value != "" {
				t.Key += "=" + t.Value
			}
			with[t.Key+":"+t.Effect]++
		}
	}
	var out []string
	for taint, n := range with {
		out = append(out, described(taint, words.Count(n, "node", "nodes")))
	}
	return out, err
}

// TopologyLevels completes the node labels that are levels of the cluster's topologies.
func TopologyLevels(ctx context.Context, f *Factory) ([]string, error) {
	type topology struct {
		meta
		Spec struct {
			Levels []struct {
				NodeLabel string `json:"nodeLabel"`
			} `json:"levels"`
		} `json:"spec"`
	}
	found, err := kueueObjects[topology](ctx, f, kinds.Topology)
	var out []string
	for _, t := range found {
		for _, l := range t.Spec.Levels {
			out = append(out, described(l.NodeLabel, "level of topology "+t.Metadata.Name))
		}
	}
	return out, err
}

// Cohorts completes the cohorts of the cluster: those of ClusterQueues, and those that are objects.
func Cohorts(ctx context.Context, f *Factory) ([]string, error) {
	type queue struct {
		Spec struct {
			CohortName string `json:"cohortName"` // v1beta2
			Cohort     string `json:"cohort"`     // v1beta1
		} `json:"spec"`
	}
	queues, err := kueueObjects[queue](ctx, f, kinds.ClusterQueue)
	var out []string
	for _, q := range queues {
		if name := cmp.Or(q.Spec.CohortName, q.Spec.Cohort); name != "" {
			out = append(out, name)
		}
	}
	objects, _ := kueueObjects[meta](ctx, f, kinds.Cohort) // not every version of Kueue serves them
	for _, c := range objects {
		out = append(out, c.Metadata.Name)
	}
	return out, err
}

// Workers completes WORKER=CONTEXT with the worker clusters of MultiKueue and the contexts of the kubeconfig.
func Workers(typed string) Lookup {
	done, last := "", typed
	if i := strings.LastIndex(typed, ","); i >= 0 {
		done, last = typed[:i+1], typed[i+1:]
	}
	if worker, _, named := strings.Cut(last, "="); named {
		return WithPrefix(Contexts, done+worker+"=")
	}
	return WithSuffix(WithPrefix(func(ctx context.Context, f *Factory) (out []string, err error) {
		found, err := kueueObjects[meta](ctx, f, kinds.MultiKueueCluster)
		for _, w := range found {
			out = append(out, w.Metadata.Name)
		}
		return out, err
	}, done), "=")
}

// kueueObjects lists objects of Kueue without a namespace, or takes them from the cache.
func kueueObjects[T any](ctx context.Context, f *Factory, r kinds.Resource) ([]T, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if r, err = reader.Served(ctx, c.Client, r); err != nil {
		return nil, err
	}
	return namecache.Recall(c.Names, func() ([]T, error) {
		page, err := kube.List[T](ctx, c.Client, r, "", kube.ListOptions{})
		return page.Items, err
	}, r.Group, r.Version, r.Plural, "values")
}

// Partitions completes the MIG profiles of an instance type; name returns the type, "" for any.
func Partitions(name func() string) Lookup {
	return func(context.Context, *Factory) ([]string, error) {
		var out []string
		for _, t := range instances.All() {
			if given := name(); given == "" || given == t.Name {
				for _, profile := range t.MIG {
					out = append(out, strings.TrimPrefix(profile, "mig-"))
				}
			}
		}
		slices.Sort(out)
		return slices.Compact(out), nil
	}
}
