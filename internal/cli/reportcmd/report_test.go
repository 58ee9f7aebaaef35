package reportcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/report"
)

func TestPeriod(t *testing.T) {
	now := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		args     []string
		from, to string
	}{
		"the last week is the default":  {nil, "2026-03-08T12:00:00Z", "2026-03-15T12:00:00Z"},
		"durations count back from now": {[]string{"--since=2d", "--until=12h"}, "2026-03-13T12:00:00Z", "2026-03-15T00:00:00Z"},
		"a date is its start in UTC":    {[]string{"--since=2026-02-01", "--until=2026-03-01"}, "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		"a time has a zone":             {[]string{"--since=2026-03-14T02:00:00+02:00"}, "2026-03-14T00:00:00Z", "2026-03-15T12:00:00Z"},
		"an end in the future is now":   {[]string{"--since=2026-03-01", "--until=2026-04-01"}, "2026-03-01T00:00:00Z", "2026-03-15T12:00:00Z"},
		"a start in the future":         {[]string{"--since=2026-04-01"}, "", ""},
		"a start too long ago":          {[]string{"--since=2020-04-01"}, "", ""},
		"an end before the start":       {[]string{"--since=2026-03-01", "--until=2026-02-01"}, "", ""},
		"an end at the start":           {[]string{"--since=2d", "--until=2d"}, "", ""},
		"an end before a week ago":      {[]string{"--until=2026-01-01"}, "", ""},
		"no time at all":                {[]string{"--since=0s"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Options{}
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			factory.OptionalPointInTime(fs, &o.Since, "since", "")
			factory.OptionalPointInTime(fs, &o.Until, "until", "")
			if err := fs.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			from, to, err := o.period(now)
			if c.from == "" {
				if err == nil {
					t.Errorf("from %v to %v", from, to)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]string{from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339)}; got != [2]string{c.from, c.to} {
				t.Errorf("%v, want %s to %s", got, c.from, c.to)
			}
		})
	}
}

// TestManyRows: a table of many teams names what it hides and how to see it; one of a few, and -o wide, hide nothing.
func TestManyRows(t *testing.T) {
	o := &Options{By: "team"}
	for _, c := range []struct {
		teams, rows int
		wide        bool
		note        string
	}{{41, 42, false, ""}, {42, 42, false, "the 40 rows with most USED, IDLE and WAITED are shown (-o wide: all 42)"}, {300, 42, false, "the 40 rows with most USED, IDLE and WAITED are shown (-o wide: all 300)"}, {300, 301, true, ""}} {
		d := &report.Document{Teams: make([]report.Row, c.teams)}
		table := o.table(d, c.wide)
		if len(table.Rows) != c.rows || strings.Join(table.Notes, "\n") != c.note {
			t.Errorf("%d teams: %d rows, notes %q", c.teams, len(table.Rows), table.Notes)
		}
	}
}
