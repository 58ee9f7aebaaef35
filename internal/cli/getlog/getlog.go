// Package getlog is `hyperpod get-log`.
package getlog

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
)

// Options are what was typed on the command line.
type Options struct {
	Factory        *factory.Factory
	Name           string
	Kind           string
	Pods           podflags.Flags
	Follow         bool
	Previous       bool
	Since          string
	Tail           int64
	Timestamps     bool
	Grep           string
	Prefix         bool
	PrefixSet      bool
	ExitCode       bool
	CloudWatchLink bool
	OnInterrupt    interrupt.Policy
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "get-log NAME",
		Short: "Print or follow the logs of a job",
		Long: `Print the log of the job's main pod: the launcher, head or rank 0, or the pod
that failed first. --all-pods prints the logs of all pods, sorted by time.

-f follows the log until the job ends: through restarts, through preemption and
readmission, and with pods that appear later. It resumes lost connections
without losing or repeating a line.

On a terminal, lines of several pods start with the pod's name (use --prefix
elsewhere) and escape sequences other than colors are made visible. In a pipe,
get-log prints the bytes that the program wrote.`,
		Example: `  hyperpod get-log smpv2-llama2
  hyperpod get-log smpv2-llama2 -f --exit-code
  hyperpod get-log smpv2-llama2 --all-pods --since 10m --grep 'NCCL|Error'
  hyperpod get-log smpv2-llama2 --rank 1 --tail 100 --timestamps`,
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			if err := factory.TakeJob(&o.Name, &o.Kind)(cmd, args); err != nil {
				return err
			}
			o.PrefixSet = cmd.Flags().Changed("prefix")
			return o.Pods.Settle(cmd)
		}, Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	fs := cmd.Flags()
	o.Pods.Add(f, cmd)
	fs.BoolVarP(&o.Follow, "follow", "f", false, "follow new lines and new pods until the job ends")
	fs.BoolVar(&o.Previous, "previous", false, "print the log of the container before its last restart")
	fs.StringVar(&o.Since, "since", "", "only lines since then: how long ago, a date in UTC or a time, for example 10m or 2026-01-31")
	fs.Int64Var(&o.Tail, "tail", -1, "number of lines to print from the end of each log (-1: all)")
	fs.BoolVar(&o.Timestamps, "timestamps", false, "print the time before each line")
	fs.StringVar(&o.Grep, "grep", "", "only lines that match this regular expression")
	fs.BoolVar(&o.Prefix, "prefix", false, "print the pod's name before each line (default: with several pods on a terminal)")
	fs.BoolVar(&o.ExitCode, "exit-code", false, "with --follow: exit with 3 if the job failed, 5 if it was deleted")
	fs.BoolVar(&o.CloudWatchLink, "cloudwatch-link", false, "print the links to the logs in CloudWatch on stderr")
	o.OnInterrupt.Add(cmd, "with --follow")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if _, err := o.query(time.Time{}); err != nil {
		return err
	}
	switch {
	case o.Previous && o.Follow:
		return errs.Usagef("--previous cannot be used with --follow: a previous run has ended").WithAdvice("remove one of them")
	case o.OnInterrupt == interrupt.Cancel && !o.Follow:
		return factory.Requires(interrupt.Flag, "--follow").Suggest(errs.Option("--follow", "--"+interrupt.Flag, string(interrupt.Cancel)))
	case o.ExitCode && !o.Follow:
		return errs.Usagef("--exit-code requires --follow").Suggest(errs.Option("--follow", "--exit-code"))
	}
	return nil
}

// query returns the engine's query without the job. It refuses times after now; a zero
// now checks none.
func (o *Options) query(now time.Time) (logs.Query, error) {
	q := logs.Query{Pods: o.Pods.Choice(), Container: o.Pods.Container, Follow: o.Follow, Previous: o.Previous,
		Parts: o.Factory.Global.Output == ""}
	if o.Tail < -1 {
		return q, errs.Usagef("invalid --tail %d: must be at least 0, or -1 for all lines", o.Tail).Suggest(errs.Option("--tail", strconv.FormatInt(-o.Tail, 10)))
	}
	if o.Tail >= 0 {
		q.Tail = &o.Tail
	}
	if o.Grep != "" {
		re, err := regexp.Compile(o.Grep)
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return q, errs.Usagef("invalid --grep %s: %s", strconv.Quote(o.Grep), faultOf(bad)).
				Suggest(errs.Option("--grep", regexp.QuoteMeta(o.Grep)).WithNote("matches these characters"), errs.Option("--grep", "NCCL|Error")).WithCause(err)
		}
		q.Match = re
	}
	if o.Since == "" {
		return q, nil
	}
	m, err := factory.ParsePointInTime(o.Since)
	switch {
	case err != nil:
		return q, errs.Usagef("invalid --since %s: must be a duration such as 10m or 7d, a date such as 2026-01-31, or a time in RFC 3339", strconv.Quote(o.Since)).
			Suggest(errs.Option("--since", "10m"), errs.Option("--since", "2026-01-02T03:04:05Z")).WithCause(err)
	case m.Time.IsZero() && m.Ago == 0:
		return q, errs.Usagef("invalid --since %s: must be greater than 0", o.Since).Suggest(errs.Option("--since", "10m"))
	case !now.IsZero() && m.Time.After(now):
		return q, errs.Usagef("invalid --since %s: must not be in the future", o.Since).Suggest(errs.Option("--since", "10m"))
	}
	q.Since, q.SinceTime = m.Ago, m.Time
	return q, nil
}

// Run prints the logs.
func Run(ctx context.Context, o *Options) error {
	return factory.OnScheduler(ctx, o.Factory, o, runSlurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	q, err := o.query(cluster.Now())
	if err != nil {
		return err
	}
	if q.Job, err = podflags.Find(ctx, f, cluster, o.Name, o.Kind); err != nil {
		return err
	}
	several := q.Pods.Several()
	prefix := several && f.IO.OutTTY
	if o.PrefixSet {
		prefix = o.Prefix
	}
	var allShownBy errs.Suggestion
	if q.Pods.Default() && jobs.WantedPods(q.Job) > 1 {
		allShownBy = errs.Option("--all-pods")
	}
	view := logview.New(f, logview.Options{Job: o.Name, Prefix: prefix, Timestamps: o.Timestamps, JSON: f.WantsJSON(),
		Several: several, Follow: o.Follow, AllShownBy: allShownBy})
	result, err := logs.Engine{Client: cluster.Client, Missing: f.Missing}.Read(ctx, q, view)
	err = o.withPages(ctx, cluster, err)
	view.Close()
	if o.Follow && ctx.Err() != nil && err != nil {
		return o.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{{Kind: q.Job.Kind, Namespace: q.Job.Namespace, Name: q.Job.Name, UID: q.Job.UID}},
			Cancel: interrupt.OnKubernetes(f, cluster.Client)})
	}
	if o.CloudWatchLink {
		o.link(ctx, cluster, q.Job.Namespace, result.Sources)
	}
	switch {
	case err != nil || !o.Follow:
		return err
	case o.ExitCode:
		return logview.Verdict(o.Name, result)
	case !result.Deleted:
		f.Notef("note: job %s %s", o.Name, strings.ToLower(string(result.Status.State)))
	}
	return nil
}
