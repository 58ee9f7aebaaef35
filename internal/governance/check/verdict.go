// Package check answers, before a job is submitted or while it waits, whether it
// would run: a verdict with its reasons as values, and their rendering in words.
//
// The layers are looked at one by one and none hides another: what is odd in the
// manifest (package lint), where it is submitted (queue, priority class,
// namespace, rights), quota (Kueue's own core, package admission), placement by
// topology, and room on nodes (package fit). docs/admission-check.md describes
// the JSON, docs/schema/admission-check.json is its schema.
package check

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Schema is the name and version of the JSON. Fields may be added within a
// version; a field that changes its meaning makes a new one.
const Schema = "hyperpod.admission-check/v1"

// Outcome is the answer.
type Outcome string

const (
	// Admitted: the job would start now, if need be by preempting others.
	Admitted Outcome = "Admitted"
	// Waits: not now, but when others finish, a queue opens or a check passes.
	Waits Outcome = "Waits"
	// Never: not with the queues, quotas, flavors and nodes there are.
	Never Outcome = "Never"
	// Unknown: what decides could not be read.
	Unknown Outcome = "Unknown"
)

// Exit is the exit code of a dry run with this outcome.
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

// Verdict is the whole answer.
type Verdict struct {
	Schema  string
	Verdict Outcome
	// Reason is Kueue's word (WaitingForQuota, ExceedsMaxQuota, ...) or, for a
	// layer Kueue does not know, one of this package's; "" when admitted.
	Reason string `json:",omitempty"`
	// Detail is a finer code of this package; see docs/admission-check.md.
	Detail string `json:",omitempty"`
	// Summary is the first line in words, without the verdict and the name.
	Summary string
	Job     Job
	// Complete is false when part of what decides could not be read; see Missing and
	// Rules.Notes.
	Complete bool

	Lint       []lint.Finding
	Submission []Step
	Quota      Quota
	Topology   *Topology `json:",omitempty"`
	Nodes      Nodes

	// ETA is when a job that waits may start, where that was estimated.
	ETA *queue.ETA `json:",omitempty"`
	// Holders have what the job waits for.
	Holders []remedy.Holder `json:",omitempty"`
	// Remedies would make it run now.
	Remedies []remedy.Remedy `json:",omitempty"`

	Rules Rules
	// Missing is what could not be read.
	Missing []MissingRead `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time

	// unseenTree: what others have, lend and have borrowed is not known;
	// unseenWaiting: whether jobs come first in the queue is not.
	unseenTree, unseenWaiting bool
	// inactive says in words what keeps the ClusterQueue from taking jobs.
	inactive string
}

// Job is what was checked.
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

// PodSet is one role of the job.
type PodSet struct {
	Name string
	Pods int32
	// Requests are of all its pods together.
	Requests []Amount
	// Flavors is by resource; empty when none was assigned.
	Flavors map[string]string `json:",omitempty"`
	// Admitted is the number of pods Kueue would admit, where that is fewer.
	Admitted int32 `json:",omitempty"`
}

// Amount is a quantity in base units: cores, bytes, devices.
type Amount struct {
	Flavor   string `json:",omitempty"`
	Resource string
	Amount   quota.Base
}

// Step is one check of layer b.
type Step struct {
	Check   string // Kind, Queue, PriorityClass or Rights
	Status  Status
	Message string `json:",omitempty"`
	// Try is the option of start-job that mends it, or the command for a job that
	// exists; Advice what to do where there is none.
	Try    string `json:",omitempty"`
	Advice string `json:",omitempty"`
}

// Status is how a step or a layer came out.
type Status string

// The states of a step or layer.
const (
	OK      Status = "OK"
	Failed  Status = "Failed"
	Unclear Status = "Unknown"
	Skipped Status = "NotApplicable"
)

// Quota is layer c.
type Quota struct {
	Status Status
	// Outcome is Kueue's: Admitted, AdmittedByPreempting, Waits, Never.
	Outcome string `json:",omitempty"`
	Reason  string `json:",omitempty"`
	// Detail is a finer code of this package.
	Detail string `json:",omitempty"`
	// Shared: the ClusterQueue is in a cohort.
	Shared bool
	// Message is Kueue's own text.
	Message string `json:",omitempty"`
	// Resources are, for each resource asked for, the flavors that could give it.
	Resources []Line     `json:",omitempty"`
	Borrowed  []Borrowed `json:",omitempty"`
	// TakeBack says whether what is borrowed can be taken back; nil when nothing is.
	TakeBack *TakeBack    `json:",omitempty"`
	Preempts []Preemption `json:",omitempty"`
	// Ahead is how many waiting jobs of the ClusterQueue come first.
	Ahead int
	// Tie: Kueue itself is undecided between equals.
	Tie bool `json:",omitempty"`
	// Unseen is there where what could not be read may decide.
	Unseen *Unseen `json:",omitempty"`
	// NotModelled names what would take part in Kueue's decision and is not followed
	// here (ResourceClaims, MultiKueue, ...): the verdict is Unknown then.
	NotModelled []string `json:",omitempty"`
}

// Line is one resource in one flavor of the job's ClusterQueue. Amounts are in
// base units.
type Line struct {
	Flavor, Resource string
	Requested        quota.Base
	Nominal          quota.Base
	// BorrowingLimit and LendingLimit are null when there is none.
	BorrowingLimit, LendingLimit *quota.Base
	Used                         quota.Base // by the ClusterQueue
	// Lent is what others use of Nominal, Free what is neither used nor lent of it;
	// Available is what the queue could get now without preempting, Limit what it could
	// ever hold: nominal and all it may borrow. Null where what others have could not
	// be read, and in JSON, as Nominal, where there is no end to it.
	Free, Lent, Available, Limit *quota.Base
	// Short is how much of the request is not available now, as far as is known.
	Short quota.Base

	shortage quota.Shortage // Short is of it
}

// Borrowed is an amount beyond the ClusterQueue's nominal quota.
type Borrowed struct {
	Flavor, Resource string
	Amount           quota.Base
	Lenders          []Lender
}

// Lender lends: a team, or a cohort from quota of its own.
type Lender struct {
	Team         string `json:",omitempty"`
	ClusterQueue string `json:",omitempty"`
	Cohort       string `json:",omitempty"`
	Amount       quota.Base
}

// TakeBack is who may take back borrowed quota.
type TakeBack struct {
	Possible bool
	// Lenders are the lending ClusterQueues that may, and by which policy.
	Lenders []Reclaimer
}

// Reclaimer may take back what it lent.
type Reclaimer struct {
	Team, ClusterQueue string
	// Policy is its reclaimWithinCohort: Any or LowerPriority.
	Policy string
}

// Preemption is a job that would be evicted.
type Preemption struct {
	Namespace, Name, Workload string // Name is the job's
	Team, ClusterQueue        string
	Priority                  int32
	Reason                    string // Kueue's: InClusterQueue, InCohortReclamation, ...
	Holds                     []Amount
	// Hidden: it stands for workloads that may not be read.
	Hidden bool `json:",omitempty"`
}

// Topology is layer d, present when a pod set asks for topology or a flavor has one.
type Topology struct {
	Status  Status
	Level   string `json:",omitempty"` // label asked for
	Message string `json:",omitempty"`
	Domains []Domain
}

// Domain is where pods of a pod set are placed.
type Domain struct {
	PodSet string
	Levels []string
	Pods   int32
}

// Nodes is layer e.
type Nodes struct {
	Status Status
	// Reason is NodesFull, NodesTooSmall or NoNodes when Status is Failed.
	Reason string `json:",omitempty"`
	// Placements are on what is free; EmptyCluster is whether it would fit if nothing ran.
	Placements   []fit.Placement
	EmptyCluster bool
	Message      string `json:",omitempty"`
}

// Rules are how it was decided.
type Rules struct {
	KueueRules   string
	ClusterKueue string `json:",omitempty"`
	FairSharing  bool
	// ConfigurationKnown is false when Kueue's defaults were assumed.
	ConfigurationKnown bool
	Notes              []inputs.Note
}

// MissingRead is something that could not be read.
type MissingRead struct {
	Resource  string
	Namespace string `json:",omitempty"`
	Verb      string
	Reason    string
}
