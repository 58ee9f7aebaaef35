package aws

import (
	"context"
	"encoding/base64"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Token is a bearer token for an EKS cluster.
type Token struct {
	Value   string
	Expires time.Time
}

// How EKS reads tokens: the prefix, the signed header that names the cluster, and the
// age that it accepts (15 minutes), less a minute for the clocks.
const (
	tokenPrefix   = "k8s-aws-v1."
	clusterHeader = "x-k8s-aws-id"
	tokenLife     = 14 * time.Minute
	// presignLife is the X-Amz-Expires of the URL; EKS requires 60 seconds.
	presignLife = "60"
)

// Token signs a token for an EKS cluster: a presigned GetCallerIdentity. Nothing is
// sent, unless the credentials have to be fetched.
func (c *Client) Token(ctx context.Context, region, cluster string) (Token, error) {
	cfg := c.in(region)
	now := c.now()
	presign := sts.NewPresignClient(sts.NewFromConfig(cfg))
	r, err := presign.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue(clusterHeader, cluster), smithyhttp.SetHeaderValue("X-Amz-Expires", presignLife))
		})
	})
	if err != nil {
		return Token{}, c.explain("cannot sign in to EKS cluster "+cluster, "", err)
	}
	out := Token{Value: tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(r.URL)), Expires: now.Add(tokenLife)}
	// A token ends with the credentials that signed it.
	if own, err := cfg.Credentials.Retrieve(ctx); err == nil && own.CanExpire && own.Expires.Before(out.Expires) {
		out.Expires = own.Expires
	}
	return out, nil
}

// Identity returns the ARN of the caller.
func (c *Client) Identity(ctx context.Context) (string, error) {
	o, err := sts.NewFromConfig(c.cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", c.explain("cannot find out who you are", "", err)
	}
	return sdk.ToString(o.Arn), nil
}
