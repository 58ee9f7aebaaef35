// Package findnode finds nodes of HyperPod clusters by the names that people give, and
// what runs on them.
package findnode

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// patience is how long the API server has to answer.
const patience = 15 * time.Second

// ReadKubernetes reads what is wanted of the EKS cluster behind a HyperPod cluster.
func ReadKubernetes(parent context.Context, f *factory.Factory, client *aws.Client, c clusters.Cluster, want state.Want) (*state.State, error) {
	ctx, cancel := context.WithTimeout(parent, patience)
	defer cancel()
	endpoint, err := client.Endpoint(ctx, c.EKSARN)
	if err != nil {
		return nil, err
	}
	k, err := f.EKS(ctx, client, endpoint)
	if err != nil {
		return nil, err
	}
	s, err := state.Load(ctx, k.Client, want, k.Now())
	if err != nil {
		return nil, err
	}
	f.Missing(s.Missing)
	return s, factory.Failures(s.Missing)
}

// Group returns the instance group of that name, or an error with near names.
func Group(c clusters.Cluster, name string) (clusters.Group, error) {
	var names []string
	for _, g := range c.Groups {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	if len(names) == 0 {
		return clusters.Group{}, errs.NotFoundf("instance group %q not found: cluster %s has no instance groups", name, c.Name)
	}
	e := errs.NotFoundf("instance group %q not found in cluster %s", name, c.Name).WithFact("available", factory.NameSet(names))
	for _, n := range errs.Near(name, names) {
		e.Suggest(errs.Option("--group", n))
	}
	return clusters.Group{}, e
}

// CheckNames refuses names that no node can have.
func CheckNames(names []string) error {
	for _, n := range names {
		if clusters.InstanceOf(n) == "" {
			return errs.Usagef("invalid node %q: must be an instance id or the name of a HyperPod node, for example i-0d64806b32c3ee282", n)
		}
	}
	return nil
}

// Nodes returns the nodes with those names, each once: instance ids, or names of
// Kubernetes nodes.
func Nodes(list []clusters.Node, names []string, cluster string) ([]clusters.Node, error) {
	var out []clusters.Node
	var missing []string
	for _, name := range names {
		id := clusters.InstanceOf(name)
		i := slices.IndexFunc(list, func(n clusters.Node) bool { return n.InstanceID == id })
		switch {
		case i < 0:
			missing = append(missing, name)
		case !slices.ContainsFunc(out, func(n clusters.Node) bool { return n.InstanceID == id }):
			out = append(out, list[i])
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	var ids []string
	for _, n := range list {
		ids = append(ids, n.InstanceID)
	}
	e := errs.NotFoundf("node %s not found in cluster %s", strings.Join(missing, ", "), cluster)
	if near := errs.Near(clusters.InstanceOf(missing[0]), ids); len(near) > 0 {
		e.WithFact("did you mean", near[0])
	}
	return nil, e.Suggest(errs.Run("list-cluster-nodes", cluster).WithNote("shows the nodes"))
}

// Use is what runs on nodes.
type Use struct {
	// Known reports whether the pods could be read.
	Known bool
	Jobs  []jobs.OnNodes
	// Others are pods of no job.
	Others int
}

// UseOf reads which jobs have pods on nodes. A failure is a warning: Known is false then.
// With no nodes, it is the whole cluster.
func UseOf(ctx context.Context, f *factory.Factory, client *aws.Client, c clusters.Cluster, nodes []clusters.Node) (Use, error) {
	if c.Orchestrator != clusters.EKS {
		return Use{}, nil
	}
	s, err := ReadKubernetes(ctx, f, client, c, state.Want{Pods: true})
	if ctx.Err() != nil {
		return Use{}, ctx.Err()
	}
	if err != nil {
		f.Notef("warning: the jobs on the nodes are unknown: %v", err)
		return Use{}, nil
	}
	if len(s.MissingOf(kinds.Pod)) > 0 {
		return Use{}, nil
	}
	on := func(name string) bool {
		return len(nodes) == 0 || slices.ContainsFunc(nodes, func(n clusters.Node) bool { return n.InstanceID != "" && n.InstanceID == clusters.InstanceOf(name) })
	}
	u := Use{Known: true}
	u.Jobs, u.Others = jobs.FindOnNodes(s.Pods, on)
	return u, nil
}
