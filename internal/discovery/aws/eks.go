package aws

import (
	"context"
	"encoding/base64"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Endpoint returns where the API server of an EKS cluster answers, by the cluster's ARN.
// The request goes to the region of the ARN.
func (c *Client) Endpoint(ctx context.Context, arn string) (clusters.Endpoint, error) {
	parts, ok := clusters.ParseARN(arn)
	if !ok || parts.Service != "eks" {
		return clusters.Endpoint{}, errs.New("cannot find the EKS cluster", "SageMaker names it "+arn+", which is not the ARN of an EKS cluster")
	}
	o, err := eks.NewFromConfig(c.in(parts.Region)).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &parts.Name})
	if err != nil {
		what := "cannot describe EKS cluster " + parts.Name
		if IsNotFound(err) {
			return clusters.Endpoint{}, errs.NotFoundf("EKS cluster %q not found in %s", parts.Name, parts.Region).WithFact("EKS cluster", arn).WithCause(err)
		}
		return clusters.Endpoint{}, c.explain(what, "eks:DescribeCluster", err)
	}
	out := clusters.Endpoint{Name: parts.Name, ARN: arn, Region: parts.Region}
	if o.Cluster == nil {
		return out, errs.New("cannot describe EKS cluster "+parts.Name, "the answer is empty")
	}
	out.Status, out.Server, out.Version = string(o.Cluster.Status), sdk.ToString(o.Cluster.Endpoint), sdk.ToString(o.Cluster.Version)
	if o.Cluster.CertificateAuthority != nil {
		out.CA = sdk.ToString(o.Cluster.CertificateAuthority.Data)
	}
	if o.Cluster.ResourcesVpcConfig != nil {
		out.PublicAccess = o.Cluster.ResourcesVpcConfig.EndpointPublicAccess
	}
	if o.Cluster.AccessConfig != nil {
		out.AuthMode = string(o.Cluster.AccessConfig.AuthenticationMode)
	}
	if out.Server == "" {
		return out, errs.New("cannot connect to EKS cluster "+parts.Name, "it has no address yet (status "+out.Status+")")
	}
	if _, err := base64.StdEncoding.DecodeString(out.CA); err != nil {
		return out, errs.New("cannot connect to EKS cluster "+parts.Name, "its certificate authority is not valid base64").WithCause(err)
	}
	return out, nil
}
