package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func badRequest(message string) error { return apierrors.NewBadRequest(message) }

// unknownPath returns the error for an unserved path.
func unknownPath(verb string) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, verb, schema.GroupResource{}, "", "404 page not found", 0, true)
}

// expired returns the error for a watch or continued list from before the history.
func expired(rv, oldest int64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", rv, oldest))
}

// Unauthorized answers a request without valid credentials.
func Unauthorized(w http.ResponseWriter) {
	writeError(w, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnauthorized, Reason: metav1.StatusReasonUnauthorized, Message: "Unauthorized",
	}})
}

func unsupportedMedia(accepted ...string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}}
}

// statusOf returns the Status of an error.
func statusOf(err error) metav1.Status {
	var api apierrors.APIStatus
	var own *errs.Error
	var s metav1.Status
	switch {
	case errors.As(err, &api):
		s = api.Status()
	case errors.As(err, &own):
		// An error of the sandbox's file (locked, damaged, not writable). Some clients
		// print only the message, so it holds the facts and suggestions, too.
		message := own.Error()
		for _, f := range own.Facts {
			message += "; " + f.Label + ": " + f.Text
		}
		for i, t := range own.Try {
			if i == 0 {
				message += "; try: " + t.String()
			} else {
				message += ", or " + t.String()
			}
		}
		s = metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: message}
	default:
		s = apierrors.NewInternalError(err).ErrStatus
	}
	s.Kind, s.APIVersion = "Status", "v1"
	if s.Code == 0 {
		s.Code = http.StatusInternalServerError
	}
	return s
}

func writeError(w http.ResponseWriter, err error) {
	s := statusOf(err)
	if d := s.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	writeJSON(w, int(s.Code), s)
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n'))
}
