package governancecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	"github.com/hyperpod-cli/hyperpod/internal/present/plantext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// applyRemote makes the changes of a document through SageMaker.
func applyRemote(ctx context.Context, o *ApplyOptions, q plan.Request, saved *savedPlan) error {
	f := o.Factory
	name := ""
	var err error
	if saved != nil {
		o.Target.target, name = plan.SageMaker, saved.ARN
	} else if name, err = o.Target.name(q.Document); err != nil {
		return err
	}
	r, err := openRemote(ctx, f, o.Target.account, name)
	if err != nil {
		return err
	}
	run := &remoteRun{ApplyOptions: o, remote: r, request: q}
	if err := o.unmoved(saved, r.state.Versions()); err != nil {
		return err
	}
	if err := run.quiet(ctx); err != nil {
		return err
	}
	p, err := buildRemote(ctx, r, q, recreation{o.Recreate, o.DropTags}, true)
	if err != nil {
		return err
	}
	if err := o.show(p); err != nil {
		return err
	}
	if policy.Worst(p.Findings) == policy.LevelError {
		return errs.New("cannot apply "+q.File, "the plan has errors")
	}
	if o.DryRun {
		f.Notef("all changes are within the limits of the API (dry run; nothing is sent to SageMaker)")
		return nil
	}
	if len(p.Operations) > 0 {
		if err := o.confirmed(ctx, p); err != nil {
			return err
		}
		before, _, err := service.Document(r.state)
		if err != nil {
			return err
		}
		if err := o.backup(before, p, q.File, o.Target.args(r.cluster.Name)...); err != nil {
			return err
		}
		if err := apply.RunService(ctx, r, p.Operations, run.options()); err != nil {
			return run.failed(ctx, err)
		}
	}
	return run.left(p)
}

// remoteRun is one apply through SageMaker.
type remoteRun struct {
	*ApplyOptions
	remote  *remote
	request plan.Request
	// began is when the current wait began, reported when its last line was printed.
	began, reported time.Time
	status          string
}

// The pauses between two looks at a status, and between two lines about it.
const (
	shortPause  = 200 * time.Millisecond
	longPause   = 5 * time.Second
	reportEvery = 15 * time.Second
)

// errSlow is the error of a change that SageMaker has not made in time.
var errSlow = errors.New("not made in time")

func (r *remoteRun) options() apply.ServiceOptions {
	return apply.ServiceOptions{Done: r.done, NoWait: r.Timeout == 0, Waiting: r.waiting, Pause: r.pause}
}

// waiting reports a status when it is new, and now and then.
func (r *remoteRun) waiting(op policy.Operation, status string) {
	now := r.Factory.Now()
	if status == r.status && now.Sub(r.reported) < reportEvery {
		return
	}
	since := ""
	if r.status != "" && now.Sub(r.began) >= time.Second {
		since = " (" + words.Age(now.Sub(r.began)) + ")"
	}
	r.status, r.reported = status, now
	r.Factory.Notef("waiting for %s: %s%s", nameOf(op), status, since)
}

