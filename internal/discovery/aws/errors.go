package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/smithy-go"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Error codes of AWS by what they mean. Services spell them with and without
// "Exception".
var (
	notFoundCodes  = []string{"ResourceNotFound", "NotFound"}
	deniedCodes    = []string{"AccessDenied", "UnauthorizedOperation", "NotAuthorized"}
	expiredCodes   = []string{"ExpiredToken", "RequestExpired", "InvalidSignature"}
	rejectedCodes  = []string{"UnrecognizedClient", "InvalidClientTokenId", "SignatureDoesNotMatch", "IncompleteSignature", "MissingAuthenticationToken"}
	throttledCodes = []string{"Throttling", "ThrottledException", "TooManyRequests", "RequestLimitExceeded", "RequestThrottled", "SlowDown"}
	conflictCodes  = []string{"Conflict", "ResourceInUse"}
)

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return strings.TrimSuffix(api.ErrorCode(), "Exception")
	}
	return ""
}

func throttled(err error) bool { return slices.Contains(throttledCodes, codeOf(err)) }

// errNoCredentials is the cause of errors about credentials that the SDK does not find.
var errNoCredentials = errors.New("get credentials")

// IsConflict reports whether another caller is changing the resource, or that it is in use.
func IsConflict(err error) bool { return slices.Contains(conflictCodes, codeOf(err)) }

// IsNotFound reports whether the resource does not exist.
func IsNotFound(err error) bool { return slices.Contains(notFoundCodes, codeOf(err)) }

// IsTransient reports whether the same request may succeed in a minute: AWS throttles requests, had a fault of its
// own, or could not be reached.
func IsTransient(err error) bool {
	return throttled(err) || err != nil && !Answered(err) && !errors.Is(err, errNoCredentials) && !badTLS(err)
}

// explain turns an error of the SDK into one for people. action is the IAM action that
// the request needs, or "".
func (c *Client) explain(what, action string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	code, message := codeOf(err), ""
	var api smithy.APIError
	if errors.As(err, &api) {
		message = oneLine(api.ErrorMessage())
	}
	e := &errs.Error{What: what, Code: errs.Failure, Cause: err}
	in := func(list []string) bool { return slices.Contains(list, code) }
	switch {
	case in(deniedCodes):
		e.Why, e.Code = "access denied", errs.Denied
		if action != "" {
			e.WithFact("you need", "permission for "+action)
		}
		if message != "" {
			e.WithFact("AWS says", message)
		}
		return e.Suggest(suggest.AWSIdentity())
	case in(expiredCodes):
		e.Why, e.Code = "the AWS credentials have expired, or the clock is wrong", errs.Denied
		return e.WithFact("AWS says", message).Suggest(suggest.AWSLogin(c.profile))
	case in(rejectedCodes):
		e.Why, e.Code = "AWS rejected the credentials", errs.Denied
		return e.WithFact("AWS says", message).Suggest(suggest.AWSIdentity())
	case in(throttledCodes):
		e.Why = "AWS throttles requests"
		return e.WithFact("AWS says", message).WithAdvice("try again in a minute")
	case in(notFoundCodes):
		e.Why, e.Code = message, errs.NotFound
		return e
	case code != "":
		e.Why = message
		if e.Why == "" {
			e.Why = code
		}
		return e
	}
	return c.explainLocal(e, err)
}

// explainLocal words what failed before AWS could answer.
func (c *Client) explainLocal(e *errs.Error, err error) error {
	var sso *ssocreds.InvalidTokenError
	var dns *net.DNSError
	var network *net.OpError
	text := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Why, e.Code = "AWS did not answer in time", errs.Failure
	case badTLS(err):
		return explainTLS(e, err)
	case errors.As(err, &sso) || strings.Contains(text, "token has expired and refresh failed"):
		e.Why, e.Code = "the AWS SSO session has expired", errs.Denied
		return e.Suggest(suggest.AWSLogin(c.profile))
	case strings.Contains(text, "get credentials") || strings.Contains(text, "get identity") || strings.Contains(text, "refresh cached credentials") || strings.Contains(text, "static credentials are empty"):
		e.Why, e.Code = "no AWS credentials found", errs.Denied
		if cause := lastCause(text); !strings.Contains(text, "EC2 IMDS") {
			e.WithFact("message", cause)
		}
		return e.Suggest(suggest.AWSConfigure(), suggest.AWSLogin(c.profile))
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Why = "no such host: " + dns.Name
		return e.WithAdvice("check the region: " + c.cfg.Region).Suggest(suggest.Region("REGION"))
	case errors.As(err, &network):
		e.Why = "no connection to AWS: " + oneLine(network.Error())
	default:
		e.Why = lastCause(text)
	}
	return e
}

// explainConfig words what is wrong with the AWS configuration files.
func explainConfig(profile string, err error) error {
	var source config.SharedConfigAssumeRoleError
	if errors.As(err, &source) {
		why := fmt.Sprintf("source_profile %q has no credentials", source.Profile)
		if source.Err != nil {
			why = fmt.Sprintf("source_profile %q does not exist", source.Profile)
		}
		return errs.New("cannot assume role "+source.RoleARN, why).WithCode(errs.Denied).WithCause(err).Suggest(suggest.AWSProfiles())
	}
	var missing config.SharedConfigProfileNotExistError
	if errors.As(err, &missing) {
		if profile == "" {
			profile = missing.Profile
		}
		return errs.NotFoundf("AWS profile %q not found", profile).WithCause(err).Suggest(suggest.AWSProfiles())
	}
	return errs.New("cannot read the AWS configuration", lastCause(err.Error())).WithCause(err)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// lastCause returns the innermost reason of an error's text.
func lastCause(text string) string {
	parts := strings.Split(oneLine(text), ", ")
	return parts[len(parts)-1]
}
