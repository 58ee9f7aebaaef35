package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Text renders the explanation: the answer in the first line, then the life of the
// job, then what decides, then what would help. width is the number of columns, 0
// for no limit; age turns a duration into words. It ends in a newline.
func (e *Explanation) Text(width int, age func(time.Duration) string) string {
	p := textpage.New(width)
	first := e.headline(age)
	p.Line(first)
	p.Blank()
	for _, m := range e.Timeline {
		p.Row(e.clock(m.Time), m.text())
	}
	p.Blank()
	e.podRows(p)
	if len(e.Holds) > 0 {
		p.Row("holds", e.holds())
	}
	for _, c := range e.Checks {
		p.Row("check", strings.TrimSpace(c.Name+": "+c.State+" "+c.Message))
	}
	if v := e.Verdict; v != nil {
		v.Body(p, age, first)
	}
	if k := e.Kueue; k != nil && k.Message != "" && !strings.Contains(e.Summary, strings.TrimSpace(k.Message)) {
		p.Row("Kueue says", fmt.Sprintf("%s, since %s: %s", k.Reason, age(e.Time.Sub(k.Since)), check.Shorten(k.Message)))
	}
	for _, n := range e.Notes {
		p.Row("note", n.Message)
	}
	if v := e.Verdict; v != nil {
		p.Blank()
		v.Footer(p)
	}
	return p.String()
}

// headline is "llama-7b waits since 1h32m: 3rd in ml-engineers, WaitingForQuota".
func (e *Explanation) headline(age func(time.Duration) string) string {
	since := age(e.Time.Sub(e.Since))
	text := e.Job.Name + " "
	switch e.State {
	case "Pending", "Preempted", "Suspended":
		text += "waits since " + since
		if e.State == "Preempted" {
			text += ", after it was preempted"
		}
		var parts []string
		never := e.Verdict != nil && e.Verdict.Verdict == check.Never
		if q := e.Place; q != nil && q.Position > 0 && !never {
			parts = append(parts, words.Ordinal(q.Position)+" in "+quota.TeamOf(q.ClusterQueue))
		}
		if e.Reason != "" {
			parts = append(parts, e.Reason)
		}
		if len(parts) > 0 {
			text += ": " + strings.Join(parts, ", ")
		}
		summary := strings.TrimPrefix(e.Summary, "would not start now: ")
		if never && strings.HasPrefix(summary, "cannot run") {
			text = strings.Replace(text, "waits since "+since, "waits since "+since+" and will never start as it is", 1)
			_, summary, _ = strings.Cut(summary, ": ")
		}
		if summary != "" {
			text += ": " + summary
		}
		return text
	case "Starting":
		text += "is starting since " + since
	case "Running":
		text += "runs since " + since
	case "Succeeded", "Failed":
		text += strings.ToLower(e.State) + " " + since + " ago"
	default:
		text += "is " + strings.ToLower(e.State) + " since " + since
	}
	if e.Summary != "" {
		text += ": " + e.Summary
	}
	return text
}

// clock is a time of the time line, with the day where it is not today's. All
// times are UTC.
func (e *Explanation) clock(t time.Time) string {
	if t.UTC().Format(time.DateOnly) == e.Time.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04:05")
	}
	return t.UTC().Format("Jan _2 15:04")
}

func (m *Moment) text() string {
	text := strings.Join(strings.Fields(m.Message), " ")
	if text == "" {
		text = map[string]string{"QuotaReserved": "quota reserved"}[m.Step]
	}
	if text == "" {
		text = strings.ToLower(m.Step)
	}
	if m.Step == "Preempted" {
		text = "PREEMPTED"
		if m.By != "" {
			text += " for " + m.By
		}
		text += ": " + words.Cause(m.Message)
	}
	if m.Step == "Waits" {
		text = "waits: " + check.Shorten(m.Message)
		if m.Reason != "" && m.Reason != "Pending" {
			text = "waits: " + m.Reason
		}
	}
	if m.Times > 1 {
		text += fmt.Sprintf(" (%d times)", m.Times)
	}
	return text
}

func (e *Explanation) holds() string {
	var parts []string
	for _, h := range e.Holds {
		parts = append(parts, words.Amount(h.Resource, h.Amount))
	}
	text := strings.Join(parts, ", ")
	if e.Holds[0].Flavor != "" {
		text += " on " + e.Holds[0].Flavor
	}
	return text
}

func (e *Explanation) podRows(p *textpage.Page) {
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
				text += ": " + strings.Join(strings.Fields(problem.Message), " ")
			}
			p.Row("", text)
		}
	}
}
