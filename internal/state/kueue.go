package state

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Workload is Kueue's record of a job that requests quota.
type Workload struct {
	Meta
	Active        bool // false: a person deactivated it
	QueueName     string
	PriorityClass string
	// PriorityClassKind is WorkloadPriorityClass or PriorityClass; "" without a class.
	PriorityClassKind string
	Priority          int32
	// MaxExecution is how long the workload may run, in seconds; 0 is no limit.
	MaxExecution int64
	Conditions   []Condition
	Admission    *Admission // nil until quota is reserved
	Requeue      *RequeueState
	Checks       []CheckState
	// Cluster is the worker cluster of MultiKueue that has the job's pods; "" for pods here.
	Cluster   string
	Evictions []Eviction
	PodSets   []PodSet
	// Reclaimable is how many pods of each pod set have given their quota back.
	Reclaimable map[string]int64
	// OwnerUID is the UID of the job: Kueue's job-uid label, else the controller.
	OwnerUID string
}

// PodSet is one group of equal pods of a workload. Requests are per pod.
type PodSet struct {
	Name     string
	Count    int64
	MinCount *int64
	Requests Amounts
	// NodeSelector is of its pods, as the job asked.
	NodeSelector map[string]string
	// RequiredTopology and PreferredTopology are topology levels; "" when not asked for.
	RequiredTopology, PreferredTopology string
}

// Admission says where a workload got its quota.
type Admission struct {
	ClusterQueue string
	PodSets      []PodSetAssignment
}

// PodSetAssignment is what one pod set got. Usage is the total of all its pods,
// as quantities.
type PodSetAssignment struct {
	Name    string
	Flavors map[string]string // by resource
	Usage   map[string]string // by resource
	Count   int64
}

// RequeueState says when an evicted workload is tried again.
type RequeueState struct {
	Count int
	At    *time.Time
}

// CheckState is one admission check of a workload.
type CheckState struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// Eviction counts the evictions for one reason.
type Eviction struct {
	Reason, Cause string
	Count         int
}

// ClusterQueue holds quota.
type ClusterQueue struct {
	Meta
	Cohort           string
	QueueingStrategy string
	StopPolicy       string
	// Namespaces selects whose workloads it takes; nil takes none, an empty one all.
	Namespaces     *Selector
	Preemption     Preemption
	Fungibility    Fungibility
	FairWeight     *resource.Quantity // nil: Kueue's default of 1
	WeightedShare  int64
	ResourceGroups []ResourceGroup
	Checks         []string
	Conditions     []Condition
	// Reservation is what admitted and reserving workloads hold; Usage only the admitted.
	Reservation, Usage           []FlavorUsage
	Pending, Reserving, Admitted int
}

// Selector is a label selector.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []Requirement     `json:"matchExpressions,omitempty"`
}

// Requirement is one expression of a Selector.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Preemption says which workloads a queue's workloads may evict. Empty policies mean Never.
type Preemption struct {
	WithinClusterQueue  string
	ReclaimWithinCohort string
	BorrowWithinCohort  string
	// MaxPriorityThreshold limits BorrowWithinCohort.
	MaxPriorityThreshold *int32
}

// Fungibility says whether borrowing or preempting comes before the next flavor.
type Fungibility struct {
	WhenCanBorrow  string `json:"whenCanBorrow"`
	WhenCanPreempt string `json:"whenCanPreempt"`
	Preference     string `json:"preference"`
}

// ResourceGroup is resources that come from the same flavor.
type ResourceGroup struct {
	CoveredResources []string       `json:"coveredResources"`
	Flavors          []FlavorQuotas `json:"flavors"`
}

// FlavorQuotas are the quotas of one flavor.
type FlavorQuotas struct {
	Name      string          `json:"name"`
	Resources []ResourceQuota `json:"resources"`
}

// ResourceQuota is the quota of one resource. A nil limit means no limit.
type ResourceQuota struct {
	Name           string             `json:"name"`
	Nominal        resource.Quantity  `json:"nominalQuota"`
	BorrowingLimit *resource.Quantity `json:"borrowingLimit"`
	LendingLimit   *resource.Quantity `json:"lendingLimit"`
	// Faults are the fields whose text is not a quantity: Nominal is zero then, and
	// a limit nil.
	Faults []QuotaFault `json:"-"`
}

// QuotaFault is a field of a ResourceQuota with text that is not a quantity.
type QuotaFault struct {
	Field string // nominalQuota, borrowingLimit or lendingLimit
	Text  string // as it is written; "" for an empty or missing one
}

// FlavorUsage is what is used of one flavor.
type FlavorUsage struct {
	Name      string          `json:"name"`
	Resources []ResourceUsage `json:"resources"`
}

// ResourceUsage is what is used of one resource. Total includes Borrowed.
type ResourceUsage struct {
	Name     string            `json:"name"`
	Total    resource.Quantity `json:"total"`
	Borrowed resource.Quantity `json:"borrowed"`
}

// LocalQueue gives a namespace access to a ClusterQueue.
type LocalQueue struct {
	Meta
	ClusterQueue                 string
	StopPolicy                   string
	Conditions                   []Condition
	Reservation, Usage           []FlavorUsage
	Pending, Reserving, Admitted int
}

// Cohort is a group of queues, or of cohorts, that share quota.
type Cohort struct {
	Meta
	Parent         string
	ResourceGroups []ResourceGroup
	FairWeight     *resource.Quantity
	WeightedShare  int64
}

// ResourceFlavor is a kind of node.
type ResourceFlavor struct {
	Meta
	NodeLabels  map[string]string
	NodeTaints  []Taint
	Tolerations []Toleration
	Topology    string
}

// PriorityClass is a WorkloadPriorityClass.
type PriorityClass struct {
	Meta
	Value       int32
	Description string
}
