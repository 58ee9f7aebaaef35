package aws

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"
	"github.com/aws/smithy-go"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// service is an AWS service. Its requests are signed and sent here and not by the SDK's
// client: linking that of SageMaker costs 16 MB, that of EKS 2 MB, and they would drop
// the members of a document that they do not know, which an update has to send back.
type service struct {
	// id is how the SDK and the environment's variables call it, signing is its name
	// in signatures, target the prefix of X-Amz-Target for awsJson1.1.
	id, signing, target string
	// host is the first part of its host name.
	host string
}

var sageMaker = service{id: "SageMaker", signing: "sagemaker", target: "SageMaker", host: "api.sagemaker"}

// mostBytes bounds an answer.
const mostBytes = 32 << 20

// request is what is sent to a service. path is below the endpoint, escaped; operation is
// that of awsJson1.1, "" for restJson1.
type request struct {
	method, path, operation string
	body                    []byte
}

// call sends one operation of awsJson1.1 and decodes its answer into out. An operation
// that must not run twice has once.
func (c *Client) call(ctx context.Context, s service, operation string, in, out any, once bool) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.send(ctx, s, request{method: http.MethodPost, operation: operation, body: body}, out, once)
}

// send sends a request and decodes its answer into out. Throttled and lost requests are
// repeated as the SDK's clients do.
func (c *Client) send(ctx context.Context, s service, q request, out any, once bool) error {
	endpoint, err := c.endpoint(ctx, s)
	if err != nil {
		return err
	}
	if q.path != "" {
		endpoint = strings.TrimSuffix(endpoint, "/") + q.path
	}
	retryer := c.cfg.Retryer()
	for attempt := 1; ; attempt++ {
		answer, err := c.attempt(ctx, s, endpoint, q)
		if err == nil {
			return json.Unmarshal(answer, out)
		}
		if attempt >= retryer.MaxAttempts() || ctx.Err() != nil || !retryer.IsErrorRetryable(err) || once && !throttled(err) {
			return err
		}
		delay, delayErr := retryer.RetryDelay(attempt, err)
		if delayErr != nil {
			return err
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attempt signs and sends a request once.
func (c *Client) attempt(ctx context.Context, s service, endpoint string, q request) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, endpoint, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	switch {
	case q.operation != "":
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", s.target+"."+q.operation)
	case len(q.body) > 0:
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("User-Agent", c.userAgent)
	credentials, err := c.credentials(ctx)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(q.body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), s.signing, c.cfg.Region, time.Now()); err != nil {
		return nil, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	answer, err := bounded.ReadAll(resp.Body, mostBytes)
	if err != nil {
		return nil, err
	}
	c.received.Add(int64(len(answer)))
	if resp.StatusCode != http.StatusOK {
		return nil, failure(resp, answer)
	}
	return answer, nil
}

// credentials returns the caller's credentials.
func (c *Client) credentials(ctx context.Context) (sdk.Credentials, error) {
	if c.cfg.Credentials == nil {
		return sdk.Credentials{}, errNoCredentials
	}
	found, err := c.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return found, fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return found, nil
}

// responseError is an error that a service answered.
type responseError struct {
	smithy.GenericAPIError
	status int
}

// HTTPStatusCode returns what the SDK's retryer looks at.
func (e *responseError) HTTPStatusCode() int { return e.status }

// failure reads the error of an answer.
func failure(resp *http.Response, body []byte) error {
	var answer struct {
		Type    string `json:"__type"`
		Lower   string `json:"message"`
		Message string `json:"Message"`
	}
	_ = json.Unmarshal(body, &answer) // a gateway's page is no JSON; the status tells
	code := cmp.Or(resp.Header.Get("X-Amzn-Errortype"), answer.Type)
	code, _, _ = strings.Cut(code, ":")
	code = code[strings.LastIndexByte(code, '#')+1:]
	if resp.StatusCode/100 == 3 {
		answer.Message = "the answer (" + resp.Status + ") redirects to another address, which is not followed"
	}
	return &responseError{status: resp.StatusCode, GenericAPIError: smithy.GenericAPIError{
		Code: cmp.Or(code, fmt.Sprintf("HTTP %d", resp.StatusCode)), Message: cmp.Or(answer.Message, answer.Lower, http.StatusText(resp.StatusCode))}}
}

// The settings of the environment and of the profile about endpoints.
type (
	endpointSource interface {
		GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
	}
	fipsSource interface {
		GetUseFIPSEndpoint(context.Context) (sdk.FIPSEndpointState, bool, error)
	}
	dualStackSource interface {
		GetUseDualStackEndpoint(context.Context) (sdk.DualStackEndpointState, bool, error)
	}
)

// endpoint returns the address of a service, by the SDK's rules for partitions: the one that
// the environment or the profile names, else the region's.
func (c *Client) endpoint(ctx context.Context, s service) (string, error) {
	var fips, dual bool
	for _, source := range c.cfg.ConfigSources {
		if e, ok := source.(endpointSource); ok {
			if value, found, err := e.GetServiceBaseEndpoint(ctx, s.id); err == nil && found && value != "" {
				return value, nil
			}
		}
		if f, ok := source.(fipsSource); ok {
			if value, found, err := f.GetUseFIPSEndpoint(ctx); err == nil && found {
				fips = fips || value == sdk.FIPSEndpointStateEnabled
			}
		}
		if d, ok := source.(dualStackSource); ok {
			if value, found, err := d.GetUseDualStackEndpoint(ctx); err == nil && found {
				dual = dual || value == sdk.DualStackEndpointStateEnabled
			}
		}
	}
	if c.cfg.BaseEndpoint != nil {
		return *c.cfg.BaseEndpoint, nil
	}
	region := c.cfg.Region
	if s == eksService {
		e, err := eks.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, eks.EndpointParameters{Region: &region, UseFIPS: &fips, UseDualStack: &dual})
		return e.URI.String(), err
	}
	e, err := sagemaker.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, sagemaker.EndpointParameters{Region: &region, UseFIPS: &fips, UseDualStack: &dual})
	if err != nil {
		return "", err
	}
	// With FIPS the host is api-fips.sagemaker.REGION, for other services NAME-fips.REGION.
	host := strings.NewReplacer("api-fips.sagemaker", s.host+"-fips", sageMaker.host, s.host).Replace(e.URI.Host)
	if s == sageMaker {
		host = e.URI.Host
	}
	u := url.URL{Scheme: e.URI.Scheme, Host: host, Path: "/"}
	return u.String(), nil
}
