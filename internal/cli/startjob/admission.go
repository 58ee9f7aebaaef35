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
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// admission is the dry run that the checker answers.
const admission = "admission"

// excuse keeps what fillIn could not find as a finding of the admission check,
// where a start would have failed.
func (o *Options) excuse(err error, step string) bool {
	var e *errs.Error
	if o.DryRun != admission || !errors.As(err, &e) || e.Code != errs.NotFound {
		return false
	}
	found := check.Step{Check: step, Status: check.Failed, Message: e.Error()}
	if len(e.Try) > 0 {
		found.Try = e.Try[0].String()
	}
	o.found = append(o.found, found)
	return true
}

// checkAdmission says whether the job would run, and creates nothing.
func (o *Options) checkAdmission(ctx context.Context, c *factory.Cluster, v values.Values, r render.Result) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	object := r.Objects[max(r.Job, 0)]
	var in *inputs.Inputs
	var rights []check.Step
	var loadErr error
	var wg sync.WaitGroup
	wg.Go(func() { in, loadErr = admissioncheck.Load(ctx, c, v.Namespace) })
	wg.Go(func() { rights = createRights(ctx, c, v.Namespace, r.Objects) })
	wg.Wait()
	if loadErr != nil {
		return loadErr
	}
	asked, err := check.New(ctx, in)
	if err != nil {
		return err
	}
	verdict, err := asked.Check(ctx, check.Request{
		Object: object, Namespace: v.Namespace, Remedies: true, Assume: o.Assume,
		Make:  o.again,
		Steps: append(o.found, rights...),
		Deadlines: func(ctx context.Context) func(*kueue.Workload) time.Duration {
			return admissioncheck.Deadlines(ctx, c, in)
		},
		Queues: func(ctx context.Context) []*kueue.LocalQueue { return admissioncheck.Queues(ctx, c, in, v.Namespace) },
	})
	if err != nil {
		return err
	}
	admissioncheck.Owners(ctx, c, verdict)
	text := func() string { return verdict.Text(f.IO.Width, words.Age) }
	if err := admissioncheck.Print(f, format, verdict, text, verdict.Job.Name); err != nil {
		return err
	}
	if code := verdict.Verdict.Exit(); code != errs.OK {
		return errs.Silent{Code: code}
	}
	return nil
}

// createRights asks whether the user may create the objects. A server that does
// not answer the question leaves it open.
func createRights(ctx context.Context, c *factory.Cluster, namespace string, objects []map[string]any) []check.Step {
	steps := make([]check.Step, len(objects))
	var wg sync.WaitGroup
	for i, object := range objects {
		wg.Go(func() {
			what := fmt.Sprintf("create %s in %s", strings.ToLower(kinds.Text(object, "kind")), namespace)
			steps[i] = check.Step{Check: "Rights", Status: check.OK, Message: "you may " + what}
			res, err := discovery.ResourceOf(ctx, c.Client, object)
			var allowed bool
			if err == nil {
				allowed, err = c.CanI(ctx, "create", res, namespace, "")
			}
			switch {
			case err != nil && errs.ExitOf(err) == errs.NotFound:
				steps[i] = check.Step{Check: "Kind", Status: check.Failed, Message: err.Error()}
			case c.Snapshot != nil:
				steps[i].Status, steps[i].Message = check.Skipped, "a file does not tell what you may do"
			case err != nil:
				steps[i].Status, steps[i].Message = check.Unclear, "whether you may "+what+" could not be found out"
			case !allowed:
				steps[i].Status, steps[i].Message = check.Failed, "you have no right to "+what
				steps[i].Advice = "ask a cluster administrator for a role with that right"
			}
		})
	}
	wg.Wait()
	return slices.CompactFunc(steps, func(a, b check.Step) bool { return a == b })
}
