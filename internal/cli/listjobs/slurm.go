package listjobs

import (
	"context"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// slurmRows reads the jobs of a Slurm cluster that the options choose. --namespace is an
// account.
func (o *Options) slurmRows(ctx context.Context, c *client.Client, now time.Time) ([]row, error) {
	all, err := slurmjob.All(ctx, c, now)
	if err != nil {
		return nil, err
	}
	var out []row
	for _, j := range all {
		r := row{job: j.Job, status: j.Status}
		if account := o.Factory.Global.Namespace; (account == "" || account == j.Job.Namespace) && j.OfSweep(o.Sweep) && o.wanted(r, now) {
			out = append(out, r)
		}
	}
	return o.sorted(out, now), nil
}

// runSlurm is Run on a Slurm cluster.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	if err := factory.NoLabelsOnSlurm(o.Selector, o.Kind); err != nil {
		return err
	}
	if o.measures() {
		return errs.Usagef("the utilization of accelerators is known only for Kubernetes clusters")
	}
	if err := o.Since.CheckPast("since", f.Now()); err != nil {
		return err
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	if o.Watch {
		return o.watchSlurm(ctx, c, format)
	}
	rows, err := o.slurmRows(ctx, c, f.Now())
	if err != nil {
		return err
	}
	return output.Print(f.IO, format, o.document(rows, nil), func() output.Table {
		shown, hidden := o.few(rows, format)
		t := o.slurmTable(shown)
		t.Notes = hidden
		return t
	}, func() (ids []string) {
		for _, r := range rows {
			ids = append(ids, r.job.UID)
		}
		return ids
	})
}

// slurmTable returns the table with a column for the ids.
func (o *Options) slurmTable(rows []row) output.Table {
	t := table(rows, o.Factory.Now(), o.AllNamespaces)
	at := 0
	if o.AllNamespaces {
		t.Columns[0].Title, at = "ACCOUNT", 1
	}
	t.Columns = slices.Insert(t.Columns, at, output.Column{Title: "ID", Keep: true})
	for i, r := range rows {
		if len(jobs.Devices(r.job)) == 0 {
			t.Rows[i][at+2].Text = words.Count(r.status.Wanted, "node", "nodes")
		}
		t.Rows[i] = slices.Insert(t.Rows[i], at, output.Cell{Text: r.job.UID})
	}
	if o.Sweep != "" {
		withParameters(&t, rows)
	}
	t.NoHeader = o.NoHeaders
	t.Empty = o.nothing("the Slurm cluster")
	if account := o.Factory.Global.Namespace; account != "" {
		t.Empty = o.nothing("account " + account)
	}
	return t
}

// watchSlurm shows the jobs again and again, until the user presses Ctrl-C.
func (o *Options) watchSlurm(ctx context.Context, c *client.Client, format output.Format) error {
	f := o.Factory
	if !format.IsTable() && format.Name != output.JSON {
		return factory.NoWatch(format)
	}
	key := 0
	if o.AllNamespaces {
		key = 1
	}
	live := output.NewLiveTable(f.IO, format.Name == output.Wide, key)
	shown := map[string]jobs.Status{}
	var pauses slurmjob.Pauses
	for {
		rows, err := o.slurmRows(ctx, c, f.Now())
		if err != nil {
			return err
		}
		if format.IsTable() {
			err = live.Update(o.slurmTable(rows))
		} else {
			err = o.printSlurmChanges(rows, shown)
		}
		if err := errs.Also(err, f.IO.Flush()); err != nil {
			return err
		}
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
}

// printSlurmChanges writes the jobs that differ from shown as objects on a line.
func (o *Options) printSlurmChanges(rows []row, shown map[string]jobs.Status) error {
	for _, r := range rows {
		last, seen := shown[r.job.UID]
		if seen && last.Equal(r.status) {
			continue
		}
		kind := "ADDED"
		if seen {
			kind = "MODIFIED"
		}
		shown[r.job.UID] = r.status
		var err error
		if o.Verbose || o.Sweep != "" {
			err = o.Factory.IO.PrintJSONLine(struct {
				Type string
				jobs.VerboseRow
			}{kind, jobtext.VerboseRow(r.job, r.status)})
		} else {
			err = o.Factory.IO.PrintJSONLine(struct {
				Type string
				jobs.Row
			}{kind, jobs.RowOf(r.job, r.status)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
