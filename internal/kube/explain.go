package kube

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// what says in a few words what a call was to do.
func (k call) what() string {
	object := k.res.Plural
	if k.name != "" {
		object = fmt.Sprintf("%s %q", strings.ToLower(k.res.Kind), k.name)
	}
	s := "cannot " + k.verb
	if k.res.Plural != "" {
		s += " " + object
	}
	if k.namespace != "" && k.res.Namespaced {
		s += " in namespace " + k.namespace
	} else if k.res.Namespaced && k.name == "" {
		s += " in all namespaces"
	}
	return s
}

// explain makes an error for people of what went wrong with a call. The cause
// stays reachable for the predicates.
func (c *Client) explain(ctx context.Context, k call, err error) error {
	var done *errs.Error
	if errors.As(err, &done) {
		return err
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return (&errs.Error{What: k.what(), Why: "interrupted", Code: errs.Interrupted}).WithCause(errors.Join(ctx.Err(), err))
	}
	if se, ok := status(err); ok {
		return c.explainStatus(k, se).WithCause(err)
	}
	return c.explainTransport(ctx, k, err).WithCause(err)
}

func (c *Client) explainStatus(k call, se *StatusError) *errs.Error {
	e := errs.New(k.what(), "")
	switch {
	case se.Reason == OwnWords || se.absent():
		e.Why = oneLine(se.Message)
		if se.Code == 403 && !se.absent() { // nobody refused what a file does not have
			e.Code = errs.Denied
		}
		return e
	case se.Code == 401:
		return c.unauthorized(e)
	case se.Code == 403:
		return forbidden(k, se, e)
	case IsNotServed(se):
		return explainNotServed(k.res, e)
	case se.Code == 404:
		e.Code = errs.NotFound
		e.Why = "not found"
		if se.Details.Kind == "namespaces" || strings.HasPrefix(se.Message, "namespaces ") {
			e.Why = "namespace not found"
		}
		return e
	case IsAlreadyExists(se):
		e.Why = "already exists"
		return e
	case IsOwned(se):
		return owned(se, e)
	case se.Code == 409:
		e.Why = "the object changed at the same time"
		return e.WithFact("message", oneLine(se.Message)).WithAdvice("run the command again")
	case se.Code == 410:
		e.Why = "the version that was read has expired"
		return e.WithAdvice("run the command again")
	case se.Code == 422 || se.Code == 400:
		return invalid(se, e)
	case se.Code == 429:
		e.Why = "the server is overloaded (HTTP 429)"
		if se.RetryAfter > 0 {
			e.WithFact("retry after", words.Age(se.RetryAfter))
		}
		return e
	case se.Code >= 500 && strings.Contains(se.Message, `failed calling webhook "`): // before any change is stored
		name, _ := between(se.Message, `failed calling webhook "`, `"`)
		e.Why = "the webhook " + oneLine(name) + " does not answer"
		return e.WithFact("message", oneLine(se.Message)).
			WithAdvice("the server made no change; run the command again, or ask a cluster administrator to look at the pods behind the webhook")
	case se.Code >= 500:
		e.Why = fmt.Sprintf("the server failed (HTTP %d)", se.Code)
		if se.Reason != "" {
			e.WithFact("message", oneLine(se.Message))
		}
		return e
	}
	e.Why = fmt.Sprintf("unexpected answer of the server (HTTP %d)", se.Code)
	if se.Reason != "" {
		e.WithFact("message", oneLine(se.Message))
	}
	return e
}

// owned names the other managers of the fields that an apply would change.
func owned(se *StatusError, e *errs.Error) *errs.Error {
	e.Why = "another manager owns fields that this changes"
	const most = 5
	left := 0
	for _, c := range se.Details.Causes {
		switch {
		case c.Type != fieldManagerConflict:
		case len(e.Facts) == most:
			left++
		default:
			e.WithFact(cmp.Or(strings.TrimPrefix(c.Field, "."), "field"), oneLine(c.Message))
		}
	}
	if left > 0 {
		e.WithFact("more", fmt.Sprintf("%d fields", left))
	}
	return e
}

