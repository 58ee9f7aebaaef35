package explanation

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Text returns a filled explanation as a page: the answer in the first line, then the
// timeline, then what decides, then what would help. Lines have at most width columns,
// 0 for no limit. Kueue's own sentences are shown where they say more than the page, and
// all of them with wide. age words a duration. The page ends in a newline.
func Text(e *explain.Explanation, width int, wide bool, age func(time.Duration) string) string {
	p := textpage.New(width)
	first := headline(e, age)
	p.Line(first)
	p.Blank()
	for _, m := range e.Timeline {
		p.Row(clock(e, m.Time), jobtext.TimelineRow(m.Source, m.By, wide))
	}
	p.Blank()
	podRows(p, e)
	for _, n := range e.Health.Bad {
		p.Row("node", n.Node+" is "+jobtext.Health(n))
	}
	if text := jobtext.JobFault(e.Health.Last, e.Time); text != "" {
		p.Row("fault", text)
		p.Row("retries", jobtext.Retries(e.Health.Resume))
	}
	if len(e.Holds) > 0 {
		p.Row("holds", holds(e))
	}
	for _, c := range e.Checks {
		p.Row("check", strings.TrimSpace(c.Name+": "+c.State+" "+c.Message))
	}
	verdict.WorkerRows(p, e.Workers, age)
	if e.Verdict != nil {
		verdict.Body(p, e.Verdict, age, first)
	}
	kueueRow(p, e, wide, age)
	for i, s := range e.NextSteps {
		label := "try"
		if i > 0 {
			label = ""
		}
		p.Row(label, s.Message)
		p.Command(s.Command)
	}
	for _, n := range e.Notes {
		p.Row("note", n.Message)
	}
	if e.Verdict != nil {
		p.Blank()
		verdict.Footer(p, e.Verdict)
	}
	return p.String()
}

// kueueRow adds what Kueue's own condition says, unless the page says the same: the
// same reason, or the shortages, in shorter words.
func kueueRow(p *textpage.Page, e *explain.Explanation, wide bool, age func(time.Duration) string) {
	switch k := e.Kueue; {
	case e.Cause == explain.Deactivated && !wide:
	case k == nil && e.HasWorkload && e.Pending():
		p.Row("note", "Kueue has not written a reason yet")
	case k != nil && wide && k.Message != "":
		p.Row("Kueue says", fmt.Sprintf("%s, %s ago: %s", k.Reason, age(e.Time.Sub(k.Since)), words.OneLine(k.Message)))
	case k != nil && e.Verdict != nil && e.Verdict.Quota.Status == check.StatusFailed && len(words.Shortages(k.Message)) > 0:
	case k != nil && (k.Reason == e.Reason && e.Cause == explain.ByVerdict || e.Cause == explain.ByKueue):
	case k != nil && k.Message != "" && !strings.Contains(e.Summary, strings.TrimSpace(k.Message)):
		p.Row("Kueue says", fmt.Sprintf("%s, %s ago: %s", k.Reason, age(e.Time.Sub(k.Since)), words.Clip(k.Message, 150)))
	}
}

// headline is "llama-7b has been pending for 1h32m: 3rd in ml-engineers,
// WaitingForQuota: 8 more nvidia.com/gpu needed".
func headline(e *explain.Explanation, age func(time.Duration) string) string {
	if e.Pending() {
		return pendingText(e, age)
	}
	text := jobtext.Lasting(e.Job.Name, jobs.State(e.State), e.Since, e.Time, age)
	if e.Summary != "" {
		text += ": " + e.Summary
	}
	return text
}

// pendingText returns the headline of a pending job behind its name.
func pendingText(e *explain.Explanation, age func(time.Duration) string) string {
	state := jobs.Pending
	if jobs.State(e.State) == jobs.Suspended {
		state = jobs.Suspended
	}
	text := jobtext.Lasting(e.Job.Name, state, e.Since, e.Time, age)
	if jobs.State(e.State) == jobs.Preempted {
		text += ", since it was preempted"
	}
	never := e.Verdict != nil && e.Verdict.Verdict == check.Never
	if never && e.Cause == explain.ByVerdict {
		text += " and can never run"
	}
	var parts []string
	if q := e.Position; q != nil && q.Position > 0 && !never {
		parts = append(parts, words.Ordinal(q.Position)+" in "+quota.TeamOf(q.ClusterQueue))
	}
	if e.Reason != "" && e.Cause != explain.Deactivated {
		parts = append(parts, e.Reason)
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	summary := e.Summary
	if e.Cause == explain.ByVerdict {
		summary = verdict.Reason(e.Verdict)
	}
	if summary != "" {
		text += ": " + summary
	}
	return text
}

// clock returns a time of the timeline in UTC, with the day where it is not today.
func clock(e *explain.Explanation, t time.Time) string {
	if t.UTC().Format(time.DateOnly) == e.Time.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04:05")
	}
	return t.UTC().Format("Jan _2 15:04")
}

func holds(e *explain.Explanation) string {
	var parts []string
	for _, h := range e.Holds {
		parts = append(parts, words.Amount(h.Resource, h.Amount))
	}
	text := strings.Join(parts, ", ")
	if e.Holds[0].Flavor != "" {
		text += " on " + e.Holds[0].Flavor
	}
	if e.Job.Group != "" {
		text += ", with the other pods of pod group " + e.Job.Group
	}
	return text
}

// podRows has the pods of each role. Those of a job that succeeded have completed, which is not ready.
func podRows(p *textpage.Page, e *explain.Explanation) {
	if e.State == string(jobs.Succeeded) {
		return
	}
	for _, r := range e.Roles {
		text := fmt.Sprintf("%d of %d ready", r.PodsReady, r.Pods)
		if r.Role != "" {
			text = r.Role + ": " + text
		}
		p.Row("pods", text)
		for _, problem := range r.Problems {
			text := problem.Pod
			if problem.Pods > 1 {
				text += fmt.Sprintf(" and %d more", problem.Pods-1)
			}
			text += ": " + problem.Reason
			if problem.Message != "" {
				text += ": " + words.OneLine(problem.Message)
			}
			p.Row("", text)
		}
	}
}
