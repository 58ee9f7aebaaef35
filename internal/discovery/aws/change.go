package aws

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// DescribeDocument is DescribeCluster, and returns the answer with all its members.
func (c *Client) DescribeDocument(ctx context.Context, name string) (clusters.Cluster, Document, error) {
	var raw json.RawMessage
	if err := c.read(ctx, "DescribeCluster", Document{"ClusterName": name}, &raw); err != nil {
		return clusters.Cluster{}, nil, c.explainCluster(ctx, "cannot describe cluster "+name, "sagemaker:DescribeCluster", name, err)
	}
	var out wireCluster
	var doc Document
	if err := json.Unmarshal(raw, &out); err != nil {
		return clusters.Cluster{}, nil, c.explain("cannot describe cluster "+name, "", err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return clusters.Cluster{}, nil, c.explain("cannot describe cluster "+name, "", err)
	}
	return out.cluster(), doc, nil
}

// changed is the answer of the operations that change a cluster.
type changed struct{ ClusterArn string }

// CreateCluster creates a cluster from a request of the API and returns its ARN.
func (c *Client) CreateCluster(ctx context.Context, name string, request Document) (string, error) {
	var out changed
	err := c.call(ctx, sageMaker, "CreateCluster", request, &out, true)
	if err != nil {
		return "", c.explainChange(ctx, "cannot create cluster "+name, "sagemaker:CreateCluster", name, err)
	}
	return out.ClusterArn, nil
}

// UpdateCluster changes a cluster with a request of the API.
func (c *Client) UpdateCluster(ctx context.Context, name string, request Document) error {
	return c.change(ctx, "cannot update cluster "+name, "UpdateCluster", name, request, &changed{})
}

// UpdateClusterSoftware updates the images of a cluster's instances.
func (c *Client) UpdateClusterSoftware(ctx context.Context, name string, request Document) error {
	return c.change(ctx, "cannot update the software of cluster "+name, "UpdateClusterSoftware", name, request, &changed{})
}

// DeleteCluster deletes a cluster.
func (c *Client) DeleteCluster(ctx context.Context, name string) error {
	return c.change(ctx, "cannot delete cluster "+name, "DeleteCluster", name, Document{"ClusterName": name}, &changed{})
}

// change sends an operation that changes a cluster. A lost answer leaves open whether it
// ran, so it is sent again only if the service refused it for its rate.
func (c *Client) change(ctx context.Context, what, operation, name string, in Document, out any) error {
	if err := c.call(ctx, sageMaker, operation, in, out, true); err != nil {
		return c.explainChange(ctx, what, "sagemaker:"+operation, name, err)
	}
	return nil
}

func (c *Client) explainChange(ctx context.Context, what, action, name string, err error) error {
	if !IsConflict(err) {
		return c.explainCluster(ctx, what, action, name, err)
	}
	e, ok := c.explain(what, action, err).(*errs.Error)
	if !ok {
		return err
	}
	return e.Suggest(suggest.DescribeCluster(name))
}

// Repair reboots, replaces or deletes nodes, as many per request as the service takes.
// It returns what became of each node, in the order given, up to the first request that
// failed as a whole.
func (c *Client) Repair(ctx context.Context, cluster string, r clusters.Repair, nodes []string) ([]clusters.Outcome, error) {
	operation, most := "BatchRebootClusterNodes", clusters.MaxReboot
	switch r {
	case clusters.Replace:
		operation = "BatchReplaceClusterNodes"
	case clusters.Delete:
		operation, most = "BatchDeleteClusterNodes", clusters.MaxDelete
	}
	var out []clusters.Outcome
	for _, batch := range clusters.Batches(nodes, most) {
		var answer struct {
			Failed []struct{ NodeId, NodeLogicalId, Code, ErrorCode, Message string }
		}
		if err := c.change(ctx, "cannot "+string(r)+" nodes of cluster "+cluster, operation, cluster, Document{"ClusterName": cluster, "NodeIds": batch}, &answer); err != nil {
			return out, err
		}
		failed := map[string]clusters.Outcome{}
		for _, f := range answer.Failed {
			code := f.Code + f.ErrorCode // an operation has one of them
			if code == "" {
				code = "Failed"
			}
			failed[f.NodeId] = clusters.Outcome{Node: f.NodeId, Code: code, Message: oneLine(f.Message)}
		}
		for _, id := range batch {
			o, ok := failed[id]
			if !ok {
				o = clusters.Outcome{Node: id}
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// CheckNodes starts deep health checks. groups maps the names of instance groups to
// instances; no instance is all of the group.
func (c *Client) CheckNodes(ctx context.Context, cluster string, groups map[string][]string, checks []string) error {
	configurations := []Document{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		ids := groups[name]
		if len(ids) == 0 {
			configurations = append(configurations, Document{"InstanceGroupName": name, "DeepHealthChecks": checks})
		}
		for _, batch := range clusters.Batches(ids, clusters.MaxCheck) {
			configurations = append(configurations, Document{"InstanceGroupName": name, "InstanceIds": batch, "DeepHealthChecks": checks})
		}
	}
	return c.change(ctx, "cannot check nodes of cluster "+cluster, "StartClusterHealthCheck", cluster, Document{"ClusterName": cluster, "DeepHealthCheckConfigurations": configurations}, &changed{})
}

// AddNodes adds nodes to an instance group of a cluster with continuous provisioning. It
// returns the nodes that were ordered, and what failed.
func (c *Client) AddNodes(ctx context.Context, cluster, group string, count int) ([]clusters.Outcome, error) {
	var out []clusters.Outcome
	for count > 0 {
		n := min(count, clusters.MaxAdd)
		count -= n
		var answer struct {
			Successful []struct{ NodeLogicalId string }
			Failed     []struct {
				InstanceGroupName, ErrorCode, Message string
				FailedCount                           int
			}
		}
		in := Document{"ClusterName": cluster, "ClientToken": uuid.NewString(), "NodesToAdd": []Document{{"InstanceGroupName": group, "IncrementTargetCountBy": n}}}
		// The token lets the service recognize a request that was sent twice.
		if err := c.call(ctx, sageMaker, "BatchAddClusterNodes", in, &answer, false); err != nil {
			return out, c.explainChange(ctx, "cannot add nodes to cluster "+cluster, "sagemaker:BatchAddClusterNodes", cluster, err)
		}
		for _, s := range answer.Successful {
			out = append(out, clusters.Outcome{Node: s.NodeLogicalId})
		}
		for _, f := range answer.Failed {
			for range f.FailedCount {
				out = append(out, clusters.Outcome{Node: "", Code: f.ErrorCode, Message: oneLine(f.Message)})
			}
		}
	}
	return out, nil
}
