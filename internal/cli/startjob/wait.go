package startjob

import (
	"context"
	"errors"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// wait follows the job until it is admitted or running, with one line on stderr
// that says why it is not yet.
func wait(ctx context.Context, o *Options, c *factory.Cluster, object submit.Object, created map[string]any) error {
	kind, ok := kinds.JobFor(object.Resource.GroupVersion(), object.Resource.Kind)
	if !ok {
		return nil
	}
	kind.Resource = object.Resource
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
		defer cancel()
	}
	progress := output.NewProgress(o.Factory.IO)
	defer progress.Done("")
	var last jobs.Status
	name, uid := object.Name(), kinds.Text(created, "metadata", "uid")
	err := follow.Follow(ctx, c.Client, follow.Scope{Kinds: []kinds.Job{kind}, Namespace: kinds.Text(created, "metadata", "namespace"), Name: name},
		func(ch follow.Change) error {
			switch {
			case ch.Type == kube.Synced && last.State == "", ch.Type == kube.Deleted, ch.Type != kube.Synced && ch.Job.UID != uid:
				return errs.NotFoundf("job %s is gone: it was deleted while it waited", name)
			case ch.Type == kube.Synced:
				return nil
			}
			last = ch.Status
			done, err := reached(o.Wait, name, ch.Status)
			if done || err != nil {
				if err == nil {
					err = kube.ErrStop
				}
				return err
			}
			progress.Update(line(name, ch.Status))
			return nil
		})
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return &errs.Error{What: fmt.Sprintf("job %s is not %s after %s", name, o.Wait, o.Timeout), Why: line(name, last),
			Code: errs.Timeout, Try: []string{"hyperpod get-job " + name + " -n " + kinds.Text(created, "metadata", "namespace")}}
	}
	if err == nil {
		progress.Done(fmt.Sprintf("%s is %s", name, last.State))
	}
	return err
}

var errTimeout = errors.New("the wait ran out of time")

// reached tells whether a status is what --wait waits for. A job that failed, or
// that a person holds back, never gets there by itself.
func reached(goal, name string, s jobs.Status) (bool, error) {
	switch s.State {
	case jobs.Running, jobs.Succeeded:
		return true, nil
	case jobs.Starting, jobs.Restarting:
		return goal == "admitted", nil
	case jobs.Failed:
		return false, &errs.Error{What: "job " + name + " failed", Why: s.Message, Code: errs.No}
	case jobs.Suspended:
		return false, &errs.Error{What: "job " + name + " is suspended", Why: s.Message, Code: errs.Pending}
	}
	return false, nil
}

func line(name string, s jobs.Status) string {
	text := fmt.Sprintf("%s is %s", name, s.State)
	if s.Message != "" {
		return text + ": " + s.Message
	}
	if s.Reason != "" {
		return text + ": " + s.Reason
	}
	return text
}
