// Package simulatecmd is `hyperpod simulate`.
package simulatecmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// Cycles is how many scheduling cycles to show one by one; 0 runs until nothing
	// changes any more.
	Cycles int
	// NowText is the clock, in RFC 3339; "" is the cluster's.
	NowText string

	// EvictionTakes is time that the pods of evicted jobs take to end; "" is
	// their grace period.
	EvictionTakes string

	// AtText is when the changes are made, "+DURATION" from the time of the simulation or a
	// time in RFC 3339; "" is at once.
	AtText string
	// For is after which time removed nodes return; 0: they do not.
	For time.Duration
	// Assume is how long jobs of unknown duration run until then; 0: they do not end.
	Assume time.Duration

	Files       []string // of objects
	AddTeams    []string
	AddJobs     []string // files
	RemoveJobs  []string
	RemoveTeams []string
	AddNodes    []string
	RemoveNodes []string
	Sets        []string
	Priorities  []string
	ChangeFiles []string

	AllowUnknown bool // fields of files that this version does not know

	timed   bool // --for was given
	counted bool // --cycles was given
	assumed bool // --assume-duration was given
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "simulate",
		Aliases: []string{"what-if"},
		Short:   "Simulate changes of quota, nodes or jobs",
		Long: `Simulate changes of a cluster and run Kueue's own decisions until nothing
changes: who is admitted, who waits, who is preempted and who borrows, before
and after. Nothing is sent to the cluster. The cluster can be live, a sandbox
(--sandbox) or a snapshot (--snapshot).

The settings of --set TEAM.SETTING=VALUE are:

` + settingsHelp() + `
An amount applies to the team's accelerators. To name a resource and flavor,
use TEAM.quota/RESOURCE@FLAVOR=AMOUNT. --set cluster.fair-sharing=on|off
applies to the whole cluster.

The exit code is 0 if the policy converges, 3 if it never does (the output then
shows the loop), and 1 if the state of a job is unknown: it depends on a feature
of Kueue that the simulation does not follow, or on what you have no permission
to read.`,
		Example: `  hyperpod simulate --set researchers.borrow-limit=0 --add-job train.yaml
  hyperpod simulate --remove-team interns --remove-nodes ml.p5.48xlarge=2
  hyperpod simulate --priority smpv2-llama2=inference --snapshot cluster.json.gz
  hyperpod simulate --at +2h --for 4h --remove-nodes ml.p5.48xlarge=2 --assume-duration 8h
  hyperpod simulate --cycles 5 -o json
  hyperpod simulate --changes what-if.yaml`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Sets, "set", nil, "change a team's policy: TEAM.SETTING=VALUE (repeatable)")
	fs.StringArrayVarP(&o.Files, "filename", "f", nil, "add or replace the ClusterQueues, Cohorts and other objects of Kueue in a YAML file (repeatable)")
	factory.TakesFile(fs, "filename")
	fs.StringArrayVar(&o.AddTeams, "add-team", nil, "add a team with the quota and policy of another: NAME=TEAM (repeatable)")
	fs.StringArrayVar(&o.AddJobs, "add-job", nil, "add the jobs of a manifest (repeatable)")
	factory.TakesFile(fs, "add-job")
	fs.StringArrayVar(&o.RemoveJobs, "remove-job", nil, "remove a job: NAME or NAMESPACE/NAME (repeatable)")
	fs.StringArrayVar(&o.Priorities, "priority", nil, "change the priority of a job: JOB=CLASS or JOB=NUMBER (repeatable)")
	fs.StringArrayVar(&o.RemoveTeams, "remove-team", nil, "remove a team with its quota and jobs (repeatable)")
	fs.StringArrayVar(&o.AddNodes, "add-nodes", nil, "add nodes: INSTANCE-TYPE=NUMBER (repeatable)")
	fs.StringArrayVar(&o.RemoveNodes, "remove-nodes", nil, "remove nodes: NODE, or INSTANCE-TYPE=NUMBER for those with the fewest pods (repeatable)")
	fs.StringArrayVar(&o.ChangeFiles, "changes", nil, "read changes from a YAML file: a list under \"changes\" of set, addJob, removeJob, priority, addTeam, removeTeam, addNodes and removeNodes (repeatable)")
	factory.TakesFile(fs, "changes")
	fs.BoolVar(&o.AllowUnknown, "allow-unknown", false, "accept fields of files that this version does not know; the simulation leaves them out")
	fs.IntVar(&o.Cycles, "cycles", 0, "number of scheduling cycles to show one by one from the current state")
	fs.StringVar(&o.EvictionTakes, "eviction-takes", "", "time that the pods of evicted jobs take to end (default: their grace period)")
	fs.StringVar(&o.AtText, "at", "", "make the changes later, when jobs of known duration have ended: +DURATION or a time in RFC 3339")
	fs.DurationVar(&o.For, "for", 0, "return the nodes of --remove-nodes after this time, for example 4h")
	fs.DurationVar(&o.Assume, "assume-duration", 0, "assumed run time of jobs of unknown duration until --at and during --for, for example 4h")
	fs.StringVar(&o.NowText, "now", "", "time of the simulation in RFC 3339 (default: the cluster's time)")
	f.CompleteFlag(cmd, "set", settings)
	f.CompleteFlag(cmd, "remove-team", findteam.Complete)
	f.CompleteFlagBy(cmd, "add-team", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		name, _, named := strings.Cut(prefix, "=")
		if !named {
			return nil, cobra.ShellCompDirectiveNoFileComp // the name is new
		}
		return f.CompleteWith(cmd, prefix, factory.WithPrefix(findteam.Complete, name+"="))
	})
	f.CompleteFlag(cmd, "remove-job", factory.Jobs)
	f.CompleteFlag(cmd, "priority", factory.WithSuffix(factory.Jobs, "="))
	f.CompleteFlag(cmd, "add-nodes", factory.WithSuffix(factory.InstanceTypes, "="))
	f.CompleteFlag(cmd, "remove-nodes", factory.WithSuffix(factory.InstanceTypes, "="))
	return cmd
}

