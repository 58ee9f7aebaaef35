// Package getlog is `hyperpod get-log`.
package getlog

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
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
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:   "get-log NAME",
		Short: "Print or follow the logs of a job",
		Long: `Prints the log of the one pod that matters: of a job that failed the pod that
failed first, else its launcher, head or rank 0. --all-pods prints all, by time.

-f goes on until the job ends: through restarts, and through preemption and
return, with pods that appear later. A connection that breaks is resumed; no
line is lost or repeated. Lines carry their pod's name where several pods share
a terminal (--prefix: always). In a pipe the bytes are as the program wrote
them; on a terminal escape sequences other than colours are made visible.`,
		Example: `  hyperpod get-log smpv2-llama2
  hyperpod get-log smpv2-llama2 -f --exit-code
  hyperpod get-log smpv2-llama2 --all-pods --since 10m --grep 'NCCL|Error'
  hyperpod get-log smpv2-llama2 --rank 1 --tail 100 --timestamps`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
			}
			o.PrefixSet = cmd.Flags().Changed("prefix")
			if err := o.Pods.Settle(cmd); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	factory.AddJobNameFlag(cmd, &flag)
	fs := cmd.Flags()
	factory.AddKindFlag(cmd, &o.Kind)
	o.Pods.Add(f, cmd)
	fs.BoolVarP(&o.Follow, "follow", "f", false, "go on with new lines and new pods until the job ends")
	fs.BoolVar(&o.Previous, "previous", false, "the run of the container before its last restart")
	fs.StringVar(&o.Since, "since", "", "only lines newer than a duration (10m) or a time (2026-01-02T03:04:05Z)")
	fs.Int64Var(&o.Tail, "tail", -1, "only this many of each log's last lines (-1: all)")
	fs.BoolVar(&o.Timestamps, "timestamps", false, "put the time before each line")
	fs.StringVar(&o.Grep, "grep", "", "only lines in which this regular expression is found")
	fs.BoolVar(&o.Prefix, "prefix", false, "put the pod's name before each line (default: several pods on a terminal)")
	fs.BoolVar(&o.ExitCode, "exit-code", false, "with --follow: exit with 3 if the job failed, 5 if it was deleted")
	fs.BoolVar(&o.CloudWatchLink, "cloudwatch-link", false, "print the links to the logs in CloudWatch on stderr")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if _, err := o.query(time.Time{}); err != nil {
		return err
	}
	switch {
	case o.Previous && o.Follow:
		return errs.Usagef("--previous is a run that has ended: it cannot be followed").WithAdvice("leave one of them out")
	case o.ExitCode && !o.Follow:
		return errs.Usagef("--exit-code is the verdict of a job that is followed to its end").WithTry("--follow --exit-code")
	}
	return nil
}

// query makes the engine's query of the options, without the job. now is only
// there to refuse times that are still to come; zero checks none.
func (o *Options) query(now time.Time) (logs.Query, error) {
	q := logs.Query{Pods: o.Pods.Choice(), Container: o.Pods.Container, Follow: o.Follow, Previous: o.Previous,
		Parts: o.Factory.Global.Output == ""}
	if o.Tail < -1 {
		return q, errs.Usagef("--tail %d: a number of lines, or -1 for all", o.Tail).WithTry(fmt.Sprintf("--tail %d", -o.Tail))
	}
	if o.Tail >= 0 {
		q.Tail = &o.Tail
	}
	if o.Grep != "" {
		re, err := regexp.Compile(o.Grep)
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return q, errs.Usagef("--grep %s is not a regular expression: %s", strconv.Quote(o.Grep), faultOf(bad)).
				WithTry("--grep "+words.ShellWord(regexp.QuoteMeta(o.Grep))+"   # these very characters", "--grep 'NCCL|Error'").WithCause(err)
		}
		q.Match = re
	}
	if o.Since == "" {
		return q, nil
	}
	if d, err := time.ParseDuration(o.Since); err == nil {
		if d <= 0 {
			return q, errs.Usagef("--since %s: how long ago, such as 10m", o.Since).WithTry("--since 10m")
		}
		q.Since = d
		return q, nil
	}
	t, err := time.Parse(time.RFC3339, o.Since)
	if err != nil {
		return q, errs.Usagef("--since %s is neither a duration nor a time", strconv.Quote(o.Since)).
			WithTry("--since 10m", "--since 2026-01-02T03:04:05Z").WithCause(err)
	}
	if !now.IsZero() && t.After(now) {
		return q, errs.Usagef("--since %s is still to come", o.Since).WithTry("--since 10m")
	}
	q.SinceTime = t
	return q, nil
}

// Run prints the logs.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	cluster, err := f.Cluster()
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
	allShownBy := ""
	if q.Pods.Default() && jobs.Wanted(q.Job) > 1 {
		allShownBy = "--all-pods"
	}
	view := logview.New(f, logview.Options{Job: o.Name, Prefix: prefix, Timestamps: o.Timestamps, JSON: f.Global.Output == string(output.JSON),
		Several: several, Follow: o.Follow, AllShownBy: allShownBy})
	result, err := logs.Engine{Client: cluster.Client, Missing: f.Missing}.Read(ctx, q, view)
	view.Close()
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
