package aws

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

// AccessEntry returns the entry that lets an IAM principal into an EKS cluster, with the
// access policies that EKS grants beside Kubernetes' own permissions. Nil: there is none.
func (c *Client) AccessEntry(ctx context.Context, region, cluster, principal string) (*clusters.AccessEntry, error) {
	api := c.at(region)
	entry := []string{"clusters", cluster, "access-entries", principal}
	var o struct {
		AccessEntry struct {
			Type             string
			KubernetesGroups []string
		}
	}
	err := api.eks(ctx, http.MethodGet, entry, nil, nil, &o)
	if IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.explain("cannot read the access entry of "+principal, "eks:DescribeAccessEntry", err)
	}
	out := &clusters.AccessEntry{Cluster: cluster, Principal: principal, Type: o.AccessEntry.Type, Groups: o.AccessEntry.KubernetesGroups}
	query := url.Values{}
	err = c.pages(func(token string) (string, error) {
		if token != "" {
			query.Set("nextToken", token)
		}
		var page struct {
			AssociatedAccessPolicies []struct{ PolicyArn string }
			NextToken                string
		}
		err := api.eks(ctx, http.MethodGet, append(entry, "access-policies"), query, nil, &page)
		for _, p := range page.AssociatedAccessPolicies {
			out.Policies = append(out.Policies, p.PolicyArn)
		}
		return page.NextToken, err
	})
	if err != nil {
		return nil, c.explain("cannot list the access policies of "+principal, "eks:ListAssociatedAccessPolicies", err)
	}
	return out, nil
}

// entryRequest creates or changes an access entry.
type entryRequest struct {
	PrincipalArn     string   `json:"principalArn,omitempty"`
	Type             string   `json:"type,omitempty"`
	KubernetesGroups []string `json:"kubernetesGroups"`
	// ClientRequestToken is the same in all attempts, so that EKS runs one of them.
	ClientRequestToken string `json:"clientRequestToken"`
}

// GrantAccess lets an IAM principal into an EKS cluster as a member of Kubernetes groups.
// An entry that exists keeps its other groups. False: nothing had to change.
func (c *Client) GrantAccess(ctx context.Context, region string, want clusters.AccessEntry, old *clusters.AccessEntry) (bool, error) {
	api := c.at(region)
	entries := []string{"clusters", want.Cluster, "access-entries"}
	var answer struct{}
	if old == nil {
		in := entryRequest{PrincipalArn: want.Principal, Type: want.Type, KubernetesGroups: want.Groups, ClientRequestToken: rand.Text()}
		if err := api.eks(ctx, http.MethodPost, entries, nil, in, &answer); err != nil {
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
	in := entryRequest{KubernetesGroups: groups, ClientRequestToken: rand.Text()}
	if err := api.eks(ctx, http.MethodPost, append(entries, want.Principal), nil, in, &answer); err != nil {
		return false, c.explain("cannot change the access entry of "+want.Principal, "eks:UpdateAccessEntry", err)
	}
	return true, nil
}
