// Package getusage is `hyperpod get-usage`.
package getusage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/reporttext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/usage"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory       *factory.Factory
	Mine          bool
	Team          string
	AllNamespaces bool
	By            string // job or day
	// Since is where the period begins.
	Since *factory.PointInTime
	// Directory is the folder of a recorder's store, "" for that of the cluster.
	Directory string
}

// The time to look back without --since, and the longest.
const (
	week    = 7 * 24 * time.Hour
	longest = 366 * 24 * time.Hour
)

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, By: "job"}
	cmd := &cobra.Command{
		Use:   "get-usage",
		Short: "Show the device-hours that jobs used and waited for",
		Long: `Show the device-hours of jobs. A device-hour is one accelerator for one hour.
USED is the time during which a job has quota, WAITED the time it waits for
quota. BORROWED counts what jobs with quota borrow now, from the time when they
got it.

The numbers come from the jobs, workloads and events that the cluster still has.
Deleted jobs cannot be counted, and most clusters keep events for one hour: runs
before an earlier preemption may be missing. Where "hyperpod record" has taken
samples on this machine, they count deleted jobs, and what ended jobs borrowed.
Notes say how far back each source goes.`,
		Example: `  hyperpod get-usage --mine
  hyperpod get-usage --team researchers --since 30d --by day
  hyperpod get-usage -A -o json`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Mine, "mine", false, "only jobs that you created")
	fs.StringVar(&o.Team, "team", "", "only jobs of this team")
	o.Factory.CompleteFlag(cmd, "team", findteam.Complete)
	fs.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "jobs in all namespaces that you have permission to read")
	factory.OptionalPointInTime(fs, &o.Since, "since", "start of the period: how long ago, or a date in UTC, for example 30d or 2026-01-31 (default 7d)")
	fs.StringVar(&o.Directory, "directory", "", "folder of a recorder's store (default: that of the cluster in the state folder)")
	factory.TakesFile(fs, "directory")
	factory.AddChoice(cmd, &o.By, factory.Choice{Name: "by", Usage: "rows of the table: job|day", Words: []string{"job", "day"}})
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Since != nil && o.Since.Time.IsZero() { // only the clock of the cluster shows whether a date has passed
		if _, err := o.from(time.Time{}.Add(2 * longest)); err != nil {
			return err
		}
	}
	switch {
	case o.Team != "" && o.Factory.Global.Namespace != "":
		return factory.Excludes("team", "namespace")
	case o.AllNamespaces && o.Factory.Global.Namespace != "":
		return errs.Usagef("-A cannot be used with --namespace").WithAdvice("remove one of them")
	}
	return o.Factory.CheckMine(o.Mine)
}

// from returns the start of the period.
func (o *Options) from(now time.Time) (time.Time, error) {
	if o.Since == nil {
		return now.Add(-week), nil
	}
	from := o.Since.At(now)
	if !from.Before(now) || now.Sub(from) > longest {
		return from, errs.Usagef("invalid --since: must be before now and at most 366d ago").Suggest(errs.Option("--since", "30d"))
	}
	return from, nil
}

// Run sums up and prints.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	o.Team = findteam.NameOf(o.Team)
	format, c, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	from, err := o.from(c.Now())
	if err != nil {
		return err
	}
	r, err := o.read(ctx, c)
	if err != nil {
		return err
	}
	now := c.Now()
	list, oldest := o.jobs(r.state, r.events, now)
	samples, err := o.samples(c, from, now)
	if err != nil {
		return err
	}
	if err := findteam.Known(o.Team, teams(r.state, samples)); err != nil {
		if !r.teamsHidden {
			return err
		}
		f.Notef("note: team %s may not exist: you need permission to list clusterqueues", o.Team)
	}
	if samples != nil {
		list = usage.WithRecorded(list, samples, func(j history.Job) bool {
			return (r.namespace == "" || j.Namespace == r.namespace) && (!o.Mine || j.Owner == f.User()) && (o.Team == "" || j.Team == o.Team)
		})
	}
	d := usage.Build(list, from, now)
	d.Missing = state.UnreadOf(r.state.Missing)
	d.From, d.To = d.From.Truncate(time.Second), d.To.Truncate(time.Second) // not now: a job of this second counts
	if samples != nil {
		first, last := samples.First.UTC(), samples.Last.UTC()
		d.RecordedSince, d.RecordedUntil = &first, &last
	}
	if !oldest.IsZero() {
		d.KnownSince = &oldest
	}
	failed := factory.Failures(r.state.Missing)
	table := func() output.Table {
		t := o.table(d, format.Name == output.Wide)
		if failed != nil { // there may be jobs
			t.Empty = ""
		}
		return t
	}
	if format.Name == output.CSV {
		err = o.csv(d)
	} else {
		err = output.Print(f.IO, format, d, table, func() (names []string) {
			for _, j := range d.Jobs {
				names = append(names, j.Name)
			}
			return names
		})
	}
	if err == nil {
		o.notes(d)
	}
	return output.Outcome(err, failed)
}

