package getjob

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// runSlurm is Run on a Slurm cluster.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	j, err := slurmjob.Find(ctx, c, o.Name, f.Now())
	if err != nil {
		return err
	}
	switch {
	case o.Manifest:
		script, err := c.BatchScript(ctx, j.Slurm.Number())
		if err != nil {
			return slurmtext.Error("cannot read the script of job "+j.Slurm.ID, err)
		}
		_, err = io.WriteString(f.IO.Out, script)
		return err
	case o.Watch:
		return o.watchSlurm(ctx, c, j, format)
	case format.IsTable():
		_, err = io.WriteString(f.IO.Out, slurmPage(ctx, f, c, j))
		return err
	}
	object := j.Object()
	var document any = object
	if format.Name == output.JSON {
		p := *o
		p.Name = j.Job.Name
		document = p.keys(findjob.Job{Kind: slurm.Kind, Namespace: j.Job.Namespace, Object: object}, nil, jobs.ResilienceRow{Retries: j.Slurm.Restarts, Nodes: j.Slurm.Nodes})
	}
	return output.Print(f.IO, format, document, nil, func() []string { return []string{j.Slurm.ID} })
}

// slurmPage renders a job for people.
func slurmPage(ctx context.Context, f *factory.Factory, c *client.Client, j slurmjob.Job) string {
	now, s := f.Now(), j.Slurm
	w := &writer{io: f.IO, now: now}
	w.line(output.Strong, slurmHeadline(j, f))
	w.b.WriteByte('\n')
	w.row("id", s.ID)
	in := "partition " + s.Partition
	if s.Account != "" {
		in += ", account " + s.Account
	}
	w.row("queue", in)
	w.row("priority", cmp.Or(s.QOS, "none: the cluster has no QOS for it"))
	w.row("devices", cmp.Or(devices(jobs.Devices(j.Job)), "none"))
	size := words.Count(s.Nodes, "node", "nodes")
	if s.NodeList != "" {
		size += ": " + s.NodeList
	}
	w.row("nodes", size)
	w.row("limit", s.TimeLimit)
	w.row("after", s.Dependency)
	created := jobs.Time(s.Submit)
	if s.User != "" {
		created += " by " + s.User
	}
	w.row("created", created)
	if j.Job.Start != nil {
		w.row("started", jobs.Time(*j.Job.Start))
	} else if s.Active() && !s.Start.IsZero() {
		w.row("starts", "about "+jobs.Time(s.Start)+" (Slurm's estimate)")
	}
	if j.Job.Completion != nil {
		w.row("ended", jobs.Time(*j.Job.Completion))
	}
	if s.Restarts > 0 {
		w.row("restarts", fmt.Sprint(s.Restarts))
	}
	w.row("command", s.Command)
	if d, err := c.Details(ctx, s.ID); err == nil {
		w.row("log", s.OutputFile(d.StdOut))
	}
	w.row("comment", s.Comment)
	return w.b.String()
}

// slurmHeadline returns the state and why.
func slurmHeadline(j slurmjob.Job, f *factory.Factory) string {
	s := j.Status
	text := fmt.Sprintf("%s has been %s for %s", j.Job.Name, strings.ToLower(string(s.State)), words.Age(f.Now().Sub(s.Since)))
	if s.State.Finished() {
		text = fmt.Sprintf("%s %s %s ago", j.Job.Name, strings.ToLower(string(s.State)), words.Age(f.Now().Sub(s.Since)))
	}
	if why := jobtext.Why(s); why != "" {
		text += ": " + why
	}
	return text
}

// watchSlurm shows the job and then every change, until it ends.
func (o *Options) watchSlurm(ctx context.Context, c *client.Client, j slurmjob.Job, format output.Format) error {
	f := o.Factory
	if !format.IsTable() && format.Name != output.JSON {
		return factory.NoWatch(format)
	}
	screen := output.NewScreen(f.IO)
	shown, last := "", jobs.Status{}
	return slurmjob.Follow(ctx, c, j, f.Now, func(j slurmjob.Job) (bool, error) {
		kind := "ADDED"
		if last.State != "" {
			kind = "MODIFIED"
		}
		changed := !last.Equal(j.Status)
		last = j.Status
		var err error
		line := jobtext.Progress(wait.Progress{Job: j.Job, Status: j.Status})
		switch {
		case format.Name == output.JSON && changed:
			err = f.IO.PrintJSONLine(struct {
				Type string
				jobs.VerboseRow
			}{kind, jobtext.VerboseRow(j.Job, j.Status)})
		case format.Name == output.JSON:
		case screen.Redraws():
			err = screen.Update(slurmPage(ctx, f, c, j))
		case line != shown:
			shown = line
			_, err = fmt.Fprintf(f.IO.Out, "%s  %s\n", jobs.Time(f.Now()), output.Safe(line))
		}
		if err == nil {
			err = f.IO.Flush()
		}
		return !j.Status.State.Finished(), err
	})
}
