package check

import (
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
)

// ErrorCode is why a job cannot be checked.
type ErrorCode string

// The codes of errors. All but the last are about the manifest.
const (
	UnknownKind ErrorCode = "UnknownKind" // Kueue makes no workload of Kind; Supported are the kinds that it knows
	Prebuilt    ErrorCode = "Prebuilt"    // the job names a Workload that somebody else makes
	NoMetadata  ErrorCode = "NoMetadata"  // the object has no metadata
	WrongType   ErrorCode = "WrongType"   // Field has Value, which is of another type
	WrongFields ErrorCode = "WrongFields" // its fields do not fit Kind
	Unusable    ErrorCode = "Unusable"    // Err is why Kueue can make no workload of it
	Undecided   ErrorCode = "Undecided"   // Err is why the engine can give no decision
)

// Error is why a job cannot be checked. Package present/verdict words it.
type Error struct {
	Code             ErrorCode
	APIVersion, Kind string
	Name             string
	Field, Value     string
	Supported        []schema.GroupVersionKind
	Err              error
}

// Error returns the code and the cause, for logs.
func (e *Error) Error() string {
	text := strings.TrimRight(string(e.Code)+" "+e.Kind+" "+e.Name, " ")
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refusedByKueue adds the step about a job that Kueue's webhook refuses, unless there is one from
// the API server.
func (v *Verdict) refusedByKueue(err error) {
	if !v.Tried("Server") {
		v.Submission = append(v.Submission, Step{Check: "Server", Status: StatusFailed, Code: KueueRefuses, Fault: strings.TrimPrefix(err.Error(), integration.ErrRefused.Error()+": ")})
	}
}

// unusable returns the error about a manifest for which Kueue makes no workload.
func unusable(apiVersion string, job Job, err error) error {
	e := &Error{Code: Unusable, APIVersion: apiVersion, Kind: job.Kind, Name: job.Name, Err: err}
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, integration.ErrPrebuilt):
		e.Code = Prebuilt
	case errors.Is(err, integration.ErrUnknownJob):
		e.Code, e.Supported = UnknownKind, integration.SupportedJobs()
	case errors.As(err, &mistyped):
		e.Code, e.Field, e.Value = WrongType, mistyped.Field, mistyped.Value
	case strings.Contains(err.Error(), "json: "):
		e.Code = WrongFields
	}
	return e
}
