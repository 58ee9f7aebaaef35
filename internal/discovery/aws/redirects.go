package aws

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/ssooidc"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// straightCredentials are options by which the sources of credentials follow no redirect, either: IAM Identity Center gets
// its token in a header, and STS gets the token of a web identity in the body. The sources make their clients while the
// configuration is loaded, before its HTTP client can be replaced.
func straightCredentials() []func(*config.LoadOptions) error {
	stsClient := func(c any) (*sts.Client, bool) {
		given, ok := c.(*sts.Client)
		if !ok {
			return nil, false
		}
		o := given.Options()
		o.HTTPClient = straight(o.HTTPClient)
		return sts.New(o), true
	}
	return []func(*config.LoadOptions) error{
		config.WithSSOProviderOptions(func(o *ssocreds.Options) {
			if c, ok := o.Client.(*sso.Client); ok {
				given := c.Options()
				given.HTTPClient = straight(given.HTTPClient)
				o.Client = sso.New(given)
			}
		}),
		config.WithSSOTokenProviderOptions(func(o *ssocreds.SSOTokenProviderOptions) {
			if c, ok := o.Client.(*ssooidc.Client); ok {
				given := c.Options()
				given.HTTPClient = straight(given.HTTPClient)
				o.Client = ssooidc.New(given)
			}
		}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			if c, ok := stsClient(o.Client); ok {
				o.Client = c
			}
		}),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			if c, ok := stsClient(o.Client); ok {
				o.Client = c
			}
		}),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) {
			if c, ok := o.HTTPClient.(sdk.HTTPClient); ok || o.HTTPClient == nil {
				o.HTTPClient = straight(c)
			}
		}),
	}
}
