// Package execcmd is `hyperpod exec`.
package execcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory    *factory.Factory
	Name, Kind string
	Pods       podflags.Flags
	Stdin, TTY bool
	Prefix     bool
	Command    []string
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:                   "exec NAME [-p POD | --rank N | --all-pods] -- COMMAND [ARGS...]",
		DisableFlagsInUseLine: true,
		Short:                 "Run a command in the pods of a job",
		Long: `Runs a command in a pod of a job: the launcher, head or rank 0, or the one that
is chosen. Its arguments arrive as they are; no shell reads them. The exit code
is the command's own. --all-pods (or --role) runs it in all of them at the same
time, each line with its pod's name; the exit code is then the first that is
not 0.`,
		Example: `  hyperpod exec smpv2-llama2 -- nvidia-smi
  hyperpod exec smpv2-llama2 --rank 1 -it -- bash
  hyperpod exec smpv2-llama2 --all-pods -- sh -c 'df -h /data | tail -1'`,
		Args: func(*cobra.Command, []string) error { return nil }, // settled below: what follows -- is the command
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			names, command, err := split(cmd.ArgsLenAtDash(), args)
			if err != nil {
				return err
			}
			if o.Name, err = factory.JobName(flag, names); err != nil {
				return err
			}
			o.Command = command
			if err := o.Pods.Settle(cmd); err != nil {
				return err
			}
			if !cmd.Flags().Changed("prefix") {
				o.Prefix = o.Pods.Choice().Several()
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
	fs.BoolVarP(&o.Stdin, "stdin", "i", false, "send stdin to the command")
	fs.BoolVarP(&o.TTY, "tty", "t", false, "give the command a terminal")
	fs.BoolVar(&o.Prefix, "prefix", false, "put the pod's name before each line (default: with --all-pods and --role)")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// split parts the arguments at "--", which is at position dash (-1: not there).
func split(dash int, args []string) (names, command []string, err error) {
	switch {
	case dash < 0 && len(args) > 1:
		return nil, nil, errs.Usagef("put -- before the command").WithTry(fmt.Sprintf("hyperpod exec %s -- %s", args[0], strings.Join(args[1:], " ")))
	case dash < 0:
		return nil, nil, errs.Usagef("no command to run: it follows --").WithTry("hyperpod exec NAME -- COMMAND")
	}
	return args[:dash], args[dash:], nil
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	several := o.Pods.Choice().Several()
	switch {
	case len(o.Command) == 0:
		return errs.Usagef("no command to run: nothing follows --").WithTry("hyperpod exec " + words.ShellWord(o.Name) + " -- COMMAND")
	case o.Command[0] == "":
		return errs.Usagef("the command is empty").WithTry("hyperpod exec " + words.ShellWord(o.Name) + " -- COMMAND")
	case several && (o.TTY || o.Stdin):
		return errs.Usagef("-i and -t are for one pod: one terminal cannot be in several").WithTry("--pod NAME", "--rank N")
	case o.Prefix && o.TTY:
		return errs.Usagef("--prefix and -t exclude each other: a terminal's output has no lines").WithAdvice("leave one of them out")
	}
	return nil
}

// Run runs the command.
func Run(ctx context.Context, o *Options) error {
	cluster, err := o.Factory.Cluster()
	if err != nil {
		return err
	}
	pods, namespace, err := o.pods(ctx, cluster)
	if err != nil {
		return err
	}
	targets := make([]target, 0, len(pods))
	var unfit error
	for _, p := range pods {
		container, err := p.Container(o.Pods.Container)
		if err == nil {
			err = running(p, container)
		}
		if err != nil {
			unfit = err
			if len(pods) > 1 {
				o.Factory.Notef("warning: %v", err)
			}
			continue
		}
		targets = append(targets, target{namespace: namespace, pod: p.Name, container: container})
	}
	if len(targets) == 0 {
		return unfit
	}
	if !o.Pods.Choice().Several() {
		return o.one(ctx, cluster.Client, targets[0])
	}
	err = o.all(ctx, cluster.Client, targets)
	if err == nil && unfit != nil {
		return errs.Wrap(unfit, "the command did not run in every pod")
	}
	return err
}

// target is where a command runs.
type target struct{ namespace, pod, container string }

// pods returns the pods that are meant.
func (o *Options) pods(ctx context.Context, c *factory.Cluster) ([]pick.Pod, string, error) {
	job, err := podflags.Find(ctx, o.Factory, c, o.Name, o.Kind)
	if err != nil {
		return nil, "", err
	}
	all, err := logs.Pods(ctx, c.Client, job)
	if err != nil {
		return nil, "", err
	}
	chosen, err := pick.Choose(job, all, o.Pods.Choice())
	if err != nil {
		return nil, "", err
	}
	if len(chosen) == 0 {
		e := &errs.Error{What: "there is nothing to run it in", Why: "job " + job.Name + " has no such pod now", Code: errs.Pending}
		return nil, "", e.WithTry("hyperpod get-job " + job.Name + " -n " + job.Namespace)
	}
	if o.Pods.Choice().Default() && len(all) > 1 {
		o.Factory.Notef("note: in pod %s; --pod, --rank or --all-pods choose others", chosen[0].Name)
	}
	return chosen, job.Namespace, nil
}

// running refuses a container in which nothing can run.
func running(p pick.Pod, container string) error {
	for _, c := range p.Containers {
		if c.Name == container && (c.Terminated != "" || c.Waiting != "") {
			e := &errs.Error{What: "cannot run a command in pod " + p.Name, Why: fmt.Sprintf("container %s does not run: %s", container, c.Terminated+c.Waiting), Code: errs.Failure}
			if c.Waiting != "" && c.LastTerminated == "" {
				e.Code = errs.Pending
			}
			return e
		}
	}
	switch p.Phase {
	case "Running", "":
		return nil
	case "Pending":
		return &errs.Error{What: "cannot run a command in pod " + p.Name, Why: "it has not started yet", Code: errs.Pending}
	}
	return errs.New("cannot run a command in pod "+p.Name, "it has ended ("+p.Phase+")")
}

// one runs the command in one pod, with a terminal if that is asked for.
func (o *Options) one(ctx context.Context, c *kube.Client, t target) error {
	f := o.Factory
	stdout, stderr := newText(f.IO, o.prefix(t)), newText(errSide(f.IO), o.prefix(t))
	x := kube.ExecOptions{Namespace: t.namespace, Pod: t.pod, Container: t.container, Command: o.Command, Stdout: stdout, Stderr: stderr}
	if o.Stdin || o.TTY {
		x.Stdin = f.IO.In
	}
	if o.TTY && f.IO.InTTY {
		return o.terminal(ctx, c, x)
	}
	if o.TTY {
		f.Notef("note: no terminal for the command: stdin is not one here")
	}
	code, err := c.Exec(ctx, x)
	return o.exit(code, closeAll(err, stdout, stderr))
}

// closeAll writes what the streams still hold. err is what went wrong before; only
// without it is a write that failed worth telling.
func closeAll(err error, streams ...io.Closer) error {
	for _, s := range streams {
		if failed := s.Close(); err == nil {
			err = failed
		}
	}
	return err
}

func (o *Options) prefix(t target) string {
	if !o.Prefix {
		return ""
	}
	return t.pod
}

// exit passes the command's exit code on. hyperpod's own codes have meanings, so
// it is said whose this one is.
func (o *Options) exit(code int, err error) error {
	if err != nil || code == 0 {
		return err
	}
	o.Factory.Notef("note: the command ended with exit code %d", code)
	return errs.Silent{Code: errs.Exit(code)}
}

// maxParallel is how many pods a command runs in at the same time.
const maxParallel = 64

// all runs the command in all pods at the same time.
func (o *Options) all(ctx context.Context, c *kube.Client, targets []target) error {
	f := o.Factory
	var mu sync.Mutex // one line at a time, of stdout and stderr alike
	codes := make([]int, len(targets))
	failures := make([]error, len(targets))
	slots := make(chan struct{}, maxParallel)
	at, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	for i, t := range targets {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			stdout, stderr := newText(f.IO, o.prefix(t)), newText(errSide(f.IO), o.prefix(t))
			stdout.shared, stderr.shared = &mu, &mu
			code, err := c.Exec(at, kube.ExecOptions{Namespace: t.namespace, Pod: t.pod, Container: t.container,
				Command: o.Command, Stdout: stdout, Stderr: stderr})
			codes[i], failures[i] = code, closeAll(err, stdout, stderr)
			if failures[i] != nil && !errors.As(failures[i], new(*errs.Error)) {
				stop(failures[i]) // the output cannot be written: no pod's
			}
		})
	}
	running.Wait()
	if at.Err() != nil {
		return context.Cause(at)
	}
	return o.sum(targets, codes, failures)
}

// sum tells what went wrong where, and returns the first of it.
func (o *Options) sum(targets []target, codes []int, failures []error) error {
	var first error
	for i, t := range targets {
		switch {
		case failures[i] != nil:
			o.Factory.Notef("warning: %v", failures[i])
			if first == nil {
				first = errs.Wrap(failures[i], "the command did not run in every pod")
			}
		case codes[i] != 0:
			o.Factory.Notef("note: %s: exit code %d", t.pod, codes[i])
			if first == nil {
				first = errs.Silent{Code: errs.Exit(codes[i])}
			}
		}
	}
	return first
}
