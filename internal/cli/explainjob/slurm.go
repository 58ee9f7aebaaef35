package explainjob

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// SlurmExplanation is an explanation with what Slurm adds.
type SlurmExplanation struct {
	explain.Explanation
	Slurm SlurmPart
}

// SlurmPart is what Slurm says of the job.
type SlurmPart struct {
	ID        string
	State     string
	Partition string
	// ExpectedStart and ExpectedNodes are Slurm's own plan for a pending job, null and ""
	// where it has none.
	ExpectedStart *time.Time
	ExpectedNodes string
	TimeLimit     string
	Dependency    string
}

// runSlurm is Run on a Slurm cluster.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	switch {
	case o.Assume != 0:
		return factory.NotOnSlurm("assume-duration").WithAdvice("Slurm's estimate counts with the time limits of the jobs")
	case o.AllHolders:
		return factory.NotOnSlurm("all-holders").WithAdvice("leave --all-holders out")
	}
	j, err := slurmjob.Find(ctx, c, o.Name, f.Now())
	if err != nil {
		return err
	}
	all, err := slurmjob.All(ctx, c, f.Now())
	if err != nil {
		return err
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		f.Notef("note: nodes are hidden: %v", err)
	}
	e := explained(j, all, f.Now())
	return admissioncheck.Print(f, format, e, func() string { return slurmText(e, j, nodes, f) }, j.Slurm.ID)
}

// explained returns the explanation as a document.
func explained(j slurmjob.Job, all []slurmjob.Job, now time.Time) *SlurmExplanation {
	s := j.Slurm
	e := &SlurmExplanation{Explanation: explain.Explanation{Schema: explain.Schema, State: string(j.Status.State), Since: j.Status.Since, Reason: j.Status.Reason,
		Detail: jobtext.Message(j.Status), Time: now.UTC().Truncate(time.Second),
		Job: explain.Job{Name: j.Job.Name, Namespace: s.Account, Kind: slurm.Kind.Kind, CreationTime: s.Submit, Owner: s.User, PriorityClass: s.QOS, Priority: int32(min(s.Priority, math.MaxInt32))}},
		Slurm: SlurmPart{ID: s.ID, State: s.State, Partition: s.Partition, TimeLimit: s.TimeLimit, Dependency: s.Dependency}}
	e.Timeline = []explain.Moment{{Time: s.Submit, Step: "Submitted", Message: "submitted"}}
	if j.Job.Start != nil {
		e.Timeline = append(e.Timeline, explain.Moment{Time: *j.Job.Start, Step: "Started", Message: "started on " + s.NodeList})
	}
	if j.Job.Completion != nil {
		e.Timeline = append(e.Timeline, explain.Moment{Time: *j.Job.Completion, Step: string(j.Status.State), Message: strings.ToLower(string(j.Status.State))})
	}
	if at, of := j.Position(all); of > 0 {
		e.Position = &explain.Position{Queue: s.Partition, Position: at, Waiting: of, WaitingSeconds: int64(now.Sub(s.Submit).Seconds())}
		if s.Start.After(now) {
			start := s.Start
			e.Slurm.ExpectedStart, e.Slurm.ExpectedNodes = &start, s.SchedNodes
		}
	}
	state := string(j.Status.State)
	e.Summary = fmt.Sprintf("%s is %s%s", j.Job.Name, strings.ToLower(state), strings.TrimPrefix(jobtext.State(j.Status), state))
	return e
}

// slurmText returns the explanation for people.
func slurmText(e *SlurmExplanation, j slurmjob.Job, nodes []slurm.Node, f *factory.Factory) string {
	width, now := 0, f.Now()
	if f.IO.OutTTY {
		width = f.IO.Width
	}
	p := textpage.New(width)
	word := strings.ToUpper(e.State)
	if j.Status.State == jobs.Pending {
		word = "WAITS"
	}
	line := word + "  " + j.Job.Name
	if why := jobtext.Why(j.Status); why != "" {
		line += ": " + why
	}
	p.Line(line)
	if e.Reason != "" {
		p.Row("reason", e.Reason)
	}
	p.Row("job", fmt.Sprintf("%s in partition %s, %s", j.Slurm.ID, j.Slurm.Partition, words.Count(j.Slurm.Nodes, "node", "nodes")))
	if at := e.Position; at != nil {
		p.Row("position", fmt.Sprintf("%d of %d in the partition, pending for %s", at.Position, at.Waiting, words.Age(now.Sub(j.Slurm.Submit))))
	}
	switch {
	case e.Slurm.ExpectedStart != nil:
		text := fmt.Sprintf("in about %s, at %s", words.Age(e.Slurm.ExpectedStart.Sub(now)), jobs.Time(*e.Slurm.ExpectedStart))
		if e.Slurm.ExpectedNodes != "" {
			text += " on " + e.Slurm.ExpectedNodes
		}
		p.Row("estimate", text+" (Slurm's own; it counts with the time limits of running jobs)")
	case j.Status.State == jobs.Pending:
		p.Row("estimate", "Slurm has none")
	}
	var out []string
	for _, n := range nodes {
		if n.Out() {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s (%s: %s)", n.Name, n.State, n.Reason), ": )"))
		}
	}
	if j.Status.State == jobs.Pending && len(out) > 0 {
		p.Row("nodes out", words.Clip(strings.Join(out, ", "), 300))
	}
	for _, m := range e.Timeline {
		p.Row(m.Time.Format("15:04:05"), m.Message)
	}
	return p.String()
}
