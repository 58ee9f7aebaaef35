// Package aws reads and changes HyperPod clusters through AWS. It is the only package
// that imports the AWS SDK. Credentials, region, retries and endpoints are the SDK's:
// profiles, SSO, roles, web identity, instance metadata and AWS_ENDPOINT_URL work as in
// the AWS CLI.
package aws

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Options choose the account and the region.
type Options struct {
	// Region wins over the environment's and the profile's.
	Region string
	// FallbackRegion is used when nothing names a region.
	FallbackRegion string
	Profile        string
	// Role is the ARN of a role to assume.
	Role string
	// Timeout limits one attempt of a request; 0 is the SDK's.
	Timeout   time.Duration
	UserAgent string
	// Observe is called after every attempt, possibly from several goroutines.
	Observe func(Request)
	// Backoff is the time between attempts; nil is the SDK's.
	Backoff func(attempt int) time.Duration
	// Now is the clock of tokens; nil is the real one.
	Now func() time.Time
}

// Request is one attempt of a request. It holds no header and no credential.
type Request struct {
	Method, Host string
	// Operation is the name of the operation, or the path.
	Operation string
	Status    int
	Duration  time.Duration
	Err       error
}

// attempts is how often a request is sent at most.
const attempts = 4

// Client talks to AWS in one region. It is safe for concurrent use.
type Client struct {
	cfg       sdk.Config
	http      sdk.HTTPClient
	userAgent string
	profile   string        // as the user named it
	received  *atomic.Int64 // bytes of answers
	now       func() time.Time
}

// Open finds the region and the source of credentials. It sends no request.
func Open(ctx context.Context, o Options) (*Client, error) {
	if err := checkFiles(); err != nil {
		return nil, err
	}
	retryer := func() sdk.Retryer {
		return retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts = attempts
			if o.Backoff != nil {
				s.Backoff = retry.BackoffDelayerFunc(func(n int, _ error) (time.Duration, error) { return o.Backoff(n), nil })
			}
		})
	}
	// The SDK would warn on stderr in a form of its own; what fails is an error of ours.
	load := []func(*config.LoadOptions) error{config.WithRetryer(retryer), config.WithAppID("hyperpod"), config.WithLogger(logging.Nop{}),
		config.WithHTTPClient(withoutRedirects()), config.WithEndpointCredentialOptions(straightContainer)}
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, explainConfig(o.Profile, err)
	}
	if cfg.Region = cmp.Or(cfg.Region, o.FallbackRegion); cfg.Region == "" {
		return nil, errs.New("no AWS region", "neither the environment nor the AWS profile names one").WithCode(errs.Usage).Suggest(suggest.Region("REGION"))
	}
	if !ValidRegion(cfg.Region) {
		return nil, errs.Usagef("invalid AWS region %q: must be like us-west-2", cfg.Region)
	}
	cfg.HTTPClient = straight(cfg.HTTPClient)
	if o.Timeout > 0 || o.Observe != nil {
		cfg.HTTPClient = &observed{next: cfg.HTTPClient, timeout: o.Timeout, observe: o.Observe}
	}
	if o.Role != "" {
		cfg.Credentials = sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), o.Role))
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &Client{cfg: cfg, http: cfg.HTTPClient, userAgent: cmp.Or(o.UserAgent, "hyperpod"), now: now, profile: o.Profile, received: new(atomic.Int64)}, nil
}

// straight returns a client that follows no redirect. The SDK's follows some, and takes the session token along.
func straight(c sdk.HTTPClient) sdk.HTTPClient {
	b, ok := c.(*awshttp.BuildableClient) // with the certificates of AWS_CA_BUNDLE
	if !ok {
		b = awshttp.NewBuildableClient()
	}
	return &http.Client{Transport: b.GetTransport(), Timeout: b.GetTimeout(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Region returns the region of the client.
func (c *Client) Region() string { return c.cfg.Region }

// in returns the configuration for a region.
func (c *Client) in(region string) sdk.Config {
	cfg := c.cfg.Copy()
	cfg.Region = cmp.Or(region, cfg.Region)
	return cfg
}

// at returns the client for a region.
func (c *Client) at(region string) *Client {
	out := *c
	out.cfg = c.in(region)
	return &out
}

// observed is an HTTP client that limits and reports attempts.
type observed struct {
	next    sdk.HTTPClient
	timeout time.Duration
	observe func(Request)
}

// Do sends one attempt.
func (o *observed) Do(r *http.Request) (*http.Response, error) {
	if o.timeout > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), o.timeout)
		r = r.WithContext(ctx)
		defer context.AfterFunc(ctx, cancel) // the body is read later: the end of the time frees it
	}
	start := time.Now()
	resp, err := o.next.Do(r)
	if o.observe != nil {
		q := Request{Method: r.Method, Host: r.URL.Host, Operation: cmp.Or(r.Header.Get("X-Amz-Target"), r.URL.Path), Duration: time.Since(start), Err: err}
		if resp != nil {
			q.Status = resp.StatusCode
		}
		o.observe(q)
	}
	return resp, err
}
