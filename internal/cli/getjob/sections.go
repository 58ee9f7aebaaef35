package getjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/listpods"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// podTable shows the pods, those in trouble first where some are hidden.
func (r report) podTable(w *writer) {
	rows := listpods.RowsOf(r.job, r.pods, r.nodes)
	more := len(rows) - mostPods
	if more > 0 {
		slices.SortStableFunc(rows, func(a, b listpods.Row) int { return cmp.Compare(calm(a), calm(b)) })
		rows = rows[:mostPods]
	}
	t := listpods.Table(rows, w.now)
	if more > 0 {
		t.Notes = []string{fmt.Sprintf("%s hidden: use hyperpod list-pods %s -n %s", hidden(more), r.job.Name, r.job.Namespace)}
	}
	w.table(t)
}

// hidden counts the pods that the page leaves out, such as "1 pod is".
func hidden(n int) string {
	if n == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", n)
}

// calm returns 0 for a pod in trouble.
func calm(r listpods.Row) int {
	if r.Trouble() != "" || r.Restarts > 0 {
		return 0
	}
	return 1
}

func (r report) timeline(w *writer) {
	line := jobs.TimelineOf(r.job, r.workload, r.events)
	if len(line) == 0 {
		return
	}
	w.b.WriteByte('\n')
	if skip := len(line) - mostSteps; skip > 0 {
		w.line(output.Dim, fmt.Sprintf("  %d earlier steps are hidden", skip))
		line = line[skip:]
	}
	for _, m := range line {
		w.row(stamp(m.Time, w.now), jobtext.TimelineRow(m, r.preemptor(m), false))
	}
}

// preemptor names the job that preempted this one, if it can be read.
func (r report) preemptor(m jobs.Moment) string {
	for _, o := range r.workloads {
		if o.UID == m.ByWorkloadUID && o.UID != "" {
			for _, owner := range o.Owners {
				if owner.Controller {
					return o.Namespace + "/" + owner.Name
				}
			}
			return o.Namespace + "/" + o.Name
		}
	}
	return ""
}

// stamp returns the time of day, with the date unless it is today, in UTC.
func stamp(t, now time.Time) string {
	if t, now = t.UTC(), now.UTC(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// eventTable shows the last events that the timeline does not include.
func (r report) eventTable(w *writer) {
	t := output.Table{Columns: []output.Column{{Title: "EVENT"}, {Title: "AGE", Right: true, Ticks: true}, {Title: "OBJECT"}, {Title: "MESSAGE", Wrap: true, Below: true}}}
	shown := slices.DeleteFunc(slices.Clone(r.events), func(e state.Event) bool {
		return e.Kind == "Workload" || slices.Contains([]string{"CreatedWorkload", "Started", "Stopped"}, e.Reason)
	})
	if len(shown) > mostEvents {
		shown = shown[len(shown)-mostEvents:]
	}
	for _, e := range shown {
		style := output.Plain
		if e.Type == "Warning" {
			style = output.Warn
		}
		message := e.Message
		if e.Count > 1 {
			message += fmt.Sprintf(" (x%d)", e.Count)
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: e.Reason, Style: style}, {Text: words.Age(w.now.Sub(e.Last))},
			{Text: strings.ToLower(e.Kind) + "/" + e.Object}, {Text: message}})
	}
	w.table(t)
}
