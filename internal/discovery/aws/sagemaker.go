package aws

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// pageSize is the most that SageMaker's lists return at a time.
const pageSize = 100

// Document is a JSON object of the API, with all members that it has.
type Document = map[string]any

// read sends an operation of SageMaker that changes nothing.
func (c *Client) read(ctx context.Context, operation string, in Document, out any) error {
	return c.call(ctx, sageMaker, operation, in, out, false)
}

// ListClusters returns all clusters of the region, by name.
func (c *Client) ListClusters(ctx context.Context) ([]clusters.Summary, error) {
	var out []clusters.Summary
	seen := listed{}
	in := Document{"MaxResults": pageSize, "SortBy": "NAME", "SortOrder": "Ascending"}
	err := c.pagesOf(in, func() (string, error) {
		var page struct {
			ClusterSummaries []wireSummary
			NextToken        string
		}
		err := c.read(ctx, "ListClusters", in, &page)
		for _, s := range page.ClusterSummaries {
			if seen.first(s.ClusterName) {
				out = append(out, s.summary())
			}
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explain("cannot list clusters", "sagemaker:ListClusters", err)
	}
	return out, nil
}

// DescribeCluster returns one cluster, by its name or ARN. The error about a cluster
// that does not exist suggests near names.
func (c *Client) DescribeCluster(ctx context.Context, name string) (clusters.Cluster, error) {
	var out wireCluster
	if err := c.read(ctx, "DescribeCluster", Document{"ClusterName": name}, &out); err != nil {
		return clusters.Cluster{}, c.explainCluster(ctx, "cannot describe cluster "+name, "sagemaker:DescribeCluster", name, err)
	}
	return out.cluster(), nil
}

// ListNodes returns the instances of a cluster, by group and id.
func (c *Client) ListNodes(ctx context.Context, cluster string) ([]clusters.Node, error) {
	var out []clusters.Node
	seen := listed{}
	in := Document{"ClusterName": cluster, "MaxResults": pageSize}
	err := c.pagesOf(in, func() (string, error) {
		var page struct {
			ClusterNodeSummaries []wireNode
			NextToken            string
		}
		err := c.read(ctx, "ListClusterNodes", in, &page)
		for _, n := range page.ClusterNodeSummaries {
			if seen.first(cmp.Or(n.InstanceId, n.NodeLogicalId)) {
				out = append(out, n.node())
			}
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explainCluster(ctx, "cannot list the nodes of cluster "+cluster, "sagemaker:ListClusterNodes", cluster, err)
	}
	slices.SortStableFunc(out, compareNodes)
	return out, nil
}

// EventQuery narrows a list of events.
type EventQuery struct {
	Group, InstanceID string
	// After is a time that the events are not older than; zero: no limit.
	After time.Time
	// Most is how many events are read at most, the newest; 0 is all.
	Most int
}

// ListEvents returns the events of a cluster, the oldest first.
func (c *Client) ListEvents(ctx context.Context, cluster string, q EventQuery) ([]clusters.Event, error) {
	in := Document{"ClusterName": cluster, "MaxResults": pageSize, "SortBy": "EventTime", "SortOrder": "Descending"}
	if q.Group != "" {
		in["InstanceGroupName"] = q.Group
	}
	if q.InstanceID != "" {
		in["NodeId"] = q.InstanceID
	}
	if !q.After.IsZero() {
		in["EventTimeAfter"] = float64(q.After.UnixMilli()) / 1000
	}
	var out []clusters.Event
	seen := listed{}
	err := c.pagesOf(in, func() (string, error) {
		var page struct {
			Events    []wireEvent
			NextToken string
		}
		err := c.read(ctx, "ListClusterEvents", in, &page)
		for _, e := range page.Events {
			if seen.first(e.EventId) {
				out = append(out, e.event())
			}
		}
		if q.Most > 0 && len(out) >= q.Most {
			out = out[:q.Most]
			return "", err
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explainCluster(ctx, "cannot list the events of cluster "+cluster, "sagemaker:ListClusterEvents", cluster, err)
	}
	slices.Reverse(out)
	return out, nil
}

// explainCluster is explain for a request about one cluster.
func (c *Client) explainCluster(ctx context.Context, what, action, name string, err error) error {
	if !IsNotFound(err) {
		return c.explain(what, action, err)
	}
	e := errs.NotFoundf("cluster %q not found in %s", name, c.cfg.Region).WithCause(err)
	list, listErr := c.ListClusters(ctx)
	if listErr != nil { // the names only help
		return e.Suggest(suggest.Region("REGION"), suggest.Clusters(c.cfg.Region))
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	if slices.Contains(names, name) {
		return e.WithAdvice("try again in a moment: SageMaker lists the cluster already, or still")
	}
	near := errs.Near(name, names)
	for _, n := range near {
		e.WithFact("did you mean", n)
	}
	if len(near) == 0 && len(names) > 0 {
		e.WithFact("available", words.Some(names, 8))
	}
	if len(names) == 0 {
		e.WithFact("available", "no cluster in this region")
	}
	return e.Suggest(suggest.Region("REGION"))
}
