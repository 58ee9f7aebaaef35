package listjobs

import (
	"context"
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

// watch shows the jobs and then every change, until the user presses Ctrl-C.
func watch(ctx context.Context, o *Options, c *factory.Cluster, s scope, format output.Format) error {
	var show func(follow.Change) error
	switch {
	case format.IsTable():
		show = o.liveTable(c, s, format)
	case format.Name == output.JSON:
		show = func(ch follow.Change) error { return o.printChange(c, ch) }
	default:
		return factory.NoWatch(format)
	}
	scope := follow.Scope{Kinds: s.kinds, Namespace: s.namespace, Namespaces: s.all, Selector: o.selector(), Missing: o.Factory.Missing}
	return follow.Follow(ctx, c.Client, scope,
		func(ch follow.Change) error {
			if err := show(ch); err != nil {
				return err
			}
			return o.Factory.IO.Flush()
		})
}

// printChange writes one job object on a line, with the type of the change.
func (o *Options) printChange(c *factory.Cluster, ch follow.Change) error {
	if ch.Type == kube.Synced || !o.wanted(row{job: ch.Job, status: ch.Status}, c.Now()) {
		return nil
	}
	if o.Verbose || o.Sweep != "" {
		return o.Factory.IO.PrintJSONLine(jobs.VerboseChanged{Type: ch.Type, VerboseRow: jobtext.VerboseRow(ch.Job, ch.Status)})
	}
	return o.Factory.IO.PrintJSONLine(jobs.Changed{Type: ch.Type, Row: jobs.RowOf(ch.Job, ch.Status)})
}

// liveTable redraws the table in place on a terminal and prints a row for each
// change elsewhere.
func (o *Options) liveTable(c *factory.Cluster, s scope, format output.Format) func(follow.Change) error {
	key := 1 // a row is known by its name
	if o.AllNamespaces {
		key = 2
	}
	live := output.NewLiveTable(o.Factory.IO, format.Name == output.Wide, key)
	rows := map[string]row{}
	synced := false
	draw := func() error {
		all := o.sorted(slices.Collect(maps.Values(rows)), c.Now())
		return live.Update(o.table(all, c.Now(), s.text()))
	}
	return func(ch follow.Change) error {
		if ch.Type == kube.Synced {
			synced = true
			return draw()
		}
		if ch.Type == kube.Deleted || !o.wanted(row{job: ch.Job, status: ch.Status}, c.Now()) {
			delete(rows, ch.Job.UID)
		} else {
			rows[ch.Job.UID] = row{job: ch.Job, status: ch.Status}
		}
		if !synced {
			return nil
		}
		return draw()
	}
}
