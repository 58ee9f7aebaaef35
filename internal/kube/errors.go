package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// StatusError is an answer of the server other than success. The fields come from the Status object in the body. Without
// one (a proxy answered), the body is dropped and Message is the name of the HTTP status.
type StatusError struct {
	Code    int    // HTTP status
	Reason  string // machine-readable, such as "AlreadyExists"; "" when there was no Status object
	Message string
	Details Details
	// RetryAfter is how long the server asks the client to wait; 0 if it does not ask.
	RetryAfter time.Duration
	// wasAway: the same request had failed before as it does while a server is away.
	wasAway bool
}

// Details name the object of a StatusError.
type Details struct {
	Name              string  `json:"name"`
	Group             string  `json:"group"`
	Kind              string  `json:"kind"`
	UID               string  `json:"uid"`
	Causes            []Cause `json:"causes"`
	RetryAfterSeconds int     `json:"retryAfterSeconds"`
}

// OwnWords is the reason of refusals by a server that is part of hyperpod: the
// message is the explanation for people.
const OwnWords = "cli.hyperpod/Explained"

// NotInFile is OwnWords for something that is not in the file that is read in place of a cluster: no permission would
// show it.
const NotInFile = "cli.hyperpod/NotInFile"

// NotCaptured is NotInFile for a list over all namespaces, or of another namespace, in a file of one namespace.
const NotCaptured = "cli.hyperpod/NotCaptured"

// Cause is one field that was refused.
type Cause struct {
	Type    string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Error returns the server's words.
func (e *StatusError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the server answered %d %s", e.Code, e.Message)
	}
	return fmt.Sprintf("the server answered %d %s: %s", e.Code, e.Reason, e.Message)
}

// statusBody is metav1.Status as far as it is read.
type statusBody struct {
	Kind    string  `json:"kind"`
	Message string  `json:"message"`
	Reason  string  `json:"reason"`
	Code    int     `json:"code"`
	Details Details `json:"details"`
}

// maxStatus limits how much of an error's body is read.
const maxStatus = 256 << 10

// readStatus makes a StatusError of an answer and closes its body.
func readStatus(resp *http.Response) *StatusError {
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatus))
	e := &StatusError{Code: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	var s statusBody
	if json.Unmarshal(data, &s) == nil && s.Kind == "Status" {
		e.fill(s)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(resp.Header.Get("Retry-After"))); err == nil && n > 0 {
		e.RetryAfter = seconds(n)
	}
	return e
}

// longest limits the wait that a server asks for: more would not fit in a duration.
const longest = 100 * 365 * 24 * 60 * 60

func seconds(n int) time.Duration { return time.Duration(min(n, longest)) * time.Second }

func (e *StatusError) fill(s statusBody) {
	if s.Message != "" {
		e.Message = s.Message
	}
	e.Reason, e.Details = s.Reason, s.Details
	if e.Reason == "" {
		e.Reason = "Unknown"
	}
	if n := s.Details.RetryAfterSeconds; n > 0 {
		e.RetryAfter = seconds(n)
	}
}

// transportError is a call that got no answer.
type transportError struct {
	err error
	// sent: the server may have got, and carried out, the whole request.
	sent bool
}