// settings completes TEAM.SETTING= of --set.
func settings(ctx context.Context, f *factory.Factory) ([]string, error) {
	teams, err := findteam.Complete(ctx, f)
	var out []string
	for _, team := range teams {
		for _, s := range simulate.Settings() {
			out = append(out, team+"."+s[0]+"=\t"+s[1])
		}
	}
	return out, err
}

func settingsHelp() string {
	var b strings.Builder
	for _, s := range simulate.Settings() {
		fmt.Fprintf(&b, "  %-17s %s\n", s[0], s[1])
	}
	return b.String()
}

func (o *Options) take(cmd *cobra.Command, _ []string) error {
	o.counted, o.assumed, o.timed = cmd.Flags().Changed("cycles"), cmd.Flags().Changed("assume-duration"), cmd.Flags().Changed("for")
	return nil
}

// Validate checks the options without looking at a cluster or a file.
func (o *Options) Validate() error {
	if o.Cycles < 0 || o.Cycles > 10_000 || o.Cycles == 0 && o.counted {
		return errs.Usagef("invalid --cycles \"%d\": must be between 1 and 10000", o.Cycles)
	}
	if _, err := o.now(time.Time{}); err != nil {
		return err
	}
	if _, err := o.evictionTakes(); err != nil {
		return err
	}
	if _, err := o.at(time.Time{}); err != nil {
		return err
	}
	switch {
	case o.assumed && o.Assume <= 0:
		return errs.Usagef("invalid --assume-duration %s: must be greater than 0, for example 4h", o.Assume)
	case o.timed && o.For <= 0:
		return errs.Usagef("invalid --for %s: must be greater than 0, for example 4h", o.For)
	case o.timed && o.counted:
		return factory.Excludes("for", "cycles")
	case o.timed && len(o.RemoveNodes)+len(o.ChangeFiles) == 0:
		return factory.Requires("for", "--remove-nodes")
	case o.assumed && o.AtText == "" && !o.timed:
		return factory.Requires("assume-duration", "--at or --for").Suggest(errs.Option("--at", "+2h", "--assume-duration", words.Exact(o.Assume)))
	}
	if o.AllowUnknown && len(o.AddJobs)+len(o.Files)+len(o.ChangeFiles) == 0 {
		return factory.Requires("allow-unknown", "--add-job, --filename or --changes")
	}
	_, err := o.changes()
	return err
}

