package podflags

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Job is a job as it is named on the command line.
type Job struct{ Name, Kind string }

// Chosen are pods of a job, at least one.
type Chosen struct {
	Job  state.Job
	Pods []pick.Pod
}

// Choose reads the job and its pods and chooses. what is what the command cannot do
// without a pod, such as "run the command".
func (p *Flags) Choose(ctx context.Context, f *factory.Factory, c *factory.Cluster, named Job, what string) (Chosen, error) {
	job, err := Find(ctx, f, c, named.Name, named.Kind)
	if err != nil {
		return Chosen{}, err
	}
	all, err := logs.Pods(ctx, c.Client, job)
	if err != nil {
		return Chosen{}, err
	}
	pods, err := pick.Choose(job, all, p.Choice())
	if err != nil {
		return Chosen{}, jobtext.Error(err)
	}
	if len(pods) == 0 {
		if len(all) > 0 {
			e := errs.New("cannot "+what, "job "+job.Name+" does not have the chosen pods yet").WithCode(errs.Pending)
			return Chosen{}, e.Suggest(suggest.ListPods(job.Namespace, job.Name))
		}
		var workload *state.Workload
		if workloads, err := state.ListWorkloads(ctx, c.Client, job.Namespace, kube.ListOptions{}); err == nil {
			workload = jobs.Match([]state.Job{job}, workloads)[0]
		}
		return Chosen{}, jobtext.NoPods("cannot "+what, job, jobs.StatusOf(job, workload, nil))
	}
	if p.Choice().Default() && len(all) > 1 {
		others := "--pod, --rank or --all-pods"
		if !p.several {
			others = "--pod, --role or --rank"
		}
		f.Notef("note: using pod %s; use %s for others", pods[0].Name, others)
	}
	return Chosen{Job: job, Pods: pods}, nil
}

// Target is a running container of a pod.
type Target struct {
	Job       state.Job
	Pod       pick.Pod
	Container string
}

// Single chooses one running container.
func (p *Flags) Single(ctx context.Context, f *factory.Factory, c *factory.Cluster, named Job, what string) (Target, error) {
	chosen, err := p.Choose(ctx, f, c, named, what)
	if err != nil {
		return Target{}, err
	}
	pod := chosen.Pods[0]
	container, err := pod.Container(p.Container)
	if err != nil {
		return Target{}, jobtext.Error(err)
	}
	return Target{chosen.Job, pod, container}, Running(pod, container, what)
}

// Running returns an error if the container is not running. what is what the command
// cannot do then.
func Running(p pick.Pod, container, what string) error {
	what = "cannot " + what + " in pod " + p.Name
	for _, c := range p.Containers {
		if c.Name == container && (c.Terminated != "" || c.Waiting != "") {
			e := &errs.Error{What: what, Why: fmt.Sprintf("container %s is not running: %s", container, c.Terminated+c.Waiting), Code: errs.Failure}
			if c.Waiting != "" && c.LastTerminated == "" {
				e.Code = errs.Pending
			}
			return e
		}
	}
	switch p.Phase {
	case "Running", "":
		return nil
	case "Pending":
		return &errs.Error{What: what, Why: "it has not started yet", Code: errs.Pending}
	}
	if !jobs.Ended(p.Pod) { // Unknown: its node does not answer
		return errs.New(what, "its phase is "+p.Phase)
	}
	return errs.New(what, "it has ended ("+p.Phase+")")
}
