// Package slurmjob finds and follows jobs of a Slurm cluster for the commands on jobs.
package slurmjob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Job is a job of Slurm with the values that every command shows.
type Job struct {
	Slurm  slurm.Job
	Job    state.Job
	Status jobs.Status
}

// Of returns the job with its status in words.
func Of(j slurm.Job) Job {
	job, status := j.Values()
	return Job{Slurm: j, Job: job, Status: slurmtext.Status(j, status)}
}

// OfSweep reports whether the job belongs to a sweep; any job does for "".
func (j Job) OfSweep(name string) bool { return name == "" || j.Job.Labels[kinds.SweepLabel] == name }

// LatestOfSweep returns the jobs of a sweep: of several with the same parameters, which were started again, the last one.
func LatestOfSweep(all []Job, name string) (out []Job) {
	at := map[string]int{}
	for _, j := range all {
		if !j.OfSweep(name) {
			continue
		}
		key := j.Slurm.User + " " + j.Job.Annotations[kinds.SweepAnnotation]
		i, seen := at[key]
		switch {
		case !seen:
			at[key] = len(out)
			out = append(out, j)
		case j.Slurm.Compare(out[i].Slurm) > 0:
			out[i] = j
		}
	}
	return out
}

// historyDays is how far back lists of finished jobs go.
const historyDays = 7

// All lists the jobs of all users: those that the controller remembers, and those of the
// last week that the accounting database has.
func All(ctx context.Context, c *client.Client, now time.Time) ([]Job, error) {
	queue, err := c.Jobs(ctx)
	if err != nil {
		return nil, slurmtext.Error("cannot list jobs", err)
	}
	past, _, err := c.History(ctx, now.AddDate(0, 0, -historyDays))
	if err != nil {
		return nil, slurmtext.Error("cannot list finished jobs", err)
	}
	return joined(queue, past), nil
}

// joined returns the jobs of the queue, and those of the history that are not among them.
func joined(queue, past []slurm.Job) []Job {
	seen := map[string]bool{}
	var out []Job
	for _, j := range slices.Concat(queue, past) {
		if !seen[j.ID] {
			seen[j.ID] = true
			out = append(out, Of(j))
		}
	}
	return out
}

// Find returns the job of an id, such as 12 or 12_3, or of a name. Of several jobs of a
// name the one that has not ended counts, else the last one.
func Find(ctx context.Context, c *client.Client, word string, now time.Time) (Job, error) {
	if slurm.IsID(word) {
		return byID(ctx, c, word, now)
	}
	all, err := All(ctx, c, now)
	if err != nil {
		return Job{}, err
	}
	var active, ended []Job
	for _, j := range all {
		switch {
		case j.Job.Name != word && j.Slurm.ID != word:
		case j.Slurm.Active():
			active = append(active, j)
		default:
			ended = append(ended, j)
		}
	}
	switch {
	case len(active) == 1:
		return active[0], nil
	case len(active) > 1:
		return Job{}, several(word, active)
	case len(ended) > 0:
		return slices.MaxFunc(ended, func(a, b Job) int { return a.Slurm.Compare(b.Slurm) }), nil
	}
	e := absent(word)
	if near := errs.Near(word, names(all)); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	}
	return Job{}, e
}

// Absent reports whether err is Find's error about a job that does not exist.
func Absent(err error) bool {
	return errs.ExitOf(err) == errs.NotFound && !client.Is(err, client.NoCommand)
}

func absent(word string) *errs.Error {
	return errs.NotFoundf("job %q not found on the Slurm cluster", word).Suggest(errs.Run("list-jobs"))
}