// now returns the time of the simulation, the cluster's unless --now names one.
func (o *Options) now(cluster time.Time) (time.Time, error) {
	if o.NowText == "" {
		return cluster, nil
	}
	at, err := time.Parse(time.RFC3339, o.NowText)
	if err != nil {
		return at, errs.Usagef("invalid --now %q: must be a time in RFC 3339", o.NowText).Suggest(errs.Option("--now", "2026-01-02T15:04:05Z")).WithCause(err)
	}
	return at.UTC(), nil
}

// at returns when the changes are made, zero for at once.
func (o *Options) at(now time.Time) (time.Time, error) {
	wrong := func(err error) error {
		return errs.Usagef("invalid --at %q: must be +DURATION or a time in RFC 3339", o.AtText).Suggest(errs.Option("--at", "+2h")).WithCause(err)
	}
	if o.AtText == "" {
		return time.Time{}, nil
	}
	if text, relative := strings.CutPrefix(o.AtText, "+"); relative {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return time.Time{}, wrong(err)
		}
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, o.AtText)
	switch {
	case err != nil:
		return at, wrong(err)
	case at.Before(now):
		return at, errs.Usagef("invalid --at %q: must be after the time of the simulation, %s", o.AtText, now.UTC().Format(time.RFC3339))
	}
	return at.UTC(), nil
}

// evictionTakes returns the time as simulate.Options has it.
func (o *Options) evictionTakes() (time.Duration, error) {
	if o.EvictionTakes == "" {
		return 0, nil
	}
	takes, err := time.ParseDuration(o.EvictionTakes)
	switch {
	case err != nil || takes < 0:
		return 0, errs.Usagef("invalid --eviction-takes %q: must be a duration of at least 0s", o.EvictionTakes).Suggest(errs.Option("--eviction-takes", "30s")).WithCause(err)
	case takes == 0:
		return -1, nil
	}
	return takes, nil
}

