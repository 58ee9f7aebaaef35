package getjob

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

// watch shows the job and then every change, until the job ends, is deleted or the
// user presses Ctrl-C. On a terminal it redraws the page in place; elsewhere each
// change is a line.
func watch(ctx context.Context, o *Options, c *factory.Cluster, found findjob.Job, format output.Format) error {
	f := o.Factory
	if !format.IsTable() && format.Name != output.JSON {
		return factory.NoWatch(format)
	}
	screen := output.NewScreen(f.IO)
	shown := ""
	show := func(ch follow.Change) error {
		switch {
		case format.Name == output.JSON:
			return f.IO.PrintJSONLine(jobs.VerboseChanged{Type: ch.Type, VerboseRow: jobtext.VerboseRow(ch.Job, ch.Status)})
		case screen.Redraws():
			r, err := (&loader{c: c}).surroundings(ctx, report{job: ch.Job, workload: ch.Workload, workloads: ch.Queue, order: ch.Order, pods: ch.Pods})
			if err != nil {
				return err
			}
			return screen.Update(r.page(f.IO, c.Now()))
		}
		p := wait.Progress{Job: ch.Job, Status: ch.Status}
		p.Position, p.Of = ch.Order.Position(ch.Workload, ch.Queue)
		line := jobtext.Progress(p)
		if line == shown {
			return nil
		}
		shown = line
		_, err := fmt.Fprintf(f.IO.Out, "%s  %s\n", jobs.Time(c.Now()), output.Safe(line))
		return err
	}
	scope := follow.Scope{Kinds: []kinds.Job{found.Kind}, Namespace: found.Namespace, Name: o.Name, Pods: true, Missing: f.Missing}
	seen := false
	return follow.Follow(ctx, c.Client, scope, func(ch follow.Change) error {
		switch {
		case ch.Type == kube.Synced && seen:
			return nil
		case ch.Type == kube.Synced, ch.Type == kube.Deleted && ch.Job.UID == found.UID():
			return errs.NotFoundf("job %s was deleted", o.Name)
		case ch.Job.UID != found.UID():
			return nil
		}
		seen = true
		if err := show(ch); err != nil {
			return err
		}
		if err := f.IO.Flush(); err != nil {
			return err
		}
		if ch.Status.State.Finished() {
			return kube.ErrStop
		}
		return nil
	})
}
