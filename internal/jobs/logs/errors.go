package logs

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
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

// explain returns the error of a log that cannot be read.
func explain(s Source, err error) error {
	what := fmt.Sprintf("cannot read the log of pod %s", s.Pod)
	switch {
	case notStarted(err):
		return (&errs.Error{What: what, Why: fmt.Sprintf("container %s has not started yet", s.Container), Code: errs.Pending, Cause: err}).
			WithFact("message", kube.Message(err)).Suggest(suggest.Follow("waits until it starts"))
	case kube.IsInvalid(err) && strings.Contains(kube.Message(err), wordsNoPrevious):
		return &errs.Error{What: what, Why: fmt.Sprintf("container %s has no previous run", s.Container), Code: errs.NotFound, Cause: err}
	case kube.IsNotFound(err):
		return &errs.Error{What: what, Why: "the pod no longer exists", Code: errs.NotFound, Cause: err}
	case kube.Message(err) != "":
		return err // the server's refusal is explained already
	}
	return errs.Wrap(err, what)
}
