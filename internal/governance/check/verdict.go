// Package check decides whether a job would run, before it is submitted or while it is
// pending. It returns a verdict of codes and values; package present/verdict puts it
// into words.
//
// The layers do not hide each other: the manifest (package lint), the place that it is
// submitted to (queue, priority class, permissions), quota (Kueue's core, package
// admission), topology, and nodes (package fit). docs/admission-check.md describes the
// JSON, docs/schema/admission-check.json is its schema.
package check

import (
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the name and version of the JSON. A version can gain fields; a field that
// changes its meaning makes a new version.
const Schema = "hyperpod.admission-check/v1"

// Outcome is the answer.
type Outcome string

const (
	// Admitted means that the job would start now, possibly by preempting others.
	Admitted Outcome = "Admitted"
	// Waits means that it would start later: when others finish, a queue opens or a
	// check passes.
	Waits Outcome = "Waits"
	// Never means that it cannot run with the current queues, quotas, flavors and nodes.
	Never Outcome = "Never"
	// Unknown means that something that affects the decision could not be read, or is not modelled.
	Unknown Outcome = "Unknown"
)

// Exit returns the exit code of a dry run with this outcome.
func (o Outcome) Exit() errs.Exit {
	switch o {
	case Admitted:
		return errs.OK
	case Waits:
		return errs.Pending
	case Never:
		return errs.No
	}
	return errs.Failure
}

// Verdict is the whole answer. Package present/verdict fills in the fields that are
// sentences: Summary, and every Message, Try, Advice, If, Flag and Commands that is
// not Kueue's own text.
type Verdict struct {
	Schema  string
	Verdict Outcome
	// Reason is Kueue's word (WaitingForQuota, ExceedsMaxQuota, ...), one of this
	// package's for a layer that Kueue does not know, or "" when admitted.
	Reason string `json:",omitempty"`
	// Detail is a finer code; docs/admission-check.md lists them.
	Detail string `json:",omitempty"`
	// Summary is the first line in words, without the verdict and the name.
	Summary string
	Job     Job
	// Complete is false if something that affects the decision could not be read; see Missing and Rules.Notes.
	Complete bool

	// Groups is set where Kueue admits the pods of the job in groups, each on its own.
	Groups *Groups `json:",omitempty"`
	// Workers are the worker clusters of MultiKueue, where they decide and were asked.
	Workers []Worker `json:",omitempty"`

	Lint       []lint.Finding
	Submission []Step
	Quota      Quota
	Topology   *Topology `json:",omitempty"`
	Nodes      Nodes

	// ETA is when a pending job may start, where that was estimated.
	ETA *queue.ETA `json:",omitempty"`
	// Holders hold what the job waits for: the nearest, by how much their end frees.
	Holders []remedy.Holder `json:",omitempty"`
	// HoldersTotal is the number of all holders, HoldersRest what those hold together
	// that Holders leaves out.
	HoldersTotal int      `json:",omitempty"`
	HoldersRest  []Amount `json:",omitempty"`
	// Remedies are changes that would let it run now.
	Remedies []remedy.Remedy `json:",omitempty"`

	Rules Rules
	// Missing is what could not be read.
	Missing []state.Unread `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time

	// AllHolders reports that the caller asked for all holders.
	AllHolders bool `json:"-"`
	// Existing is the job if it exists already.
	Existing *remedy.Existing `json:"-"`
	// Advice is what to do about a job that no remedy lets run.
	Advice []string `json:"-"`
	// MoreBorrowing reports that a higher borrowing limit would make a request possible
	// that exceeds the current one.
	MoreBorrowing bool `json:"-"`
	// Inactive is what keeps the ClusterQueue from admitting jobs.
	Inactive Inactive `json:"-"`

	workload       *kueue.Workload                  // of the job
	joins          *joined                          // set where its pods join a pod group that has its workload
	like           map[kueue.PodSetReference]string // a pod of each role of a new pod group
	checks         []string                         // the admission checks that it has to pass once it has its quota
	workersUnasked bool                             // see WorkersUnasked
	otherType      bool                             // nodes are unread, and the queue has no flavor of the selected instance type
	absent         []string                         // full names of kinds that could not be read at all: a file lacks them, or the server failed
}

// Lost returns the step about a pod group that runs without some of the submitted pods, nil if all of them run.
func (v *Verdict) Lost() *Step {
	for i := range v.Submission {
		if s := &v.Submission[i]; s.Lost > 0 && s.Status != StatusFailed {
			return s
		}
	}
	return nil
}

// Joins reports that the pods join a pod group that has its quota.
func (v *Verdict) Joins() bool { return v.joins != nil && v.joins.holds }

// WorkersUnasked reports that worker clusters of MultiKueue decide about the job, and that the caller did not ask for them.
func (v *Verdict) WorkersUnasked() bool {
	return v.workersUnasked && v.Verdict == Unknown && v.Reason == NotModelled
}

// Inactive is why a ClusterQueue is inactive. One field is set, or Flavor with Topology.
type Inactive struct {
	Flavor, Topology string
	AdmissionCheck   string
	// Exists reports that AdmissionCheck exists and is not active.
	Exists bool
}

// Job is the job that was checked.
type Job struct {
	Name          string
	Namespace     string
	Kind          string
	Queue         string `json:",omitempty"`
	Team          string `json:",omitempty"`
	ClusterQueue  string `json:",omitempty"`
	PriorityClass string `json:",omitempty"`
	Priority      int32
	PodSets       []PodSet
}

func (j *Job) at(clusterQueue string) {
	j.Team, j.ClusterQueue = quota.TeamOf(clusterQueue), clusterQueue
}

// QueueName returns the name that people use for the job's queue: the team's, else the
// LocalQueue's.
func (j *Job) QueueName() string {
	if j.Team != "" {
		return j.Team
	}
	return j.Queue
}

// PodSet is one role of the job.
type PodSet struct {
	Name string
	// Like is the name of a pod with this role, for a pod group.
	Like string `json:",omitempty"`
	Pods int32
	// Requests are the requests of all its pods together.
	Requests []Amount
	// Flavors maps resources to flavors; it is empty when none is assigned.
	Flavors map[string]string `json:",omitempty"`
	// Admitted is the number of pods that Kueue would admit, where it is smaller.
	Admitted int32 `json:",omitempty"`
}

// Amount is a quantity in base units: cores, bytes, devices.
type Amount struct {
	Flavor   string `json:",omitempty"`
	Resource string
	Amount   quota.Base
}

// Step is one check of the submission: of the kind, queue, priority class or
// permissions.
type Step struct {
	Check   string // Kind, Queue, PriorityClass, Group, Rights, Server, or Pods: what the pods need
	Status  Status
	Message string `json:",omitempty"`
	// Try is what to type to fix it; Advice is what to do where no command fixes it.
	Try    string `json:",omitempty"`
	Advice string `json:",omitempty"`

	// Code says what was found, Name is the queue, class or ClusterQueue, Fault why a
	// ClusterQueue is invalid, and Fix the change that fixes it. Steps of callers have words
	// instead.
	Code  string `json:"-"`
	Name  string `json:"-"`
	Fault string `json:"-"`
	// Faults are those of an invalid ClusterQueue.
	Faults []quota.Fault `json:"-"`
	Fix    *lint.Fix     `json:"-"`
	// Kind is the kind of the object Name, Over the entry of a ResourceQuota (Pods).
	Kind string                 `json:"-"`
	Over *prerequisite.Exceeded `json:"-"`
	// Pods is the number of pods of the group Name, Whole the number that it names (Group).
	Pods  int `json:"-"`
	Whole int `json:"-"`
	// Lost is the number of submitted pods that the group has no place for.
	Lost int `json:"-"`
	// Mismatch is the difference between two pods of the group.
	Mismatch *kinds.GroupMismatch `json:"-"`
}

// Codes of steps beside the details of a verdict.
const (
	QueuesUnread            = "QueuesUnread"            // the LocalQueues could not be read
	NoQueue                 = "NoQueue"                 // the job names none
	NoClusterQueue          = "NoClusterQueue"          // the LocalQueue names none
	PodPriorityClassMissing = "PodPriorityClassMissing" // the pods' priorityClassName
	OwnPriorityClassMissing = "OwnPriorityClassMissing" // the priorityClass of the job's schedulingPolicy
	KueueRefuses            = "KueueRefuses"            // Kueue's webhook refuses the job: Fault
)

// Status is the result of a step or a layer.
type Status string

// The results.
const (
	StatusOK            Status = "OK"
	StatusFailed        Status = "Failed"
	StatusUnknown       Status = "Unknown"
	StatusNotApplicable Status = "NotApplicable"
)

// Quota is the answer of Kueue's core.
type Quota struct {
	Status Status
	// Outcome is Kueue's answer: Admitted, AdmittedByPreempting, Waits or Never.
	Outcome string `json:",omitempty"`
	Reason  string `json:",omitempty"`
	// Detail is a finer code of this package.
	Detail string `json:",omitempty"`
	// Shared reports that the ClusterQueue is in a cohort.
	Shared bool
	// Message is Kueue's text.
	Message string `json:",omitempty"`
	// Resources lists, for each requested resource, the flavors that could provide it.
	Resources []Line     `json:",omitempty"`
	Borrowed  []Borrowed `json:",omitempty"`
	// Reclaim is who can reclaim what the job borrows, nil when it borrows nothing.
	Reclaim *Reclaim `json:"TakeBack,omitempty"`
	// Preempts are the jobs that the job would preempt: the first of PreemptsTotal.
	Preempts      []Preemption `json:",omitempty"`
	PreemptsTotal int          `json:",omitempty"`
	// LoopJobs are the jobs ("namespace/job") that preempt each other without end once the job preempts others. It may then
	// lose its quota at once. [Checker.Submit] sets it.
	LoopJobs []string `json:",omitempty"`
	// PreemptedBy is the job ("namespace/job") that preempts this one at once, because of what its preemption of others frees
	// or lets them reclaim. It is empty if the job keeps its quota. [Checker.Submit] sets it.
	PreemptedBy string `json:",omitempty"`
	// Holds is what the team holds of the requested resources through the job's LocalQueue,
	// where its ClusterQueue may not be read.
	Holds []Amount `json:",omitempty"`
	// Ahead is the number of pending jobs of the ClusterQueue that come first.
	Ahead int
	// Head ("namespace/job") is the job that Kueue tries before this one: the head of a StrictFIFO queue (Detail
	// BehindOthers), a job that preempts (BehindPreemptor), or an equivalent one that Kueue put aside (LikePutAside).
	Head string `json:"-"`
	// Tie reports that Kueue can decide either way between equal shares.
	Tie bool `json:",omitempty"`
	// WaitsForPods are the jobs ("namespace/job") whose pods are not ready, where Kueue
	// admits no job before they are (waitForPodsReady.blockAdmission).
	WaitsForPods []string `json:",omitempty"`
	// PreemptsFrom is when Kueue lets the job preempt others to start (Reason PreemptionGated).
	PreemptsFrom *time.Time `json:",omitempty"`
	// WaitsForEvicted are the jobs ("namespace/job") that Kueue is evicting already and whose
	// pods have to end first; of Detail BehindPreemptor, those of the job that preempts.
	WaitsForEvicted []string `json:",omitempty"`
	// Unseen is set where something that could not be read may decide.
	Unseen *Unseen `json:",omitempty"`
	// NotModelled names features that take part in Kueue's decision and that the check
	// does not follow (ResourceClaims, MultiKueue, ...); the verdict is then Unknown.
	NotModelled []string `json:",omitempty"`
	// Skipped is why quota does not apply: NoPods, NoKueue, NotGoverned or NoQueue.
	Skipped string `json:"-"`
	// GateOff: of NotGoverned, the feature gate of the kind is off.
	GateOff bool `json:"-"`
}

// Values of Quota.Skipped beside NoQueue.
const (
	NoPods      = "NoPods"
	NoKueue     = "NoKueue"
	NotGoverned = "NotGoverned" // Kueue does not govern the kind
)

// Line is one resource in one flavor of the job's ClusterQueue. Amounts are in
// base units.
type Line struct {
	Flavor, Resource string
	Requested        quota.Base
	Nominal          quota.Base
	// BorrowingLimit and LendingLimit are null when there is none.
	BorrowingLimit, LendingLimit *quota.Base
	Used                         quota.Base // by the ClusterQueue
	// Lent is the part of Nominal that others use, Free the part that nobody uses,
	// Available what the queue can get now without preemption, Limit the most it can
	// ever hold: nominal quota and all it can borrow. They are null where the use of
	// others could not be read; in JSON, they and Nominal are also null when unlimited.
	Free, Lent, Available, Limit *quota.Base
	// Short is the part of the request that is not available now, as far as known.
	Short quota.Base

	shortage quota.Shortage // Short is the missing amount
}

// Borrowed is an amount beyond the ClusterQueue's nominal quota.
type Borrowed struct {
	Flavor, Resource string
	Amount           quota.Base
	Lenders          []Lender
}

// Lender is a team that lends, or a cohort that lends its own quota.
type Lender struct {
	Team         string `json:",omitempty"`
	ClusterQueue string `json:",omitempty"`
	Cohort       string `json:",omitempty"`
	Amount       quota.Base
}

// Reclaim names who can reclaim borrowed quota.
type Reclaim struct {
	Possible bool
	// Lenders are the lending ClusterQueues that can reclaim, with their policies.
	Lenders []Reclaimer
}

// Reclaimer is a ClusterQueue that can reclaim what it lent.
type Reclaimer struct {
	Team, ClusterQueue string
	// Policy is its reclaimWithinCohort: Any or LowerPriority.
	Policy string
}

// Preemption is a job that the job would preempt.
type Preemption struct {
	Namespace, Name, Workload string // Name is the job's
	Team, ClusterQueue        string
	Priority                  int32
	Reason                    string // Kueue's: InClusterQueue, InCohortReclamation, ...
	Holds                     []Amount
	// Nodes is the number of nodes that its pods run on, 0 where that is unknown.
	Nodes int `json:",omitempty"`
	// Since is when Kueue reserved its quota.
	Since time.Time `json:",omitzero"`
	// Hidden reports that it stands for workloads that could not be read.
	Hidden bool `json:",omitempty"`
	// JobLost reports that its pods are deleted and nothing makes them again.
	JobLost bool `json:",omitempty"`
}

// Topology is the placement by topology, where a pod set requests it or a flavor has
// one.
type Topology struct {
	Status  Status
	Level   string `json:",omitempty"` // the requested node label
	Message string `json:",omitempty"`
	// Domains are the first of DomainsTotal.
	Domains      []Domain
	DomainsTotal int `json:",omitempty"`
}

// Domain is a topology domain that pods of a pod set are placed in.
type Domain struct {
	PodSet string
	Levels []string
	Pods   int32
}

// Nodes reports whether the pods fit on nodes.
type Nodes struct {
	Status Status
	// Reason is NodesFull, NodesTooSmall or NoNodes when Status is StatusFailed.
	Reason string `json:",omitempty"`
	// Placements use the free resources of nodes; EmptyCluster reports that the pods
	// would fit if nothing else ran.
	Placements   []fit.Placement
	EmptyCluster bool
	Message      string `json:",omitempty"`
	// Unread is the kind that could not be read, when Status is StatusUnknown.
	Unread kinds.Resource `json:"-"`
	// Elsewhere, of StatusNotApplicable: the pods run on a worker cluster of MultiKueue.
	Elsewhere bool `json:"-"`
}

// Rules names the rules behind a verdict.
type Rules struct {
	KueueRules   string
	ClusterKueue string `json:",omitempty"`
	FairSharing  bool
	// ConfigurationKnown is false when Kueue's defaults are assumed.
	ConfigurationKnown bool
	Notes              []inputs.Note
}
