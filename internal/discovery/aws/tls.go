package aws

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// badTLS reports that no TLS connection to the server is possible, now or later: its certificate is not valid, or it
// speaks no TLS that is safe to use.
func badTLS(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || oldTLS(err)
}

// oldTLS reports that the server offers old versions of TLS only: "protocol version not supported", "unsupported protocol
// version 301".
func oldTLS(err error) bool {
	var failed *url.Error
	return errors.As(err, &failed) && strings.Contains(failed.Error(), "tls: ") && strings.Contains(failed.Error(), "protocol version")
}

// explainTLS words why no TLS connection is possible.
func explainTLS(e *errs.Error, err error) error {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	host := hostOf(err)
	certificate := "the TLS certificate of " + host
	switch {
	case !errors.As(err, &verify) && oldTLS(err):
		e.Why = host + " supports no TLS version that is safe to use"
		return e.WithAdvice("a proxy between this machine and AWS may answer: check HTTPS_PROXY")
	case verify == nil:
		e.Why = host + " does not use TLS"
		return e.WithAdvice("check HTTPS_PROXY, and AWS_ENDPOINT_URL (scheme and port)")
	case errors.As(err, &unknown):
		e.Why = certificate + " is signed by an unknown authority"
		return e.WithAdvice("if a proxy inspects TLS, set AWS_CA_BUNDLE to a file with its CA certificate")
	case errors.As(err, &name):
		e.Why = certificate + " is for another host name"
		return e.WithAdvice("check HTTPS_PROXY and AWS_ENDPOINT_URL: a proxy or another server may answer")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Why = certificate + " has expired or is not yet valid"
		if c := invalid.Cert; c != nil {
			e.WithFact("valid", c.NotBefore.UTC().Format(time.RFC3339)+" to "+c.NotAfter.UTC().Format(time.RFC3339))
		}
		return e.WithAdvice("check the clock of this machine, and whether a proxy between it and AWS answers")
	}
	e.Why = certificate + " is not valid"
	return e.WithFact("message", oneLine(verify.Err.Error()))
}

// hostOf returns the host of a request that failed.
func hostOf(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		if u, err := url.Parse(failed.URL); err == nil {
			return cmp.Or(u.Hostname(), "AWS")
		}
	}
	return "AWS"
}
