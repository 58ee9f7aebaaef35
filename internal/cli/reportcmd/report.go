// Package reportcmd is `hyperpod report`.
package reportcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/cli/prometheusflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/reporttext"
	"github.com/hyperpod-cli/hyperpod/internal/report"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Options are what was typed on the command line.
type Options struct {
	Factory   *factory.Factory
	Directory string
	// Since is where the period begins, Until where it ends.
	Since, Until *factory.PointInTime
	Team         string
	By           string
	PricesFile   string
	ProjectLabel string
	Prometheus   prometheusflags.Flags
}

const (
	week = 7 * 24 * time.Hour
	// longest is the longest period.
	longest = 3 * 366 * 24 * time.Hour
)

// groupings are the values of --by.
var groupings = []string{"team", "owner", "project", "namespace", "instance-type", "month", "day", "hour"}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, By: "team"}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report what teams and owners used, and what it cost",
		Long: `Report device-hours (an accelerator for an hour) that jobs used, borrowed and
waited for, and the own quota that teams lent and left idle, by team, owner,
project, namespace and instance type; how long jobs waited and ran; preemptions
by cause; the busiest and the idlest hour.

The figures come from the store that "hyperpod record" writes. Without a store,
they come from what the cluster still knows, without what was lent and idle.

With a Prometheus server, UNUSED shows the device-hours in which the
accelerators of a job were idle.

--prices adds costs: a team pays for what its jobs use, also where they borrow,
and for its own quota that nobody uses. docs/history.md has the rule.`,
		Example: `  hyperpod report --since 30d
  hyperpod report --since 7d --prices prices.yaml -o html > report.html
  hyperpod report --since 30d --by owner --team researchers
  hyperpod report --since 2026-01-01 --until 2026-04-01 --by month
  hyperpod report --since 30d -o csv`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	fs := cmd.Flags()
	factory.OptionalPointInTime(fs, &o.Since, "since", "start of the period: how long ago, or a date in UTC, for example 30d or 2026-01-31 (default 7d)")
	factory.OptionalPointInTime(fs, &o.Until, "until", "end of the period: how long ago, or a date in UTC (default: now)")
	fs.StringVar(&o.Team, "team", "", "only jobs of this team")
	o.Factory.CompleteFlag(cmd, "team", findteam.Complete)
	factory.AddChoice(cmd, &o.By, factory.Choice{Name: "by", Usage: "rows of the table: " + strings.Join(groupings, ", "), Words: groupings})
	fs.StringVar(&o.PricesFile, "prices", "", "`file` with the price of an hour of each instance type")
	factory.TakesFile(fs, "prices")
	fs.StringVar(&o.Directory, "directory", "", "folder of the store (default: that of the cluster in the state folder)")
	factory.TakesFile(fs, "directory")
	historystore.AddProjectLabel(o.Factory, cmd, &o.ProjectLabel, "label of jobs that names their project, without a store")
	o.Prometheus.Add(cmd)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Factory.Global.Output == string(output.FOCUS) && o.PricesFile == "" {
		return errs.Usagef("-o %s requires --prices: its rows are costs", output.FOCUS).Suggest(errs.Option("--prices", "FILE"))
	}
	now := time.Time{}.Add(2 * longest) // any time: only the clock of the cluster tells whether a date has passed
	switch {
	case ago(o.Since) && ago(o.Until):
		if _, _, err := o.period(now); err != nil {
			return err
		}
	case o.Since != nil && o.Until != nil && !ago(o.Since) && !ago(o.Until) && !o.Since.Time.Before(o.Until.Time):
		return emptyPeriod()
	}
	return o.Prometheus.Validate()
}

func emptyPeriod() error {
	return errs.Usagef("invalid --until: must be after the start of the period (--since)")
}

// ago reports whether a moment depends on now alone.
func ago(m *factory.PointInTime) bool { return m == nil || m.Time.IsZero() }