// unauthorized explains credentials that are not accepted. API servers answer an expired client certificate
// like any wrong credential, but its date is known here.
func (c *Client) unauthorized(e *errs.Error) *errs.Error {
	e.Code = errs.Denied
	e.Why = cmp.Or(c.expiredCertificate(), "credentials missing, invalid or expired")
	return e.WithFact("server", c.Server()).
		WithAdvice("sign in again (for EKS: renew the AWS credentials)").Suggest(suggest.AWSIdentity())
}

// expiredCertificate returns the end of an expired client certificate; "" if it is valid, or there is none.
func (c *Client) expiredCertificate() string {
	until, ok := certificateEnd(c.config)
	if !ok || !until.Before(c.o.Now()) {
		return ""
	}
	return "the client certificate expired on " + until.UTC().Format(time.RFC3339)
}

// certificateEnd returns when the client certificate of a configuration ends.
func certificateEnd(cfg *rest.Config) (time.Time, bool) {
	if cfg == nil {
		return time.Time{}, false
	}
	data := cfg.CertData
	if len(data) == 0 && cfg.CertFile != "" {
		data, _ = bounded.File(cfg.CertFile, bounded.Settings) // unreadable: nothing to say about it
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return time.Time{}, false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return cert.NotAfter, true
}

// explainNotServed names what would have to be installed.
func explainNotServed(r kinds.Resource, e *errs.Error) *errs.Error {
	e.Why = "the cluster does not serve " + r.FullName() + " (" + r.GroupVersion() + ")"
	e.Code = errs.NotFound
	if j, ok := kinds.JobFor(r.GroupVersion(), r.Kind); ok {
		e.WithAdvice("ask a cluster administrator to install the " + j.Operator)
	} else if r.Group == kinds.KueueGroup {
		e.WithAdvice("ask a cluster administrator to install Kueue, or the HyperPod task governance add-on")
	}
	return e
}

// forbidden explains a 403: a missing permission, a namespace that is being deleted, or a rejection by a policy, a
// webhook or a quota.
func forbidden(k call, se *StatusError, e *errs.Error) *errs.Error {
	if strings.HasSuffix(se.Message, "because it is being terminated") { // the words of the admission plugin NamespaceLifecycle
		e.Why = "the namespace is being deleted"
		return e.WithFact("message", oneLine(se.Message)).WithAdvice("use another namespace, or wait until the deletion ends and create the namespace again")
	}
	if se.Reason != "" && !strings.Contains(se.Message, " cannot ") {
		e.Why = "rejected by a policy of the cluster"
		return e.WithFact("message", oneLine(se.Message))
	}
	e.Code = errs.Denied
	verb, on, scope := apiVerb(k), k.res.FullName(), ""
	if k.sub != "" {
		on += "/" + k.sub
	}
	where := "in all namespaces"
	switch {
	case !k.res.Namespaced:
		where = "in the cluster"
	case k.namespace != "":
		scope, where = k.namespace, "in namespace "+k.namespace
	}
	e.Why = "permission denied"
	if user, ok := between(se.Message, `User "`, `"`); ok && user != "" {
		e.WithFact("you are", oneLine(user))
	}
	return e.WithFact("needs", "permission to "+verb+" "+on+" "+where).
		WithAdvice("ask a cluster administrator for a role with this permission").Suggest(suggest.CanI(verb, on, k.res.Namespaced, scope))
}

// ServiceAccountNamespace returns the namespace of the service account that the server
// denied a request, "" for another user.
func ServiceAccountNamespace(err error) string {
	var se *StatusError
	if !IsForbidden(err) || !errors.As(err, &se) {
		return ""
	}
	account, _ := between(se.Message, `User "system:serviceaccount:`, `"`)
	namespace, _, _ := strings.Cut(account, ":")
	return namespace
}

func apiVerb(k call) string {
	switch k.method {
	case "POST":
		return "create"
	case "PATCH":
		return "patch"
	case "PUT":
		return "update"
	case "DELETE":
		return "delete"
	}
	if k.query.Get("watch") != "" {
		return "watch"
	}
	if k.name == "" {
		return "list"
	}
	return "get"
}

func invalid(se *StatusError, e *errs.Error) *errs.Error {
	e.Why = "rejected by the cluster as invalid"
	for i, c := range se.Details.Causes {
		if i == 10 {
			e.WithFact("more", fmt.Sprintf("%d other reasons", len(se.Details.Causes)-i))
			break
		}
		field := c.Field
		if field == "" || field == "<nil>" {
			field = "reason"
		}
		e.WithFact(field, oneLine(c.Message))
	}
	if len(se.Details.Causes) == 0 && se.Reason != "" {
		e.WithFact("message", oneLine(se.Message))
	}
	return e
}

func (c *Client) explainTransport(ctx context.Context, k call, err error) *errs.Error {
	e := errs.New(k.what(), "").WithFact("server", c.Server())
	if k.implied {
		e.What = "cannot reach the API server"
	}
	var dns *net.DNSError
	var unknownCA x509.UnknownAuthorityError
	var certInvalid x509.CertificateInvalidError
	var host x509.HostnameError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var body *bodyError
	var large *bounded.TooLarge
	text := err.Error()
	switch {
	case errors.Is(err, errRequestTimeout):
		e.Why = fmt.Sprintf("no complete answer within %s", c.o.Timeout)
		e.Suggest(suggest.RequestTimeout("2m").WithNote("or longer"))
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		e.Why, e.Code = "the deadline passed before the answer arrived", errs.Timeout
	case strings.Contains(text, "getting credentials: ") || strings.Contains(text, "exec plugin"):
		return c.explainPlugin(e, err)
	case strings.Contains(text, "proxyconnect") || strings.Contains(text, "socks connect"):
		e.Why = "the connection through the proxy failed"
		e.WithAdvice("check proxy-url in the kubeconfig, HTTPS_PROXY and NO_PROXY")
	case isRefused(err):
		e.Why = "connection refused"
		e.WithAdvice("check that the cluster is running and that the address is right")
	case errors.As(err, &dns):
		e.Why = fmt.Sprintf("cannot resolve the host name %s", dns.Name)
		e.WithAdvice("check the network or VPN, and that the cluster still exists")
	case errors.As(err, &certInvalid) && certInvalid.Reason == x509.Expired:
		e.Why = "the server certificate has expired or is not yet valid"
		if cert := certInvalid.Cert; cert != nil {
			e.WithFact("valid", cert.NotBefore.UTC().Format(time.RFC3339)+" to "+cert.NotAfter.UTC().Format(time.RFC3339))
		}
		e.WithAdvice("check the clock of this machine, or ask a cluster administrator to renew the certificate")
	case errors.As(err, &unknownCA):
		e.Why = "the server certificate is signed by an unknown authority"
		e.WithAdvice("the kubeconfig may belong to another cluster with the same address").Suggest(suggest.ConnectCluster("NAME"))
	case errors.As(err, &host):
		e.Why = "the server certificate is for another host name"
	case strings.Contains(text, "protocol version"): // "protocol version not supported", "unsupported protocol version 301"
		e.Why = "the server supports no TLS version that is safe to use"
		e.WithAdvice("ask a cluster administrator to enable TLS 1.2 or newer on the server")
	case errors.As(err, &alert) || strings.Contains(text, "remote error: tls: "):
		e.Code = errs.Denied
		e.Why = cmp.Or(c.expiredCertificate(), "the server rejected the client certificate")
		e.WithAdvice("sign in again, or get a new kubeconfig")
	case errors.As(err, &record):
		e.Why = "the server does not use TLS"
		e.WithAdvice("check the server address in the kubeconfig (scheme and port)")
	case errors.As(err, &large):
		e.Why = "the answer is " + large.Error()
	case errors.As(err, &body):
		e.Why = "the answer is incomplete or not from a Kubernetes API server"
	case isBroken(err):
		// A refused client certificate may look like this, too: the refusal comes
		// after the handshake and may be overtaken by the end of the connection.
		e.Why = cmp.Or(c.expiredCertificate(), "the connection was lost before the answer arrived")
	case isTimeout(err):
		e.Why = "no answer from the server"
		e.WithAdvice("check the network, VPN and proxies")
	default:
		e.Why = "the connection failed: " + oneLine(lastWords(text))
	}
	return e
}

// explainPlugin explains the failure of a kubeconfig's credential plugin. The plugin's own messages are on
// stderr already; its stdout may be a credential and is not repeated.
func (c *Client) explainPlugin(e *errs.Error, err error) *errs.Error {
	e.Code = errs.Denied
	var tooMuch pluginOutput
	text := err.Error()
	name := "credential plugin"
	if c.config != nil && c.config.ExecProvider != nil {
		name += fmt.Sprintf(" %q", oneLine(c.config.ExecProvider.Command))
	}
	switch {
	case strings.Contains(text, "not found") || strings.Contains(text, "no such file"):
		e.Why = name + " is not installed"
		return e.WithAdvice("install it, or use another kubeconfig").Suggest(suggest.Kubeconfig("FILE"))
	case strings.Contains(text, "failed with exit code"):
		code, _ := between(text+" ", "exit code ", " ")
		e.Why = fmt.Sprintf("%s failed (exit code %s)", name, strings.TrimSpace(code))
		return e.WithAdvice("sign in again (for EKS: renew the AWS credentials)")
	case strings.Contains(text, "interactive"):
		e.Why = name + " needs a terminal to prompt on"
	case strings.Contains(text, "API version"):
		e.Why = name + " uses another API version than the kubeconfig"
	case errors.As(err, &tooMuch):
		e.Why = name + " printed more than " + bounded.Size(tooMuch.Most)
		return e.WithAdvice("run the plugin by hand: it must print one ExecCredential and end")
	default:
		e.Why = name + " returned no usable credentials"
	}
	return e
}

// explainSetup explains a configuration that allows no connection.
func explainSetup(what string, err error) error {
	why := "invalid kubeconfig: " + oneLine(lastWords(err.Error()))
	switch text := err.Error(); {
	case strings.Contains(text, "proxy-url") || strings.Contains(text, "could not parse: "):
		return errs.New(what, "invalid proxy-url in the kubeconfig: must be a URL such as http://HOST:PORT") // the cause may hold a password
	case strings.Contains(text, "failed to find any PEM data") || strings.Contains(text, "unable to load root certificates"):
		why = "a certificate or key in the kubeconfig is not valid PEM"
	case strings.Contains(text, "private key does not match"):
		why = "the client key in the kubeconfig does not match the client certificate"
	case strings.Contains(text, "no such file"):
		why = "a file named in the kubeconfig does not exist: " + oneLine(lastWords(text))
	}
	return errs.New(what, why).WithCause(err)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func between(s, start, end string) (string, bool) {
	_, rest, ok := strings.Cut(s, start)
	if !ok {
		return "", false
	}
	got, _, ok := strings.Cut(rest, end)
	return got, ok
}

// lastWords returns the innermost part of a chain of "a: b: c".
func lastWords(s string) string {
	parts := strings.Split(s, ": ")
	return strings.Join(parts[max(0, len(parts)-2):], ": ")
}

// oneLine keeps a text from elsewhere on one line of reasonable length, without
// control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 600 {
		s = string(r[:600]) + "..."
	}
	return s
}
