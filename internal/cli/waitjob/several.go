package waitjob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/interrupt"
	"github.com/hyperpod-cli/hyperpod/internal/cli/listjobs"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// waitForSeveral waits for all jobs that the options name or choose.
func (o *Options) waitForSeveral(ctx context.Context, f *factory.Factory, c *factory.Cluster, format output.Format) error {
	end := f.Deadline(o.Timeout)
	choosing, stop := end.Bound(ctx)
	defer stop()
	targets, hidden, err := o.targets(choosing, c)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		if o.Sweep != "" {
			if hidden {
				return errs.New("cannot find the jobs of sweep "+o.Sweep, "no permission to list all kinds of jobs").WithCode(errs.Denied)
			}
			return errs.NotFoundf("no jobs of sweep %s", o.Sweep).Suggest(errs.Run("list-jobs", "-l", kinds.SweepLabel).WithNote("lists the jobs of all sweeps"))
		}
		f.Notef("note: no jobs found: nothing to wait for")
		return nil
	}
	last, err := untilAll(ctx, f, c, targets, o.Goal, end, false)
	if err == nil {
		err = Unreached(last, o.Goal, end)
	}
	o.Notify.AllEnded(ctx, f, last, o.Goal, err)
	switch code := errs.ExitOf(err); {
	case ctx.Err() != nil:
		return o.OnInterrupt.End(ctx, cmp.Or(err, ctx.Err()), interrupt.Jobs{Targets: interrupt.Unfinished(last), Sweep: o.Sweep, Goal: o.Goal, Cancel: interrupt.OnKubernetes(f, c.Client)})
	case err != nil && code != errs.No && code != errs.NotFound && code != errs.Timeout:
		return err
	case err != nil && f.Global.Output == "":
		return err
	}
	if printed := o.reportAll(format, last, c); printed != nil {
		return errs.Also(printed, err)
	}
	return err
}

// several reports whether the options may choose more than one job.
func (o *Options) several() bool {
	return len(o.Names) > 1 || o.Selector != "" || o.Sweep != "" || o.Mine
}

// targets finds the jobs, and reports whether jobs of some kinds are hidden.
func (o *Options) targets(ctx context.Context, c *factory.Cluster) (out []wait.Target, hidden bool, err error) {
	if len(o.Names) > 0 {
		out, err = o.named(ctx, c)
		return out, false, err
	}
	want := state.Want{Selector: o.Selector}
	if o.Sweep != "" {
		want.Selector = kinds.SweepLabel + "=" + o.Sweep
	}
	if o.AllNamespaces {
		want.FallbackNamespaces = func(ctx context.Context) ([]string, error) {
			return c.KnownNamespaces(ctx, "", kinds.PyTorchJob.Resource)
		}
	} else {
		ns, err := o.Factory.NamespaceToList(ctx, c)
		if err != nil {
			return nil, false, err
		}
		want.Namespace = ns.Name
	}
	st, err := list(ctx, o.Factory, c, want)
	if err != nil {
		return nil, false, err
	}
	statuses := jobs.Statuses(st.Jobs, st.Workloads)
	for i, j := range st.Jobs {
		if o.Kind != "" && o.Kind != j.Kind.Kind || o.Mine && (jobs.Creator(j.Labels, j.Annotations) != o.Factory.User() || statuses[i].State.Finished()) {
			continue
		}
		out = append(out, target(j))
	}
	hidden = slices.ContainsFunc(st.Missing, func(m state.Missing) bool { return m.Resource.FullName() != kinds.Workload.FullName() })
	return out, hidden, nil
}

// named finds the jobs by their names. One that does not exist counts as deleted.
func (o *Options) named(ctx context.Context, c *factory.Cluster) ([]wait.Target, error) {
	var out []wait.Target
	namespace := o.Factory.Global.Namespace
	for _, argument := range o.Names {
		a, err := factory.SplitJob(argument, o.Kind)
		if err != nil {
			return nil, err
		}
		j, err := findjob.FindIn(ctx, o.Factory, c, cmp.Or(a.Namespace, namespace), "get", a.Name, a.Kind)
		switch {
		case findjob.Absent(err) && o.Goal == wait.Deleted:
			continue
		case err != nil:
			return nil, err
		case a.Namespace == "":
			namespace = j.Namespace // chosen and reported once for all names
		}
		if !slices.ContainsFunc(out, func(t wait.Target) bool { return t.UID == j.UID() }) { // named twice
			if err := o.unreachable(j); err != nil {
				return nil, err
			}
			out = append(out, wait.Target{Kind: j.Kind, Namespace: j.Namespace, Name: j.Name(), UID: j.UID()})
		}
	}
	return out, nil
}

// OfSweep waits for all jobs of a sweep in a namespace.
func OfSweep(ctx context.Context, f *factory.Factory, c *factory.Cluster, namespace, name string, goal wait.Goal, end factory.Deadline) ([]wait.Ended, error) {
	found, err := list(ctx, f, c, state.Want{Namespace: namespace, Selector: kinds.SweepLabel + "=" + name})
	if err != nil {
		return nil, err
	}
	targets := make([]wait.Target, len(found.Jobs))
	for i, j := range found.Jobs {
		targets[i] = target(j)
	}
	return untilAll(ctx, f, c, targets, goal, end, false)
}

// OfJobs waits for several jobs, and not for one that is suspended.
func OfJobs(ctx context.Context, f *factory.Factory, c *factory.Cluster, targets []wait.Target, goal wait.Goal, end factory.Deadline) ([]wait.Ended, error) {
	return untilAll(ctx, f, c, targets, goal, end, true)
}

