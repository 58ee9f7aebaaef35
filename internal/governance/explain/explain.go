// Package explain finds out why an existing job does not run, or what it runs on: its
// timeline, the present verdict, who holds what it needs, what would let it run, and
// what its pods report. It is a pure function of what was read. It returns codes and
// values; package present/explanation puts them into words.
package explain

import (
	"context"
	"errors"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the name and version of the JSON; see docs/admission-check.md.
const Schema = "hyperpod.explain-job/v1"

// Codes of Explanation.Reason beside Kueue's own and those of package check.
const (
	// NoWorkload means that the job has a queue, but Kueue has created no Workload.
	NoWorkload = "NoWorkload"
	// NodePendingReplacement and NodePendingReboot mean that HyperPod has marked a node of
	// the job.
	NodePendingReplacement = "NodePendingReplacement"
	NodePendingReboot      = "NodePendingReboot"
	// NotQueued means that the job has no queue label.
	NotQueued = "NotQueued"
	// WorkersUnread means that it is not known which worker clusters of MultiKueue there are.
	WorkersUnread = "WorkersUnread"
	// Backoff means that the job was evicted and waits for its next attempt.
	Backoff = "RequeueBackoff"
)

// Cause is the circumstance that decides what happens to the job.
type Cause string

// The causes, from the most to the least telling.
const (
	ByStatus           Cause = "ByStatus"           // its status: finished, running or restarting
	ChecksPending      Cause = "ChecksPending"      // it has quota and waits for admission checks
	LosingNodes        Cause = "LosingNodes"        // it runs on nodes that HyperPod has marked
	Starting           Cause = "Starting"           // it is admitted
	Unattended         Cause = "Unattended"         // it may run, and no operator has created its pods (jobs.Unattended)
	MissingCluster     Cause = "MissingCluster"     // Explanation.Cluster does not exist
	PodProblem         Cause = "PodProblem"         // Explanation.Problem
	Deactivated        Cause = "Deactivated"        // its workload is inactive
	WithoutKueue       Cause = "WithoutKueue"       // the cluster has no Kueue
	Unmanaged          Cause = "Unmanaged"          // it has no queue label
	SuspendedUnmanaged Cause = "SuspendedUnmanaged" // nor will anything resume it
	ByVerdict          Cause = "ByVerdict"          // the verdict
	ByKueue            Cause = "ByKueue"            // what Kueue says, where the verdict is Unknown
	WithoutWorkload    Cause = "WithoutWorkload"    // Kueue has created no Workload
	BackingOff         Cause = "BackingOff"         // until Explanation.RetryAt
	Unobstructed       Cause = "Unobstructed"       // Kueue should admit it
	OtherPodsNotReady  Cause = "OtherPodsNotReady"  // Kueue waits for pods of other jobs
)

// Explanation is the whole answer. Package present/explanation fills in Summary and the
// messages of Notes.
type Explanation struct {
	Schema string
	Job    Job
	// State is the job's state, as list-jobs shows it.
	State   string
	Since   time.Time `json:",omitzero"`
	Reason  string    `json:",omitempty"`
	Detail  string    `json:",omitempty"`
	Summary string
	// Timeline lists what happened, oldest first.
	Timeline []Moment
	// Position is the queue that the job was submitted to, and its position there.
	Position *Position `json:"Place,omitempty"`
	// Kueue is what Kueue's conditions say about the admission of a pending job, or
	// about the pods of an admitted one; nil where they say nothing.
	Kueue *KueueCondition `json:",omitempty"`
	// Checks are its admission checks.
	Checks []Check `json:",omitempty"`
	// Holds is the quota that it holds.
	Holds []Held `json:",omitempty"`
	// Verdict is the current answer of the check, for a pending job.
	Verdict *check.Verdict `json:",omitempty"`
	// Workers are the answers of the worker clusters of MultiKueue, for a job that has its quota here and waits for them.
	Workers []check.Worker `json:",omitempty"`
	// Roles are its pods by role, with their problems.
	Roles []Role `json:",omitempty"`
	// NextSteps are what to do about a job that failed or whose pods cannot start.
	NextSteps []NextStep `json:",omitempty"`
	// Resilience is what is known of its faults, for a job with pods on nodes.
	Resilience *jobs.ResilienceRow `json:",omitempty"`
	// Notes are further remarks.
	Notes []inputs.Note `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time

	// Cause is the circumstance that decides.
	Cause Cause `json:"-"`
	// Status is the job's status.
	Status jobs.Status `json:"-"`
	// Health is Resilience as values.
	Health jobs.Resilience `json:"-"`
	// Problem is the role whose first problem decides, for PodProblem.
	Problem *Role `json:"-"`
	// Operator is what creates the pods, for Unattended.
	Operator string `json:"-"`
	// Cluster is the RayCluster that the job is to run on, for MissingCluster.
	Cluster string `json:"-"`
	// RetryAt is when an evicted job is tried again, for BackingOff.
	RetryAt time.Time `json:"-"`
	// Unsuspendable reports that the user can resume the job, for Deactivated and
	// SuspendedUnmanaged.
	Unsuspendable bool `json:"-"`
	// HasWorkload reports that Kueue has created a Workload.
	HasWorkload bool `json:"-"`
}

// Pending reports whether the job lacks quota.
func (e *Explanation) Pending() bool { return pending(jobs.State(e.State)) }

// Job is the job that is explained.
type Job struct {
	Name, Namespace, Kind string
	// Group is the pod group of a pod: what the pod holds or waits for is that of the group.
	Group         string    `json:",omitempty"`
	CreationTime  time.Time `json:",omitzero"`
	Owner         string    `json:",omitempty"`
	PriorityClass string    `json:",omitempty"`
	Priority      int32
}

// Moment is one entry of the timeline.
type Moment struct {
	Time    time.Time
	Step    string
	Reason  string `json:",omitempty"`
	Message string
	// By is the job ("namespace/name") that preempted this one, where known.
	By    string `json:",omitempty"`
	Times int    `json:",omitempty"`

	// Source is the moment as values; package present/explanation makes Message of it.
	Source jobs.Moment `json:"-"`
}

// Position is the queue of a job, and its position there.
type Position struct {
	Queue        string // the LocalQueue
	Team         string `json:",omitempty"`
	ClusterQueue string `json:",omitempty"`
	// Position is 1 for the job that Kueue tries next, 0 for a job in no queue.
	Position int `json:",omitempty"`
	// Waiting is the number of pending jobs of the ClusterQueue, including this one.
	Waiting        int   `json:",omitempty"`
	WaitingSeconds int64 `json:",omitempty"`
}

func (p *Position) at(clusterQueue string) {
	p.Team, p.ClusterQueue = quota.TeamOf(clusterQueue), clusterQueue
}

// KueueCondition is a condition of a workload that is false.
type KueueCondition struct {
	Condition string
	Reason    string
	Message   string
	Since     time.Time `json:",omitzero"`
}

// Check is one admission check.
type Check struct {
	Name, State string
	Message     string `json:",omitempty"`
}

// Held is quota that the job holds.
type Held struct {
	Flavor, Resource string
	Amount           quota.Base
}

// Role is the pods of one role.
type Role struct {
	Role string
	// Pods is the number of pods that it should have.
	Pods, PodsReady, PodsPending int
	Problems                     []Problem
}

// Problem is why a pod does not run.
type Problem struct {
	Pod     string
	Reason  string
	Message string `json:",omitempty"`
	// Pods is the number of pods of the role with this problem.
	Pods int
}

// Question is a job and what was read about it.
type Question struct {
	Job state.Job
	// Object is the job as the API has it.
	Object   map[string]any
	Workload *state.Workload // nil when there is none
	// Workloads are all workloads of the job: a Deployment has one for each pod.
	Workloads []*state.Workload
	Pods      []state.Pod // nil when they could not be read
	Events    []state.Event
	Queues    func(context.Context) []*kueue.LocalQueue
	// Make, May, AllHolders, Deadlines, Assume and Workers are as in check.Request.
	Make       func(remedy.Change) (object map[string]any, made remedy.Rendered, err error)
	May        func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	AllHolders bool
	Deadlines  func(context.Context) func(*kueue.Workload) forecast.StatedEnd
	Assume     time.Duration
	Workers    func(ctx context.Context, of *kueue.AdmissionCheck, sent []string) ([]check.Remote, error)
	// NoKueue reports that the cluster has no Kueue.
	NoKueue bool
}

// Explain returns the explanation. c is nil for a job of a kind that Kueue does not know.
func Explain(ctx context.Context, c *check.Checker, q Question, now time.Time) (*Explanation, error) {
	s := jobs.StatusOf(q.Job, q.Workload, q.Pods)
	e := &Explanation{
		Schema: Schema, State: string(s.State), Since: s.Since, Reason: s.Reason, Status: s, HasWorkload: q.Workload != nil, Time: now.UTC().Truncate(time.Second), Timeline: []Moment{},
		Job: Job{Name: q.Job.Name, Namespace: q.Job.Namespace, Kind: q.Job.Kind.Kind, Group: q.Job.Group(), CreationTime: q.Job.CreationTimestamp,
			Owner: jobs.Creator(q.Job.Labels, q.Job.Annotations), PriorityClass: q.Job.Priority()},
	}
	for _, m := range jobs.TimelineOf(q.Job, q.Workload, q.Events) {
		e.Timeline = append(e.Timeline, Moment{Time: m.Time.UTC().Truncate(time.Second), Step: string(m.Step), Reason: m.Reason, By: preemptor(c, m), Times: m.Times, Source: m})
	}
	events := q.Events
	if !slices.Contains([]jobs.State{jobs.Starting, jobs.Running, jobs.Restarting}, s.State) {
		events = nil // others need no pods; what was refused is over
	}
	e.Roles = roles(q.Job, q.Pods, events)
	e.resilience(c, q)
	var wl *kueue.Workload
	if c != nil {
		wl = c.In.WorkloadOf(q.Job.Namespace, q.Job.UID)
		if wl == nil && q.Workload != nil { // that of a pod
			wl = c.In.Workload(q.Job.Namespace, q.Workload.Name)
		}
		e.holds(c, q, wl)
	}
	if w := q.Workload; w != nil {
		e.Job.Priority = w.Priority
		for _, k := range w.Checks {
			e.Checks = append(e.Checks, Check{k.Name, k.State, k.Message})
		}
	}
	if queue := q.Job.Queue(); queue != "" {
		e.Position = &Position{Queue: queue}
		if c != nil {
			if lq := c.In.LocalQueue(q.Job.Namespace, queue); lq != nil {
				e.Position.at(string(lq.Spec.ClusterQueue))
			}
		}
	}
	if pending(s.State) && c != nil && (wl == nil || !inputs.Reserves(wl)) {
		if err := e.judge(ctx, c, q, wl); err != nil {
			return nil, err
		}
	}
	e.condition(wl)
	e.settle(ctx, q, wl, s)
	e.nextSteps(ctx, q)
	if e.Cause == ChecksPending && q.Workers != nil {
		err := e.askWorkers(ctx, c, q, wl)
		return e, err
	}
	return e, nil
}

// holds sets the quota that the job holds, by one or all of its workloads.
func (e *Explanation) holds(c *check.Checker, q Question, wl *kueue.Workload) {
	all := []*kueue.Workload{wl}
	if q.Job.Kind.Apart() {
		all = nil
		for _, w := range q.Workloads {
			all = append(all, c.In.Workload(w.Namespace, w.Name))
		}
	}
	held := quota.Usage{}
	for _, w := range all {
		if w != nil && inputs.Reserves(w) {
			for k, n := range inputs.Holds(w) {
				held.Add(k, n)
			}
		}
	}
	for k, n := range held {
		if n != 0 {
			e.Holds = append(e.Holds, Held{k.Flavor, k.Resource, quota.BaseOf(k.Resource, n)})
		}
	}
	slices.SortFunc(e.Holds, func(a, b Held) int { return kinds.ResourceRank(a.Resource) - kinds.ResourceRank(b.Resource) })
}

// askWorkers asks the worker clusters about a job that has its quota here, if it waits for the admission check of MultiKueue.
func (e *Explanation) askWorkers(ctx context.Context, c *check.Checker, q Question, wl *kueue.Workload) (err error) {
	remote := c.RemoteCheck(string(wl.Status.Admission.ClusterQueue))
	if remote == nil || !slices.ContainsFunc(e.Checks, func(c Check) bool { return c.Name == remote.Name && c.State == string(kueue.CheckStatePending) }) {
		return nil
	}
	e.Workers, err = c.Workers(ctx, &check.Request{Object: q.Object, Namespace: q.Job.Namespace, Workers: q.Workers}, wl, remote)
	if unread := (*check.WorkersError)(nil); errors.As(err, &unread) && ctx.Err() == nil {
		e.Notes = append(e.Notes, inputs.Note{Code: WorkersUnread, Message: unread.Error()})
		return nil
	}
	return err
}

// pending reports the states in which a job lacks quota.
func pending(s jobs.State) bool {
	return s == jobs.Pending || s == jobs.Preempted || s == jobs.Suspended
}

// judge asks the checker about the job.
func (e *Explanation) judge(ctx context.Context, c *check.Checker, q Question, wl *kueue.Workload) error {
	v, err := c.Check(ctx, check.Request{
		Object: q.Object, Namespace: q.Job.Namespace, Workload: wl, Queues: q.Queues, Remedies: true, Assume: q.Assume,
		Deadlines: q.Deadlines, Make: q.Make, May: q.May, Workers: q.Workers,
		AllHolders: q.AllHolders,
		Existing: &remedy.Existing{Resource: q.Job.Kind.Resource, Namespace: q.Job.Namespace, Name: q.Job.Name,
			Together: q.Job.Annotations[kinds.TogetherAnnotation] != ""},
	})
	if err != nil {
		return err
	}
	q.permit(ctx, v)
	e.Verdict = v
	inactive := wl != nil && wl.Spec.Active != nil && !*wl.Spec.Active // it is in no queue
	if e.Position != nil && v.Job.ClusterQueue != "" && wl != nil && !inactive && v.Quota.Status != check.StatusNotApplicable {
		e.Position.at(v.Job.ClusterQueue)
		e.Position.WaitingSeconds = queue.Seconds(spread.Between(e.Since, e.Time))
		if !ordered(v) {
			return nil
		}
		e.Position.Position = v.Quota.Ahead + 1
		for _, w := range c.In.Workloads {
			if lq := c.In.LocalQueue(w.Namespace, string(w.Spec.QueueName)); lq != nil && string(lq.Spec.ClusterQueue) == v.Job.ClusterQueue &&
				!inputs.Reserves(w) && (w.Spec.Active == nil || *w.Spec.Active) {
				e.Position.Waiting++
			}
		}
		e.Position.Waiting = max(e.Position.Waiting, e.Position.Position)
	}
	return nil
}

// ordered reports whether the check compared the job with those of its queue: not where the queue is stopped, or could not be
// read.
func ordered(v *check.Verdict) bool {
	if _, unread := v.UnreadKind(); unread {
		return false
	}
	return v.Quota.Detail != check.LocalQueueStopped && v.Quota.Detail != check.ClusterQueueStopped
}

// condition sets Kueue's condition about admission; once the workload holds quota, the
// one about its pods too.
func (e *Explanation) condition(wl *kueue.Workload) {
	if wl == nil {
		return
	}
	about := []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted}
	if inputs.Reserves(wl) {
		about = append(about, kueue.WorkloadPodsReady)
	}
	for _, kind := range about {
		c := apimeta.FindStatusCondition(wl.Status.Conditions, kind)
		if c != nil && c.Status == metav1.ConditionFalse {
			e.Kueue = &KueueCondition{kind, c.Reason, c.Message, c.LastTransitionTime.UTC()}
			return
		}
	}
}

// preemptor returns the name of the job that preempted this one.
func preemptor(c *check.Checker, m jobs.Moment) string {
	if c == nil || m.ByJobUID == "" && m.ByWorkloadUID == "" {
		return ""
	}
	for _, list := range [][]*kueue.Workload{c.In.Workloads, c.In.FinishedWorkloads} {
		for _, w := range list {
			if m.ByWorkloadUID != "" && string(w.UID) == m.ByWorkloadUID || m.ByJobUID != "" && inputs.OwnerUID(w) == m.ByJobUID {
				name, _ := c.In.JobOf(w)
				return w.Namespace + "/" + name
			}
		}
	}
	return ""
}
