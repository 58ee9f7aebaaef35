// Package getqueue is `hyperpod get-queue`.
package getqueue

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/cli/liveview"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/queuetext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// pace is how often a change is shown at most with --watch; waiting times go on
// every fifth.
const (
	pace = time.Second
	idle = 5
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Team    string
	Watch   bool
	NoETA   bool
	Assume  time.Duration
	// Tick paces --watch; nil is once a second.
	Tick <-chan time.Time
	// Estimate makes the estimates; nil: none.
	Estimate Estimate
}

// Estimate returns when the workloads of ClusterQueues start, of as many as it can before an error. assume is the duration of
// jobs without a known one; 0 assumes none.
type Estimate func(ctx context.Context, c *factory.Cluster, namespaces func(context.Context) ([]string, error), clusterQueues []string, assume time.Duration) (map[queue.Key]queue.ETA, error)

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, estimate Estimate, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, Estimate: estimate}
	cmd := &cobra.Command{
		Use:     "get-queue [TEAM]",
		Aliases: []string{"get-queues", "queue"},
		Short:   "List pending workloads in the scheduler's order",
		Long: `List the workloads of all teams, or of one team, that wait for quota, in the
order in which the scheduler takes them: position, priority, size, waiting time
and reason. For one team, and for all teams with --assume-duration, the list
estimates when they start. Below the list are the numbers of running, waiting
and preempted workloads, and how long finished ones waited and ran.
docs/quota.md defines every figure.

TEAM is the name of a team, its ClusterQueue or its namespace.`,
		Example: `  hyperpod get-queue
  hyperpod get-queue ml-engineers
  hyperpod get-queue ml-engineers -o json
  hyperpod get-queue --watch`,
		RunE: factory.RunE(o, findteam.Take(&o.Team), Run, runF),
	}
	fs := cmd.Flags()
	fs.BoolVarP(&o.Watch, "watch", "w", false, "watch for changes")
	fs.BoolVar(&o.NoETA, "no-eta", false, "do not estimate when workloads start; reads less of the cluster")
	factory.AddAssumeFlag(cmd, &o.Assume)
	f.CompleteFirstArg(cmd, findteam.Complete)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	err := factory.CheckAssume(o.Assume)
	switch {
	case err != nil:
		return err
	case o.Assume > 0 && o.NoETA:
		return errs.Usagef("--assume-duration cannot be used with --no-eta")
	case o.Assume > 0 && o.Watch:
		return errs.Usagef("--assume-duration cannot be used with --watch: --watch makes no estimates")
	}
	return nil
}

// scope returns whose queues to show.
func (o *Options) scope() findteam.Scope {
	return findteam.Scope{Team: o.Team, Namespace: o.Factory.Global.Namespace}
}

// want returns what the command reads: five lists, in parallel.
func (o *Options) want(c *factory.Cluster) state.Want {
	w := state.Want{ClusterQueues: true, Cohorts: true, LocalQueues: true, Workloads: true, PodSets: true, Flavors: true}
	o.scope().Fallbacks(c, &w)
	return w
}

// Run shows the queue, or watches it.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, c, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	w := o.want(c)
	var rules order.Reader
	if o.Watch {
		// In the order that is computed and without estimates: Kueue's own order cannot
		// be watched.
		return liveview.Run(ctx, f, c, format, liveview.Watch{Want: w, Tick: o.Tick, Pace: pace, Idle: idle,
			View: func(s *state.State) (liveview.View, error) {
				v, err := o.view(s, rules.Rules(ctx, c.Client, s.Workloads))
				return v.shown(), err
			}})
	}
	s, err := findteam.Load(ctx, c, w)
	if err != nil {
		return err
	}
	v, err := o.view(s, rules.Rules(ctx, c.Client, s.Workloads))
	if err != nil {
		return err
	}
	if err := o.order(ctx, c, &v); err != nil {
		return err
	}
	if err := o.estimates(ctx, c, &v, w.FallbackNamespaces); err != nil {
		return err
	}
	unread := queue.Unread(s)
	f.MissingFigures(slices.DeleteFunc(slices.Clone(s.Missing), func(m state.Missing) bool {
		return unread != nil && m.Resource.Kind == kinds.Workload.Kind // the error reports it
	}))
	printed := liveview.Print(f, format, v.shown())
	if unread != nil && unread.Reason != state.Failed {
		return output.Outcome(printed, unread.Err) // what the queues' status says is shown, and is not what was asked for
	}
	return output.Outcome(printed, factory.Failures(s.Missing))
}

// view is what is shown, in any format.
type view struct {
	io      *output.IO
	state   *state.State
	rules   order.Rules
	report  *quota.Report
	teams   []quota.Team
	items   []queue.Item
	tallies map[string]*queue.Tally
	order   string
	narrow  bool
	eta     bool   // there are estimates
	noETA   string // why there are none; "" if that is obvious
}

// shown returns the view in every format.
func (v *view) shown() liveview.View {
	return liveview.View{Document: func() any { return v.document() }, Table: v.table, Names: v.names, Lines: v.lines}
}

func (o *Options) view(s *state.State, rules order.Rules) (view, error) {
	if err := findteam.NoKueue(s); err != nil {
		return view{}, err
	}
	v := view{io: o.Factory.IO, state: s, rules: rules, report: quota.Build(s), order: queue.Computed, narrow: o.scope().Narrow()}
	var err error
	if v.teams, err = o.scope().Teams(v.report); err != nil {
		return view{}, err
	}
	v.items = queue.Build(s, v.report, v.teams, rules, nil)
	queuetext.Fill(v.items)
	v.tallies = queue.Tallies(s, v.report)
	return v, nil
}

func (v *view) document() queue.Document {
	d := queue.NewDocument(v.items, v.teams, v.tallies, v.order, v.state.Taken)
	d.Missing = state.UnreadOf(v.state.Missing)
	return d
}

func (v *view) names() []string {
	var out []string
	for _, it := range v.items {
		out = append(out, "workload.kueue.x-k8s.io/"+it.Workload)
	}
	return out
}

// lines returns the rows of --watch -o json.
func (v *view) lines() []output.Line {
	var out []output.Line
	for _, it := range v.document().Pending {
		out = append(out, output.Line{Key: it.Namespace + "/" + it.Workload, Value: it})
	}
	return out
}

func (v *view) summary() queue.Summary {
	var all []*queue.Tally
	for _, t := range v.teams {
		all = append(all, v.tallies[t.ClusterQueue])
	}
	return queue.Sum(all...)
}

// title returns whose queue it is, for the notice that nothing waits.
func (v *view) title() string {
	if v.items == nil || v.summary().Waiting > 0 {
		return "cannot read the pending workloads"
	}
	if !v.narrow {
		return "no pending workloads"
	}
	var names []string
	for _, t := range v.teams {
		names = append(names, t.Name)
	}
	return "no pending workloads in " + words.Some(names, 8)
}