func (e *transportError) Error() string { return e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

// bodyError is an answer that broke off or is not what the API answers.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "the answer cannot be read: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

func status(err error) (*StatusError, bool) {
	var se *StatusError
	ok := errors.As(err, &se)
	return se, ok
}

func hasCode(err error, code int) bool {
	se, ok := status(err)
	return ok && se.Code == code
}

// IsNotFound reports whether err is about an object or a kind that does not exist (404).
func IsNotFound(err error) bool { return hasCode(err, http.StatusNotFound) }

// IsNotServed reports whether err is about a kind that the server does not have: its API group or version is missing,
// not one of its objects.
func IsNotServed(err error) bool {
	se, ok := status(err)
	return ok && se.Code == http.StatusNotFound && se.Details.Name == ""
}

// IsForbidden reports whether err is a missing permission or a refusal by policy (403).
func IsForbidden(err error) bool { return hasCode(err, http.StatusForbidden) }

// IsNotInFile reports whether err is about something that is not in a file that is read in place of a cluster. Such an
// error is also IsForbidden, so that callers fall back on what exists.
func IsNotInFile(err error) bool {
	se, ok := status(err)
	return ok && se.absent()
}

// absent reports an answer about something that is not in a file.
func (e *StatusError) absent() bool { return e.Reason == NotInFile || e.Reason == NotCaptured }

// IsNotCaptured reports whether err is about a file of one namespace, which may have what is in that.
func IsNotCaptured(err error) bool {
	se, ok := status(err)
	return ok && se.Reason == NotCaptured
}

// IsUnauthorized reports whether the credentials are missing, wrong or expired (401).
func IsUnauthorized(err error) bool { return hasCode(err, http.StatusUnauthorized) }

// IsAlreadyExists reports whether the name of a new object is taken (409).
func IsAlreadyExists(err error) bool {
	se, ok := status(err)
	return ok && se.Code == http.StatusConflict && se.Reason == "AlreadyExists"
}

// isExpired reports whether the server forgot a resource version or page (410).
func isExpired(err error) bool {
	se, ok := status(err)
	return ok && (se.Code == http.StatusGone || se.Reason == "Expired")
}

// IsInvalid reports whether the server does not accept an object (422, or 400 for one that it cannot read).
func IsInvalid(err error) bool {
	return hasCode(err, http.StatusUnprocessableEntity) || hasCode(err, http.StatusBadRequest)
}

// OutcomeUnknown reports whether the outcome of a change is unknown: the request was sent, but the answer was lost, came
// from a gateway, or came too late. The caller must read the object to find out.
func OutcomeUnknown(err error) bool {
	if se, ok := status(err); ok {
		// An internal error of the API server that has a Status comes from before
		// the write (a webhook) or, rarely, from the storage after it.
		return se.Code >= 500 && (se.Code != http.StatusInternalServerError || se.Reason == "" ||
			strings.Contains(se.Message, "etcdserver") || strings.Contains(se.Message, "timed out"))
	}
	var te *transportError
	if errors.As(err, &te) {
		return te.sent
	}
	var be *bodyError
	return errors.As(err, &be)
}

// isBroken reports whether a connection was lost, as opposed to one that could not be made: only the former is
// worth another try at once.
func isBroken(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errRequestTimeout) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isReset(err) ||
		strings.Contains(err.Error(), "http2: server sent GOAWAY") ||
		strings.Contains(err.Error(), "http2: client conn could not be established") ||
		strings.Contains(err.Error(), "server closed idle connection") ||
		strings.Contains(err.Error(), "use of closed network connection")
}

// NotServed returns the error of a kind that the server does not have; IsNotServed
// holds for it.
func NotServed(r kinds.Resource) error {
	se := &StatusError{Code: http.StatusNotFound, Message: http.StatusText(http.StatusNotFound)}
	return explainNotServed(r, errs.New("cannot use "+r.FullName(), "")).WithCause(se)
}

// Malformed returns the error of an answer that has an object of another kind or version.
func Malformed(r kinds.Resource, cause error) error {
	return errs.New("cannot read "+r.Plural, "the answer has an object of another kind than "+r.Kind+" of "+r.GroupVersion()).WithCause(cause)
}

// Message returns the server's own words in a StatusError; "" for any other error.
func Message(err error) string {
	if se, ok := status(err); ok {
		return se.Message
	}
	return ""
}

// NoAnswer reports whether a request got no answer: the server was not reached, or the answer was lost.
func NoAnswer(err error) bool {
	var te *transportError
	return errors.As(err, &te)
}

// LostConnection reports whether an established connection broke: the server, the network or the node at its other end
// went away. A new one may succeed.
func LostConnection(err error) bool {
	var t *transportError
	return errors.As(err, &t) && t.sent && !errors.Is(err, context.Canceled)
}

// fieldManagerConflict is the type of a cause: server-side apply would change a field of
// another manager.
const fieldManagerConflict = "FieldManagerConflict"

// IsOwned reports whether server-side apply was refused because another manager owns a field.
func IsOwned(err error) bool {
	var se *StatusError
	return errors.As(err, &se) && se.Code == http.StatusConflict &&
		slices.ContainsFunc(se.Details.Causes, func(c Cause) bool { return c.Type == fieldManagerConflict })
}

// IsModified reports whether a change was refused because the object has another resourceVersion by now.
func IsModified(err error) bool {
	se, ok := status(err)
	return ok && se.Code == http.StatusConflict && se.Reason == "Conflict" && !IsOwned(err)
}
