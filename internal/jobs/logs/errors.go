package logs

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// The words of the kubelet for containers that have no log. Source: kubelet's
// validateContainerLogStatus, Kubernetes 1.35.
const (
	wordsNotStarted = "is waiting to start"
	wordsNotThere   = "is not available"
	wordsNoPrevious = "previous terminated container"
)

// notStarted reports the refusal of a log that does not exist yet.
func notStarted(err error) bool {
	message := kube.Message(err)
	return kube.IsInvalid(err) && (strings.Contains(message, wordsNotStarted) || strings.Contains(message, wordsNotThere))
}

// ErrorCode is why there is no log.
type ErrorCode string

// The codes of errors.
const (
	NotStarted  ErrorCode = "NotStarted"  // Container of Pod has not started; Err is the kubelet's refusal
	NoPrevious  ErrorCode = "NoPrevious"  // Container has no previous run
	PodGone     ErrorCode = "PodGone"     // Pod no longer exists
	Unreadable  ErrorCode = "Unreadable"  // Err is why the log of Pod cannot be read
	SomeUnread  ErrorCode = "SomeUnread"  // the logs of Count of All pods cannot be read
	NotBegun    ErrorCode = "NotBegun"    // Container of Pod has not started, for Why
	NoSuchPod   ErrorCode = "NoSuchPod"   // the job has no pod of those that were chosen
	PodsDeleted ErrorCode = "PodsDeleted" // the job has ended, and its pods are deleted
	Preempted   ErrorCode = "Preempted"   // the job was preempted at Since, and its pods are deleted
	Suspended   ErrorCode = "Suspended"   // the job has been suspended since Since, and has no pods
	NoPods      ErrorCode = "NoPods"      // the job has no pods
	// ZeroReplicas: the job serves, and its number of replicas is 0.
	ZeroReplicas ErrorCode = "ZeroReplicas"
)

// Error is why there is no log to read. Package present/jobtext words it.
type Error struct {
	Code           ErrorCode
	Pod, Container string
	Why            jobs.PodTrouble
	// Job is the job without pods, and State its state.
	Job        state.Job
	State      jobs.State
	Since      time.Time
	Count, All int
	Err        error
}

func (e *Error) Error() string { return fmt.Sprintf("no log of %s%s: %s", e.Pod, e.Job.Name, e.Code) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain returns the error of a log that cannot be read.
func explain(s Source, err error) error {
	code := Unreadable
	switch {
	case notStarted(err):
		code = NotStarted
	case kube.IsInvalid(err) && strings.Contains(kube.Message(err), wordsNoPrevious):
		code = NoPrevious
	case kube.IsNotFound(err):
		code = PodGone
	case kube.Message(err) != "":
		return err // the server's refusal is explained already
	}
	return &Error{Code: code, Pod: s.Pod, Container: s.Container, Err: err}
}