// reading is what get-usage reads of a cluster.
type reading struct {
	state     *state.State
	namespace string // of the jobs, "" for all
	events    []state.Event
	// teamsHidden reports that there may be teams that could not be read.
	teamsHidden bool
}

// read reads the jobs with their workloads, queues and events.
func (o *Options) read(ctx context.Context, c *factory.Cluster) (*reading, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	want := state.Want{Jobs: served, Workloads: true, PodSets: true, ClusterQueues: true, LocalQueues: true}
	if o.AllNamespaces || o.Team != "" {
		want.FallbackNamespaces = func(ctx context.Context) ([]string, error) {
			return c.KnownNamespaces(ctx, o.Factory.Global.Namespace, kinds.PyTorchJob.Resource)
		}
	} else {
		ns, err := o.Factory.NamespaceToList(ctx, c)
		if err != nil {
			return nil, err
		}
		want.Namespace = ns.Name
	}
	want.FallbackQueues = findteam.Scope{Team: o.Team, Namespace: want.Namespace}.FallbackQueues(c)
	st, err := state.Load(ctx, c.Client, want, c.Now())
	if err != nil {
		return nil, err
	}
	ofQueues := func(m state.Missing) bool {
		return m.Resource.FullName() == kinds.ClusterQueue.FullName() || m.Resource.FullName() == kinds.LocalQueue.FullName()
	}
	r := &reading{state: st, namespace: want.Namespace}
	r.teamsHidden = slices.ContainsFunc(st.Missing, func(m state.Missing) bool { return ofQueues(m) && m.Reason != state.NotServed })
	queues, reason := findteam.UnreadLenders(st)
	// Only what is borrowed, and names of teams, need queues: the notes name that.
	o.Factory.Missing(slices.DeleteFunc(slices.Clone(st.Missing), ofQueues))
	r.events, err = state.ListEvents(ctx, c.Client, want.Namespace, kube.ListOptions{})
	if err != nil && !kube.IsForbidden(err) && !kube.IsNotServed(err) {
		return nil, err
	}
	o.Factory.Notes(findteam.HiddenUsage(queues, reason, err != nil))
	return r, nil
}

// jobs returns the chosen jobs as values, and when the oldest was created.
func (o *Options) jobs(st *state.State, events []state.Event, now time.Time) (out []usage.Job, oldest time.Time) {
	by := map[string][]state.Event{} // by the UID of what they are about
	for _, e := range events {
		by[e.ObjectUID] = append(by[e.ObjectUID], e)
	}
	queues := map[string]*state.ClusterQueue{}
	for i := range st.ClusterQueues {
		queues[st.ClusterQueues[i].Name] = &st.ClusterQueues[i]
	}
	statuses := jobs.Statuses(st.Jobs, st.Workloads)
	for i, w := range jobs.Match(st.Jobs, st.Workloads) {
		j := st.Jobs[i]
		u := usage.Job{UID: j.UID, Namespace: j.Namespace, Name: j.Name, Kind: j.Kind.Kind, Team: teamOf(j, w, st.LocalQueues), Owner: jobs.Creator(j.Labels, j.Annotations),
			State: string(statuses[i].State), Devices: jobs.Devices(j)}
		if o.Mine && u.Owner != o.Factory.User() || o.Team != "" && u.Team != o.Team {
			continue
		}
		u.Undated = j.CreationTimestamp.IsZero()
		if !u.Undated && (oldest.IsZero() || j.CreationTimestamp.Before(oldest)) {
			oldest = j.CreationTimestamp.UTC()
		}
		about := by[j.UID]
		if w != nil {
			about = append(slices.Clone(about), by[w.UID]...)
		}
		u.Held, u.Waited, u.Incomplete = usage.Spans(jobs.TimelineOf(j, w, about), now)
		if w != nil && w.Admission != nil && len(u.Held) > 0 {
			u.Loans = []usage.Loan{{Span: u.Held[len(u.Held)-1], Devices: jobs.Borrowed(jobs.WorkloadsOf(j, w, st.Workloads), queues[w.Admission.ClusterQueue], st.Workloads, kinds.Accelerator)}}
		}
		out = append(out, u)
	}
	return out, oldest
}

// teamOf returns the team whose quota the job uses: that of the ClusterQueue that admitted it, else
// of its LocalQueue's, else of its namespace.
func teamOf(j state.Job, w *state.Workload, queues []state.LocalQueue) string {
	if w != nil && w.Admission != nil && w.Admission.ClusterQueue != "" {
		return quota.TeamOf(w.Admission.ClusterQueue)
	}
	for _, q := range queues {
		if q.Namespace == j.Namespace && q.Name == j.Queue() && q.ClusterQueue != "" {
			return quota.TeamOf(q.ClusterQueue)
		}
	}
	return discovery.TeamOf(j.Namespace, nil)
}