// period returns the start and the end of the period; an end in the future is now.
func (o *Options) period(now time.Time) (from, to time.Time, err error) {
	from, to = now.Add(-week), now
	if o.Since != nil {
		from = o.Since.At(now).UTC()
	}
	if o.Until != nil && o.Until.At(now).Before(now) {
		to = o.Until.At(now).UTC()
	}
	switch {
	case o.Since != nil && (!from.Before(now) || now.Sub(from) > longest):
		return from, to, errs.Usagef("invalid --since: must be before now and at most 1098d ago").Suggest(errs.Option("--since", "30d"))
	case !from.Before(to):
		return from, to, emptyPeriod()
	}
	return from, to, nil
}

// Run sums up and prints.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	o.Team = findteam.NameOf(o.Team)
	format, err := f.Format()
	if err != nil {
		return err
	}
	prices, err := factory.Interruptible(ctx, o.prices)
	if err != nil {
		return err
	}
	prom, err := o.Prometheus.Client(f)
	if err != nil {
		return err
	}
	data, source, now, err := o.read(ctx)
	if err != nil {
		return err
	}
	if len(data.Queues) > 0 { // else there may be teams that could not be read
		if err := findteam.Known(o.Team, historystore.Teams(data)); err != nil {
			return err
		}
	}
	opts := report.Options{Source: source, Prices: prices}
	if opts.From, opts.To, err = o.period(now); err != nil {
		return err
	}
	if ns := f.Global.Namespace; o.Team != "" || ns != "" {
		opts.Keep = func(j history.Job) bool { return (o.Team == "" || j.Team == o.Team) && (ns == "" || j.Namespace == ns) }
	}
	var unmeasured error
	if prom != nil {
		opts.Busy, unmeasured = prometheusflags.Hours(ctx, prom, opts.From, opts.To)
	}
	d := report.Build(data, opts)
	d.From, d.To = d.From.Truncate(time.Second), d.To.Truncate(time.Second) // not now: a job of this second counts
	printed := o.print(format, d, now)
	if printed == nil {
		f.Notes(reporttext.Notes(d))
	}
	return output.Outcome(printed, unmeasured)
}

// read returns the history: of the folder that is given, without asking a cluster; else of the cluster's store; else what
// the cluster knows.
func (o *Options) read(ctx context.Context) (data *history.Data, source string, now time.Time, err error) {
	f := o.Factory
	dir := o.Directory
	if dir != "" {
		last, err := history.Last(dir)
		if err != nil {
			return nil, "", now, historystore.ExplainRead(err, "cannot read the history", dir)
		}
		if now = f.Now(); now.Before(last) { // a sandbox's clock may be ahead
			now = last
		}
	}
	var c *factory.Cluster
	if dir == "" {
		if c, err = f.Cluster(ctx); err != nil {
			return nil, "", now, err
		}
		if dir, err = historystore.Dir(f, c, ""); err != nil {
			return nil, "", now, err
		}
		now = c.Now()
	}
	from, to, err := o.period(now)
	if err != nil {
		return nil, "", now, err
	}
	if c == nil || c.Snapshot == nil {
		data, err = history.Read(dir, from, to)
		none := errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrEmpty)
		if err == nil || c == nil || !none {
			return data, report.Recorded, now, historystore.ExplainRead(err, "cannot read the history", dir)
		}
	}
	obs, st, err := historystore.Observe(ctx, f, c, f.Global.Namespace, o.ProjectLabel, true)
	if err != nil {
		return nil, "", now, err
	}
	f.MissingFigures(st.Missing)
	queues, reason := findteam.UnreadLenders(st)
	f.Notes(findteam.HiddenUsage(queues, reason, false))
	return history.Of(historystore.Cluster(c), obs, from), report.FromCluster, now, nil
}

