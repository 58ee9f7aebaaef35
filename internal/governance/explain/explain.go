// Package explain tells why a job that exists does not run, or what it runs on:
// its life so far, the verdict of now, who holds what it needs, what would make it
// run, and what its pods complain of. It is a pure function of what was read.
package explain

import (
	"context"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the name and version of the JSON; see docs/admission-check.md.
const Schema = "hyperpod.explain-job/v1"

// Codes of Explanation.Reason beside Kueue's own and those of package check.
const (
	// NoWorkload: the job has a queue, and Kueue has made no Workload of it (yet).
	NoWorkload = "NoWorkload"
	// NotQueued: the job has no queue label.
	NotQueued = "NotQueued"
	// Backoff: it was evicted and waits for its next try.
	Backoff = "RequeueBackoff"
)

// Explanation is the whole answer.
type Explanation struct {
	Schema string
	Job    Job
	// State is the job's, as list-jobs shows it.
	State   string
	Since   time.Time
	Reason  string `json:",omitempty"`
	Detail  string `json:",omitempty"`
	Summary string
	// Timeline is what happened, oldest first.
	Timeline []Moment
	// Place is the queue it was submitted to, and its place there.
	Place *Place `json:",omitempty"`
	// Kueue is Kueue's own word on it.
	Kueue *KueueWord `json:",omitempty"`
	// Checks are its admission checks.
	Checks []Check `json:",omitempty"`
	// Holds is the quota it has; what of it is borrowed, and from whom.
	Holds []Held `json:",omitempty"`
	// Verdict is the checker's answer of now, while the job waits.
	Verdict *check.Verdict `json:",omitempty"`
	// Roles are its pods by role, and what keeps them.
	Roles []Role `json:",omitempty"`
	// Notes are what else to know.
	Notes []inputs.Note `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time
}

// Job is what is explained.
type Job struct {
	Name, Namespace, Kind string
	CreationTime          time.Time
	Owner                 string `json:",omitempty"`
	PriorityClass         string `json:",omitempty"`
	Priority              int32
}

// Moment is one entry of the time line.
type Moment struct {
	Time    time.Time
	Step    string
	Reason  string `json:",omitempty"`
	Message string
	// By is the job ("namespace/name") a preempted one made way for, where it can be told.
	By    string `json:",omitempty"`
	Times int    `json:",omitempty"`
}

// Place is where the job stands.
type Place struct {
	Queue        string // the LocalQueue
	Team         string `json:",omitempty"`
	ClusterQueue string `json:",omitempty"`
	// Position is 1 for the next one to be looked at; 0 when it waits in no queue.
	Position int `json:",omitempty"`
	// Waiting is the number of jobs waiting in the ClusterQueue, this one included.
	Waiting        int   `json:",omitempty"`
	WaitingSeconds int64 `json:",omitempty"`
}

func (p *Place) at(clusterQueue string) {
	p.Team, p.ClusterQueue = quota.TeamOf(clusterQueue), clusterQueue
}

// KueueWord is the condition that says why a workload waits.
type KueueWord struct {
	Condition string
	Reason    string
	Message   string
	Since     time.Time
}

// Check is one admission check.
type Check struct {
	Name, State string
	Message     string `json:",omitempty"`
}

// Held is quota that the job has.
type Held struct {
	Flavor, Resource string
	Amount           quota.Base
}

// Role is the pods of one role.
type Role struct {
	Role string
	// Pods is how many it shall have.
	Pods, PodsReady, PodsPending int
	Problems                     []Problem
}

// Problem keeps a pod from running.
type Problem struct {
	Pod     string
	Reason  string
	Message string `json:",omitempty"`
	// Pods is how many pods of the role have the same.
	Pods int
}

// Question is a job and what was read of it.
type Question struct {
	Job state.Job
	// Object is the job as the API has it.
	Object   map[string]any
	Workload *state.Workload // nil when there is none
	Pods     []state.Pod     // nil when they may not be read
	Events   []state.Event
	Queues   func(context.Context) []*kueue.LocalQueue
	// Make, May and Flags are for remedies: see check.Request and remedy.Existing.
	Make  func(remedy.Change) (object map[string]any, made remedy.Made, err error)
	May   func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	Flags string
	// Deadlines is for the estimate: see check.Request.
	Deadlines func(context.Context) func(*kueue.Workload) time.Duration
	// NoKueue: the cluster has none.
	NoKueue bool
	// Assume is the duration of jobs of which nothing is known; see check.Request.
	Assume time.Duration
}

// Explain answers. c may be nil where nothing could be read of Kueue.
func Explain(ctx context.Context, c *check.Checker, q Question, now time.Time) (*Explanation, error) {
	s := jobs.StatusOf(q.Job, q.Workload, q.Pods)
	e := &Explanation{
		Schema: Schema, State: string(s.State), Since: s.Since, Reason: s.Reason, Time: now.UTC().Truncate(time.Second), Timeline: []Moment{},
		Job: Job{Name: q.Job.Name, Namespace: q.Job.Namespace, Kind: q.Job.Kind.Kind, CreationTime: q.Job.CreationTimestamp,
			Owner: jobs.Creator(q.Job.Labels, q.Job.Annotations), PriorityClass: q.Job.Priority()},
	}
	for _, m := range jobs.TimelineOf(q.Job, q.Workload, q.Events) {
		e.Timeline = append(e.Timeline, Moment{Time: m.Time.UTC().Truncate(time.Second), Step: string(m.Step), Reason: m.Reason, Message: m.Text, By: preemptor(c, m), Times: m.Times})
	}
	e.Roles = roles(q.Job, q.Pods)
	var wl *kueue.Workload
	if c != nil {
		wl = c.In.WorkloadOf(q.Job.Namespace, q.Job.UID)
	}
	if w := q.Workload; w != nil {
		e.Job.Priority = w.Priority
		for _, k := range w.Checks {
			e.Checks = append(e.Checks, Check{k.Name, k.State, k.Message})
		}
	}
	if queue := q.Job.Queue(); queue != "" {
		e.Place = &Place{Queue: queue}
		if c != nil {
			if lq := c.In.LocalQueue(q.Job.Namespace, queue); lq != nil {
				e.Place.at(string(lq.Spec.ClusterQueue))
			}
		}
	}
	if wl != nil {
		for k, n := range inputs.Holds(wl) {
			if n != 0 && inputs.Reserves(wl) {
				e.Holds = append(e.Holds, Held{k.Flavor, k.Resource, quota.BaseOf(k.Resource, n)})
			}
		}
		slices.SortFunc(e.Holds, func(a, b Held) int { return remedy.Rank(a.Resource) - remedy.Rank(b.Resource) })
	}
	if waits(s.State) && c != nil && (wl == nil || !inputs.Reserves(wl)) {
		if err := e.judge(ctx, c, q, wl); err != nil {
			return nil, err
		}
	}
	e.word(wl)
	e.settle(ctx, q, wl, s)
	return e, nil
}

// waits reports the states in which quota is what is missing.
func waits(s jobs.State) bool {
	return s == jobs.Pending || s == jobs.Preempted || s == jobs.Suspended
}

// judge asks the checker about the job as it is.
func (e *Explanation) judge(ctx context.Context, c *check.Checker, q Question, wl *kueue.Workload) error {
	v, err := c.Check(ctx, check.Request{
		Object: q.Object, Namespace: q.Job.Namespace, Workload: wl, Queues: q.Queues, Remedies: true, Assume: q.Assume,
		Deadlines: q.Deadlines, Make: q.Make, May: q.May,
		Existing: &remedy.Existing{Resource: q.Job.Kind.Resource, Namespace: q.Job.Namespace, Name: q.Job.Name, Flags: q.Flags,
			Together: q.Job.Annotations[kinds.TogetherAnnotation] != ""},
	})
	if err != nil {
		return err
	}
	q.typed(ctx, v)
	e.Verdict = v
	if e.Place != nil && wl != nil && v.Quota.Status != check.Skipped {
		e.Place.at(v.Job.ClusterQueue)
		e.Place.Position = v.Quota.Ahead + 1
		for _, w := range c.In.Workloads {
			if lq := c.In.LocalQueue(w.Namespace, string(w.Spec.QueueName)); lq != nil && string(lq.Spec.ClusterQueue) == v.Job.ClusterQueue &&
				!inputs.Reserves(w) && (w.Spec.Active == nil || *w.Spec.Active) {
				e.Place.Waiting++
			}
		}
		e.Place.Waiting = max(e.Place.Waiting, e.Place.Position)
		e.Place.WaitingSeconds = queue.Seconds(e.Time.Sub(e.Since))
	}
	return nil
}

// word finds Kueue's own condition.
func (e *Explanation) word(wl *kueue.Workload) {
	if wl == nil {
		return
	}
	for _, kind := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted, kueue.WorkloadPodsReady} {
		c := apimeta.FindStatusCondition(wl.Status.Conditions, kind)
		if c != nil && c.Status == metav1.ConditionFalse {
			e.Kueue = &KueueWord{kind, c.Reason, c.Message, c.LastTransitionTime.UTC()}
			return
		}
	}
}

// preemptor names the job that took a preempted one's place.
func preemptor(c *check.Checker, m jobs.Moment) string {
	if c == nil || m.ByJobUID == "" && m.ByWorkloadUID == "" {
		return ""
	}
	for _, list := range [][]*kueue.Workload{c.In.Workloads, c.In.FinishedWorkloads} {
		for _, w := range list {
			if m.ByWorkloadUID != "" && string(w.UID) == m.ByWorkloadUID || m.ByJobUID != "" && inputs.OwnerUID(w) == m.ByJobUID {
				name, _ := inputs.JobOf(w)
				return w.Namespace + "/" + name
			}
		}
	}
	return ""
}
