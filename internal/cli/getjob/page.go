package getjob

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// page is what people see of one job.
type page struct {
	job      state.Job
	workload *state.Workload
	pods     []state.Pod
	by       string
	unseen   []string // what may not be read
}

// load reads what belongs to the job, in parallel. What may not be read is
// named; the page goes on without it.
func load(ctx context.Context, c *factory.Cluster, j findjob.Job) (page, error) {
	data, err := json.Marshal(j.Object)
	if err != nil {
		return page{}, err
	}
	job, err := state.DecodeJob(j.Kind, data)
	if err != nil {
		return page{}, errs.Wrap(err, "the job cannot be understood")
	}
	p := page{job: job, by: jobs.Creator(job.Labels, job.Annotations)}
	var workloads []state.Workload
	var failures [2]error
	var running sync.WaitGroup
	running.Go(func() {
		workloads, failures[0] = state.ListWorkloads(ctx, c.Client, j.Namespace, kube.ListOptions{LabelSelector: kinds.JobUIDLabel + "=" + j.UID()})
	})
	running.Go(func() {
		if selector := j.Kind.PodSelector(j.Object); selector != "" {
			p.pods, failures[1] = state.ListPods(ctx, c.Client, j.Namespace, kube.ListOptions{LabelSelector: selector})
		}
	})
	running.Wait()
	for _, err := range failures {
		switch {
		case err == nil || kube.IsNotServed(err):
		case kube.IsForbidden(err):
			p.unseen = append(p.unseen, err.Error())
		default:
			return page{}, err
		}
	}
	p.workload = jobs.Match([]state.Job{job}, workloads)[0]
	return p, nil
}

// text renders the page: the state first, then what explains it.
func (p page) text(now time.Time, terminal bool) string {
	s := jobs.StatusOf(p.job, p.workload, p.pods)
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s since %s", p.job.Name, s.State, output.Age(now.Sub(s.Since)))
	if why := firstOf(s.Message, s.Reason); why != "" {
		fmt.Fprintf(&b, ": %s", why)
	}
	b.WriteString("\n\n")
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", label, value)
		}
	}
	row("kind", p.job.Kind.Kind)
	row("namespace", p.job.Namespace)
	row("created", p.job.CreationTimestamp.UTC().Format(time.RFC3339)+by(p.by))
	row("queue", firstOf(p.job.Queue(), "none: the job is not queued"))
	row("priority", firstOf(p.job.Priority(), "none: ranks lowest"))
	for _, r := range p.job.Roles {
		row(strings.ToLower(r.Name), fmt.Sprintf("%d x %s", r.Replicas, devices(r.Requests)))
	}
	if p.workload != nil && p.workload.Admission != nil {
		row("admitted", "by "+p.workload.Admission.ClusterQueue)
	}
	if s.Wanted > 0 {
		row("pods", fmt.Sprintf("%d of %d ready, %d failed, %d restarts", s.Ready, s.Wanted, s.Failed, s.Restarts))
	}
	for _, pod := range p.pods {
		fmt.Fprintf(&b, "  %-10s %s  %s  %s\n", "", pod.Name, pod.Phase, pod.NodeName)
	}
	for _, u := range p.unseen {
		row("unseen", u)
	}
	if terminal {
		return output.SafeLines(b.String())
	}
	return b.String()
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func firstOf(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

func devices(requests map[string]int64) string {
	var out []string
	for name, n := range requests {
		out = append(out, fmt.Sprintf("%d %s", n, name))
	}
	if len(out) == 0 {
		return "no accelerators"
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
