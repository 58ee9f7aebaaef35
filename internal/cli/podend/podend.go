// Package podend notices the end of a pod that a command uses, and reports why it ended.
package podend

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Pod is a pod of a job.
type Pod struct {
	Job       state.Job
	Name, UID string
}

// Wait returns when the pod has ended or is deleted. It returns an error if the pod
// cannot be watched, or ctx's.
func (p Pod) Wait(ctx context.Context, c *factory.Cluster) error {
	found := false
	return state.FollowPods(ctx, c.Client, p.Job.Namespace, kube.ListOptions{FieldSelector: "metadata.name=" + p.Name}, func(e kube.Event[state.Pod]) error {
		switch {
		case e.Type == kube.Synced && found:
		case e.Type == kube.Synced, e.Type == kube.Deleted, e.Object.UID != p.UID:
			return kube.ErrStop
		case e.Object.DeletionTimestamp != nil, e.Object.Phase == "Succeeded", e.Object.Phase == "Failed":
			return kube.ErrStop
		default:
			found = true
		}
		return nil
	})
}

// Over reports whether the pod has ended or is gone. Where it cannot be read, it is not
// known to be over.
func (p Pod) Over(ctx context.Context, c *factory.Cluster) bool {
	pods, err := state.ListPods(ctx, c.Client, p.Job.Namespace, kube.ListOptions{FieldSelector: "metadata.name=" + p.Name})
	if err != nil {
		return false
	}
	for _, now := range pods {
		if now.UID == p.UID && now.DeletionTimestamp == nil && now.Phase != "Succeeded" && now.Phase != "Failed" {
			return false
		}
	}
	return true
}

// Why returns the error of a command whose pod has ended: what it could not do, and what
// happened to the job.
func (p Pod) Why(ctx context.Context, c *factory.Cluster, what string) *errs.Error {
	e := errs.New(what, "pod "+p.Name+" has ended")
	job, err := state.GetJob(ctx, c.Client, p.Job.Kind, p.Job.Namespace, p.Job.Name)
	var status *kube.StatusError
	switch {
	case errors.As(err, &status) && status.Code == 404, err == nil && job.UID != p.Job.UID:
		e.Why = fmt.Sprintf("job %s was deleted", p.Job.Name)
		return e.WithCode(errs.NotFound)
	case err != nil:
		return e.Suggest(suggest.ListPods(p.Job.Namespace, p.Job.Name))
	}
	var workload *state.Workload
	if workloads, err := state.ListWorkloads(ctx, c.Client, p.Job.Namespace, kube.ListOptions{}); err == nil {
		workload = jobs.Match([]state.Job{job}, workloads)[0]
	}
	s := jobs.StatusOf(job, workload, nil)
	if s.State == jobs.Starting || s.State == jobs.Running || s.State == jobs.Restarting {
		return e.Suggest(suggest.GetJob(job.Namespace, job.Name))
	}
	e = jobtext.NoPods(what, job, s)
	if s.State.Finished() {
		e.Why, e.Code = fmt.Sprintf("job %s %s", job.Name, strings.ToLower(string(s.State))), errs.Failure
	}
	return e
}
