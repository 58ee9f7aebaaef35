package startjob

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/waitjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/upload"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// loaderStart is how long an admitted loader may take to run. Its image may be large.
const loaderStart = 15 * time.Minute

// loader returns the job that receives the files.
func (r *run) loader(j job, suffix string) (map[string]any, error) {
	name := kinds.Text(j.Objects[j.Job], "metadata", "name")
	if name == "" {
		name = strings.TrimSuffix(kinds.Text(j.Objects[j.Job], "metadata", "generateName"), "-")
	}
	loader, err := upload.Loader(name[:min(len(name), 63-len(suffix))]+suffix, j.Objects[j.Job], r.options.UploadPVC)
	if err != nil {
		return nil, errs.New("cannot upload "+r.options.Upload, err.Error()).WithCode(errs.Usage).WithCause(err)
	}
	kinds.Set(loader, j.namespace, "metadata", "namespace")
	return loader, nil
}

// checkLoader examines the job that receives the files, and returns what makes the upload fail. With inputs it also says
// what that job waits for.
func (r *run) checkLoader(ctx context.Context, in *inputs.Inputs, j job) []check.Step {
	if r.claimed == nil {
		return nil
	}
	loader, err := r.loader(j, "-upload")
	if err != nil {
		return nil // attach reported it
	}
	var steps []check.Step
	if r.options.DryRun == admission { // a start has examined the claim
		if err := r.examineClaim(ctx, j); err != nil && errs.ExitOf(err) != errs.NotFound { // the prerequisites report a missing one
			steps = append(steps, check.Step{Check: "Pods", Status: check.StatusFailed, Message: err.Error()})
		}
	}
	steps = append(steps, createRights(ctx, r.cluster, j.namespace, []map[string]any{loader}, false)...)
	if allowed, err := r.cluster.CanI(ctx, "create", kinds.Pod, j.namespace, "exec"); err == nil && !allowed && r.cluster.Snapshot == nil {
		steps = append(steps, check.Step{Check: "Rights", Status: check.StatusFailed, Message: "you have no permission to create pods/exec in " + j.namespace,
			Advice: "--upload-pvc needs it; ask a cluster administrator for a role with that permission"})
	}
	if in == nil || slices.ContainsFunc(steps, func(s check.Step) bool { return s.Status == check.StatusFailed }) {
		return steps
	}
	return append(steps, r.judgeLoader(ctx, in, j)...)
}

// judgeLoader says what the job that receives the files waits for, and returns a failed step if it can never run. Without
// inputs it knows nothing.
func (r *run) judgeLoader(ctx context.Context, in *inputs.Inputs, j job) []check.Step {
	loader, err := r.loader(j, "-upload")
	if err != nil || in == nil {
		return nil
	}
	v, err := judge(ctx, in, check.Request{Object: loader, Namespace: j.namespace})
	if err != nil {
		return nil
	}
	verdict.Fill(v, r.factory.Line)
	if text := verdict.Brief(v, words.Age); v.Verdict == check.Never {
		return []check.Step{{Check: "Pods", Status: check.StatusFailed, Message: "the job that receives the upload " + text}}
	} else if text != "" {
		r.factory.Notef("the upload needs a job of its own first (100m cpu, 128Mi memory): it %s", text)
	}
	return nil
}

// inputs returns what the admission check has read, nil if it has not.
func (r *run) inputs() *inputs.Inputs {
	if r.reading == nil {
		return nil
	}
	<-r.reading.done
	return r.reading.in
}

// loaderRuns waits until the loader runs. There is no limit for its wait for quota but --timeout.
func (r *run) loaderRuns(ctx context.Context, namespace, name, uid string, end factory.Deadline) error {
	req := wait.Request{Kind: kinds.BatchJob, Namespace: namespace, Name: name, UID: uid, Goal: wait.Admitted, Timeout: end.Left(), Given: end.Limit(), UntilHeld: true}
	_, err := waitjob.Until(ctx, r.factory, r.cluster, req)
	if err == nil {
		req.Goal, req.UntilStuck = wait.Running, true
		if req.Timeout = end.Left(); req.Timeout == 0 || req.Timeout > loaderStart {
			req.Timeout, req.Given = loaderStart, loaderStart
		}
		_, err = waitjob.Until(ctx, r.factory, r.cluster, req)
	}
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Try = nil // the job is deleted
	var missed *wait.Unmet
	if !errors.As(err, &missed) {
		return err
	}
	trouble := missed.Last.Status.Trouble
	switch {
	case trouble.LostClaim() == r.options.UploadPVC:
		return noClaim(r.options.UploadPVC, namespace).WithCause(err)
	case trouble.Reason == "" && missed.Outcome == wait.TimedOut && req.Goal == wait.Running:
		if reason := r.warningOf(ctx, namespace, name); reason != "" {
			e.WithFact("reason", reason)
		}
	}
	return err
}

// warningOf returns the last warning about a job or its pod, "" if none is known.
func (r *run) warningOf(ctx context.Context, namespace, job string) string {
	events, err := state.ListEvents(ctx, r.cluster.Client, namespace, kube.ListOptions{FieldSelector: "type=Warning"})
	if err != nil {
		return "" // the error is complete without it
	}
	events = slices.DeleteFunc(events, func(e state.Event) bool { return e.Object != job && !strings.HasPrefix(e.Object, job+"-") })
	if len(events) == 0 {
		return ""
	}
	last := slices.MaxFunc(events, func(a, b state.Event) int { return a.Last.Compare(b.Last) })
	return last.Reason + ": " + last.Message
}

// stepError is the error of what a failed step of the admission check prevents.
func stepError(what string, s check.Step) *errs.Error {
	e := errs.New(what, s.Message)
	if s.Check == "Rights" {
		e.Code = errs.Denied
	}
	if s.Advice != "" {
		e.WithAdvice(s.Advice)
	}
	return e.WithFact("note", "the job was not created")
}

// noClaim is the error of a claim that does not exist.
func noClaim(name, namespace string) *errs.Error {
	return errs.NotFoundf("persistentvolumeclaim %q not found in namespace %s", name, namespace).
		WithAdvice("ask a cluster administrator for a claim, or put the files into the image")
}

// notUploaded words the error of an upload to a claim.
func notUploaded(o *Options, err error) error {
	if err == nil {
		return nil
	}
	return errs.Wrap(err, "cannot upload "+o.Upload+" to claim "+o.UploadPVC).WithCode(errs.ExitOf(err)).WithFact("note", "the job was not created")
}
