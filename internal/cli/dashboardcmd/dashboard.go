// Package dashboardcmd is `hyperpod dashboard`.
package dashboardcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/cli/prometheusflags"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startestimate"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/loopback"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// Options are what was typed on the command line.
type Options struct {
	Factory  *factory.Factory
	ReadOnly bool
	// Mouse takes clicks and the wheel from the terminal.
	Mouse bool
	// Web serves the tabs to a browser, at the address Listen. NoBrowser only prints the link.
	Web, NoBrowser bool
	Listen         string
	Prometheus     prometheusflags.Flags
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Follow utilization, teams, jobs and nodes on a screen",
		Long: `Show a screen with four tabs: utilization of each instance type, quota of teams,
jobs, and nodes. The screen follows changes of the cluster. Press ? to see the
keys.

Select a job to explain it, to show its log or pods, to suspend or cancel it, or
to change its priority. The keys run the commands of the same names, and prompt
before they change something. Jobs of other people are dimmed. --namespace
limits the jobs to those of one namespace.

With a Prometheus server, UTIL is how busy the accelerators of a job are, and
UNUSED how many accelerators a team's idle jobs hold. The dashboard queries it
every 30 seconds.

--mouse lets a click choose a tab or a row, and the wheel scroll. Most terminals
then select text while Shift is held.

--web shows the same tabs in a browser, read-only: on a loopback address, behind
a link that works once. The page shows what your permissions allow. To open it
on another machine, add --listen 127.0.0.1:8002 here, run this there, and change
the port in the link to 9000:

  ssh -L 9000:127.0.0.1:8002 HOST

With a snapshot, with TERM=dumb, or if stdout is not a terminal, the command
prints the tabs once.`,
		Example: `  hyperpod dashboard
  hyperpod dashboard --read-only
  hyperpod dashboard --web
  hyperpod dashboard | less`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.ReadOnly, "read-only", false, "disable the keys that change something")
	fs.BoolVar(&o.Mouse, "mouse", false, "choose tabs and rows with the mouse")
	fs.BoolVar(&o.Web, "web", false, "serve the tabs to a browser on this machine")
	fs.StringVar(&o.Listen, "listen", anyPort, "loopback address and port of --web")
	fs.BoolVar(&o.NoBrowser, "no-browser", false, "with --web, print the link and open no browser")
	o.Prometheus.Add(cmd)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if err := o.Prometheus.Validate(); err != nil {
		return err
	}
	if !o.Web {
		switch {
		case o.NoBrowser:
			return errs.Usagef("--no-browser requires --web")
		case o.Listen != anyPort:
			return errs.Usagef("--listen requires --web")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil || !loopback.Is(host) {
		return errs.Usagef("invalid --listen %q: must be a loopback address and a port", o.Listen).Suggest(errs.Option("--listen", "127.0.0.1:8002"))
	}
	return nil
}

// anyPort is a loopback address with any free port.
const anyPort = "127.0.0.1:0"

// Run shows the screen until the user quits.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	if f.Env("GOGC") == "" {
		// A screen that stays open holds lists for hours: less memory is worth more than the time of the collector.
		defer debug.SetGCPercent(debug.SetGCPercent(40))
	}
	prom, err := o.Prometheus.Client(f)
	if err != nil {
		return err
	}
	feed := newFeed(f.Now)
	if prom != nil {
		feed.measure = (&prometheusflags.Reader{Client: prom}).Read
	}
	feed.namespace = f.Global.Namespace
	f.Observe = feed.observe
	c, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	feed.estimate = func(ctx context.Context, c *factory.Cluster, queues []string) (map[queue.Key]queue.ETA, error) {
		ctx, next, err := turn.Take(ctx)
		if err != nil {
			return nil, err
		}
		defer next()
		return startestimate.Of(ctx, c, func(ctx context.Context) ([]string, error) {
			return c.KnownNamespaces(ctx, f.Global.Namespace, kinds.Workload)
		}, queues, 0)
	}
	feed.recorded = func() map[history.NodeKey][]float64 { return recorded(f, c) }
	if o.Web {
		return o.serve(ctx, c, feed)
	}
	if !f.IO.OutTTY || !f.IO.InTTY || f.Env("TERM") == "dumb" || c.Snapshot != nil {
		return printOnce(ctx, f, c, feed.measure)
	}
	return o.screen(ctx, c, feed)
}

