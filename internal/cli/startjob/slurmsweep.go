package startjob

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// slurmSweep is a sweep on a Slurm cluster: a script for each combination.
type slurmSweep struct {
	*slurmRun
	name string
	jobs []*slurmMember
}

// slurmMember is one job of the sweep.
type slurmMember struct {
	script slurm.Script
	text   string
	sweep  slurm.Sweep
	// id is its number once it was submitted, now or by an earlier run of the command.
	id string
	// active is whether an earlier run left it pending or running.
	active bool
}

// startSweep renders a script for each combination and does what --dry-run says.
func (s *slurmRun) startSweep(ctx context.Context, v values.Values, points []sweep.Point) error {
	w := &slurmSweep{slurmRun: s, name: v.Name}
	if err := w.render(v, points); err != nil {
		return err
	}
	if err := s.check(ctx, v); err != nil {
		return err
	}
	s.shield()
	switch s.options.DryRun {
	case factory.DryRunClient:
		return w.print(w.jobs)
	case admission, factory.DryRunServer:
		return w.test(ctx)
	}
	if err := w.find(ctx); err != nil {
		return err
	}
	if err := w.submit(ctx); err != nil {
		return err
	}
	return w.await(ctx)
}

// render makes the scripts. The parameters are environment variables of the program.
func (w *slurmSweep) render(v values.Values, points []sweep.Point) error {
	if len(v.Name) > 63 {
		return factory.Invalid("name", v.Name, "must have at most 63 characters, for a sweep")
	}
	for _, p := range points[0] {
		if _, set := v.Environment[p.Name]; set {
			return errs.Usagef("--sweep and another flag set %s", p.Name).WithAdvice("remove one of them")
		}
	}
	if secret := secretNames(points[0].Map()); len(secret) > 0 {
		w.factory.Notef("warning: everybody who can list jobs can read %s", strings.Join(secret, ", "))
	}
	names := sweep.Names(w.name, points, longestSweepName)
	common := v.Environment
	for i, p := range points {
		v.Name, v.Environment = names[i], merged(common, p.Map())
		script, err := slurm.ScriptOf(v, w.site(v))
		if err != nil {
			return slurmtext.Problem(err)
		}
		m := &slurmMember{script: script, sweep: slurm.Sweep{Name: w.name, Point: p}}
		m.sweep.Sum = submit.Fingerprint(map[string]any{"script": script.Text()})
		m.script.Comment = m.sweep.Comment()
		m.text = m.script.Text()
		w.jobs = append(w.jobs, m)
	}
	w.script = w.jobs[0].script
	return nil
}

// find notes the jobs that an earlier run of the command submitted. A job that was cancelled does not count,
// so that the command starts it again.
func (w *slurmSweep) find(ctx context.Context) error {
	all, err := slurmjob.All(ctx, w.client, w.factory.Now())
	if err != nil {
		return err
	}
	for _, j := range all {
		have, ok := slurm.SweepOf(j.Slurm.Comment)
		if !ok || have.Name != w.name || j.Slurm.User != w.factory.User() || slurm.BareState(j.Slurm.State) == "CANCELLED" {
			continue
		}
		for _, m := range w.jobs {
			if m.sweep.Point.String() != have.Point.String() {
				continue
			}
			if have.Sum != m.sweep.Sum {
				return errs.New("sweep "+w.name+" exists with another definition", fmt.Sprintf("%s (%s) was made from other flags", j.Slurm.Name, j.Slurm.ID)).WithCode(errs.No).
					Suggest(errs.Option("--name", w.name+"-2"), errs.Run("cancel-job", "--sweep", w.name))
			}
			if m.id == "" || j.Slurm.Active() {
				m.id, m.active = j.Slurm.ID, j.Slurm.Active()
			}
		}
	}
	return nil
}

// submit submits the jobs that are missing. With --max-parallel each waits for an earlier one to end, so Slurm itself
// keeps to the limit and the command need not stay.
func (w *slurmSweep) submit(ctx context.Context) error {
	var before []string // active jobs, the earliest first
	var missing []*slurmMember
	for _, m := range w.jobs {
		switch {
		case m.id == "":
			missing = append(missing, m)
		case m.active:
			before = append(before, m.id)
		}
	}
	if len(missing) == 0 {
		w.factory.Notef("%s of sweep %s %s already", words.All(len(w.jobs), "job", "jobs"), w.name, words.Verb(len(w.jobs), "exists", "exist"))
		return nil
	}
	for i, m := range missing {
		var options []string
		if n := w.options.MaxParallel; n > 0 && len(before) >= n {
			options = append(options, "--dependency=afterany:"+before[len(before)-n])
		}
		id, err := w.client.Submit(ctx, m.text, options...)
		if err != nil {
			return w.incomplete(missing, i, err)
		}
		m.id = id
		before = append(before, id)
		if w.factory.Global.Output == "" {
			if err := cmp.Or(w.factory.IO.PrintLine("Successfully created job "+m.script.Name), w.factory.IO.Flush()); err != nil {
				return err
			}
		}
	}
	if n := len(w.jobs) - len(missing); n > 0 {
		w.factory.Notef("note: %s of sweep %s existed already", words.Count(n, "job", "jobs"), w.name)
	}
	if len(missing) == 1 {
		w.factory.Notef("note: its Slurm id is %s", missing[0].id)
	} else {
		w.factory.Notef("note: the Slurm ids of sweep %s are %s to %s", w.name, missing[0].id, missing[len(missing)-1].id)
	}
	if w.factory.Global.Output == "" {
		return nil
	}
	return w.print(missing)
}

