package getusage

import (
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/usage"
)

// csv prints a line for each job or day and resource, with a header: a spreadsheet adds up a
// column only if all its numbers are of one unit. Numbers are device-hours.
func (o *Options) csv(d *usage.Document) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	numbers := func(s usage.Sums, resource string) []string {
		return []string{resource, hours(s.Used[resource]), hours(s.Borrowed[resource]), hours(s.Waited[resource])}
	}
	title := []string{"resource", "used_hours", "borrowed_hours", "waited_hours"}
	if o.By == "day" {
		_ = w.Write(append([]string{"day"}, title...)) // a strings.Builder does not fail
		for _, day := range d.Days {
			for _, r := range resources(day.Sums) {
				_ = w.Write(append([]string{day.Date}, numbers(day.Sums, r)...))
			}
		}
	} else {
		_ = w.Write(append([]string{"namespace", "job", "kind", "team", "owner", "state"}, title...))
		for _, j := range d.Jobs {
			for _, r := range resources(j.Sums) {
				_ = w.Write(append([]string{j.Namespace, j.Name, j.Kind, orEmpty(j.Team), orEmpty(j.CreatedBy), j.State}, numbers(j.Sums, r)...))
			}
		}
	}
	w.Flush()
	for line := range strings.Lines(b.String()) {
		if err := o.Factory.IO.PrintLine(strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
	return w.Error()
}

// resources returns the resources that any of the sums has, sorted.
func resources(s usage.Sums) []string {
	all := map[string]bool{}
	for _, h := range []usage.Hours{s.Used, s.Borrowed, s.Waited} {
		for name := range h {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func hours(h float64) string { return strconv.FormatFloat(h, 'f', 3, 64) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
