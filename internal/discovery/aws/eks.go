package aws

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// eksService speaks restJson1: the names of a request's subject are in its path.
var eksService = service{id: "EKS", signing: "eks"}

// eks sends a request about names of EKS, such as "clusters", NAME. in is nil for a
// request without a body.
func (c *Client) eks(ctx context.Context, method string, names []string, query url.Values, in, out any) error {
	q := request{method: method}
	for _, name := range names {
		// As the SDK escapes names: all but unreserved characters.
		q.path += "/" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	}
	if len(query) > 0 {
		q.path += "?" + query.Encode()
	}
	if in != nil {
		var err error
		if q.body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	return c.send(ctx, eksService, q, out, false)
}

// wireEKS is the answer of DescribeCluster of EKS, as far as this program uses it.
type wireEKS struct {
	Cluster *struct {
		Status, Endpoint, Version string
		CertificateAuthority      struct{ Data string }
		ResourcesVpcConfig        struct{ EndpointPublicAccess bool }
		AccessConfig              struct{ AuthenticationMode string }
	}
}

// Endpoint returns where the API server of an EKS cluster answers, by the cluster's ARN.
// The request goes to the region of the ARN.
func (c *Client) Endpoint(ctx context.Context, arn string) (clusters.Endpoint, error) {
	parts, ok := clusters.ParseARN(arn)
	if !ok || parts.Service != "eks" {
		return clusters.Endpoint{}, errs.New("cannot find the EKS cluster", "SageMaker names it "+arn+", which is not the ARN of an EKS cluster")
	}
	var o wireEKS
	if err := c.at(parts.Region).eks(ctx, http.MethodGet, []string{"clusters", parts.Name}, nil, nil, &o); err != nil {
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
	out.Status, out.Server, out.Version = o.Cluster.Status, o.Cluster.Endpoint, o.Cluster.Version
	out.CA, out.PublicAccess, out.AuthMode = o.Cluster.CertificateAuthority.Data, o.Cluster.ResourcesVpcConfig.EndpointPublicAccess, o.Cluster.AccessConfig.AuthenticationMode
	if out.Server == "" {
		return out, errs.New("cannot connect to EKS cluster "+parts.Name, "it has no address yet (status "+out.Status+")")
	}
	if _, err := base64.StdEncoding.DecodeString(out.CA); err != nil {
		return out, errs.New("cannot connect to EKS cluster "+parts.Name, "its certificate authority is not valid base64").WithCause(err)
	}
	return out, nil
}
