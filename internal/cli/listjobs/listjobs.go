// Package listjobs is `hyperpod list-jobs`.
package listjobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/prometheusflags"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory       *factory.Factory
	AllNamespaces bool
	// Sweep lists the jobs of a sweep, with their parameters.
	Sweep      string
	Selector   string
	StateNames []string
	Kind       string
	Verbose    bool
	Watch      bool
	Mine       bool
	NoHeaders  bool
	SortBy     string
	// Since is when the oldest job to list was created; nil lists all.
	Since *factory.PointInTime
	// Idle lists running jobs that do nothing with their accelerators.
	Idle       bool
	Prometheus prometheusflags.Flags
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-jobs",
		Aliases: []string{"list-job"},
		Short:   "List jobs with their state and priority",
		Long: `List jobs of every kind that the cluster serves, and the batch Jobs and
RayClusters that have a queue label. SIZE is the number of pods and their
accelerators, RUNTIME how long a job has run, WAITING how long it has waited to
start since it was last queued (? if Kueue keeps no time for it, as after
several preemptions). OWNER is the person who created it, if the job records
that.

With a Prometheus server that has metrics of dcgm-exporter or neuron-monitor,
UTIL is how busy the job's accelerators were over the last 30 minutes, on
average. --idle lists running jobs with less than 5 %.

States: Pending, Preempted, Suspended, Stopped, Starting, Running, Restarting,
Succeeded, Failed.`,
		Example: `  hyperpod list-jobs --all-namespaces
  hyperpod list-jobs -n hyperpod-ns-researchers --state running -o wide
  hyperpod list-jobs -A -o jsonpath='{.jobs[*].Name}'
  hyperpod list-jobs --mine --since 7d --sort-by waiting
  hyperpod list-jobs --sweep tune
  hyperpod list-jobs -A --idle --prometheus https://prometheus.example.com
  hyperpod list-jobs --watch`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	fs := cmd.Flags()
	fs.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "jobs in all namespaces that you have permission to read")
	fs.StringVar(&o.Sweep, "sweep", "", "only jobs of this sweep, with a column for each parameter (JSON and YAML as with --verbose)")
	fs.StringVarP(&o.Selector, "selector", "l", "", "only jobs that match this label selector")
	f.CompleteFlag(cmd, "selector", factory.Selectors)
	f.CompleteFlag(cmd, "sweep", factory.Sweeps)
	fs.StringSliceVar(&o.StateNames, "state", nil, "only jobs in these states")
	factory.AddKindFlagFor(cmd, &o.Kind, "only jobs of this kind")
	fs.BoolVar(&o.Verbose, "verbose", false, "print more keys in JSON and YAML: kind, queue, since, reason, pods")
	fs.BoolVarP(&o.Watch, "watch", "w", false, "watch for changes")
	fs.BoolVar(&o.Mine, "mine", false, "only jobs that you created")
	fs.BoolVar(&o.Idle, "idle", false, "only running jobs whose accelerators are idle (requires a Prometheus server)")
	o.Prometheus.Add(cmd)
	factory.OptionalPointInTime(fs, &o.Since, "since", "only jobs created since then: how long ago, or a date in UTC, for example 7d or 2026-01-31")
	fs.BoolVar(&o.NoHeaders, "no-headers", false, "print the table without the titles of its columns")
	factory.AddChoice(cmd, &o.SortBy, factory.Choice{Name: "sort-by", Usage: "order of the list: " + strings.Join(orders, ", ") + " (default: namespace and name)", Words: orders})
	factory.Complete(cmd, "state", jobs.StateNames()...)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if err := jobtext.CheckStates(o.StateNames); err != nil {
		return err
	}
	if o.Sweep != "" && o.Selector != "" {
		return factory.Excludes("sweep", "selector")
	}
	if o.Watch && o.Idle {
		return factory.Excludes("idle", "watch")
	}
	if o.Watch && o.Prometheus.Address != "" {
		return factory.Excludes("prometheus", "watch")
	}
	if err := o.Prometheus.Validate(); err != nil {
		return err
	}
	return o.Factory.CheckChoice(o.Sweep, o.Selector, o.Mine)
}

