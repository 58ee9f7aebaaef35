package startjob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
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
	object := j.Objects[max(j.Job, 0)]
	r.startReading(ctx, j.namespace, 0)
	rights := createRights(ctx, c, j.namespace, j.Objects)
	<-r.reading.done
	if r.reading.err != nil {
		return r.reading.err
	}
	in := r.reading.in
	if r.options.Replace {
		in = in.Without(jobOf(j))
	}
	answer, err := judge(ctx, in, check.Request{
		Object: object, Namespace: j.namespace, Remedies: true, AllHolders: r.options.AllHolders, Assume: r.options.Assume,
		Make:  j.change,
		Steps: append(r.findings, rights...),
		Deadlines: func(ctx context.Context) func(*kueue.Workload) time.Duration {
			return admissioncheck.Deadlines(ctx, c, in)
		},
		Queues: func(ctx context.Context) []*kueue.LocalQueue { return admissioncheck.Queues(ctx, c, in, j.namespace) },
	})
	if err != nil {
		return err
	}
	admissioncheck.Owners(ctx, c, answer)
	verdict.Fill(answer, f.Line)
	text := func() string { return verdict.Text(answer, f.IO.Width, words.Age) }
	if err := admissioncheck.Print(f, format, answer, text, answer.Job.Name); err != nil {
		return err
	}
	if code := answer.Verdict.Exit(); code != errs.OK {
		return errs.Silent{Code: code}
	}
	return nil
}

// createRights checks the permission to create each object. The step is Unknown if the server does not answer.
func createRights(ctx context.Context, c *factory.Cluster, namespace string, objects []map[string]any) []check.Step {
	steps := make([]check.Step, len(objects))
	var wg sync.WaitGroup
	for i, object := range objects {
		wg.Go(func() {
			what := fmt.Sprintf("create %s in %s", strings.ToLower(kinds.Text(object, "kind")), namespace)
			steps[i] = check.Step{Check: "Rights", Status: check.StatusOK, Message: "you have permission to " + what}
			res, err := discovery.ResourceOf(ctx, c.Client, object)
			var allowed bool
			if err == nil {
				allowed, err = c.CanI(ctx, "create", res, namespace, "")
			}
			switch {
			case err != nil && errs.ExitOf(err) == errs.NotFound:
				steps[i] = check.Step{Check: "Kind", Status: check.StatusFailed, Message: err.Error()}
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
	return slices.CompactFunc(steps, func(a, b check.Step) bool { return a == b })
}
