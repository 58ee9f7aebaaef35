package startjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/logview"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// slurmFlags are the flags that an sbatch script has something for. The others are about
// pods, Kueue and manifests.
var slurmFlags = []string{"name", "generate-name", "idempotency-key", "image", "command", "entry-script", "script-args", "environment", "env-file", "pre-script",
	"post-script", "results-dir", "rdzv-backend", "rdzv-endpoint", "instance-type", "node-count", "tasks-per-node", "accelerators", "accelerators-limit", "vcpu",
	"memory", "queue-name", "priority", "auto-resume", "active-deadline", "dry-run", "wait", "follow", "timeout", "notify", "notify-exec", "notify-url", "on-interrupt", "yes", "sweep", "max-parallel", "max-jobs"}

// beyondSlurm returns the given flags that Slurm has nothing for.
func beyondSlurm(cmd *cobra.Command) (out []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(slurmFlags, f.Name) && f.Name != "output" && cmd.InheritedFlags().Lookup(f.Name) == nil {
			out = append(out, f.Name)
		}
	})
	slices.Sort(out)
	return out
}

// slurmRun is a start on a Slurm cluster.
type slurmRun struct {
	*run
	client *client.Client
	script slurm.Script
	nodes  []slurm.Node
	// text is the script that is submitted, given are options of sbatch beside it.
	text  string
	given []string
}

// startSlurm renders an sbatch script of the flags and does what --dry-run says: it prints
// the script, tests it, or submits it.
func (r *run) startSlurm(ctx context.Context, c *client.Client) error {
	o, f := r.options, r.factory
	if _, err := f.Format(); err != nil {
		return err
	}
	if o.File != "" {
		return (&slurmRun{run: r, client: c}).startScript(ctx)
	}
	if len(o.BeyondSlurm) > 0 {
		return factory.NotOnSlurm(strings.Join(o.BeyondSlurm, ", --")).WithAdvice("leave it out: an sbatch script has no counterpart").Suggest(factory.OnKubernetes())
	}
	if o.jobName() == "" {
		return nameRequired()
	}
	if err := r.readInput(ctx); err != nil {
		return err
	}
	v, err := r.slurmValues()
	if err != nil {
		return err
	}
	s := slurmRun{run: r, client: c}
	if s.nodes, err = c.Nodes(ctx); err != nil {
		if o.DryRun != factory.DryRunClient {
			return slurmtext.Error("cannot read the nodes", err)
		}
		f.Notef("note: the Slurm controller does not answer: the nodes are not checked")
	}
	if points, err := o.points(); err != nil || len(points) > 0 {
		if err != nil {
			return err
		}
		return s.startSweep(ctx, v, points)
	}
	if s.script, err = slurm.ScriptOf(v, s.site(v)); err != nil {
		return slurmtext.Problem(err)
	}
	if err := s.check(ctx, v); err != nil {
		return err
	}
	s.text = s.script.Text()
	s.shield()
	switch o.DryRun {
	case factory.DryRunClient:
		return s.print("")
	case admission, factory.DryRunServer:
		return s.test(ctx)
	}
	return s.submit(ctx)
}

// slurmValues returns what the flags state. Automatic resumption is the default, because it
// costs nothing where HyperPod's plugin is absent.
func (r *run) slurmValues() (values.Values, error) {
	o := r.options
	v, err := o.values()
	if err != nil {
		return v, err
	}
	if len(r.env) > 0 {
		v.Environment = merged(r.env, v.Environment)
	}
	if o.GenerateName {
		v.Name += "-" + o.suffix(v.Name)
	}
	v.Namespace, v.Queue, v.Priority = r.factory.Global.Namespace, o.Queue, o.Priority
	v.AutoResume = o.AutoResume == nil || *o.AutoResume
	return v, nil
}

// site returns what the nodes of the partition offer.
func (s *slurmRun) site(v values.Values) slurm.Site {
	var out slurm.Site
	for _, n := range s.nodes {
		if v.Queue != "" && !slices.Contains(n.Partitions, v.Queue) {
			continue
		}
		out.Features = append(out.Features, n.Features...)
		for _, d := range n.Devices {
			out.Devices = max(out.Devices, d)
		}
	}
	return out
}

