package aws

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

// Attached returns the task governance of a cluster by its ARN: the scheduler policy and
// the compute quotas. A cluster with either cannot be deleted.
func (c *Client) Attached(ctx context.Context, arn string) ([]clusters.Attachment, error) {
	var out []clusters.Attachment
	for _, kind := range []struct{ operation, policy string }{{"ListClusterSchedulerConfigs", clusters.SchedulerPolicy}, {"ListComputeQuotas", clusters.ComputeQuota}} {
		seen := listed{}
		in := Document{"ClusterArn": arn, "MaxResults": pageSize}
		err := c.pagesOf(in, func() (string, error) {
			var page struct {
				ClusterSchedulerConfigSummaries, ComputeQuotaSummaries []struct{ Name, Status string }
				NextToken                                              string
			}
			err := c.read(ctx, kind.operation, in, &page)
			for _, s := range append(page.ClusterSchedulerConfigSummaries, page.ComputeQuotaSummaries...) {
				if s.Status != "Deleted" && seen.first(s.Name) {
					out = append(out, clusters.Attachment{Kind: kind.policy, Name: s.Name})
				}
			}
			return page.NextToken, err
		})
		if err != nil {
			return out, c.explain("cannot list what is attached to the cluster", "sagemaker:"+kind.operation, err)
		}
	}
	return out, nil
}
