// Package portforward is `hyperpod port-forward`.
package portforward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/browser"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podend"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/forward"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory    *factory.Factory
	Name, Kind string
	Pods       podflags.Flags
	Addresses  []string
	Open       bool
	Ports      []string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "port-forward NAME [LOCAL:]REMOTE...",
		Short: "Forward ports of this machine to a pod of a job",
		Long: `Forward ports of this machine to ports of a pod of a job: the launcher, head or
rank 0, or the pod that you choose. A port is REMOTE, LOCAL:REMOTE, or :REMOTE
for any free local port. Press Ctrl-C to end the command.

A connection that fails does not end the others. port-forward reopens a lost
connection to the pod. When the pod ends, port-forward reports why, for example
that the job was preempted, and exits.

Only programs on this machine can connect, unless --address allows others.`,
		Example: `  hyperpod port-forward smpv2-llama2 6006
  hyperpod port-forward smpv2-llama2 8080:6006 --open
  hyperpod port-forward smpv2-llama2 :8888 --role worker`,
		Args: func(*cobra.Command, []string) error { return nil }, // checked below: the words after NAME are ports
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			var names []string
			if !cmd.Flags().Changed("job-name") && len(args) > 0 {
				names, args = args[:1], args[1:]
			}
			if err := factory.TakeJob(&o.Name, &o.Kind)(cmd, names); err != nil {
				return err
			}
			o.Ports = args
			return o.Pods.Settle(cmd)
		}, Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	o.Pods.AddSingle(f, cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Addresses, "address", []string{"127.0.0.1"}, "local addresses to listen on")
	fs.BoolVar(&o.Open, "open", false, "open the first port in the browser")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if len(o.Ports) == 0 {
		return errs.Usagef("a port is required").Suggest(errs.Run("port-forward", o.Name, "6006"))
	}
	if _, err := o.ports(); err != nil {
		return err
	}
	for _, a := range o.Addresses {
		if a != "localhost" && net.ParseIP(a) == nil {
			return factory.Invalid("address", a, "must be an IP address or localhost").Suggest(errs.Option("--address", "127.0.0.1"))
		}
	}
	return nil
}

// ports reads the ports. No local port may be named twice.
func (o *Options) ports() ([]forward.Port, error) {
	var out []forward.Port
	local := map[uint16]bool{}
	for _, text := range o.Ports {
		p, err := forward.ParsePort(text)
		if err != nil {
			return nil, errs.Usagef("invalid port %q: %v", text, err).Suggest(errs.Run("port-forward", o.Name, "8080:6006"))
		}
		if p.Local != 0 && local[p.Local] {
			return nil, errs.Usagef("local port %d is given twice", p.Local).Suggest(errs.Run("port-forward", o.Name, ":"+strconv.Itoa(int(p.Remote))).WithNote("any free local port"))
		}
		local[p.Local] = true
		out = append(out, p)
	}
	return out, nil
}

// Run forwards until Ctrl-C, or until the pod ends.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	ports, err := o.ports()
	if err != nil {
		return err
	}
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	const what = "forward ports"
	target, err := o.Pods.Single(ctx, f, cluster, podflags.Job{Name: o.Name, Kind: o.Kind}, what)
	if err != nil {
		return err
	}
	pod := podend.Pod{Job: target.Job, Name: target.Pod.Name, UID: target.Pod.UID}
	err = forward.Run(ctx, forward.Options{
		Addresses: o.Addresses,
		Ports:     ports,
		Open: func(ctx context.Context) (forward.Tunnel, error) {
			t, err := cluster.Tunnel(ctx, target.Job.Namespace, target.Pod.Name)
			if err != nil {
				return nil, err // not a nil *Tunnel in an interface
			}
			return t, nil
		},
		Ended: func(ctx context.Context) error {
			switch err := pod.Wait(ctx, cluster); {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return fmt.Errorf("%w: %w", forward.ErrUnwatched, err)
			}
			return pod.Why(ctx, cluster, "the forward ended")
		},
		Final: func(err error) bool {
			code := errs.ExitOf(err)
			return code == errs.NotFound || code == errs.Denied || code == errs.Usage
		},
		Tell:  o.printer(ctx, target),
		After: time.After,
	})
	var listen *forward.ListenError
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C is how it ends
	case errors.As(err, &listen):
		return cannotListen(o.Name, listen)
	}
	return err
}

// printer returns the function that reports events.
func (o *Options) printer(ctx context.Context, target podflags.Target) func(forward.Event) {
	f := o.Factory
	opened := false
	return func(e forward.Event) {
		switch e.Kind {
		case forward.Listening:
			fmt.Fprintf(f.IO.Out, "Forwarding from %s to port %d of pod %s\n", e.Address, e.Port.Remote, target.Pod.Name)
			_ = f.IO.Flush() // an output that is gone does not end the forward
			if o.Open && !opened {
				opened = true
				page := "http://" + reachable(e.Address)
				crash.Go(func() {
					if err := browser.Open(ctx, f.Env, page); err != nil && ctx.Err() == nil {
						f.Notef("warning: cannot open the browser: %v; open %s yourself", err, page)
					}
				})
			}
		case forward.Failed:
			f.Notef("warning: a connection to %s failed: %v", e.Address, e.Err)
		case forward.Lost:
			if e.Err != nil {
				f.Notef("warning: cannot connect to pod %s again: %v; next try in %s", target.Pod.Name, e.Err, words.Age(e.Wait))
				return
			}
			f.Notef("warning: the connection to pod %s is lost; connecting again", target.Pod.Name)
		case forward.Reconnected:
			f.Notef("connected to pod %s again", target.Pod.Name)
		}
	}
}

// reachable returns an address for a browser: a listener on all addresses is reached by
// loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// cannotListen explains why a local port cannot be used.
func cannotListen(job string, e *forward.ListenError) error {
	remote := strconv.Itoa(int(e.Port.Remote))
	anyPort := errs.Run("port-forward", job, ":"+remote).WithNote("any free local port")
	what := "cannot listen on " + e.Address
	switch {
	case inUse(e.Err):
		return errs.New(what, "the port is in use").WithCause(e.Err).Suggest(anyPort)
	case errors.Is(e.Err, syscall.EACCES):
		return errs.New(what, "permission denied; ports below 1024 need privileges").WithCause(e.Err).Suggest(anyPort)
	case errors.Is(e.Err, syscall.EADDRNOTAVAIL):
		return errs.New(what, "this machine does not have the address").WithCause(e.Err).Suggest(errs.Option("--address", "127.0.0.1"))
	}
	return errs.Wrap(e.Err, what).Suggest(anyPort)
}

// inUse reports whether another program has the port. Windows has an error of its own.
func inUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "Only one usage of each socket address")
}
