package reporttext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/report"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Hours writes device-hours: "12.5 gpu-h".
func Hours(a report.Amounts) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		parts = append(parts, strconv.FormatFloat(a[name], 'f', 1, 64)+" "+words.Short(name)+"-h")
	}
	return cmp.Or(strings.Join(parts, " + "), "-")
}

// Devices writes averages of accelerators: "12.5 gpu".
func Devices(a report.Amounts) string { return strings.ReplaceAll(Hours(a), "-h", "") }

// Money writes a cost, "-" for none.
func Money(cost *float64) string { return cmp.Or(money(cost), "-") }

// Name returns the name of a row, for people.
func Name(name string) string { return cmp.Or(name, "(none)") }

// times returns how long jobs waited, or ran. one and many are what was counted, none is the text where nothing was.
func times(s report.Spread, one, many, none string) string {
	if s.Count == 0 {
		return none
	}
	age := func(seconds int64) string { return words.Age(time.Duration(seconds) * time.Second) }
	return fmt.Sprintf("median %s, 90 %% within %s, 99 %% within %s, longest %s (%s)", age(s.Median), age(s.P90), age(s.P99), age(s.Most), words.Count(s.Count, one, many))
}

// extremes returns the busiest and the idlest hour of the day, by accelerators in use; ok is false where there was no use.
func extremes(d *report.Document) (busiest, idlest report.HourRow, ok bool) {
	total := func(r report.HourRow) (n float64) {
		for _, v := range r.Used {
			n += v
		}
		return n
	}
	for i, row := range d.HoursOfDay {
		if i == 0 || total(row) > total(busiest) {
			busiest = row
		}
		if i == 0 || total(row) < total(idlest) {
			idlest = row
		}
	}
	return busiest, idlest, total(busiest) > 0
}

// idle words the idlest hour.
func idle(r report.HourRow) string {
	if Devices(r.Used) == Devices(nil) {
		return fmt.Sprintf("%02d:00 UTC, nothing used", r.Hour)
	}
	return fmt.Sprintf("%02d:00 UTC, %s on average", r.Hour, Devices(r.Used))
}

// Facts returns the lines below the table of a report: label and text.
func Facts(d *report.Document) [][2]string {
	out := [][2]string{{"wait", times(d.WaitSeconds, "admission", "admissions", "no job was admitted")}, {"run", times(d.RunSeconds, "job", "jobs", "no job ended")}}
	var causes []string
	for _, c := range d.Preemptions {
		causes = append(causes, fmt.Sprintf("%d %s (%s)", c.Count, strings.ToLower(c.Kind), cmp.Or(c.Reason, "no reason recorded")))
	}
	out = append(out, [2]string{"preemptions", cmp.Or(strings.Join(causes, ", "), "none")})
	if busiest, idlest, ok := extremes(d); ok {
		out = append(out, [2]string{"busiest hour", fmt.Sprintf("%02d:00 UTC, %s on average", busiest.Hour, Devices(busiest.Used))},
			[2]string{"idlest hour", idle(idlest)})
	}
	if d.Total.Measured != nil {
		out = append(out, [2]string{"allocated but unused", fmt.Sprintf("%s of %s that were measured", Hours(d.Total.Unused), Hours(d.Total.Measured))})
	}
	if p := d.Prices; p != nil {
		out = append(out, [2]string{"prices", strings.TrimSuffix(fmt.Sprintf("%s of %s, %s", p.Currency, p.Date, p.Source), ", ")})
		if p.Total != nil {
			out = append(out, [2]string{"all capacity", fmt.Sprintf("%s %s, with %s outside all quota", Money(p.Total), p.Currency, Money(p.Unallocated))})
		}
	}
	return out
}

// OldestJob says how far back the jobs of a cluster reach, after what another text says of deleted jobs; nil: it has none.
func OldestJob(deleted string, created *time.Time) string {
	if created == nil {
		return deleted
	}
	return deleted + "; the oldest job was created at " + created.Format("2006-01-02 15:04") + " (UTC)"
}

// Notes returns what a reader has to know about the figures.
func Notes(d *report.Document) (notes []string) {
	hours := d.To.Sub(d.From).Hours()
	switch {
	case d.Source == report.FromCluster:
		notes = append(notes, "no recorded history: "+OldestJob("deleted jobs are not counted", d.KnownSince))
	case d.CoveredHours < hours*0.99:
		notes = append(notes, fmt.Sprintf("queues and nodes are recorded for %.1f of %.1f hours", d.CoveredHours, hours))
	}
	if len(d.Damaged) > 0 {
		notes = append(notes, words.Count(len(d.Damaged), "file", "files")+" of the store could not be read completely")
	}
	if d.Prices != nil && len(d.Prices.Unpriced) > 0 {
		var names []string
		for _, n := range d.Prices.Unpriced {
			names = append(names, cmp.Or(n, "jobs of unknown instance type"))
		}
		notes = append(notes, "no price for "+words.Some(names, 8))
	}
	return notes
}

// Markdown returns a report for a page or a message.
func Markdown(d *report.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Accelerator use, %s to %s\n\n", d.From.Format("2006-01-02 15:04"), d.To.Format("2006-01-02 15:04 UTC"))
	for _, f := range Facts(d) {
		fmt.Fprintf(&b, "* %s: %s\n", f[0], escape(f[1]))
	}
	for _, g := range groups(d) {
		fmt.Fprintf(&b, "\n## By %s\n\n| %s | used | borrowed | lent | idle | waited | jobs | cost | idle cost |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", g.Title, g.Title)
		for _, r := range g.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %s | %s |\n", escape(Name(r.Name)), Hours(r.Used), Hours(r.Borrowed), Hours(r.Lent), Hours(r.Idle), Hours(r.Waited), r.Jobs, Money(r.Cost), Money(r.IdleCost))
		}
	}
	for i, n := range Notes(d) {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Note: %s.\n", escape(n))
	}
	return b.String()
}

// escape keeps names from being markup.
func escape(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "&", "&amp;", "\n", " ", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[").Replace(s)
}

// Group is one way to divide the sums.
type Group struct {
	Title string
	Rows  []report.Row
}

// MostRows is the number of rows that a table for people has of each group. JSON, CSV and -o wide have all.
const MostRows = 40

// allRows is the hint of a page: how to see the teams that it sums up.
const allRows = "see -o csv"

// Rows returns the rows of a group that are shown: those with the most device-hours, one for the others together, and the
// total. hint is how to see all.
func Rows(d *report.Document, rows []report.Row, most int, hint string) []report.Row {
	shown, rest := report.Most(rows, most)
	shown = slices.Clone(shown)
	if rest != nil {
		rest.Name = fmt.Sprintf("%d more (%s)", len(rows)-most, hint)
		shown = append(shown, *rest)
	}
	total := d.Total
	total.Name = "total"
	return append(shown, total)
}

// groups returns the ways to divide the sums that say something, with the total as the last row.
func groups(d *report.Document) (out []Group) {
	for _, g := range []Group{{"team", d.Teams}, {"owner", d.Owners}, {"project", d.Projects}, {"namespace", d.Namespaces}, {"instance type", d.Types}} {
		if len(g.Rows) > 1 || len(g.Rows) == 1 && g.Rows[0].Name != "" {
			out = append(out, Group{g.Title, Rows(d, g.Rows, MostRows, allRows)})
		}
	}
	return out
}
