// Package estimate words estimates of when jobs start.
package estimate

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the message of an estimate: why there is none, or no upper end, and what
// follows the reservation of quota. A nil estimate stays nil.
func Fill(e *queue.ETA) {
	if e == nil {
		return
	}
	text := reason(e)
	if e.Checks {
		text = strings.TrimPrefix(text+"; then its admission checks must pass", "; ")
	}
	e.Message = text
}

// Range is an estimate as a range from now; "?" is none.
func Range(e *queue.ETA) string {
	if e == nil {
		return "?"
	}
	latest, bounded := e.Latest()
	switch {
	case !e.Known() && e.Reason == string(queue.NeverFits):
		return "never"
	case !bounded && e.Earliest() == 0 && e.Reason == string(queue.Overdue):
		return "any time"
	case !e.Known(), !bounded && e.Earliest() == 0:
		return "?"
	case !bounded:
		return words.Age(e.Earliest()) + " or later"
	case latest == 0:
		return "now"
	}
	from, to := words.Age(e.Earliest()), words.Age(latest)
	switch {
	case from == to:
		return from
	case e.Earliest() == 0:
		return "up to " + to
	}
	return from + "-" + to
}

func reason(e *queue.ETA) string {
	switch queue.ETACode(e.Reason) {
	case queue.NotModelled:
		return "it depends on a feature of Kueue that the estimate does not model"
	case queue.Unsettled:
		return "the preemption policies never converge"
	case queue.NoDuration:
		return "no known end for " + jobs(e)
	case queue.Overdue:
		return jobs(e) + words.Verb(e.JobsTotal, " has", " have") + " run longer than assumed"
	case queue.BeyondHorizon:
		if e.Horizon > 0 {
			return "later than the horizon of the estimate (" + days(e.Horizon) + ")"
		}
		return "not even after every running job ends"
	}
	return e.Message
}

// jobs names the first job without a known end and counts the others.
func jobs(e *queue.ETA) string {
	text := strings.Join(e.Jobs[:min(len(e.Jobs), 1)], "")
	if e.JobsTotal > 1 {
		text += " and " + words.Count(e.JobsTotal-1, "other job", "other jobs")
	}
	return text
}

func days(d time.Duration) string {
	if n := int(d.Hours() / 24); n > 1 {
		return words.Count(n, "day", "days")
	}
	return d.String()
}

// Basis returns the source of durations of some jobs: "1 job's deadline".
func Basis(source string, jobs int) string {
	what := source
	switch queue.DurationSource(source) {
	case queue.MaximumExecutionTime:
		what = "maximum run time"
	case queue.ActiveDeadline:
		what = "deadline"
	case queue.PastDeadline:
		return words.Count(jobs, "job", "jobs") + " that " + words.Verb(jobs, "its operator has not ended after its deadline", "their operators have not ended after their deadlines")
	case queue.Reported:
		what = "own estimate"
	case queue.TeamPriorityHistory:
		what = "usual run time in the team at this priority"
	case queue.TeamHistory:
		what = "usual run time in the team"
	case queue.Assumed:
		what = "assumed run time"
	case queue.PastAssumed:
		return words.Count(jobs, "job", "jobs") + " past the assumed run time"
	}
	return words.Count(jobs, "job's", "jobs'") + " " + what
}
