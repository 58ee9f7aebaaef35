// Package getquota is `hyperpod get-quota`.
package getquota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/cli/liveview"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The groupings of --by.
const (
	byTeam         = "team"
	byInstanceType = "instance-type"
	byNodeGroup    = "node-group"
)

var groupings = []string{byTeam, byInstanceType, byNodeGroup}

// pace is how often a change is shown at most with --watch. A terminal is drawn
// again every sixth time all the same, as it may have been resized.
const (
	pace = 500 * time.Millisecond
	idle = 6
)

// Options are the settings of one run.
type Options struct {
	Factory      *factory.Factory
	Team         string
	Resources    []string
	AllResources bool
	Tree         bool
	By           string
	Watch        bool
	FromStatus   bool
	// Tick paces --watch; nil is twice a second.
	Tick <-chan time.Time
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "get-quota [TEAM]",
		Aliases: []string{"get-quotas", "quota"},
		Short:   "Show the quota of teams: used, borrowed, lent, free",
		Long: `Show the quota of every team, or of one team:

  NOMINAL     the team's own quota
  RESERVED    quota that its workloads reserve
  USED        the part of RESERVED whose workloads are admitted
  BORROWED    use above NOMINAL that other teams lend
  LENT        the part of NOMINAL that other teams use
  LIMIT       the maximum that the team can ever use
  FREE        the part of NOMINAL that is available now
  BORROWABLE  quota that the team can borrow now, without preemption
  PENDING     requests of its waiting workloads

TEAM is the name of a team, its ClusterQueue or its namespace. By default the
table shows accelerators only. A member of one team sees the team's own queue,
and ? for figures that depend on other teams. With more than 40 teams, those
with most PENDING and RESERVED have rows and one row has the rest; -o wide has
all.

docs/quota.md defines every figure, and who counts as a lender.`,
		Example: `  hyperpod get-quota
  hyperpod get-quota ml-engineers -o wide
  hyperpod get-quota --tree --all-resources
  hyperpod get-quota --by instance-type
  hyperpod get-quota --watch
  hyperpod get-quota -o prometheus > /var/lib/node_exporter/hyperpod.prom`,
		RunE: factory.RunE(o, findteam.Take(&o.Team), Run, runF),
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Resources, "resource", nil, "resources to show: gpu, cpu, memory, efa, mig-1g.10gb, ... (default: accelerators)")
	fs.BoolVar(&o.AllResources, "all-resources", false, "show every resource with quota")
	fs.BoolVar(&o.Tree, "tree", false, "show the tree of cohorts with totals")
	fs.StringVar(&o.By, "by", byTeam, "rows of the table: "+strings.Join(groupings, "|"))
	fs.BoolVar(&o.FromStatus, "from-status", false, "use ClusterQueue status only: fast, up to seconds old, without PENDING and nodes")
	fs.BoolVarP(&o.Watch, "watch", "w", false, "watch for changes")
	factory.Complete(cmd, "by", groupings...)
	factory.Complete(cmd, "resource", "gpu", "cpu", "memory", "efa", "neurondevice")
	f.CompleteFirstArg(cmd, findteam.Complete)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if !slices.Contains(groupings, o.By) {
		e := errs.Usagef("invalid --by %q: must be one of %s", o.By, strings.Join(groupings, ", "))
		for _, n := range errs.Near(o.By, groupings) {
			e.Suggest(errs.Option("--by", n))
		}
		return e
	}
	switch {
	case o.AllResources && len(o.Resources) > 0:
		return errs.Usagef("--resource cannot be used with --all-resources")
	case slices.Contains(o.Resources, ""):
		return errs.Usagef("invalid --resource: must not be empty").Suggest(errs.Option("--resource", "gpu"), errs.Option("--all-resources"))
	case o.Tree && o.By != byTeam:
		return errs.Usagef("--tree cannot be used with --by %s", o.By)
	case o.Tree && o.scope().Narrow():
		return o.wide(errs.Usagef("--tree cannot be used with a team: it shows all teams"), "--tree")
	case o.FromStatus && o.By != byTeam:
		return errs.Usagef("--from-status cannot be used with --by: it reads no nodes")
	case o.By != byTeam && o.scope().Narrow():
		return o.wide(errs.Usagef("--by %s cannot be used with a team: it shows the nodes of all teams", o.By), "--by", o.By)
	}
	return nil
}

// wide suggests the command without a team. The namespace of a run is added to every suggestion, so a flag is left to the user.
func (o *Options) wide(e *errs.Error, flags ...string) *errs.Error {
	if o.Factory.Global.Namespace != "" {
		return e.WithAdvice("omit --namespace")
	}
	return e.Suggest(errs.Run("get-quota", flags...))
}

// scope returns whose queues to show.
func (o *Options) scope() findteam.Scope {
	return findteam.Scope{Team: o.Team, Namespace: o.Factory.Global.Namespace}
}

// metrics reports whether the format is Prometheus'.
func (o *Options) metrics() bool {
	format, err := o.Factory.Format()
	return err == nil && format.Name == output.Prometheus
}

