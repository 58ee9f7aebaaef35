package startjob

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// lookAtNodes asks for nodes in two cases only. An instance type newer than the
// table is accepted when a node of it exists, with what that node offers. And in
// a namespace without a team quota the cluster may be no HyperPod cluster at
// all: then no node has a health label, and the templates' affinity to healthy
// nodes would keep the job from ever being scheduled. Whoever may not read nodes
// gets what the table and the template say.
func (o *Options) lookAtNodes(ctx context.Context, c *factory.Cluster, ns discovery.NamespaceChoice, v *values.Values) error {
	if _, known := instances.Lookup(v.InstanceType); !known && v.InstanceType != "" {
		nodes, err := nodesWith(ctx, c, kinds.InstanceTypeLabel+"="+instances.Full(v.InstanceType))
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			v.Node = &values.Node{Allocatable: nodes[0].Status.Allocatable}
		}
	}
	if !ns.Managed {
		healthy, err := nodesWith(ctx, c, kinds.NodeHealthLabel)
		if err != nil {
			return err
		}
		if healthy != nil && len(healthy) == 0 {
			v.HealthAffinity = new(bool)
		}
	}
	return nil
}

type node struct {
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
	} `json:"status"`
}

// nodesWith returns the nodes that a label selector finds, nil when they may not
// be read.
func nodesWith(ctx context.Context, c *factory.Cluster, selector string) ([]node, error) {
	page, err := kube.List[node](ctx, c.Client, kinds.Node, "", kube.ListOptions{LabelSelector: selector})
	if kube.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if page.Items == nil {
		page.Items = []node{}
	}
	return page.Items, nil
}
