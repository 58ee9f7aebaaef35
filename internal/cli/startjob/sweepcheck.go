package startjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/sweeptext"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// sweepAnswer is what the admission check says about the jobs of a sweep, nil where it says nothing.
type sweepAnswer struct {
	*sweeptext.Document
	verdicts []*check.Verdict
}

// mostChecked is the number of jobs of a sweep that are checked. Each is checked against those before it.
const mostChecked = 1000

// judgeAll decides about the first jobs one after another, as they would be submitted, at least about the first one and
// as long as more returns true; nil means always.
func (r *run) judgeAll(ctx context.Context, s *series, in *inputs.Inputs, list []*swept, requestOf func(i int) check.Request, exist, later int, more func() bool) (*sweepAnswer, error) {
	c, err := check.New(ctx, in.WithTemplates(list[0].namespace, s.others()))
	if err != nil {
		return nil, verdict.Error(err)
	}
	all := unitsOf(list)
	judged := all[:min(len(all), mostChecked)]
	requests, points := make([]check.Request, len(judged)), make([]sweep.Point, len(judged))
	for i, u := range judged {
		q, j := requestOf(u[0]), list[u[0]]
		q.Object, q.Namespace, q.Steps = j.Objects[j.Job], j.namespace, slices.Clone(q.Steps)
		if inGroup(j) {
			q.Group = objectsOf(list, u)
		}
		for _, n := range u[1:] { // the cluster may refuse any pod of a group, and each needs objects of its own
			other := requestOf(n)
			q.Found = q.Found.With(other.Found)
			for _, step := range other.Steps {
				if !slices.ContainsFunc(q.Steps, func(s check.Step) bool { return s.Check == step.Check && s.Message == step.Message }) {
					q.Steps = append(q.Steps, step)
				}
			}
		}
		requests[i], points[i] = q, j.point
	}
	verdicts, err := c.Together(ctx, requests, more)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		placeRefusals(ctx, s.template, requests[i].Object, v.Submission)
		verdict.Fill(v, r.factory.Line)
	}
	return &sweepAnswer{sweeptext.New(sweeptext.Of{Sweep: s.name, File: s.manifest}, points, verdicts, exist, later, len(all)-len(verdicts), words.Age), verdicts}, nil
}

// unitsOf returns the places in a list of what Kueue decides about (kinds.ByGroup).
func unitsOf(list []*swept) [][]int {
	places := make([]int, len(list))
	for i := range list {
		places[i] = i
	}
	return kinds.ByGroup(objectsOf(list, places))
}

// objectsOf returns the jobs at some places of a list.
func objectsOf(list []*swept, places []int) (objects []map[string]any) {
	for _, i := range places {
		objects = append(objects, list[i].Objects[list[i].Job])
	}
	return objects
}

// existingOf returns the units of a list that exist. A group exists when all its pods do.
func existingOf(all, missing []*swept) [][]int {
	return slices.DeleteFunc(unitsOf(all), func(u []int) bool {
		return slices.ContainsFunc(u, func(i int) bool { return slices.Contains(missing, all[i]) })
	})
}

func inGroup(j *swept) bool {
	_, ok := kinds.PodGroupOf(j.Objects[j.Job])
	return ok
}

// checkSeries prints whether the jobs that do not exist yet would run. It creates nothing.
func (r *run) checkSeries(ctx context.Context, s *series, all, missing []*swept) error {
	f, c := r.factory, r.cluster
	format, err := f.Format()
	if err != nil {
		return err
	}
	now := missing
	if n := r.options.MaxParallel; n > 0 {
		now = missing[:min(n, len(missing))]
	}
	r.startReading(ctx, all[0].namespace, 0)
	each := missing[:min(1, len(missing))] // the jobs of a sweep need the same
	if s.manifest != "" {
		each = missing
	}
	found := make([]examined, len(each))
	var wg crash.Group
	for i, j := range each {
		wg.Go(func() { found[i] = r.examine(ctx, s, j) })
	}
	wg.Wait()
	<-r.reading.done
	if r.reading.err != nil {
		return r.reading.err
	}
	in := r.reading.in
	for i, j := range each {
		for _, step := range found[i].server {
			if step.Status == check.StatusUnknown {
				f.Notef("note: %s", verdict.Row(step))
			}
		}
		found[i].steps = append(found[i].steps, r.checkLoader(ctx, in, j.job)...)
	}
	exist, waiting := existingOf(all, missing), 0
	for _, u := range exist {
		if slices.ContainsFunc(u, func(i int) bool { return in.Waits(jobOf(all[i].job)) }) {
			waiting++
		}
	}
	var read admissioncheck.Creators
	var answer *sweepAnswer
	if len(now) == 0 {
		answer = &sweepAnswer{sweeptext.Existing(sweeptext.Of{Sweep: s.name, File: s.manifest}, len(exist), waiting, in.Taken), nil}
	} else if answer, err = r.judgeAll(ctx, s, in, now, func(i int) check.Request {
		one := found[min(i, len(found)-1)]
		return check.Request{
			Remedies: true, AllHolders: r.options.AllHolders, Assume: r.options.Assume, Found: one.found, Steps: one.steps,
			Deadlines: func(ctx context.Context) func(*kueue.Workload) forecast.StatedEnd {
				return admissioncheck.Deadlines(ctx, c, in, &read)
			},
		}
	}, len(exist), len(missing)-len(now), nil); err != nil {
		return err
	}
	if len(exist) == 0 && len(answer.verdicts) == 1 && s.manifest != "" && format.IsTable() { // a pod group and no other job
		v := answer.verdicts[0]
		admissioncheck.Owners(ctx, c, v, &read)
		err = admissioncheck.Print(f, format, v, func() string { return verdict.Text(v, f.IO.Width, words.Age) }, objectName(v))
	} else {
		for _, v := range answer.verdicts {
			if s := v.Lost(); s != nil {
				f.Notef("note: %s", s.Message)
			}
		}
		err = r.printSweep(answer, format)
	}
	return output.Answered(err, answer.Exit())
}

