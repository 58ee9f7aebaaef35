package jobtext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// NoPods returns the error of a command that needs a pod of a job without pods: what it
// cannot do, and what the job is doing instead. The exit code is errs.Pending for a job
// that may have pods again.
func NoPods(what string, j state.Job, s jobs.Status) *errs.Error {
	e := errs.New(what, "job "+j.Name+" has no pods yet").WithCode(errs.Pending)
	switch s.State {
	case jobs.Preempted:
		e.Why = fmt.Sprintf("job %s was preempted and its pods are deleted", j.Name)
		e.WithFact("since", jobs.Time(s.Since)).WithFact("reason", Why(s))
	case jobs.Succeeded, jobs.Failed:
		e.Why, e.Code = fmt.Sprintf("job %s %s and its pods are deleted", j.Name, strings.ToLower(string(s.State))), errs.NotFound
	case jobs.Suspended:
		e.Why = fmt.Sprintf("job %s is suspended and has no pods", j.Name)
		e.WithFact("since", jobs.Time(s.Since)).Suggest(suggest.Unsuspend(j.Namespace, j.Name))
	case jobs.ZeroReplicas:
		e.Why = fmt.Sprintf("the number of replicas of %s is 0", j.Name)
		e.Suggest(suggest.Scale(j.Kind, j.Namespace, j.Name)...)
	case jobs.Pending:
		e.Why = fmt.Sprintf("job %s is pending and has no pods yet", j.Name)
	}
	return e.Suggest(suggest.GetJob(j.Namespace, j.Name))
}