// prices reads the table of prices; nil is none.
func (o *Options) prices() (*report.Prices, error) {
	if o.PricesFile == "" {
		return nil, nil
	}
	text, err := bounded.File(o.PricesFile, bounded.Settings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.NotFoundf("file %s not found", o.PricesFile).WithCause(err)
	case err != nil:
		return nil, errs.New("cannot read "+o.PricesFile, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	p, err := report.ParsePrices(text, func(name string) int {
		t, _ := instances.Lookup(name)
		return t.Accelerators
	})
	if err != nil {
		return nil, errs.New("invalid prices", err.Error()).WithFact("file", o.PricesFile).WithCause(err)
	}
	return p, nil
}

func (o *Options) print(format output.Format, d *report.Document, now time.Time) error {
	io := o.Factory.IO
	var text []byte
	var err error
	switch format.Name {
	case output.CSV:
		text, err = reporttext.CSV(d)
	case output.FOCUS:
		text, err = reporttext.FOCUS(d)
	case output.HTML:
		text = reporttext.HTML(d, now)
	case output.Markdown:
		text = []byte(output.SafeLines(reporttext.Markdown(d)))
	default:
		if err := output.Print(io, format, d, func() output.Table { return o.table(d, format.Name == output.Wide) }, nil); err != nil || !format.IsTable() {
			return err
		}
		for _, fact := range reporttext.Facts(d) {
			if err := io.PrintLine(fact[0] + ": " + fact[1]); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Out.Write(text)
	return err
}

// table has a row for each group and one for all. Of many groups, only a wide table has all.
func (o *Options) table(d *report.Document, wide bool) output.Table {
	hours := reporttext.Hours
	switch o.By {
	case "day", "month":
		t := output.Table{Columns: []output.Column{{Title: strings.ToUpper(o.By)}, {Title: "USED", Right: true}, {Title: "BORROWED", Right: true, Yield: 1}, {Title: "WAITED", Right: true}, {Title: "COST", Right: true, Yield: 2}}}
		days := d.Days
		if o.By == "month" {
			days = report.Months(days)
		}
		for _, r := range days {
			t.Rows = append(t.Rows, output.T(r.Date, hours(r.Used), hours(r.Borrowed), hours(r.Waited), reporttext.Money(r.Cost)))
		}
		return t
	case "hour":
		t := output.Table{Columns: []output.Column{{Title: "HOUR"}, {Title: "USED", Right: true}, {Title: "WAITING", Right: true}}}
		for _, r := range d.HoursOfDay {
			t.Rows = append(t.Rows, output.T(time.Date(0, 1, 1, r.Hour, 0, 0, 0, time.UTC).Format("15:04"), reporttext.Devices(r.Used), reporttext.Devices(r.Waited)))
		}
		return t
	}
	rows := map[string][]report.Row{"team": d.Teams, "owner": d.Owners, "project": d.Projects, "namespace": d.Namespaces, "instance-type": d.Types}[o.By]
	t := output.Table{Columns: []output.Column{{Title: strings.ToUpper(strings.ReplaceAll(o.By, "-", " ")), Keep: true}, {Title: "USED", Right: true, Keep: true}, {Title: "BORROWED", Right: true, Yield: 2},
		{Title: "LENT", Right: true, Yield: 3}, {Title: "IDLE", Right: true, Yield: 1}, {Title: "WAITED", Right: true, Keep: true}, {Title: "JOBS", Right: true, Yield: 5}},
		Empty: "no jobs with accelerators in this period"}
	if d.Prices != nil {
		t.Columns = append(t.Columns, output.Column{Title: "COST", Right: true}, output.Column{Title: "IDLE COST", Right: true, Yield: 4})
	}
	if d.Total.Measured != nil {
		t.Columns = append(t.Columns, output.Column{Title: "UNUSED", Right: true})
	}
	if len(rows) == 0 {
		return t
	}
	most := output.MostRows
	if wide {
		most = len(rows)
	}
	shown := reporttext.Rows(d, rows, most, "see -o wide")
	if len(shown) <= len(rows) { // with the total, one more where all are shown
		t.Notes = append(t.Notes, fmt.Sprintf("the %d rows with most USED, IDLE and WAITED are shown (-o wide: all %d)", most, len(rows)))
	}
	for _, r := range shown {
		cells := output.T(reporttext.Name(r.Name), hours(r.Used), hours(r.Borrowed), hours(r.Lent), hours(r.Idle), hours(r.Waited), strconv.Itoa(r.Jobs))
		if d.Prices != nil {
			cells = append(cells, output.T(reporttext.Money(r.Cost), reporttext.Money(r.IdleCost))...)
		}
		if d.Total.Measured != nil {
			cells = append(cells, output.T(hours(r.Unused))...)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
