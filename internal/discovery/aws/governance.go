package aws

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// The kinds of governance resources of SageMaker, as its operations name them.
const (
	quotaKind  = "ComputeQuota"
	policyKind = "ClusterSchedulerConfig"
)

// describers is how many resources are described at the same time.
const describers = 8

// Governance returns the cluster policies and the compute allocations of a cluster, by
// its ARN, as SageMaker describes them.
func (c *Client) Governance(ctx context.Context, arn string) (policies, allocations []Document, err error) {
	if policies, err = c.describeAll(ctx, policyKind, arn); err != nil {
		return nil, nil, err
	}
	allocations, err = c.describeAll(ctx, quotaKind, arn)
	return policies, allocations, err
}

// describeAll describes all resources of a kind. One that is deleted meanwhile is left
// out.
func (c *Client) describeAll(ctx context.Context, kind, arn string) ([]Document, error) {
	ids, err := c.listGoverned(ctx, kind, arn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found, failures := make([]Document, len(ids)), make([]error, len(ids))
	slots := make(chan struct{}, describers)
	var wg crash.Group
	for i, id := range ids {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			if found[i], failures[i] = c.DescribeGoverned(ctx, kind, id); failures[i] != nil && !IsNotFound(failures[i]) {
				cancel()
			}
		})
	}
	wg.Wait()
	var out []Document
	for i := range ids {
		switch {
		case failures[i] != nil && !IsNotFound(failures[i]):
			return nil, failures[i]
		case found[i] != nil:
			out = append(out, found[i])
		}
	}
	return out, ctx.Err()
}

// listGoverned returns the ids of all resources of a kind in a cluster.
func (c *Client) listGoverned(ctx context.Context, kind, arn string) ([]string, error) {
	var out []string
	seen := listed{}
	in := Document{"ClusterArn": arn, "MaxResults": pageSize, "SortBy": "Name", "SortOrder": "Ascending"}
	err := c.pagesOf(in, func() (string, error) {
		var page struct {
			ComputeQuotaSummaries           []struct{ ComputeQuotaId string }
			ClusterSchedulerConfigSummaries []struct{ ClusterSchedulerConfigId string }
			NextToken                       string
		}
		err := c.read(ctx, "List"+kind+"s", in, &page)
		for _, s := range page.ComputeQuotaSummaries {
			if seen.first(s.ComputeQuotaId) {
				out = append(out, s.ComputeQuotaId)
			}
		}
		for _, s := range page.ClusterSchedulerConfigSummaries {
			if seen.first(s.ClusterSchedulerConfigId) {
				out = append(out, s.ClusterSchedulerConfigId)
			}
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explain("cannot list the "+plural(kind)+" of the cluster", "sagemaker:List"+kind+"s", err)
	}
	return out, nil
}

// plural returns how people call the resources of a kind.
func plural(kind string) string {
	if kind == policyKind {
		return "policies"
	}
	return "compute allocations"
}

// DescribeGoverned returns one compute allocation or cluster policy.
func (c *Client) DescribeGoverned(ctx context.Context, kind, id string) (Document, error) {
	out := Document{}
	if err := c.read(ctx, "Describe"+kind, Document{kind + "Id": id}, &out); err != nil {
		return nil, c.explain("cannot read "+kind+" "+id, "sagemaker:Describe"+kind, err)
	}
	return out, nil
}

// Tags returns the tags of a resource by its ARN, but for those of AWS, which nobody else
// can set.
func (c *Client) Tags(ctx context.Context, arn string) ([]any, error) {
	out, seen := []any{}, listed{}
	in := Document{"ResourceArn": arn, "MaxResults": pageSize}
	err := c.pagesOf(in, func() (string, error) {
		var page struct {
			Tags      []struct{ Key, Value string }
			NextToken string
		}
		err := c.read(ctx, "ListTags", in, &page)
		for _, t := range page.Tags {
			if !strings.HasPrefix(t.Key, "aws:") && seen.first(t.Key) {
				out = append(out, Document{"Key": t.Key, "Value": t.Value})
			}
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explain("cannot list the tags of "+arn, "sagemaker:ListTags", err)
	}
	return out, nil
}

// ChangeGoverned sends an operation that creates, updates or deletes a compute allocation
// or a cluster policy. It is sent again only when SageMaker throttled it: the API has no
// token that would make a second request harmless.
func (c *Client) ChangeGoverned(ctx context.Context, operation string, in Document) (Document, error) {
	out := Document{}
	if err := c.call(ctx, sageMaker, operation, in, &out, true); err != nil {
		return nil, c.explain("cannot send "+operation, "sagemaker:"+operation, err)
	}
	return out, nil
}

// Capacity counts the instances of a cluster by instance type, as SageMaker has them.
func Capacity(c clusters.Cluster) map[string]int {
	out := map[string]int{}
	for _, g := range c.Groups {
		if len(g.InstanceTypes) == 1 {
			out[g.InstanceTypes[0]] += g.Current
		}
	}
	return out
}

// Answered reports whether AWS answered a request with an error. Without an answer it is unknown whether the
// request was carried out.
func Answered(err error) bool {
	code, status := codeOf(err), 0
	var r *responseError
	if errors.As(err, &r) {
		status = r.status
	}
	return code != "" && status < http.StatusInternalServerError
}

// Governed refuses clusters that task governance does not support.
func Governed(c clusters.Cluster) error {
	if c.Orchestrator != clusters.EKS {
		return errs.New("cannot govern cluster "+c.Name, "task governance needs EKS, and it runs "+c.Orchestrator)
	}
	for _, g := range c.Groups {
		if g.Restricted {
			return errs.New("cannot govern cluster "+c.Name, "task governance does not support restricted instance groups").WithFact("group", g.Name)
		}
	}
	return nil
}