// list reads the jobs of every kind with their workloads.
func list(ctx context.Context, f *factory.Factory, c *factory.Cluster, want state.Want) (*state.State, error) {
	var err error
	if want.Jobs, err = discovery.ServedJobs(ctx, c.Client); err != nil {
		return nil, err
	}
	want.Workloads = true
	st, err := state.Load(ctx, c.Client, want, c.Now())
	if err != nil {
		return nil, err
	}
	f.Missing(st.Missing)
	return st, factory.Failures(st.Missing)
}

func target(j state.Job) wait.Target {
	return wait.Target{Kind: j.Kind, Namespace: j.Namespace, Name: j.Name, UID: j.UID}
}

// untilAll waits for several jobs with a progress line on stderr.
func untilAll(ctx context.Context, f *factory.Factory, c *factory.Cluster, targets []wait.Target, goal wait.Goal, end factory.Deadline, untilHeld bool) ([]wait.Ended, error) {
	progress := output.NewProgress(f.IO)
	defer progress.Done("")
	var mu sync.Mutex
	r := wait.SeveralRequest{Targets: targets, Goal: goal, Timeout: end.Left(), Once: end.Once(), UntilHeld: untilHeld}
	r.Missing = func(m []state.Missing) {
		mu.Lock()
		defer mu.Unlock()
		progress.Above(func() { f.Missing(m) })
	}
	if !f.Global.Quiet {
		shown := ""
		r.Progress = func(all []wait.Ended) {
			mu.Lock()
			defer mu.Unlock()
			if line := jobtext.ProgressOfAll(all, goal); line != shown {
				shown = line
				progress.Update(line)
			}
		}
	}
	return wait.Several(ctx, c.Client, r)
}

// Unreached returns the error of a wait for several jobs that did not reach its goal for all: exit
// code 3 (a job failed), else 5 (one was deleted), else 124 (the time is over), else 8 (one is suspended); nil where it did.
// As for one job, a failed one has also reached the goal finished.
func Unreached(all []wait.Ended, goal wait.Goal, end factory.Deadline) error {
	by := map[wait.Outcome][]string{}
	var failed []wait.Ended
	for _, e := range all {
		switch {
		case e.State() == jobs.Failed && goal != wait.Deleted:
			failed = append(failed, e)
			by[wait.Failed] = append(by[wait.Failed], e.Name)
		case e.Outcome != "":
			by[e.Outcome] = append(by[e.Outcome], e.Name)
		}
	}
	held := "suspended"
	if slices.ContainsFunc(all, func(e wait.Ended) bool { return e.Outcome == wait.Held && e.State() == jobs.ZeroReplicas }) {
		held = "suspended or stopped"
	}
	list := func(o wait.Outcome) string { return words.Some(by[o], 8) }
	of := " of " + words.Count(len(all), "job", "jobs")
	var e *errs.Error
	switch {
	case len(failed) > 0:
		look := suggest.GetLog(failed[0].Namespace, failed[0].Name)
		if failed[0].Namespace == "" { // Slurm's jobs have none
			look = errs.Run("get-log", failed[0].Name)
		}
		e = (&errs.Error{What: fmt.Sprintf("%d%s failed", len(failed), of), Code: errs.No}).Suggest(look)
	case len(by[wait.Gone]) > 0:
		e = errs.NotFoundf("%d%s %s deleted during the wait", len(by[wait.Gone]), of, words.Verb(len(by[wait.Gone]), "was", "were"))
	case len(by[wait.TimedOut]) > 0:
		e = &errs.Error{What: fmt.Sprintf("%d%s %s", len(by[wait.TimedOut]), of, missed(goal, len(by[wait.TimedOut]))), Code: errs.Timeout}
		if !end.Once() {
			e.What += " after " + words.Exact(end.Limit())
		}
	case len(by[wait.Held]) > 0:
		e = &errs.Error{What: fmt.Sprintf("%d%s %s %s", len(by[wait.Held]), of, words.Verb(len(by[wait.Held]), "is", "are"), held), Code: errs.Pending}
	default:
		return nil
	}
	for _, part := range []struct {
		outcome wait.Outcome
		label   string
	}{{wait.Failed, "failed"}, {wait.Gone, "deleted"}, {wait.TimedOut, "not " + string(goal)}, {wait.Held, held}} {
		if len(by[part.outcome]) > 0 {
			e.WithFact(part.label, list(part.outcome))
		}
	}
	return e
}

// reportAll prints the result: a sentence, or the rows of the jobs in the format of -o.
func (o *Options) reportAll(format output.Format, all []wait.Ended, c *factory.Cluster) error {
	f := o.Factory
	if f.Global.Output == "" {
		_, err := fmt.Fprintln(f.IO.Out, jobtext.StatesOfAll(all, o.Goal))
		return err
	}
	var list []state.Job
	var statuses []jobs.Status
	var names []string
	for _, e := range all {
		if e.Job.UID == "" || e.Outcome == wait.Gone || o.Goal == wait.Deleted && e.Outcome == "" {
			continue // it no longer exists
		}
		list, statuses, names = append(list, e.Job), append(statuses, e.Status), append(names, e.Kind.ObjectName(e.Name))
	}
	return output.Print(f.IO, format, jobtext.VerboseList(list, statuses),
		func() output.Table { return listjobs.TableOf(list, statuses, c.Now(), o.AllNamespaces) },
		func() []string { return names })
}
