package startjob

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// patience is how long a start waits for the read of the admission check, from its beginning. The start then continues
// without it.
const patience = 5 * time.Second

// inTime is the judging of a command: as long as its patience lasts.
func inTime(limited context.Context) bool { return limited.Err() == nil }

// reading is what the admission check needs, read beside the other requests of a run.
type reading struct {
	done <-chan struct{} // closed when in and err are set
	in   *inputs.Inputs
	err  error
}

// startReading reads for the admission check in the background, where the run needs it. limit is the most time that it gets,
// 0 for no limit.
func (r *run) startReading(ctx context.Context, namespace string, limit time.Duration) {
	if r.reading != nil {
		return
	}
	done := make(chan struct{})
	read := &reading{done: done}
	r.reading = read
	cancel := context.CancelFunc(func() {})
	if limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	crash.Go(func() {
		defer close(done)
		defer cancel()
		read.in, read.err = admissioncheck.Load(ctx, r.cluster, namespace)
	})
}

// foresees reports whether the run checks the admission of a job that it submits: where somebody can see or use the answer.
func (r *run) foresees() bool {
	return r.options.DryRun == factory.DryRunNone && r.cluster != nil && r.cluster.Snapshot == nil && (!r.factory.Global.Quiet || r.prompts())
}

// prompts reports whether the run can prompt for confirmation.
func (r *run) prompts() bool {
	return r.factory.CanAsk() && !r.options.Yes && r.factory.Config.Confirm != config.ConfirmNever
}

// foresee returns the admission check's verdict on a job that is about to be submitted, nil where it has none. No failure of
// the check fails the start: it is reported once.
func (r *run) foresee(ctx context.Context, j job) *check.Verdict {
	if !r.foresees() || j.Job < 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	found, err := r.facts(ctx, limited, j)
	if ctx.Err() != nil || kube.IsForbidden(err) {
		return nil
	}
	var v *check.Verdict
	if err == nil {
		in, own := r.reading.in, jobOf(j)
		if in.Has(own) {
			if !r.options.Replace {
				return nil // the job exists: the submission says what that means
			}
			in = in.Without(own)
		}
		v, err = judge(ctx, in.WithTemplates(j.namespace, j.Objects), check.Request{Object: j.Objects[j.Job], Beside: beside(j.Objects, j.Job), Namespace: j.namespace, Found: found})
	}
	if err == nil {
		if failed := v.FailedReads(); len(failed) > 0 && v.Verdict == check.Unknown {
			err = fmt.Errorf("failed to read %s", strings.Join(failed, " and "))
		}
	}
	switch {
	case errs.ExitOf(err) == errs.Usage: // a kind that Kueue does not manage: the API server validates the manifest
		return nil
	case err != nil:
		r.factory.Notef("note: cannot tell whether the job runs now: %s", err)
		return nil
	}
	verdict.Fill(v, r.factory.Line)
	return v
}

// facts waits, until limited ends, for what the admission check reads, and for what the pods of a job need beside quota.
func (r *run) facts(ctx, limited context.Context, j job) (*prerequisite.Found, error) {
	r.startReading(ctx, j.namespace, r.patience)
	found := admissioncheck.Prerequisites(limited, r.cluster, j.namespace, j.Objects, j.Job)
	<-r.reading.done
	err := r.reading.err
	if errors.Is(err, context.DeadlineExceeded) && !kube.IsForbidden(err) {
		err = fmt.Errorf("the cluster did not answer within %s", words.Age(r.patience))
	}
	return found, err
}

// judge prompts the admission check about a job.
func judge(ctx context.Context, in *inputs.Inputs, q check.Request) (*check.Verdict, error) {
	c, err := check.New(ctx, in)
	if err != nil {
		return nil, verdict.Error(err)
	}
	v, err := c.Check(ctx, q)
	if err == nil && len(v.Quota.Preempts) > 0 {
		_, err = c.Submit(ctx, &q, v)
	}
	return v, verdict.Error(err)
}

// jobOf names the job of a submission.
func jobOf(j job) inputs.Job {
	object := j.Objects[max(j.Job, 0)]
	return inputs.Job{Kind: kinds.Text(object, "kind"), Namespace: j.namespace, Name: kinds.Text(object, "metadata", "name")}
}

// confirmed prompts on a terminal before a job is submitted that preempts others or can never run, as the setting confirm
// says.
func (r *run) confirmed(ctx context.Context, v *check.Verdict) (bool, error) {
	question := ""
	switch {
	case v == nil || !r.prompts():
	case v.Verdict == check.Admitted && len(v.Quota.Preempts) > 0:
		question = verdict.PreemptionQuestion(v, words.Age)
	case v.Verdict == check.Never && r.factory.Config.Confirm != config.ConfirmPreempt:
		question = verdict.NeverRunsQuestion(v)
	}
	return r.agreed(ctx, question)
}

// agreed prompts a question; "" needs no answer.
func (r *run) agreed(ctx context.Context, question string) (bool, error) {
	if question == "" {
		return true, nil
	}
	yes, err := r.factory.Confirm(ctx, question)
	if err == nil && !yes {
		r.factory.Notef("nothing was created")
		err = errs.Silent{Code: errs.Failure}
	}
	return yes, err
}

// say reports what becomes of a job that was submitted.
func (r *run) say(v *check.Verdict) {
	if v == nil {
		return
	}
	text := verdict.Brief(v, words.Age)
	if text == "" && v.Undecided() {
		text = "unknown: " + v.Summary
	}
	if text != "" {
		r.factory.Notef("%s", text)
	}
}
