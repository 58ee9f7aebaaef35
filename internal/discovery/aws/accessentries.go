package aws

import (
	"context"
	"errors"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

// AccessEntry returns the entry that lets an IAM principal into an EKS cluster, with the
// access policies that EKS grants beside Kubernetes' own permissions. Nil: there is none.
func (c *Client) AccessEntry(ctx context.Context, region, cluster, principal string) (*clusters.AccessEntry, error) {
	api := eks.NewFromConfig(c.in(region))
	o, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &cluster, PrincipalArn: &principal})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, c.explain("cannot read the access entry of "+principal, "eks:DescribeAccessEntry", err)
	}
	out := &clusters.AccessEntry{Cluster: cluster, Principal: principal}
	if e := o.AccessEntry; e != nil {
		out.Type, out.Groups = sdk.ToString(e.Type), e.KubernetesGroups
	}
	pages := eks.NewListAssociatedAccessPoliciesPaginator(api, &eks.ListAssociatedAccessPoliciesInput{ClusterName: &cluster, PrincipalArn: &principal})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, c.explain("cannot list the access policies of "+principal, "eks:ListAssociatedAccessPolicies", err)
		}
		for _, p := range page.AssociatedAccessPolicies {
			out.Policies = append(out.Policies, sdk.ToString(p.PolicyArn))
		}
	}
	return out, nil
}

// GrantAccess lets an IAM principal into an EKS cluster as a member of Kubernetes groups.
// An entry that exists keeps its other groups. False: nothing had to change.
func (c *Client) GrantAccess(ctx context.Context, region string, want clusters.AccessEntry, old *clusters.AccessEntry) (bool, error) {
	api := eks.NewFromConfig(c.in(region))
	if old == nil {
		_, err := api.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: &want.Cluster, PrincipalArn: &want.Principal, Type: &want.Type, KubernetesGroups: want.Groups})
		if err != nil {
			return false, c.explain("cannot create the access entry of "+want.Principal, "eks:CreateAccessEntry", err)
		}
		return true, nil
	}
	groups := slices.Clone(old.Groups)
	for _, g := range want.Groups {
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	if len(groups) == len(old.Groups) {
		return false, nil
	}
	_, err := api.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{ClusterName: &want.Cluster, PrincipalArn: &want.Principal, KubernetesGroups: groups})
	if err != nil {
		return false, c.explain("cannot change the access entry of "+want.Principal, "eks:UpdateAccessEntry", err)
	}
	return true, nil
}
