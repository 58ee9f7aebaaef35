package startjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// report makes a failed lookup a finding of the admission check, and returns false where the run is not one: a start fails.
func (r *run) report(err error, step string) bool {
	var e *errs.Error
	if r.options.DryRun != admission || !errors.As(err, &e) || e.Code != errs.NotFound {
		return false
	}
	found := check.Step{Check: step, Status: check.StatusFailed, Message: e.Error()}
	if len(e.Try) > 0 {
		found.Try = e.Try[0].String()
	}
	r.findings = append(r.findings, found)
	return true
}

// checkAdmission prints whether the job would run. It creates nothing.
func (r *run) checkAdmission(ctx context.Context, j job) error {
	f, c := r.factory, r.cluster
	format, err := f.Format()
	if err != nil {
		return err
	}
	object, at := judged(j.Result)
	objects, change := slices.Clone(j.Objects), j.change
	if j.Job < 0 {
		f.Notef("note: the verdict is about one run of %s %s", kinds.Text(objects[at], "kind"), kinds.Text(objects[at], "metadata", "name"))
		objects[at], change = object, nil
	}
	r.startReading(ctx, j.namespace, 0)
	var rights []check.Step
	var found *prerequisite.Found
	var refused error
	var wg crash.Group
	wg.Go(func() { found = admissioncheck.Prerequisites(ctx, c, j.namespace, objects, at) })
	wg.Go(func() {
		var accepted bool
		accepted, refused = r.rehearsal(ctx, j)
		rights = createRights(ctx, c, j.namespace, j.Objects, accepted)
	})
	wg.Wait()
	<-r.reading.done
	if r.reading.err != nil {
		return r.reading.err
	}
	in := r.reading.in
	if r.options.Replace {
		in = in.Without(jobOf(j))
	}
	var read admissioncheck.Creators
	answer, err := judge(ctx, in.WithTemplates(j.namespace, objects), check.Request{
		Object: object, Beside: beside(objects, at), Namespace: j.namespace, Remedies: true, AllHolders: r.options.AllHolders, Assume: r.options.Assume,
		Make:  change,
		Steps: slices.Concat(r.findings, rights, refusal(refused, rights), r.checkLoader(ctx, in, j)),
		Found: found,
		Deadlines: func(ctx context.Context) func(*kueue.Workload) forecast.StatedEnd {
			return admissioncheck.Deadlines(ctx, c, in, &read)
		},
		Queues:  func(ctx context.Context) []*kueue.LocalQueue { return admissioncheck.Queues(ctx, c, in, j.namespace) },
		Workers: r.options.Workers.Reader(f, c, in, j.namespace, objects, at),
	})
	if err != nil {
		return err
	}
	admissioncheck.Owners(ctx, c, answer, &read)
	placeRefusals(ctx, j.template, object, answer.Submission)
	verdict.Fill(answer, f.Line)
	text := func() string { return verdict.Text(answer, f.IO.Width, words.Age) }
	return output.Answered(admissioncheck.Print(f, format, answer, text, objectName(answer)), answer.Verdict.Exit())
}

// beside returns the objects of a submission without the one that is judged.
func beside(objects []map[string]any, at int) []map[string]any {
	return slices.Delete(slices.Clone(objects), at, at+1)
}

// judged returns what the admission check is about and its place: the job, or the job that each run of the first CronJob
// makes. It returns nil and -1 for objects without either.
func judged(r render.Result) (object map[string]any, at int) {
	if r.Job >= 0 {
		return r.Objects[r.Job], r.Job
	}
	for i, o := range r.Objects {
		group, _, _ := strings.Cut(kinds.Text(o, "apiVersion"), "/")
		if g, ok := kinds.GovernedFor(group, kinds.Text(o, "kind")); ok && g.Makes != nil {
			if job := g.JobOf(o); job != nil {
				return job, i
			}
		}
	}
	return nil, -1
}

// rehearsal lets the API server validate the objects of a submission, without creating them. It reports whether the server
// would create each of them, and returns why the server refuses them.
func (r *run) rehearsal(ctx context.Context, j job) (accepted bool, refused error) {
	if r.cluster.Snapshot != nil {
		return false, nil
	}
	req, err := r.request(ctx, j)
	if err != nil {
		return false, nil // createRights reports it
	}
	req.DryRun = true
	for i := range req.Objects { // the admission check reads them at the same time
		req.Objects[i].Body = runtime.DeepCopyJSON(req.Objects[i].Body)
	}
	if r.options.Replace && req.Job >= 0 {
		found := map[string]any{}
		if err := r.cluster.Get(ctx, req.Objects[req.Job].Resource, req.Namespace, req.Objects[req.Job].Name(), &found); err == nil {
			return false, rehearse(ctx, r.cluster, req, found)
		}
	}
	done, err := submitted(ctx, r.cluster, req)
	if bringsNeeded(err, j.Objects, j.Job) {
		return false, nil
	}
	others := func(a submit.Action) bool { return a != submit.Created }
	return err == nil && !slices.ContainsFunc(done.Actions, others), err
}

