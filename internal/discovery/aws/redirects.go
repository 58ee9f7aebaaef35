package aws

import (
	"errors"
	"net/http"
	"net/url"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
)

// errRedirect is the error of a source of credentials that redirects.
var errRedirect = errors.New("the answer redirects to another address, which is not followed")

// withoutRedirects returns an HTTP client for the sources of credentials, which are made while the configuration is loaded. The
// SDK's client follows redirects with the status 307 and 308: it sends the tokens of IAM Identity Center, of a web identity or
// of "aws login" along. The SDK takes no other type of client together with AWS_CA_BUNDLE, so the transport refuses the second
// request: it asks for the proxy of each one.
func withoutRedirects() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		proxy := t.Proxy
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			switch {
			case r.Response != nil: // it follows a redirect
				return nil, errRedirect
			case proxy != nil:
				return proxy(r)
			}
			return nil, nil
		}
	})
}

// straightContainer makes the source of a container's credentials follow no redirect. It has an HTTP client of its own.
func straightContainer(o *endpointcreds.Options) {
	if c, ok := o.HTTPClient.(sdk.HTTPClient); ok || o.HTTPClient == nil {
		o.HTTPClient = straight(c)
	}
}