// changes returns the changes of the flags that name no file.
func (o *Options) changes() ([]simulate.Change, error) {
	var out []simulate.Change
	for _, part := range []struct {
		kind  simulate.Kind
		texts []string
	}{
		{simulate.RemoveTeam, o.RemoveTeams}, {simulate.RemoveJob, o.RemoveJobs}, {simulate.RemoveNodes, o.RemoveNodes},
		{simulate.AddNodes, o.AddNodes}, {simulate.AddTeam, o.AddTeams}, {simulate.Set, o.Sets}, {simulate.Priority, o.Priorities},
	} {
		for _, text := range part.texts {
			c, err := simulate.New(part.kind, plainName(part.kind, text))
			if err != nil {
				return nil, simulation.Error(err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// plainName returns the text of a change with the names of teams and jobs as they are, without the kind that -o name prints.
func plainName(kind simulate.Kind, text string) string {
	team := func(name string) string { return factory.BareName(name, "clusterqueue") }
	job := func(name string) string {
		if a, err := factory.SplitJob(name, ""); err == nil && a.Namespace == "" {
			return a.Name
		}
		return name
	}
	before, after, assigns := strings.Cut(text, "=")
	switch {
	case kind == simulate.RemoveTeam, kind == simulate.Set:
		return team(text)
	case kind == simulate.RemoveJob:
		return job(text)
	case kind == simulate.AddTeam && assigns:
		return before + "=" + team(after)
	case kind == simulate.Priority && assigns:
		return job(before) + "=" + after
	}
	return text
}

// Run simulates.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	f.ClockGiven = o.NowText != ""
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	changes, err := o.allChanges(ctx, cluster)
	if err != nil {
		return err
	}
	now, err := o.now(cluster.Now())
	if err != nil {
		return err
	}
	at, err := o.at(now)
	if err != nil {
		return err
	}
	in, err := inputs.Load(ctx, cluster.Client, inputs.Options{Finished: !at.IsZero() || o.timed, Namespaces: func(ctx context.Context) ([]string, error) {
		return cluster.KnownNamespaces(ctx, f.Global.Namespace, kinds.Workload)
	}}, now)
	if err != nil {
		return err
	}
	if err := factory.Failures(in.Missing); err != nil {
		return err // a part of the cluster would behave in another way
	}
	if err := unreadable(in, changes); err != nil {
		return err
	}
	f.MissingOf("simulation", in.Missing)
	takes, err := o.evictionTakes()
	if err != nil {
		return err
	}
	opts := simulate.Options{Cycles: o.Cycles, EvictionTakes: takes}
	if !at.IsZero() || o.timed {
		opts.Ahead = &simulate.Ahead{At: at, For: o.For, Finished: in.FinishedWorkloads, Assume: o.Assume, Deadline: admissioncheck.Deadlines(ctx, cluster, in, nil)}
	}
	report, err := simulate.RunSeen(ctx, in, changes, opts)
	if err != nil {
		return simulation.Error(err)
	}
	report.Notes = append(report.Notes, simulate.RuleNotes(in)...)
	report.Missing = state.UnreadOf(in.Missing)
	simulation.Fill(report)
	err = output.Print(f.IO, format, report, func() output.Table { return table(report, format.Name == output.Wide) },
		func() []string { return names(report) })
	code := errs.OK
	switch {
	case !report.Settled && o.Cycles == 0:
		code = errs.No
	case report.After.Unknown > 0:
		code = errs.Failure
	}
	return output.Answered(err, code)
}

// unreadable returns the error about queues, flavors or, in a file, workloads that could not be read at all, else nil. The
// simulation would show a cluster that has none. Without permission to list workloads, the status of queues replaces them.
// Without permission to list queues, the jobs of the namespaces that were read are Unknown. That serves those who add or
// remove a job.
func unreadable(in *inputs.Inputs, changes []simulate.Change) error {
	if len(in.Workloads) > 0 && !slices.ContainsFunc(changes, needsQueues) && slices.ContainsFunc(in.Missing, func(m state.Missing) bool {
		return m.Of(kinds.ClusterQueue) && m.Reason == state.Forbidden && !m.Partly
	}) {
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(in.Missing), func(m state.Missing) bool {
		return m.Namespace != "" || m.Partly || (m.Of(kinds.Workload) || m.Of(kinds.Namespace)) && m.Reason != state.NotInFile
	})
	return factory.Unreadable("cannot simulate the cluster", missing, kinds.ClusterQueue, kinds.ResourceFlavor, kinds.Workload, kinds.Namespace)
}

// needsQueues reports a change whose only effects are on the decisions of queues.
func needsQueues(c simulate.Change) bool {
	return c.Kind != simulate.AddJob && c.Kind != simulate.RemoveJob
}

// allChanges returns those of the flags and those of files.
func (o *Options) allChanges(ctx context.Context, c *factory.Cluster) ([]simulate.Change, error) {
	namespace := sync.OnceValues(func() (string, error) {
		choice, err := o.Factory.Namespace(ctx, c, "create", kinds.PyTorchJob.Resource)
		return choice.Name, err
	})
	out, err := o.changes()
	if err != nil {
		return nil, err
	}
	for _, path := range o.ChangeFiles {
		data, err := o.Factory.ReadNamed(ctx, path)
		if err != nil {
			return nil, err
		}
		dir := filepath.Dir(path)
		changes, err := simulate.File(data, func(job string) ([]simulate.Change, error) {
			if !filepath.IsAbs(job) && job != "-" {
				job = filepath.Join(dir, job)
			}
			return o.jobs(ctx, c, job, namespace)
		})
		if err != nil {
			return nil, errs.Wrap(simulation.Error(err), "cannot read "+path)
		}
		out = append(out, changes...)
	}
	for _, path := range o.Files {
		data, err := o.Factory.ReadNamed(ctx, path)
		if err != nil {
			return nil, err
		}
		c, err := o.objects(path, data, namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, path := range o.AddJobs {
		jobs, err := o.jobs(ctx, c, path, namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return out, nil
}

func names(r *simulate.Report) []string {
	var out []string
	for _, j := range r.Jobs {
		if j.Changed() {
			out = append(out, "workload.kueue.x-k8s.io/"+j.Workload)
		}
	}
	return out
}
