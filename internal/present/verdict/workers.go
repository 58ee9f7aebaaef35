package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// namedWorkers is the number of worker clusters that a line names, and that a page lists.
const namedWorkers = 4

// FillWorkers sets the sentences of the answers of worker clusters.
func FillWorkers(list []check.Worker, render Render) {
	for i := range list {
		w := &list[i]
		if w.Summary = words.OneLine(w.Problem); w.Answer != nil {
			Fill(w.Answer, render)
			w.Summary = w.Answer.Summary
		}
	}
}

// onWorkers names the worker clusters that would admit the job.
func onWorkers(v *check.Verdict) string {
	var names []string
	for _, w := range v.AdmittedBy() {
		names = append(names, w.Name)
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " on worker cluster " + names[0]
	}
	return fmt.Sprintf(" on the first of %d worker clusters that admits it (%s)", len(names), words.Some(names, namedWorkers))
}

// workersWhy returns why no worker cluster admits the job now.
func workersWhy(v *check.Verdict, detail string) string {
	switch {
	case detail == check.WorkersRefuse:
		return "MultiKueue cannot send jobs of kind " + v.Job.Kind + " to worker clusters"
	case len(v.Workers) == 0:
		return "its admission check has no worker clusters"
	case len(v.Workers) == 1:
		w := &v.Workers[0]
		if w.Answer == nil {
			return "worker cluster " + w.Name + ": " + w.Problem
		}
		return "worker cluster " + w.Name + ": " + Reason(w.Answer)
	case detail == check.WorkersNever:
		return fmt.Sprintf("none of %d worker clusters can admit it", len(v.Workers))
	}
	return fmt.Sprintf("none of %d worker clusters would admit it now", len(v.Workers))
}

// unreadWorkers names the worker clusters that may admit the job.
func unreadWorkers(v *check.Verdict) string {
	var names []string
	for _, w := range v.Workers {
		if w.Verdict == check.Unknown {
			names = append(names, w.Name)
		}
	}
	return "the answer of " + words.Verb(len(names), "worker cluster ", "worker clusters ") + words.Some(names, namedWorkers) + " is unknown"
}

// WorkerRows lists the answers of the worker clusters, those that matter most first.
func WorkerRows(p *textpage.Page, list []check.Worker, age func(time.Duration) string) {
	shown := 0
	for _, of := range []check.Outcome{check.Admitted, check.Unknown, check.Waits, check.Never} {
		for i := range list {
			w := &list[i]
			if w.Verdict != of {
				continue
			}
			if shown == namedWorkers && len(list) > namedWorkers+1 {
				p.Row("", fmt.Sprintf("and %d more", len(list)-shown))
				return
			}
			text := w.Name + ": " + strings.ToUpper(string(w.Verdict)) + "  " + w.Summary
			if w.AfterSeconds > 0 {
				text += "; Kueue tries other workers first, for " + age(time.Duration(w.AfterSeconds)*time.Second)
			}
			p.Row(once("workers", shown), text)
			shown++
		}
	}
}