// examined is what a dry run finds out about a job of a series beside its quota.
type examined struct {
	steps, server []check.Step
	found         *prerequisite.Found
}

// examine asks the cluster about a job: permissions, what its pods need, and whether the API server accepts it.
func (r *run) examine(ctx context.Context, s *series, j *swept) (out examined) {
	var rights []check.Step
	var refused error
	var wg crash.Group
	wg.Go(func() { _, refused = r.rehearsal(ctx, j.job) })
	wg.Go(func() {
		rights = createRights(ctx, r.cluster, j.namespace, slices.Concat(j.Objects, s.others()), false)
	})
	wg.Go(func() {
		out.found = admissioncheck.Prerequisites(ctx, r.cluster, j.namespace, slices.Concat(j.Objects, s.others()), j.Job)
	})
	wg.Wait()
	if bringsNeeded(refused, slices.Concat(j.Objects, s.others()), j.Job) {
		refused = nil
	}
	out.server = refusal(refused, rights)
	out.steps = slices.Concat(j.findings, rights, out.server)
	return out
}

// printSweep prints the answer, as a page in place of a table.
func (r *run) printSweep(answer *sweepAnswer, format output.Format) error {
	io, d := r.factory.IO, answer.Document
	if !format.IsTable() {
		return output.Print(io, format, d, d.Table, func() (names []string) {
			for _, v := range answer.verdicts {
				names = append(names, objectName(v))
			}
			return names
		})
	}
	word, rest, _ := strings.Cut(d.Headline(), " ")
	style := map[check.Outcome]output.Style{check.Admitted: output.Good, check.Waits: output.Warn, check.Never: output.Bad, check.Unknown: output.Warn}[d.Verdict]
	if _, err := fmt.Fprintf(io.Out, "%s %s\n", io.Paint(style, word), output.Safe(rest)); err != nil {
		return err
	}
	if len(d.Jobs) == 0 {
		if d.ExistingWait > 0 {
			r.factory.Notef("note: explain-job explains why a job waits")
		}
		return nil
	}
	page := textpage.New(io.Width)
	verdict.HeldRows(page, d.Holds)
	if _, err := fmt.Fprintln(io.Out, output.SafeLines(page.String())); err != nil {
		return err
	}
	if err := io.PrintTable(d.Table()); err != nil {
		return err
	}
	if d.RunNow < len(d.Jobs) {
		if d.File != "" && len(d.Jobs) > 1 {
			r.factory.Notef("note: --dry-run explains a job in full if the manifest has no other")
		}
		if d.File == "" {
			r.factory.Notef("note: --dry-run without --sweep explains one of the jobs")
		}
	}
	return nil
}

// foreseeSeries is foresee for the jobs of a series: the answer is about those that are decided in time.
func (r *run) foreseeSeries(ctx context.Context, s *series, list []*swept, exist, later int) *sweepAnswer {
	if !r.foresees() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	each := list[:1] // the jobs of a sweep need the same
	if s.manifest != "" {
		each = list
	}
	found := make([]*prerequisite.Found, len(each))
	var err error
	for i, j := range each {
		whole := j.job
		whole.Objects = slices.Concat(whole.Objects, s.others())
		if found[i], err = r.facts(ctx, limited, whole); err != nil {
			break
		}
	}
	if ctx.Err() != nil || kube.IsForbidden(err) {
		return nil
	}
	var answer *sweepAnswer
	if err == nil {
		answer, err = r.judgeAll(ctx, s, r.reading.in, list, func(i int) check.Request {
			return check.Request{Found: found[min(i, len(found)-1)], Remedies: true}
		}, exist, later, func() bool { return r.judging(limited) })
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case errs.ExitOf(err) == errs.Usage: // a kind that Kueue does not manage: the API server validates the manifest
		return nil
	case err != nil:
		r.factory.Notef("note: cannot tell whether the jobs run now: %s", err)
		return nil
	case slices.ContainsFunc(answer.verdicts, func(v *check.Verdict) bool { return v.Quota.Status == check.StatusNotApplicable }):
		return nil
	}
	return answer
}

// confirmedSweep is confirmed for the jobs of a sweep: one question for all.
func (r *run) confirmedSweep(ctx context.Context, a *sweepAnswer) (bool, error) {
	if a == nil || !r.prompts() {
		return true, nil
	}
	question := a.PreemptionQuestion()
	if question == "" && r.factory.Config.Confirm != config.ConfirmPreempt {
		question = a.NeverRunsQuestion()
	}
	return r.agreed(ctx, question)
}

// reportSweep reports what becomes of the jobs that were submitted.
func (r *run) reportSweep(a *sweepAnswer) {
	if a != nil && a.RunNow+a.WillWait+a.NeverRun > 0 {
		r.factory.Notef("%s: %s", a.Title(), a.Summary)
	}
}

// kindOf returns the kind of the jobs of a sweep.
func kindOf(j *swept) (kinds.Job, bool) {
	o := j.Objects[j.Job]
	return kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind"))
}