func (r *remoteRun) pause(ctx context.Context, n int) error {
	if n == 0 {
		r.began, r.status = r.Factory.Now(), ""
	}
	if r.Timeout > 0 && r.Factory.Now().Sub(r.began) >= r.Timeout {
		return errSlow
	}
	d := longPause
	if n < 5 {
		d = shortPause << n
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// quiet waits until the service has made the changes that are under way.
func (r *remoteRun) quiet(ctx context.Context) error {
	busy := r.remote.state.Busy()
	if len(busy) == 0 || r.DryRun {
		return nil
	}
	for _, b := range busy {
		op := policy.Operation{Action: policy.Update, Kind: b.Kind, Name: b.Name, Team: b.Team, ID: b.ID}
		err := apply.Settle(ctx, r.remote, op, b.ID, 0, r.options())
		var status *apply.StatusError
		var gone *apply.MovedError
		if err != nil && !errors.As(err, &status) && !errors.As(err, &gone) {
			return r.slow(err, "cannot apply "+r.request.File, nameOf(op))
		}
	}
	return r.remote.read(ctx)
}

// slow words a wait that took too long.
func (r *remoteRun) slow(err error, what, name string) error {
	switch {
	case errors.Is(err, errSlow):
		why := fmt.Sprintf("SageMaker is still changing %s after %s", name, words.Age(r.Timeout))
		if service.Unknown(r.status) {
			why = fmt.Sprintf("%s has status %q after %s: this version does not know the status", name, r.status, words.Age(r.Timeout))
		}
		return errs.New(what, why).WithCause(err).Suggest(errs.Option("--timeout", "1h"))
	case errors.Is(err, context.Canceled):
		return factory.Interrupted("SageMaker may still change " + name)
	}
	return err
}

// failed words the failure of an operation, and what is left now.
func (r *remoteRun) failed(ctx context.Context, err error) error {
	var fail *apply.Failure
	if !errors.As(err, &fail) {
		return err
	}
	op := fail.Operation
	e := r.explain(fail.Err, op)
	e.WithFact("done", fmt.Sprintf("%d of %s", len(fail.Done), words.Count(len(fail.Done)+len(fail.Left), "change", "changes"))).WithFact("left", words.Some(namesOf(fail.Left), 8))
	var moved *apply.MovedError
	if errors.As(fail.Err, &moved) {
		r.replan(ctx)
	}
	return e.Suggest(errs.Run("governance", append(r.planArgs(), r.Target.args(r.remote.cluster.Name)...)...).WithNote("shows the remaining changes"))
}

func (r *remoteRun) explain(err error, op policy.Operation) *errs.Error {
	what := "cannot apply the change of " + nameOf(op)
	var moved *apply.MovedError
	var status *apply.StatusError
	var e *errs.Error
	switch {
	case errors.As(err, &moved):
		e = errs.New(what, "somebody else changed it since the plan").WithCause(err)
		if now := moved.Now; now != nil {
			if now.By != "" {
				e.WithFact("changed by", now.By)
			}
			if !now.At.IsZero() {
				e.WithFact("changed at", now.At.Format(time.RFC3339))
			}
			e.WithFact("version", fmt.Sprintf("%d, the plan has %d", now.Version, op.Version)).WithFact("status", now.Status)
		}
		var reported *errs.Error
		if errors.As(moved.Err, &reported) {
			e.WithFact("message", reported.Why)
		}
	case errors.As(err, &status):
		e = errs.New(what, "SageMaker reports status "+status.Status).WithCause(err)
		if status.Reason != "" {
			e.WithFact("reason", words.OneLine(status.Reason))
		}
		e.Suggest(r.recovery(status)...)
	case errors.Is(err, errSlow), errors.Is(err, context.Canceled):
		if slow := r.slow(err, what, nameOf(op)); !errors.As(slow, &e) {
			e = errs.Wrap(slow, what)
		}
	default:
		e = errs.Wrap(err, what).WithCode(errs.ExitOf(err))
		if r.remote.Outcome(err) == apply.Unknown {
			e.WithFact("note", "SageMaker gave no answer; it may still make the change")
		}
	}
	return e
}

// recovery returns the documented way out of a status.
func (r *remoteRun) recovery(s *apply.StatusError) []errs.Suggestion {
	if s.Recovery == service.Recreate {
		return []errs.Suggestion{errs.Option("--recreate", cmp.Or(s.Team, service.PolicyName)).WithNote("deletes it and creates it again")}
	}
	return []errs.Suggestion{errs.Option("--yes").WithNote("the same command again repeats the change")}
}

// replan shows what the document changes now that somebody else changed the cluster.
func (r *remoteRun) replan(ctx context.Context) {
	if r.remote.read(ctx) != nil {
		return // the failure itself is reported
	}
	p, err := buildRemote(ctx, r.remote, r.request, recreation{}, false)
	if err != nil {
		return
	}
	r.planned(p)
}

// left reports resources that need something else to be done.
func (r *remoteRun) left(p *plan.Plan) error {
	var flags []string
	e := errs.New("some resources are left as they are", "SageMaker failed to create or change them")
	for _, t := range p.Troubles {
		if t.Planned || t.Recovery == service.Wait || t.Recovery == service.Retry {
			continue
		}
		flags = append(flags, "--recreate", cmp.Or(t.Team, service.PolicyName))
		e.WithFact(t.Name, plantext.Trouble(t))
	}
	if len(flags) == 0 {
		return nil
	}
	return e.Suggest(errs.Option(flags...).WithNote("deletes them and creates them again"))
}
