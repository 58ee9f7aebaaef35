// Package execcmd is `hyperpod exec`.
package execcmd

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Options are what was typed on the command line.
type Options struct {
	Factory    *factory.Factory
	Name, Kind string
	Pods       podflags.Flags
	Stdin, TTY bool
	Prefix     bool
	Command    []string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:                   "exec NAME [-p POD | --rank N | --all-pods] -- COMMAND [ARGS...]",
		DisableFlagsInUseLine: true,
		Short:                 "Run a command in the pods of a job",
		Long: `Run a command in a pod of a job: the launcher, head or rank 0, or the pod that
you choose. The arguments are passed unchanged; no shell interprets them. The
exit code is that of the command.

--all-pods and --role run the command in all these pods in parallel, with the
pod's name before each line. The exit code is then the first that is not 0.`,
		Example: `  hyperpod exec smpv2-llama2 -- nvidia-smi
  hyperpod exec smpv2-llama2 --rank 1 -it -- bash
  hyperpod exec smpv2-llama2 --all-pods -- sh -c 'hostname; ls /data'`,
		Args: func(*cobra.Command, []string) error { return nil }, // checked below: the words after -- are the command
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			names, command, err := o.split(cmd.ArgsLenAtDash(), args)
			if err != nil {
				return err
			}
			if err := factory.TakeJob(&o.Name, &o.Kind)(cmd, names); err != nil {
				return err
			}
			o.Command = command
			if err := o.Pods.Settle(cmd); err != nil {
				return err
			}
			if !cmd.Flags().Changed("prefix") {
				o.Prefix = o.Pods.Choice().Several()
			}
			return nil
		}, Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	fs := cmd.Flags()
	o.Pods.Add(f, cmd)
	fs.BoolVarP(&o.Stdin, "stdin", "i", false, "send stdin to the command")
	fs.BoolVarP(&o.TTY, "tty", "t", false, "allocate a terminal for the command")
	fs.BoolVar(&o.Prefix, "prefix", false, "print the pod's name before each line (default: with --all-pods and --role)")
	return cmd
}

// split parts the arguments at "--", which is at position dash (-1: not there).
func (o *Options) split(dash int, args []string) (names, command []string, err error) {
	switch {
	case dash < 0 && len(args) > 1:
		again := []string{args[0]}
		switch {
		case o.Stdin && o.TTY:
			again = append(again, "-it")
		case o.Stdin:
			again = append(again, "-i")
		case o.TTY:
			again = append(again, "-t")
		}
		again = append(again, "--")
		return nil, nil, errs.Usagef("missing -- before the command").Suggest(errs.Run("exec", append(again, args[1:]...)...))
	case dash < 0:
		return nil, nil, errs.Usagef("a command is required").Suggest(errs.Run("exec", "NAME", "--", "COMMAND"))
	}
	return args[:dash], args[dash:], nil
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	several := o.Pods.Choice().Several()
	switch {
	case len(o.Command) == 0:
		return errs.Usagef("a command is required after --").Suggest(errs.Run("exec", o.Name, "--", "COMMAND"))
	case o.Command[0] == "":
		return errs.Usagef("the command is empty").Suggest(errs.Run("exec", o.Name, "--", "COMMAND"))
	case several && (o.TTY || o.Stdin):
		return errs.Usagef("-i and -t require a single pod").Suggest(suggest.Pod("NAME"), suggest.Rank(0))
	case o.Prefix && o.TTY:
		return errs.Usagef("--prefix cannot be used with -t").WithAdvice("remove one of them")
	}
	return nil
}

// Run runs the command.
func Run(ctx context.Context, o *Options) error {
	cluster, err := o.Factory.Cluster(ctx)
	if err != nil {
		return err
	}
	chosen, err := o.Pods.Choose(ctx, o.Factory, cluster, podflags.Job{Name: o.Name, Kind: o.Kind}, "run the command")
	if err != nil {
		return err
	}
	pods := chosen.Pods
	targets := make([]target, 0, len(pods))
	var unfit error
	for _, p := range pods {
		container, err := p.Container(o.Pods.Container)
		if err = jobtext.Error(err); err == nil {
			err = podflags.Running(p, container, "run a command")
		}
		if err != nil {
			unfit = err
			if len(pods) > 1 {
				o.Factory.Notef("warning: %v", err)
			}
			continue
		}
		targets = append(targets, target{namespace: chosen.Job.Namespace, pod: p.Name, container: container})
	}
	if len(targets) == 0 {
		return unfit
	}
	if !o.Pods.Choice().Several() {
		return o.one(ctx, cluster.Client, targets[0])
	}
	err = o.all(ctx, cluster.Client, targets)
	if err == nil && unfit != nil {
		return errs.Wrap(unfit, "the command did not run in all pods")
	}
	return err
}

// target is where a command runs.
type target struct{ namespace, pod, container string }

// one runs the command in one pod, with a terminal if -t is set.
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
		f.Notef("note: no terminal for the command: stdin is not a terminal")
	}
	code, err := c.Exec(ctx, x)
	return o.exit(code, closeAll(err, stdout, stderr))
}

// closeAll closes the streams. It returns err, or the first failure to close if err is
// nil.
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

// exit returns the command's exit code as an error. A note names it, because the codes
// of hyperpod itself have meanings of their own.
func (o *Options) exit(code int, err error) error {
	if err != nil || code == 0 {
		return err
	}
	o.Factory.Notef("note: the command exited with code %d", code)
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
	var running crash.Group
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
				stop(failures[i]) // cannot write the output: not the fault of a pod
			}
		})
	}
	running.Wait()
	if at.Err() != nil {
		return context.Cause(at)
	}
	return o.sum(targets, codes, failures)
}

// sum reports every failure on stderr and returns the first.
func (o *Options) sum(targets []target, codes []int, failures []error) error {
	var first error
	for i, t := range targets {
		switch {
		case failures[i] != nil:
			o.Factory.Notef("warning: %v", failures[i])
			if first == nil {
				first = errs.Wrap(failures[i], "the command did not run in all pods")
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