// screen shows the tabs on the terminal until the user quits.
func (o *Options) screen(ctx context.Context, c *factory.Cluster, feed *feed) error {
	f := o.Factory
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running crash.Group
	defer running.Wait()
	defer cancel()
	running.Go(func() { feed.run(ctx, c, f.Reconnect) })
	m := newModel()
	m.source, m.io, m.now, m.user, m.readOnly, m.mouse = feed, *f.IO, c.Now, f.User(), o.ReadOnly, o.Mouse
	m.run = func(args ...string) tea.Cmd {
		cmd, err := newCommand(ctx, args, f.RunArgs())
		if err != nil {
			return func() tea.Msg { return returned{err} }
		}
		cmd.hold = f.HoldInterrupts
		return tea.Exec(cmd, func(err error) tea.Msg { return returned{err} })
	}
	m.pods = func(node string) tea.Cmd {
		return func() tea.Msg {
			pods, err := state.ListPods(ctx, feed.connected(), "", kube.ListOptions{FieldSelector: "spec.nodeName=" + node})
			return loaded{dashboardview.PodsOf(node, pods, c.Now()), err}
		}
	}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(f.IO.In), tea.WithOutput(f.IO.Out), tea.WithoutSignalHandler()).Run()
	if m.failure != nil {
		return m.failure
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// recorded is what the cluster's store knows of the last minutes; without a store it is empty.
func recorded(f *factory.Factory, c *factory.Cluster) map[history.NodeKey][]float64 {
	dir, err := historystore.Dir(f, c, "")
	if err != nil {
		return nil
	}
	now := c.Now()
	d, err := history.Read(dir, now.Add(-dashboardview.TrailPoints*dashboardview.TrailEvery), now)
	if err != nil || d.Cluster != historystore.Cluster(c) {
		return nil
	}
	return dashboardview.Recorded(d, now)
}

// want is what the tabs show, beside jobs.
func want(c *factory.Cluster, namespace string) state.Want {
	w := state.Want{Workloads: true, PodSets: true, ClusterQueues: true, LocalQueues: true, Cohorts: true, Flavors: true, Nodes: true}
	findteam.Scope{Namespace: namespace}.Fallbacks(c, &w)
	return w
}

// printOnce prints the tabs, one below the other.
func printOnce(ctx context.Context, f *factory.Factory, c *factory.Cluster, measure measure) error {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return err
	}
	w := want(c, f.Global.Namespace)
	w.Jobs = served
	st, err := state.Load(ctx, c.Client, w, c.Now())
	if err != nil {
		return err
	}
	f.MissingFigures(st.Missing)
	var rules order.Reader
	s := &dashboardview.Snapshot{Time: st.Taken, Namespace: f.Global.Namespace, State: st, Tasks: tasksOf(st, f.Global.Namespace), Rules: rules.Rules(ctx, c.Client, st.Workloads)}
	var unmeasured error
	if measure != nil {
		s.Use, _, unmeasured = measure(ctx, c, f.Global.Namespace, st.Jobs)
	}
	for i, name := range dashboardview.Names() {
		v := dashboardview.Of(s, dashboardview.Tab(i), "")
		if i > 0 {
			name = "\n" + name
		}
		if err := f.IO.PrintLine(name + ": " + v.Summary); err != nil {
			return err
		}
		if err := f.IO.PrintTable(v.Table); err != nil {
			return err
		}
	}
	return errs.Also(factory.Failures(st.Missing), unmeasured)
}

// command runs a command line of this program on the terminal, and waits for Enter after it.
type command struct {
	cmd *exec.Cmd
	// hold lets Ctrl-C end only the command, not the dashboard; nil where there is no terminal.
	hold func() (release func())
}

// newCommand makes a command that ends with ctx.
func newCommand(ctx context.Context, args, globals []string) (*command, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args = append(args, globals...)
	if !slices.Contains([]string{"get-log", "patch-job", "cancel-job"}, args[0]) { // those print no table
		args = append(args, "-o", "table")
	}
	return &command{cmd: exec.CommandContext(ctx, self, args...)}, nil
}

// SetStdin, SetStdout and SetStderr implement tea.ExecCommand.
func (c *command) SetStdin(r io.Reader)  { c.cmd.Stdin = r }
func (c *command) SetStdout(w io.Writer) { c.cmd.Stdout = w }
func (c *command) SetStderr(w io.Writer) { c.cmd.Stderr = w }

// Run implements tea.ExecCommand.
func (c *command) Run() error {
	if c.hold != nil {
		defer c.hold()()
	}
	err := c.cmd.Run()
	fmt.Fprint(c.cmd.Stderr, "\npress Enter to return to the dashboard ")
	_, _ = bufio.NewReader(c.cmd.Stdin).ReadString('\n')
	return err
}