// Run lists the jobs, or follows them.
func Run(ctx context.Context, o *Options) error {
	return factory.OnScheduler(ctx, o.Factory, o, runSlurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	if err := o.Since.CheckPast("since", cluster.Now()); err != nil {
		return err
	}
	scope, err := o.scope(ctx, cluster)
	if err != nil {
		return err
	}
	if o.Watch {
		return watch(ctx, o, cluster, scope, format)
	}
	prom, err := o.prometheus()
	if err != nil {
		return err
	}
	st, err := state.Load(ctx, cluster.Client, scope.want(o), cluster.Now())
	if err != nil {
		return err
	}
	use, missing, err := measure(ctx, prom, cluster, scope.namespace, st.Jobs)
	if err != nil {
		return err
	}
	f.Missing(slices.Concat(st.Missing, missing))
	rows := o.rows(st, use, cluster.Now())
	failed := factory.Failures(st.Missing)
	table := func() output.Table {
		shown, hidden := o.few(rows, format)
		t := o.table(shown, cluster.Now(), scope.text())
		t.Notes = hidden
		if failed != nil { // there may be jobs
			t.Empty = ""
		}
		return t
	}
	err = output.Print(f.IO, format, o.document(rows, state.UnreadOf(st.Missing)), table, func() []string { return names(rows) })
	return output.Outcome(err, failed)
}

// scope is what to list: the kinds, and one namespace or all.
type scope struct {
	namespace string
	kinds     []kinds.Job
	all       func(context.Context) ([]string, error)
}

// text names the scope, for "no jobs in ...".
func (s scope) text() string {
	if s.namespace == "" {
		return "any namespace"
	}
	return "namespace " + s.namespace
}

func (o *Options) scope(ctx context.Context, c *factory.Cluster) (scope, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return scope{}, err
	}
	if o.Kind != "" {
		all := served
		served = slices.DeleteFunc(slices.Clone(all), func(k kinds.Job) bool { return k.Kind != o.Kind })
		if len(served) == 0 {
			k, _ := kinds.JobNamed(o.Kind)
			return scope{}, errs.NotFoundf("kind %s not found: the %s is not installed", k.Kind, k.Operator)
		}
	}
	s := scope{kinds: served}
	if o.AllNamespaces {
		if ns := o.Factory.Global.Namespace; ns != "" {
			o.Factory.Notef("note: --namespace %s has no effect with -A: jobs of all namespaces are listed", ns)
		}
		s.all = func(ctx context.Context) ([]string, error) {
			return c.KnownNamespaces(ctx, "", kinds.PyTorchJob.Resource)
		}
		return s, nil
	}
	ns, err := o.Factory.NamespaceToList(ctx, c)
	s.namespace = ns.Name
	return s, err
}

// selector returns the label selector of the jobs.
func (o *Options) selector() string {
	if o.Sweep != "" {
		return kinds.SweepLabel + "=" + o.Sweep
	}
	return o.Selector
}

func (s scope) want(o *Options) state.Want {
	return state.Want{Namespace: s.namespace, Selector: o.selector(), Jobs: s.kinds, Workloads: true, FallbackNamespaces: s.all}
}

// row is a job with its status, found once and shown in every format.
type row struct {
	job    state.Job
	status jobs.Status
	// use is how busy its accelerators are, nil where that is not known.
	use *deviceuse.Use
}

func (o *Options) rows(st *state.State, use map[deviceuse.Key]deviceuse.Use, now time.Time) []row {
	statuses := jobs.Statuses(st.Jobs, st.Workloads)
	var out []row
	for i, j := range st.Jobs {
		r := row{job: j, status: statuses[i]}
		if u, ok := use[deviceuse.Key{Namespace: j.Namespace, Name: j.Name}]; ok && r.status.State.HoldsDevices() {
			r.use = &u
		}
		if o.wanted(r, now) && (!o.Idle || r.idle(now)) {
			out = append(out, r)
		}
	}
	return o.sorted(out, now)
}

// document returns what JSON, YAML and jsonpath show.
func (o *Options) document(rows []row, missing []state.Unread) any {
	list := make([]state.Job, len(rows))
	statuses := make([]jobs.Status, len(rows))
	for i, r := range rows {
		list[i], statuses[i] = r.job, r.status
	}
	if o.Verbose || o.Sweep != "" || o.measures() {
		d := jobtext.VerboseList(list, statuses)
		for i, r := range rows {
			if r.use != nil {
				share := r.use.Share()
				d.Jobs[i].Utilization = &share
			}
		}
		d.Missing = missing
		return d
	}
	d := jobs.ListJSON(list, statuses)
	d.Missing = missing
	return d
}