// refusal returns the step for what a rehearsal ended with: a refusal of the API server, or that the server does not say
// whether it accepts the job. A webhook may hang, for example.
func refusal(err error, rights []check.Step) []check.Step {
	denied := slices.ContainsFunc(rights, func(s check.Step) bool { return s.Status != check.StatusOK })
	var e *errs.Error
	switch {
	case err == nil || denied && kube.IsForbidden(err) || !errors.As(err, &e) || errors.Is(err, context.Canceled) || kube.IsNotFound(err):
		return nil
	case !refuses(err, e):
		s := check.Step{Check: "Server", Status: check.StatusUnknown, Message: "the API server does not say whether it accepts the job: " + cmp.Or(message(e), e.Why, e.What)}
		if !cannotRehearse(err, e) {
			s.Advice = "a start fails as long as this lasts"
		}
		return []check.Step{s}
	}
	why := e.Error()
	if kube.IsAlreadyExists(err) || e.Code == errs.No {
		why = e.What
	}
	if text := said(e); text != "" && why == e.Error() {
		why += ": " + text
	}
	s := check.Step{Check: "Server", Status: check.StatusFailed, Message: why}
	if len(e.Try) > 0 {
		s.Try = e.Try[0].String()
	}
	return []check.Step{s}
}

// refuses reports whether an error is a refusal of the API server.
func refuses(err error, e *errs.Error) bool {
	return kube.IsForbidden(err) || kube.IsInvalid(err) && !cannotRehearse(err, e) || kube.IsAlreadyExists(err) || e.Code == errs.No
}

// cannotRehearse reports whether a webhook that has side effects keeps the API server from rehearsing.
func cannotRehearse(err error, e *errs.Error) bool {
	return kube.IsInvalid(err) && strings.Contains(message(e), "does not support dry run")
}

// said returns what the server says about a refusal: its message, or the first field that it refuses.
func said(e *errs.Error) string {
	if text := message(e); text != "" {
		return text
	}
	if len(e.Facts) == 0 || !kube.IsInvalid(e) {
		return ""
	}
	return e.Facts[0].Label + ": " + e.Facts[0].Text
}

// message returns what a policy or a webhook of the server says, "" for other errors.
func message(e *errs.Error) string { return factOf(e, "message") }

// factOf returns a fact of an error, "" without it.
func factOf(err error, label string) string {
	var e *errs.Error
	if errors.As(err, &e) {
		for _, f := range e.Facts {
			if f.Label == label {
				return f.Text
			}
		}
	}
	return ""
}

// createRights checks the permission to create each object. The server has shown it for objects that it accepted in a
// rehearsal. The step is Unknown if the server does not answer.
func createRights(ctx context.Context, c *factory.Cluster, namespace string, objects []map[string]any, accepted bool) []check.Step {
	steps := make([]check.Step, len(objects))
	var wg crash.Group
	for i, object := range objects {
		wg.Go(func() {
			what := fmt.Sprintf("create %s in %s", strings.ToLower(kinds.Text(object, "kind")), namespace)
			steps[i] = check.Step{Check: "Rights", Status: check.StatusOK, Message: "you have permission to " + what}
			if accepted {
				return
			}
			res, err := resourceOf(ctx, c, object)
			var allowed bool
			if err == nil {
				allowed, err = c.CanI(ctx, "create", res, namespace, "")
			}
			switch {
			case err != nil && errs.ExitOf(err) == errs.NotFound:
				steps[i] = check.Step{Check: "Kind", Status: check.StatusFailed, Message: err.Error(), Advice: factOf(err, "advice")}
			case c.Snapshot != nil:
				steps[i].Status, steps[i].Message = check.StatusNotApplicable, "a snapshot has no permissions"
			case err != nil:
				steps[i].Status, steps[i].Message = check.StatusUnknown, "cannot check the permission to "+what
			case !allowed:
				steps[i].Status, steps[i].Message = check.StatusFailed, "you have no permission to "+what
				steps[i].Advice = "ask a cluster administrator for a role with that permission"
			}
		})
	}
	wg.Wait()
	return slices.CompactFunc(steps, func(a, b check.Step) bool { return a.Status == b.Status && a.Message == b.Message })
}

// resourceOf returns the resource of an object as the cluster serves it: the kinds of an
// operator exist where it is installed.
func resourceOf(ctx context.Context, c *factory.Cluster, object map[string]any) (kinds.Resource, error) {
	if k, isJob := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind")); !isJob || !kinds.Installed(k.Group) {
		return discovery.ResourceOf(ctx, c.Client, object)
	}
	res, err := discovery.Offered(ctx, c.Client, object)
	if err != nil && errs.ExitOf(err) != errs.NotFound {
		return discovery.ResourceOf(ctx, c.Client, object)
	}
	return res, err
}

// objectName returns the job of a verdict as -o name prints it.
func objectName(v *check.Verdict) string {
	if k, known := kinds.JobNamed(v.Job.Kind); known {
		return k.ObjectName(v.Job.Name)
	}
	return v.Job.Name
}
