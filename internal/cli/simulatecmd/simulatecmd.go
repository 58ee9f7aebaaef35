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

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// Cycles is how many scheduling cycles to show one by one; 0 runs until nothing
	// changes any more.
	Cycles int
	// NowText is the clock, in RFC 3339; "" is the cluster's.
	NowText string
	Now     time.Time // of NowText, set by Validate

	AddJobs     []string // files
	RemoveJobs  []string
	RemoveTeams []string
	AddNodes    []string
	RemoveNodes []string
	Sets        []string
	Priorities  []string
	ChangeFiles []string

	counted bool              // --cycles was given
	changes []simulate.Change // of everything but files, set by Validate
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "simulate",
		Aliases: []string{"what-if"},
		Short:   "What if: change quota, policy, nodes or jobs on paper, and see who runs",
		Long: `Changes the cluster on paper and lets Kueue's own decisions run until nothing
changes any more: who is admitted, who waits, who is preempted, who borrows,
before and after. Nothing is sent to the cluster. Works on a live cluster, a
sandbox (--sandbox) and a snapshot (--snapshot).

--set TEAM.SETTING=VALUE, where the settings are
` + settingsHelp() + `
An amount is of the team's accelerators unless it says otherwise:
TEAM.quota/RESOURCE@FLAVOR=AMOUNT. --set cluster.fair-sharing=on|off is for all.

Exit codes: 0 it settles, 3 it never comes to rest (the loop is shown).`,
		Example: `  hyperpod simulate --set researchers.borrow-limit=0 --add-job train.yaml
  hyperpod simulate --remove-team interns --remove-nodes ml.p5.48xlarge=2
  hyperpod simulate --priority smpv2-llama2=inference --snapshot cluster.json.gz
  hyperpod simulate --cycles 5 -o json
  hyperpod simulate --changes what-if.yaml`,
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.counted = cmd.Flags().Changed("cycles")
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.Sets, "set", nil, "change a team's policy: TEAM.SETTING=VALUE (repeatable)")
	fs.StringArrayVar(&o.AddJobs, "add-job", nil, "submit the jobs of a manifest (repeatable)")
	fs.StringArrayVar(&o.RemoveJobs, "remove-job", nil, "take a job away: NAME or NAMESPACE/NAME (repeatable)")
	fs.StringArrayVar(&o.Priorities, "priority", nil, "give a job another priority: JOB=CLASS or JOB=NUMBER (repeatable)")
	fs.StringArrayVar(&o.RemoveTeams, "remove-team", nil, "take a team away, with its quota and jobs (repeatable)")
	fs.StringArrayVar(&o.AddNodes, "add-nodes", nil, "add nodes: INSTANCE-TYPE=NUMBER (repeatable)")
	fs.StringArrayVar(&o.RemoveNodes, "remove-nodes", nil, "take nodes away: NODE, or INSTANCE-TYPE=NUMBER for the emptiest (repeatable)")
	fs.StringArrayVar(&o.ChangeFiles, "changes", nil, "changes from a YAML file: a list under \"changes\" with set, addJob, removeJob, priority, removeTeam, addNodes, removeNodes (repeatable)")
	fs.IntVar(&o.Cycles, "cycles", 0, "show this many scheduling cycles one by one, from the state as it is")
	fs.StringVar(&o.NowText, "now", "", "the clock, in RFC 3339 (default: the cluster's)")
	return cmd
}

func settingsHelp() string {
	var b strings.Builder
	for _, s := range simulate.Settings() {
		fmt.Fprintf(&b, "  %-17s %s\n", s[0], s[1])
	}
	return b.String()
}

// Validate checks the options without looking at a cluster or a file.
func (o *Options) Validate() error {
	if o.Cycles < 0 || o.Cycles > 10_000 || o.Cycles == 0 && o.counted {
		return errs.Usagef("--cycles %d: from 1 to 10000", o.Cycles)
	}
	if o.NowText != "" {
		at, err := time.Parse(time.RFC3339, o.NowText)
		if err != nil {
			return errs.Usagef("--now %q is no time", o.NowText).WithTry("--now 2026-01-02T15:04:05Z").WithCause(err)
		}
		o.Now = at.UTC()
	}
	o.changes = nil
	for _, part := range []struct {
		kind  simulate.Kind
		texts []string
	}{
		{simulate.RemoveTeam, o.RemoveTeams}, {simulate.RemoveJob, o.RemoveJobs}, {simulate.RemoveNodes, o.RemoveNodes},
		{simulate.AddNodes, o.AddNodes}, {simulate.Set, o.Sets}, {simulate.Priority, o.Priorities},
	} {
		for _, text := range part.texts {
			c, err := simulate.New(part.kind, text)
			if err != nil {
				return err
			}
			o.changes = append(o.changes, c)
		}
	}
	return nil
}

// Run simulates.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	changes, err := o.allChanges(ctx, cluster)
	if err != nil {
		return err
	}
	now := o.Now
	if now.IsZero() {
		now = cluster.Now()
	}
	in, err := inputs.Load(ctx, cluster.Client, inputs.Options{Namespaces: func(ctx context.Context) ([]string, error) {
		return discovery.AccessibleNamespaces(ctx, cluster.Client, "list", kinds.PyTorchJob.Resource)
	}}, now)
	if err != nil {
		return err
	}
	f.Missing(in.Missing)
	rules := in.Rules()
	for _, n := range rules.Notes {
		f.Notef("note: %s", n.Message)
	}
	report, err := simulate.Run(ctx, simulate.World{Config: rules.Config, Objects: in.Objects(), Now: now}, changes, o.Cycles)
	if err != nil {
		return err
	}
	report.Notes = append(report.Notes, in.Assumed...)
	err = output.Print(f.IO, format, report, func() output.Table { return table(report, format.Name == output.Wide) },
		func() []string { return names(report) })
	if err == nil && !report.Settled && o.Cycles == 0 {
		return errs.Silent{Code: errs.No}
	}
	return err
}

// allChanges are those of the flags and those of files.
func (o *Options) allChanges(ctx context.Context, c *factory.Cluster) ([]simulate.Change, error) {
	namespace := sync.OnceValues(func() (string, error) {
		choice, err := o.Factory.Namespace(ctx, c, "create", kinds.PyTorchJob.Resource)
		return choice.Name, err
	})
	out := slices.Clone(o.changes)
	for _, path := range o.ChangeFiles {
		data, err := o.read(ctx, path)
		if err != nil {
			return nil, err
		}
		dir := filepath.Dir(path)
		changes, err := simulate.File(data, func(job string) ([]simulate.Change, error) {
			if !filepath.IsAbs(job) && job != "-" {
				job = filepath.Join(dir, job)
			}
			return o.jobs(ctx, job, namespace)
		})
		if err != nil {
			return nil, errs.Wrap(err, "cannot use "+path)
		}
		out = append(out, changes...)
	}
	for _, path := range o.AddJobs {
		jobs, err := o.jobs(ctx, path, namespace)
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