// incomplete returns the error of a sweep that stopped in the middle.
func (w *slurmSweep) incomplete(missing []*slurmMember, created int, cause error) error {
	w.script = missing[created].script
	if cause = w.refused(cause); created == 0 {
		return cause
	}
	return errs.Wrap(cause, fmt.Sprintf("sweep %s is incomplete: %d of %s created", w.name, created, words.Count(len(missing), "job", "jobs"))).WithCode(errs.ExitOf(cause)).
		WithAdvice("run the same command again: it creates the jobs that are missing").
		Suggest(errs.Run("cancel-job", "--sweep", w.name).WithNote("cancels those that were created"))
}

// print prints the scripts one after another, or the jobs as objects in the format of -o.
func (w *slurmSweep) print(list []*slurmMember) error {
	f := w.factory
	if f.Global.Output == "" {
		for _, m := range list {
			if _, err := io.WriteString(f.IO.Out, m.text); err != nil {
				return err
			}
		}
		return nil
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	var items []any
	var ids []string
	t := output.Table{Columns: []output.Column{{Title: "KIND"}, {Title: "NAME"}, {Title: "ID"}}}
	for _, m := range list {
		items = append(items, scriptObject(m.script, m.text, m.id))
		ids = append(ids, m.id)
		t.Rows = append(t.Rows, output.T(slurm.Kind.Kind, m.script.Name, m.id))
	}
	return output.Print(f.IO, format, map[string]any{"kind": "List", "items": items}, func() output.Table { return t }, func() []string { return ids })
}

// test lets Slurm estimate the start of each job alone. The exit code is the worst of all jobs.
func (w *slurmSweep) test(ctx context.Context) error {
	f := w.factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	var all []slurmVerdict
	code := errs.OK
	t := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}}}
	for _, p := range w.jobs[0].sweep.Point {
		t.Columns = append(t.Columns, output.Column{Title: strings.ToUpper(p.Name)})
	}
	t.Columns = append(t.Columns, output.Column{Title: "ANSWER"})
	for _, m := range w.jobs {
		w.script, w.text = m.script, m.text
		v, c, err := w.verdict(ctx)
		if err != nil {
			return err
		}
		all = append(all, v)
		if c == errs.No || code == errs.OK {
			code = c
		}
		cells := []string{v.Name}
		for _, p := range m.sweep.Point {
			cells = append(cells, p.Value)
		}
		t.Rows = append(t.Rows, output.T(append(cells, strings.TrimPrefix(v.Summary, v.Name+" "))...))
	}
	if w.options.DryRun == factory.DryRunServer {
		if f.Global.Output != "" {
			return w.print(w.jobs)
		}
		for _, v := range all {
			if err := f.IO.PrintLine(v.Name + " created (server dry run)"); err != nil {
				return err
			}
		}
		return nil
	}
	f.Notef("note: Slurm estimates each job alone: the other jobs of the sweep do not count")
	if f.Global.Output == "" {
		err = f.IO.PrintTable(t)
	} else {
		err = output.Print(f.IO, format, map[string]any{"Sweep": w.name, "Jobs": all}, func() output.Table { return t }, func() (names []string) {
			for _, v := range all {
				names = append(names, v.Name)
			}
			return names
		})
	}
	return output.Answered(err, code)
}

// await waits for all jobs of the sweep as --wait says.
func (w *slurmSweep) await(ctx context.Context) error {
	if w.options.Wait == "" {
		return nil
	}
	end := w.factory.Deadline(w.options.Timeout)
	var list []slurmjob.Job
	for _, m := range w.jobs {
		j, err := slurmjob.Find(ctx, w.client, m.id, w.factory.Now())
		if err != nil {
			return err
		}
		list = append(list, j)
	}
	return waitjob.SlurmSweep(ctx, w.factory, w.client, w.name, list, wait.Goal(w.options.Wait), end, w.options.OnInterrupt)
}