// few returns the first rows of a long table on a terminal, and a line that counts the others by their state.
func (o *Options) few(rows []row, format output.Format) (shown []row, hidden []string) {
	if !o.Factory.IO.Shortens(format.Name == output.Wide, len(rows)) {
		return rows, nil
	}
	shown = rows[:output.MostRows]
	count := map[jobs.State]int{}
	for _, r := range rows[len(shown):] {
		count[r.status.State]++
	}
	var parts []string
	for _, s := range jobs.States() {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return shown, []string{fmt.Sprintf("hidden jobs: %s (see -o wide, --state)", strings.Join(parts, ", "))}
}

// Table returns the table of a single job.
func Table(j state.Job, s jobs.Status, now time.Time) output.Table {
	return table([]row{{job: j, status: s}}, now, false)
}

// TableOf returns the table of several jobs; namespaces shows where they are.
func TableOf(list []state.Job, statuses []jobs.Status, now time.Time, namespaces bool) output.Table {
	rows := make([]row, len(list))
	for i := range list {
		rows[i] = row{job: list[i], status: statuses[i]}
	}
	return table(rows, now, namespaces)
}

// table returns the table with the choices of the options. scope names where the jobs are.
func (o *Options) table(rows []row, now time.Time, scope string) output.Table {
	t := table(rows, now, o.AllNamespaces)
	if o.Sweep != "" {
		withParameters(&t, rows)
	}
	if o.measures() {
		withUtilization(&t, rows)
	}
	t.NoHeader = o.NoHeaders
	t.Empty = o.nothing(scope)
	return t
}

func table(rows []row, now time.Time, all bool) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "STATE", Keep: true}, {Title: "SIZE", Yield: 1},
		{Title: "OWNER", Yield: 3}, {Title: "RUNTIME", Right: true, Ticks: true, Yield: 2}, {Title: "WAITING", Right: true, Ticks: true, Yield: 5},
		{Title: "AGE", Right: true, Ticks: true, Yield: 6}, {Title: "PRIORITY", Yield: 4}, {Title: "KIND", Wide: true}, {Title: "QUEUE", Wide: true},
		{Title: "SINCE", Wide: true, Right: true, Ticks: true}, {Title: "REASON", Wide: true}}, Empty: "no jobs found"}
	if all {
		t.Columns = append([]output.Column{{Title: "NAMESPACE"}}, t.Columns...)
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, cells(r, now, all))
	}
	return t
}

// withParameters adds a column for each parameter of a sweep, behind the state.
func withParameters(t *output.Table, rows []row) {
	var names []string
	points := make([]sweep.Point, len(rows))
	for i, r := range rows {
		_, points[i] = sweep.Of(r.job.Labels, r.job.Annotations)
		for _, p := range points[i] {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	at := slices.IndexFunc(t.Columns, func(c output.Column) bool { return c.Title == "STATE" })
	for n, name := range names {
		t.Columns = slices.Insert(t.Columns, at+n, output.Column{Title: strings.ToUpper(name)})
		for i := range rows {
			t.Rows[i] = slices.Insert(t.Rows[i], at+n, output.Cell{Text: cmp.Or(points[i].Value(name), "-")})
		}
	}
}

func cells(r row, now time.Time, all bool) []output.Cell {
	ran, waited := jobs.RunTimes(r.job, r.status, now)
	c := []output.Cell{{Text: r.job.Name}, {Text: string(r.status.State), Style: style(r.status.State)}, {Text: sizeText(r)}, {Text: cmp.Or(jobs.OwnerText(r.job), "-")},
		{Text: lasted(ran)}, {Text: waitedText(r, waited)},
		{Text: words.Since(now, r.job.CreationTimestamp)}, {Text: cmp.Or(r.job.Priority(), "-")},
		{Text: r.job.Kind.Kind}, {Text: cmp.Or(r.job.Queue(), "-")}, {Text: words.Since(now, r.status.Since)}, {Text: cmp.Or(r.status.Reason, "-")}}
	if all {
		c = append([]output.Cell{{Text: r.job.Namespace}}, c...)
	}
	return c
}

func lasted(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return words.Age(*d)
}

// waitedText returns ? for a job that runs and has waited for a time that Kueue has not kept.
func waitedText(r row, waited *time.Duration) string {
	if waited == nil && r.status.Evicted && r.status.State.HoldsDevices() {
		return "?"
	}
	return lasted(waited)
}

func style(s jobs.State) output.Style {
	switch s {
	case jobs.Running:
		return output.Good
	case jobs.Failed:
		return output.Bad
	case jobs.Preempted, jobs.Restarting:
		return output.Warn
	case jobs.Succeeded, jobs.Suspended, jobs.ZeroReplicas:
		return output.Dim
	case jobs.Starting:
		return output.Accent
	}
	return output.Plain
}

func names(rows []row) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.job.Kind.ObjectName(r.job.Name))
	}
	return out
}