// check refuses what Slurm would only find out later.
func (s *slurmRun) check(ctx context.Context, v values.Values) error {
	if v.InstanceType != "" && s.script.Constraint == "" && len(s.nodes) > 0 {
		s.factory.Notef("note: no node has the feature %s: the partition decides about the nodes", v.InstanceType)
	}
	if s.script.Image != "" && !s.client.HasContainers(ctx) {
		return factory.NotOnSlurm("image").WithAdvice("this cluster has no Pyxis, the plugin of srun for containers; activate the environment in --pre-script")
	}
	return nil
}

// shield keeps variables of sbatch from changing the script, and reports those that set
// what the flags leave open.
func (s *slurmRun) shield() {
	c := *s.client
	environ, used, dropped := s.script.SbatchEnvironment(c.Environ)
	c.Environ = environ
	s.client = &c
	if len(used) > 0 {
		s.factory.Notef("note: from the environment: %s", strings.Join(used, ", "))
	}
	if len(dropped) > 0 {
		s.factory.Notef("note: no effect on Slurm: %s", strings.Join(dropped, ", "))
	}
}

// print prints the script, or the job as an object in the format of -o.
func (s *slurmRun) print(id string) error {
	f := s.factory
	if f.Global.Output == "" {
		_, err := io.WriteString(f.IO.Out, s.text)
		return err
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	return output.Print(f.IO, format, scriptObject(s.script, s.text, id), func() output.Table {
		return output.Table{Columns: []output.Column{{Title: "KIND"}, {Title: "NAME"}, {Title: "ID"}}, Rows: [][]output.Cell{output.T(slurm.Kind.Kind, s.script.Name, id)}}
	}, func() []string { return []string{id} })
}

// scriptObject returns a job as an object, with its script. id is "" before it is submitted.
func scriptObject(s slurm.Script, text, id string) map[string]any {
	meta := map[string]any{"name": s.Name}
	if id != "" {
		meta["uid"] = id
	}
	if s.Account != "" {
		meta["namespace"] = s.Account
	}
	return map[string]any{"kind": slurm.Kind.Kind, "metadata": meta, "spec": map[string]any{"script": text, "nodes": s.Nodes, "partition": s.Partition}}
}

// slurmVerdict is the answer of a dry run on Slurm.
type slurmVerdict struct {
	// Verdict is Admitted, Waits or Never.
	Verdict string
	Name    string
	Summary string
	// ExpectedStart is null for a job that never starts.
	ExpectedStart            *time.Time
	ExpectedNodes, Partition string
}

// soon is the time within which a job starts now: Slurm rounds, and answers a moment later.
const soon = 5 * time.Second

// verdict lets Slurm estimate the start. The exit codes are those of the admission check.
func (s *slurmRun) verdict(ctx context.Context) (slurmVerdict, errs.Exit, error) {
	f := s.factory
	v := slurmVerdict{Name: s.script.Name, Partition: s.script.Partition}
	code := errs.OK
	e, err := s.client.Test(ctx, s.text, s.given...)
	switch left := e.Start.Sub(f.Now()); {
	case client.Is(err, client.NeverFits) && s.options.DryRun == admission:
		v.Verdict, v.Summary, code = "Never", s.script.Name+" can never start: no nodes of the partition provide what it requests", errs.No
	case err != nil:
		return v, code, s.refused(err)
	case left <= soon:
		v.Verdict, v.Summary = "Admitted", s.script.Name+" would start now on "+e.Nodes
	default:
		v.Verdict, v.Summary, code = "Waits", fmt.Sprintf("%s would start in about %s, at %s, on %s", s.script.Name, words.Age(left), jobs.Time(e.Start), e.Nodes), errs.Pending
	}
	if !e.Start.IsZero() {
		v.ExpectedStart, v.ExpectedNodes, v.Partition = &e.Start, e.Nodes, e.Partition
	}
	return v, code, nil
}

// test prints when the job would start.
func (s *slurmRun) test(ctx context.Context) error {
	f := s.factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	v, code, err := s.verdict(ctx)
	if err != nil {
		return err
	}
	if s.options.DryRun == factory.DryRunServer {
		if f.Global.Output != "" {
			return s.print("")
		}
		return f.IO.PrintLine(fmt.Sprintf("%s created (server dry run)", s.script.Name))
	}
	if format.IsTable() || f.Global.Output == "" {
		style := map[errs.Exit]output.Style{errs.OK: output.Good, errs.Pending: output.Warn, errs.No: output.Bad}[code]
		err = f.IO.PrintLine(f.IO.Paint(style, strings.ToUpper(v.Verdict)) + "  " + v.Summary)
	} else {
		err = output.Print(f.IO, format, v, nil, func() []string { return []string{v.Name} })
	}
	return output.Answered(err, code)
}

// refused words the error of sbatch, with what exists.
func (s *slurmRun) refused(err error) error {
	out := slurmtext.Error("cannot start job "+s.script.Name, err)
	var e *errs.Error
	if !errors.As(out, &e) || !client.Is(err, client.NoPartition) {
		return out
	}
	var have []string
	for _, n := range s.nodes {
		have = append(have, n.Partitions...)
	}
	slices.Sort(have)
	have = slices.Compact(have)
	e.WithFact("available", strings.Join(have, ", "))
	for _, near := range errs.Near(s.script.Partition, have) {
		e.Suggest(errs.Option("--queue-name", near))
	}
	return e
}

// submit submits the script and waits as --wait and --follow say.
func (s *slurmRun) submit(ctx context.Context) error {
	o, f := s.options, s.factory
	end := f.Deadline(o.Timeout)
	id, err := s.client.Submit(ctx, s.text, s.given...)
	if err != nil {
		return s.refused(err)
	}
	if f.Global.Output != "" {
		err = s.print(id)
	} else {
		err = f.IO.PrintLine("Successfully created job " + s.script.Name)
	}
	if err := errors.Join(err, f.IO.Flush()); err != nil {
		return err
	}
	f.Notef("note: its Slurm id is %s", id)
	if o.Wait == "" && !o.Follow {
		return nil
	}
	j, err := slurmjob.Find(ctx, s.client, id, f.Now())
	if err != nil {
		return err
	}
	return s.await(ctx, j, end)
}

// await waits for the job, and then follows its log.
func (s *slurmRun) await(ctx context.Context, j slurmjob.Job, end factory.Deadline) error {
	o, f := s.options, s.factory
	goal := wait.Goal(o.Wait)
	if goal == "" {
		goal = wait.Running
	}
	last, err := waitjob.UntilSlurm(ctx, f, s.client, j, goal, end, o.OnInterrupt)
	o.Notify.Ended(ctx, f, wait.Request{Kind: slurm.Kind, Name: j.Job.Name, UID: j.Slurm.ID, Goal: goal}, wait.Progress{Job: last.Job, Status: last.Status}, err)
	if err != nil && !(o.Follow && last.Status.State == jobs.Failed) {
		return err
	}
	output.NewProgress(f.IO).Done(fmt.Sprintf("%s is %s", j.Job.Name, last.Status.State))
	if !o.Follow {
		return waitjob.SlurmFailure(last)
	}
	view := logview.New(f, logview.Options{Job: j.Job.Name, Follow: true})
	last, err = slurmjob.Log{Client: s.client, Now: f.Now, Query: logs.Query{Follow: true}, Sink: view}.Read(ctx, last)
	view.Close()
	if err != nil {
		return o.OnInterrupt.End(ctx, err, interrupt.Jobs{Targets: []wait.Target{waitjob.SlurmTarget(j)}, Goal: wait.Goal(o.Wait), Cancel: interrupt.OnSlurm(s.client)})
	}
	return waitjob.SlurmFailure(last)
}