// want returns what the command reads, in parallel: six lists, and for metrics the pods
// too, so that one file has everything.
func (o *Options) want(c *factory.Cluster) state.Want {
	w := state.Want{ClusterQueues: true, Cohorts: true}
	if !o.FromStatus {
		w.Flavors, w.Nodes, w.Workloads, w.PodSets = true, true, true, true
		w.LocalQueues, w.Pods = o.By == byTeam, o.By != byTeam || o.metrics()
	}
	o.scope().Fallbacks(c, &w)
	return w
}

// Run shows the quota, or watches it.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, c, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	if o.Watch {
		return liveview.Run(ctx, f, c, format, liveview.Watch{Want: o.want(c), Tick: o.Tick, Pace: pace, Idle: idle,
			View: func(s *state.State) (liveview.View, error) {
				v, err := o.view(s)
				return v.View, err
			}})
	}
	s, err := findteam.Load(ctx, c, o.want(c))
	if err != nil {
		return err
	}
	v, err := o.view(s)
	if err != nil {
		return err
	}
	f.MissingFigures(s.Missing)
	if format.IsTable() {
		for _, text := range warnings(v.problems, mostWarnings, " (-o json)") {
			f.Notef("%s", text)
		}
	}
	return output.Outcome(liveview.Print(f, format, v.View), factory.Failures(s.Missing))
}

// view is what is shown, and what is wrong: its tables have that only when they are
// live.
type view struct {
	liveview.View
	problems []quota.Problem
}

// newView makes a view of the parts that differ between teams and nodes.
func newView(problems []quota.Problem, document func() any, table func(wide bool) output.Table, lines func() []output.Line) view {
	return view{problems: problems, View: liveview.View{Document: document, Lines: lines, Table: func(wide, live bool) output.Table {
		t := table(wide)
		if live {
			t.Notes = append(t.Notes, warnings(problems, mostLive, "")...)
		}
		return t
	}}}
}

const (
	mostWarnings = 20
	mostLive     = 5 // below a table that is redrawn: it has to fit the screen
)

// warnings returns a line for each problem, but at most about most lines. The line about the others ends in where they are.
func warnings(problems []quota.Problem, most int, where string) []string {
	var out []string
	for i, p := range problems {
		if i == most && len(problems) > most+1 {
			return append(out, fmt.Sprintf("and %d more warnings%s", len(problems)-i, where))
		}
		out = append(out, "warning: "+p.Message)
	}
	return out
}

func (o *Options) view(s *state.State) (view, error) {
	if err := findteam.NoKueue(s); err != nil {
		return view{}, err
	}
	if o.By != byTeam {
		return o.nodes(s)
	}
	r := quota.Build(s)
	if o.FromStatus {
		r = quota.FromQueues(s)
	}
	if o.metrics() && r.Capacity != nil {
		r.Capacity = quota.ByInstanceType(s)
	}
	teams, err := o.scope().Teams(r)
	if err != nil {
		return view{}, err
	}
	if o.scope().Narrow() {
		r.Problems = slices.DeleteFunc(r.Problems, func(p quota.Problem) bool { return !p.Concerns(teams) })
	}
	resources, err := o.pick(r.Resources(true), r.Resources(false))
	if err != nil {
		return view{}, err
	}
	p := page{io: o.Factory.IO, report: r, teams: teams, resources: resources, short: quota.ShortNames(resources), narrow: o.scope().Narrow()}
	table := p.table
	if o.Tree {
		table = p.tree
	}
	quotatext.Fill(r)
	v := newView(r.Problems, func() any {
		d := r.Document(resources, teams)
		d.Missing = state.UnreadOf(s.Missing)
		return d
	}, table, func() []output.Line {
		var out []output.Line
		for _, q := range r.Document(resources, teams).Quota {
			out = append(out, output.Line{Key: q.ClusterQueue + "\x00" + q.Resource, Value: q})
		}
		return out
	})
	v.Names = func() []string {
		var out []string
		for _, t := range teams {
			out = append(out, "clusterqueue.kueue.x-k8s.io/"+t.ClusterQueue)
		}
		return out
	}
	return v, nil
}

// pick chooses the resources to show of all that there are, and of those that
// there is anything of.
func (o *Options) pick(all, some []string) ([]string, error) {
	switch {
	case o.AllResources:
		return some, nil
	case len(o.Resources) == 0:
		return quota.MainResources(some), nil
	}
	var out []string
	for _, name := range o.Resources {
		found, ok := quota.FindResource(name, all)
		if !ok {
			e := errs.NotFoundf("resource %q not found", name).WithFact("available", words.Some(all, 12))
			var short []string
			for _, r := range all {
				short = append(short, r[strings.Index(r, "/")+1:])
			}
			for _, n := range errs.Near(name, append(short, all...)) {
				e.Suggest(errs.Option("--resource", n))
			}
			return nil, e
		}
		if !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out, nil
}
