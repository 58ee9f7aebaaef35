package kube

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// refuseRedirects makes every transport of a configuration return a redirect as
// the answer that it is: followed, it would carry credentials to another host. API
// servers do not redirect.
func refuseRedirects(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return noRedirects{rt} })
	return cfg
}

// noRedirects drops the Location header of redirects; http.Client follows nothing else.
type noRedirects struct{ http.RoundTripper }

func (t noRedirects) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if resp != nil && resp.StatusCode/100 == 3 {
		resp.Header.Del("Location")
	}
	return resp, err
}

// WrappedRoundTripper returns the transport below, as client-go wants it.
func (t noRedirects) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
