package getqueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	estimatetext "github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

func (v *view) table(wide, live bool) output.Table {
	items, notes := v.items, v.notes()
	if !live && v.io.Shortens(wide, len(items)) {
		items = few(items, v.state.Taken)
		notes = append(notes, fmt.Sprintf("the %d jobs with the lowest POS and the longest WAITING have rows (-o wide: all %d)", len(items), len(v.items)))
	}
	t := output.Table{Notes: notes, Empty: v.title() + "; " + strings.Join(notes, "; "), Rows: make([][]output.Cell, 0, len(items)), Keys: make([]string, 0, len(items))}
	several := len(v.teams) != 1
	if several {
		t.Columns = append(t.Columns, output.Column{Title: "TEAM", Keep: true})
	}
	t.Columns = append(t.Columns, output.Column{Title: "POS", Right: true}, output.Column{Title: "JOB", Keep: true}, output.Column{Title: "NAMESPACE", Wide: true},
		output.Column{Title: "KIND", Wide: true}, output.Column{Title: "PRIORITY", Yield: 1}, output.Column{Title: "SIZE", Right: true},
		output.Column{Title: "WAITING", Right: true, Ticks: true}, output.Column{Title: "REASON", Wrap: !live}, output.Column{Title: "CODE", Wide: true})
	if v.eta {
		t.Columns = append(t.Columns, output.Column{Title: "ETA", Keep: true})
	}
	t.Columns = append(t.Columns, output.Column{Title: "MESSAGE", Wide: true})
	for i := range items {
		t.Rows = append(t.Rows, v.cells(&items[i], several))
		t.Keys = append(t.Keys, items[i].Namespace+"/"+items[i].Workload)
	}
	return t
}

// few returns the [output.MostRows] items that are next in their queues, those that have waited longest first to be chosen, in the order
// of items. Items without a position are last to be chosen; of an unknown time, nobody knows that it is long.
func few(items []queue.Item, now time.Time) []queue.Item {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	position := func(i int) int { return cmp.Or(items[i].Position, len(items)+1) }
	waited := func(i int) time.Duration { return spread.Between(items[i].Since, now) }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(waited(b), waited(a)))
	})
	var out []queue.Item
	for _, i := range slices.Sorted(slices.Values(order[:output.MostRows])) {
		out = append(out, items[i])
	}
	return out
}

func (v *view) cells(it *queue.Item, several bool) []output.Cell {
	out := make([]output.Cell, 0, 12)
	if several {
		out = append(out, output.Cell{Text: dash(it.Team)})
	}
	position := "-"
	if it.Position > 0 {
		position = fmt.Sprint(it.Position)
	}
	job := output.Cell{Text: it.Job}
	if it.Preempted {
		job.Style = output.Warn
	}
	reason := output.Cell{Text: it.Reason.Words}
	switch it.Reason.Code {
	case queue.ExceedsMaxQuota, queue.NoMatchingFlavor, queue.Misconfigured:
		reason.Style = output.Bad
	}
	if it.Preempted {
		reason.Text += " (preempted)"
	}
	out = append(out, output.Cell{Text: position}, job, output.Cell{Text: it.Namespace}, output.Cell{Text: it.Kind}, output.Cell{Text: priority(it)},
		output.Cell{Text: sizeText(it.Size)}, output.Cell{Text: words.Since(v.state.Taken, it.Since)}, reason, output.Cell{Text: it.Reason.Code})
	if v.eta {
		out = append(out, output.Cell{Text: estimatetext.Range(it.ETA)})
	}
	return append(out, output.Cell{Text: it.Reason.Message, Style: output.Dim})
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// priority returns the class with its value, "-" for none; task governance ends its classes' names
// in -priority.
func priority(it *queue.Item) string {
	name := strings.TrimSuffix(it.PriorityClass, "-priority")
	switch {
	case name == "" && it.Priority == 0:
		return "-" // as in list-jobs
	case name == "":
		return fmt.Sprint(it.Priority)
	}
	return fmt.Sprintf("%s (%d)", name, it.Priority)
}

// sizeText returns what a workload asks for: its accelerators, or without any, its cores.
func sizeText(size state.Amounts) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(size)) {
		if n := size[name]; n > 0 && kinds.Accelerator(name) {
			parts = append(parts, quota.Text(name, n)+" "+words.Short(name))
		}
	}
	if len(parts) == 0 && size["cpu"] > 0 {
		parts = append(parts, quota.Text("cpu", size["cpu"])+" cpu")
	}
	return dash(strings.Join(parts, " + "))
}

// notes are the counts below the table, and what the order and estimates rest on.
func (v *view) notes() []string {
	s := v.summary()
	parts := []string{fmt.Sprintf("%d running", s.Running)}
	if s.Reserving > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting for admission checks", s.Reserving))
	}
	parts = append(parts, fmt.Sprintf("%d waiting", s.Waiting))
	if s.FromStatus {
		return append([]string{strings.Join(parts, ", ") + ", from the status of the queues: not all workloads could be read"}, v.etaNotes()...)
	}
	parts = append(parts, fmt.Sprintf("%d of them preempted", s.Preempted))
	if s.Held > 0 {
		parts = append(parts, fmt.Sprintf("%d suspended", s.Held))
	}
	out := []string{strings.Join(parts, ", ")}
	if s.Wait.Count > 0 {
		out = append(out, fmt.Sprintf("%d finished: waited %s on average (median %s, p90 %s), ran %s (median %s)", s.Finished,
			words.Age(s.Wait.Average), words.Age(s.Wait.Median), words.Age(s.Wait.P90), words.Age(s.Run.Average), words.Age(s.Run.Median)))
	}
	return append(out, v.etaNotes()...)
}

// etaNotes say what the estimates are, or why there are none.
func (v *view) etaNotes() []string {
	if v.noETA != "" {
		return []string{"no ETA: " + v.noETA}
	}
	why := ""
	for _, it := range v.items {
		switch {
		case it.ETA == nil:
		case it.ETA.Known():
			return []string{"ETA is an estimate from the known durations of running jobs"}
		case why == "":
			why = it.ETA.Message
		}
	}
	if !v.eta || why == "" {
		return nil
	}
	return []string{"no ETA: " + why}
}