// teams returns the names of the teams that the cluster has or that samples have recorded.
func teams(st *state.State, samples *history.Data) (names []string) {
	for _, q := range st.ClusterQueues {
		names = append(names, quota.TeamOf(q.Name))
	}
	for i, w := range jobs.Match(st.Jobs, st.Workloads) {
		names = append(names, teamOf(st.Jobs[i], w, st.LocalQueues))
	}
	if samples != nil {
		names = append(names, historystore.Teams(samples)...)
	}
	return names
}

// table has a row for each job or day, and one for all. Jobs come in the order of their use.
func (o *Options) table(d *usage.Document, all bool) output.Table {
	numbers := []output.Column{{Title: "USED", Right: true}, {Title: "BORROWED", Right: true, Yield: 2}, {Title: "WAITED", Right: true}}
	cells := func(s usage.Sums) []output.Cell { return output.T(text(s.Used), text(s.Borrowed), text(s.Waited)) }
	if o.By == "day" {
		t := output.Table{Columns: append([]output.Column{{Title: "DAY"}}, numbers...)}
		for _, day := range d.Days {
			t.Rows = append(t.Rows, append(output.T(day.Date), cells(day.Sums)...))
		}
		t.Rows = append(t.Rows, append(output.T("total"), cells(d.Total)...))
		return t
	}
	t := output.Table{Columns: append([]output.Column{{Title: "JOB", Keep: true}, {Title: "OWNER", Yield: 4}, {Title: "STATE", Yield: 3}}, numbers...), Empty: "no jobs with accelerators in this period"}
	wide := o.AllNamespaces || o.Team != ""
	if wide {
		t.Columns = append([]output.Column{{Title: "NAMESPACE", Yield: 1}}, t.Columns...)
	}
	lead := func(namespace string, cells []output.Cell) []output.Cell {
		if wide {
			return append(output.T(namespace), cells...)
		}
		return cells
	}
	shown := d.Jobs
	if !all && len(shown) > output.MostRows+1 {
		shown = shown[:output.MostRows]
	}
	for _, j := range shown {
		owner := "-"
		if j.CreatedBy != nil {
			owner = *j.CreatedBy
		}
		t.Rows = append(t.Rows, lead(j.Namespace, append(output.T(j.Name, owner, j.State), cells(j.Sums)...)))
	}
	if rest := d.Jobs[len(shown):]; len(rest) > 0 {
		t.Rows = append(t.Rows, lead("", append(output.T(fmt.Sprintf("%d more (see -o wide)", len(rest)), "", ""), cells(usage.Rest(rest))...)))
	}
	if len(d.Jobs) > 0 {
		t.Rows = append(t.Rows, lead("", append(output.T("total", "", ""), cells(d.Total)...)))
	}
	return t
}

// text writes device-hours: "12.5 gpu-h".
func text(h usage.Hours) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, strconv.FormatFloat(h[name], 'f', 1, 64)+" "+words.Short(name)+"-h")
	}
	return cmp.Or(strings.Join(parts, " + "), "-")
}

// samples returns what a recorder wrote about the cluster, nil without a store.
func (o *Options) samples(c *factory.Cluster, from, to time.Time) (*history.Data, error) {
	if c.Snapshot != nil && o.Directory == "" {
		return nil, nil
	}
	dir, err := historystore.Dir(o.Factory, c, o.Directory)
	if err != nil {
		return nil, err
	}
	d, err := history.Read(dir, from, to)
	if err == nil && d.Cluster != historystore.Cluster(c) {
		err = errors.New("the store belongs to " + d.Cluster)
	}
	switch {
	case o.Directory == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrEmpty)), err == nil && d.Samples == 0: // none before now
		return nil, nil
	case err != nil && o.Directory == "":
		o.Factory.Notef("warning: recorded samples are not counted: %s", errs.FileReason(err))
		return nil, nil
	case err != nil:
		return nil, historystore.ExplainRead(err, "cannot read the recorded samples", dir)
	}
	return d, nil
}

// notes names the jobs that the figures do not count.
func (o *Options) notes(d *usage.Document) {
	f := o.Factory
	deleted := "deleted jobs are not counted"
	if d.RecordedSince != nil {
		deleted = fmt.Sprintf("deleted jobs are counted from %s to %s (UTC), by the samples of a recorder", d.RecordedSince.Format("2006-01-02 15:04"), d.RecordedUntil.Format("2006-01-02 15:04"))
	}
	f.Notef("note: %s", reporttext.OldestJob(deleted, d.KnownSince))
	if d.Incomplete > 0 {
		f.Notef("note: %s had quota before a preemption that the cluster no longer records", words.Count(d.Incomplete, "job", "jobs"))
	}
	if d.WithoutTimes > 0 {
		f.Notef("note: %s not counted: no time is known, not even of the creation", words.Count(d.WithoutTimes, "job is", "jobs are"))
	}
}
