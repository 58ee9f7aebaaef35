package waitjob

import (
	"cmp"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Failure returns the error of a job that failed (exit code 3), nil for any other.
func Failure(p wait.Progress) error {
	if p.Status.State != jobs.Failed {
		return nil
	}
	return &errs.Error{What: "job " + p.Job.Name + " failed", Why: jobtext.Why(p.Status), Code: errs.No,
		Try: []errs.Suggestion{suggest.GetLog(p.Job.Namespace, p.Job.Name)}}
}

// unmet returns the error of a wait that did not reach its goal: exit code 3 (the job
// failed), 8 (it is suspended, or has no replicas), 1 (it cannot start), 5 (it was deleted) or 124 (the time is over).
func unmet(u *wait.Unmet) error {
	r := u.Request
	switch u.Outcome {
	case wait.Failed:
		return Failure(u.Last)
	case wait.Held:
		if u.Last.Status.State == jobs.ZeroReplicas {
			return &errs.Error{What: "job " + r.Name + " does not run", Why: jobtext.Why(u.Last.Status), Code: errs.Pending, Cause: u,
				Try: suggest.Scale(r.Kind, r.Namespace, r.Name)}
		}
		return &errs.Error{What: "job " + r.Name + " is suspended", Why: jobtext.Why(u.Last.Status), Code: errs.Pending, Cause: u,
			Try: []errs.Suggestion{suggest.Unsuspend(r.Namespace, r.Name)}}
	case wait.Stuck:
		return &errs.Error{What: "job " + r.Name + " cannot start", Why: jobtext.Why(u.Last.Status), Code: errs.Failure, Cause: u}
	case wait.Gone:
		return errs.NotFoundf("job %s was deleted during the wait", r.Name).WithCause(u)
	}
	what := "job " + r.Name + " " + missed(r.Goal, 1)
	if !r.Once {
		what += " after " + words.Exact(cmp.Or(r.Given, r.Timeout))
	}
	e := &errs.Error{What: what, Code: errs.Timeout, Cause: u,
		Try: []errs.Suggestion{suggest.GetJob(r.Namespace, r.Name)}}
	if u.Last.Job.UID != "" {
		e.Why = "it is " + jobtext.Standing(u.Last)
	}
	return e
}

// missed says that jobs have not reached a goal: "is not running", "have not finished".
func missed(goal wait.Goal, jobs int) string {
	verb := words.Verb(jobs, "is", "are")
	if goal == wait.Succeeded || goal == wait.Finished {
		verb = words.Verb(jobs, "has", "have")
	}
	return verb + " not " + string(goal)
}