// byID reads one job. An array whose tasks have several records is as its first one, with
// the array's id.
func byID(ctx context.Context, c *client.Client, id string, now time.Time) (Job, error) {
	list, err := c.Jobs(ctx, id)
	if err != nil && !client.Is(err, client.UnknownJob) {
		return Job{}, slurmtext.Error("cannot read job "+id, err)
	}
	if len(list) == 0 {
		var past []slurm.Job
		if past, _, err = c.History(ctx, time.Time{}, id); err != nil {
			return Job{}, slurmtext.Error("cannot read job "+id, err)
		}
		list = past
	}
	switch {
	case len(list) == 1:
		return Of(list[0]), nil
	case len(list) > 1:
		var tasks []Job
		for _, j := range list {
			tasks = append(tasks, Of(j))
		}
		return Job{}, several(id, tasks)
	}
	e := absent(id)
	if all, err := All(ctx, c, now); err == nil {
		var near []string
		for _, j := range all {
			if n := j.Slurm.Number(); len(n) > 1 && len(n) == len(id) && n[:len(n)-1] == id[:len(id)-1] {
				near = append(near, n)
			}
		}
		if near = slices.Compact(slices.Sorted(slices.Values(near))); len(near) > 0 && len(near) <= 5 {
			e.WithFact("did you mean", strings.Join(near, ", "))
		}
	}
	return Job{}, e
}

// several returns the error about a word that stands for several jobs, or for the tasks of an
// array.
func several(word string, list []Job) error {
	what := fmt.Sprintf("%d jobs are named %s", len(list), word)
	if list[0].Slurm.Array == word {
		what = fmt.Sprintf("job %s is an array", word)
	}
	e := errs.Usagef("%s: name one by its id", what)
	for _, j := range list[:min(len(list), 10)] {
		e.WithFact(j.Slurm.ID, strings.ToLower(string(j.Status.State)))
	}
	return e
}

func names(list []Job) (out []string) {
	for _, j := range list {
		out = append(out, j.Job.Name)
	}
	return out
}

// Object returns the job as an object with the parts that objects of Kubernetes have.
func (j Job) Object() map[string]any {
	s := j.Slurm
	spec := map[string]any{"nodes": s.Nodes, "tasks": s.Tasks, "cpus": s.CPUs, "devices": jobs.Devices(j.Job)}
	for key, value := range map[string]string{"partition": s.Partition, "account": s.Account, "qos": s.QOS, "timeLimit": s.TimeLimit,
		"command": s.Command, "workDir": s.WorkDir, "comment": s.Comment, "dependency": s.Dependency} {
		if value != "" {
			spec[key] = value
		}
	}
	status := map[string]any{"state": string(j.Status.State), "slurmState": s.State, "restarts": s.Restarts}
	for key, value := range map[string]string{"reason": j.Status.Reason, "message": j.Status.Message, "nodeList": s.NodeList} {
		if value != "" {
			status[key] = value
		}
	}
	if j.Job.Start != nil {
		status["startTime"] = jobs.Time(*j.Job.Start)
	} else if s.Active() && !s.Start.IsZero() {
		status["expectedStartTime"] = jobs.Time(s.Start)
	}
	if j.Job.Completion != nil {
		status["completionTime"] = jobs.Time(*j.Job.Completion)
		status["exitCode"] = s.ExitCode
	}
	meta := map[string]any{"name": j.Job.Name, "uid": s.ID, "creationTimestamp": jobs.Time(s.Submit)}
	if s.Account != "" {
		meta["namespace"] = s.Account
	}
	return map[string]any{"kind": slurm.Kind.Kind, "metadata": meta, "spec": spec, "status": status}
}

// Position returns the position of a pending job among the pending jobs of its partition,
// by priority, and their number; 0 for a job that is not pending.
func (j Job) Position(all []Job) (position, of int) {
	if j.Status.State != jobs.Pending {
		return 0, 0
	}
	for _, o := range all {
		if o.Status.State != jobs.Pending || o.Slurm.Partition != j.Slurm.Partition {
			continue
		}
		of++
		if o.Slurm.ID != j.Slurm.ID && cmp.Or(cmp.Compare(o.Slurm.Priority, j.Slurm.Priority), j.Slurm.Submit.Compare(o.Slurm.Submit)) > 0 {
			position++
		}
	}
	return position + 1, of
}

// OnNodes returns the jobs that run, by node.
func OnNodes(ctx context.Context, c *client.Client) (map[string][]Job, error) {
	list, err := c.Jobs(ctx)
	if err != nil {
		return nil, slurmtext.Error("cannot list jobs", err)
	}
	out := map[string][]Job{}
	for _, j := range list {
		if !j.Active() {
			continue
		}
		for _, host := range slurm.Hosts(j.NodeList) {
			out[host] = append(out[host], Of(j))
		}
	}
	return out, nil
}
