package dashboardcmd

import (
	"context"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/cli/browser"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// serve shows the tabs in a browser until ctx ends.
func (o *Options) serve(ctx context.Context, c *factory.Cluster, feed *feed) error {
	f := o.Factory
	if c.Snapshot != nil {
		return errs.Usagef("--web follows a cluster: a snapshot does not change").Suggest(errs.Run("dashboard").WithNote("prints the tabs"))
	}
	ln, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return errs.Wrap(err, "cannot listen on "+o.Listen).Suggest(errs.Option("--listen", anyPort).WithNote("any free port"))
	}
	defer ln.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running crash.Group
	defer running.Wait()
	defer cancel()
	running.Go(func() { feed.run(ctx, c, f.Reconnect) })
	for snap, changed := feed.look(c.Now()); snap == nil || snap.Failure != nil; snap, changed = feed.look(c.Now()) {
		if snap != nil {
			return snap.Failure
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
	w := newWeb(feed, historystore.Cluster(c), f.User(), c.Now)
	w.show = func(ctx context.Context, args ...string) string { return commandOutput(ctx, args, f.RunArgs()) }
	link := w.link(ln)
	if err := f.IO.PrintLine(link); err != nil {
		return err
	}
	if err := f.IO.Flush(); err != nil {
		return err
	}
	f.Notef("the link works once, in one browser; Ctrl-C ends the dashboard")
	if !o.NoBrowser {
		crash.Go(func() { // it can end with the browser only, which needs the page
			if err := browser.Open(ctx, f.Env, link); err != nil && ctx.Err() == nil {
				f.Notef("note: cannot open a browser (%v): open the link yourself", err)
			}
		})
	}
	return w.serve(ctx, ln)
}

// commandOutput runs a command line of this program and returns what it prints, without color, up to a megabyte.
func commandOutput(ctx context.Context, args, globals []string) string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	cmd := exec.CommandContext(ctx, self, append(slices.Clone(globals), args...)...)
	out := bounded.NewHead(1 << 20)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=120")
	cmd.WaitDelay = time.Second // a program that it started, such as a credential plugin, can keep the output open
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return err.Error()
	}
	return output.SafeLines(out.String())
}
