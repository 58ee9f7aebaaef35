package policy

// Version is the version of the document's shape.
const Version = "hyperpod.policy/v1"

// Document is everything that governs a cluster. A nil Policy leaves the cluster's own
// as it is.
type Document struct {
	Version string         `json:"version" doc:"version of this format"`
	Cluster *Cluster       `json:"cluster,omitempty" doc:"the cluster that the document is for"`
	Policy  *ClusterPolicy `json:"policy,omitempty" doc:"how tasks rank and share idle compute; left out, the cluster's policy stays"`
	Teams   []Team         `json:"teams,omitempty" doc:"compute allocations, one for each team"`
	Kueue   *Kueue         `json:"kueue,omitempty" doc:"Kueue objects that the terms above cannot express"`
}

// Cluster names the cluster and its size.
type Cluster struct {
	Name     string         `json:"name,omitempty" doc:"name of the HyperPod cluster"`
	Capacity map[string]int `json:"capacity,omitempty" doc:"number of instances by instance type, to check quota against"`
}

// ClusterPolicy is a cluster scheduler configuration. Without priority classes, tasks
// rank first come, first served.
type ClusterPolicy struct {
	Name                string          `json:"name,omitempty" doc:"name of the policy"`
	Description         string          `json:"description,omitempty" doc:"description, up to 1024 characters"`
	FairShare           string          `json:"fairShare,omitempty" enum:"Enabled,Disabled" doc:"share idle compute by weight (Enabled) or first come, first served (Disabled)"`
	IdleResourceSharing string          `json:"idleResourceSharing,omitempty" enum:"Enabled,Disabled" doc:"let teams borrow capacity that no team has reserved"`
	PriorityClasses     []PriorityClass `json:"priorityClasses,omitempty" doc:"classes that rank tasks, at most 10; none: first come, first served"`
}

// PriorityClass ranks tasks by its weight, 0 to 100.
type PriorityClass struct {
	Name   string `json:"name" doc:"name of the class, without -priority"`
	Weight int    `json:"weight" range:"0,100" doc:"rank of the class, 0 to 100"`
}

// Team is a compute allocation.
type Team struct {
	Team        string  `json:"team" doc:"name of the team; its namespace is hyperpod-ns-TEAM"`
	Name        string  `json:"name,omitempty" doc:"name of the compute allocation (default: the team)"`
	Description string  `json:"description,omitempty" doc:"description, up to 1024 characters"`
	Quota       []Quota `json:"quota,omitempty" doc:"what is reserved for the team, by instance type"`
	// Strategy is LendAndBorrow, Lend or DontLend; "" is LendAndBorrow.
	Strategy string `json:"strategy,omitempty" enum:"LendAndBorrow,Lend,DontLend" doc:"whether the team lends its idle quota and borrows that of others"`
	// BorrowLimit is a percentage of the quota; nil is 50.
	BorrowLimit          *int    `json:"borrowLimit,omitempty" range:"0,10000" doc:"most that the team may borrow, in percent of its quota (default 50)"`
	AbsoluteBorrowLimits []Quota `json:"absoluteBorrowLimits,omitempty" doc:"most that the team may borrow of an instance type, in place of the percentage"`
	PreemptTeamTasks     string  `json:"preemptTeamTasks,omitempty" enum:"LowerPriority,Never" doc:"whether tasks of the team preempt lower-priority tasks of the team"`
	FairShareWeight      *int    `json:"fairShareWeight,omitempty" range:"0,100" doc:"share of idle compute, 0 to 100 (default 0)"`
	Activation           string  `json:"activation,omitempty" enum:"Enabled,Disabled" doc:"whether quota is enforced in the team's namespace"`

	Kueue *TeamKueue `json:"kueue,omitempty" doc:"Kueue names and fields that the terms above cannot express"`
}

// Quota is an amount of one instance type. Units that are not set follow from the first one that is, in the order Count,
// AcceleratorPartition, Accelerators, VCPU, MemoryInGiB, by the ratios of the instance type.
type Quota struct {
	InstanceType         string     `json:"instanceType" doc:"instance type, for example ml.p5.48xlarge"`
	Count                *int       `json:"count,omitempty" range:"0,10000000" doc:"number of instances"`
	Accelerators         *int       `json:"accelerators,omitempty" range:"0,10000000" doc:"number of accelerators"`
	VCPU                 *float64   `json:"vcpu,omitempty" range:"0,10000000" doc:"number of vCPUs"`
	MemoryInGiB          *float64   `json:"memoryInGiB,omitempty" range:"0,10000000" doc:"memory in GiB"`
	AcceleratorPartition *Partition `json:"acceleratorPartition,omitempty" doc:"slices of GPUs (MIG)"`
}

// Partition is a number of MIG slices of one profile.
type Partition struct {
	Type  string `json:"type" doc:"MIG profile, for example mig-1g.5gb"`
	Count int    `json:"count" doc:"number of slices"`
}

// TeamKueue is what a team's Kueue objects have beyond the mapping.
type TeamKueue struct {
	ClusterQueue string `json:"clusterQueue,omitempty" doc:"name of the ClusterQueue (default hyperpod-ns-TEAM-clusterqueue)"`
	// LocalQueues, empty, means none; nil the default.
	LocalQueues []Local `json:"localQueues,omitzero" doc:"LocalQueues of the team (default hyperpod-ns-TEAM-localqueue)"`
	// Spec replaces fields that the mapping sets in the ClusterQueue's spec (v1beta2).
	Spec map[string]any `json:"spec,omitempty" doc:"fields of ClusterQueue.spec (v1beta2) that replace the derived ones"`
}

// Local names a LocalQueue.
type Local struct {
	Namespace string `json:"namespace" doc:"namespace of the LocalQueue"`
	Name      string `json:"name" doc:"name of the LocalQueue"`
}

// Kueue holds whole objects.
type Kueue struct {
	Flavors         []Object `json:"flavors,omitempty" doc:"ResourceFlavors that differ from those derived from instance types"`
	Cohorts         []Object `json:"cohorts,omitempty" doc:"Cohorts with their own quota or parent"`
	PriorityClasses []Rank   `json:"priorityClasses,omitempty" doc:"WorkloadPriorityClasses with other names or values than the policy's classes have"`
}

// Object is a named Kueue object and its spec (v1beta2).
type Object struct {
	Name string         `json:"name" doc:"name of the object"`
	Spec map[string]any `json:"spec,omitempty" doc:"spec of the object"`
}

// Rank is a WorkloadPriorityClass.
type Rank struct {
	Name  string `json:"name" doc:"name of the WorkloadPriorityClass"`
	Value int    `json:"value" doc:"its value"`
}

// Strategies, switches and policies of the SageMaker API.
const (
	LendAndBorrow = "LendAndBorrow"
	Lend          = "Lend"
	DontLend      = "DontLend"

	Enabled  = "Enabled"
	Disabled = "Disabled"

	LowerPriority = "LowerPriority"
	Never         = "Never"
)

// defaultBorrowLimit is the API's, in percent.
const defaultBorrowLimit = 50

// Shares returns the strategy, with the default filled in.
func (t *Team) Shares() string {
	if t.Strategy == "" {
		return LendAndBorrow
	}
	return t.Strategy
}

// Percent returns the borrowing limit in percent of the quota: 0 for a team that does
// not borrow.
func (t *Team) Percent() int {
	switch {
	case t.Shares() != LendAndBorrow:
		return 0
	case t.BorrowLimit == nil:
		return defaultBorrowLimit
	}
	return *t.BorrowLimit
}

// Weight returns the fair-share weight; the API's default is 0.
func (t *Team) Weight() int {
	if t.FairShareWeight == nil {
		return 0
	}
	return *t.FairShareWeight
}

// AllocationName returns the name of the compute allocation.
func (t *Team) AllocationName() string {
	if t.Name == "" {
		return t.Team
	}
	return t.Name
}

// Namespace returns the namespace that the service creates for the team.
func (t *Team) Namespace() string { return namespacePrefix + t.Team }

// Queue returns the name of the team's ClusterQueue.
func (t *Team) Queue() string {
	if t.Kueue != nil && t.Kueue.ClusterQueue != "" {
		return t.Kueue.ClusterQueue
	}
	return t.Namespace() + "-clusterqueue"
}

// LocalQueues returns the team's LocalQueues.
func (t *Team) LocalQueues() []Local {
	if t.Kueue != nil && t.Kueue.LocalQueues != nil {
		return t.Kueue.LocalQueues
	}
	return []Local{{t.Namespace(), t.Namespace() + "-localqueue"}}
}

// namespacePrefix begins the names that task governance gives (SageMaker Developer Guide,
// task governance: policies).
const namespacePrefix = "hyperpod-ns-"

// Team returns the team with a name; nil if there is none.
func (d *Document) Team(name string) *Team {
	for i := range d.Teams {
		if d.Teams[i].Team == name {
			return &d.Teams[i]
		}
	}
	return nil
}

// ByName returns what [Document.Team] returns for each name.
func (d *Document) ByName() map[string]*Team {
	teams := make(map[string]*Team, len(d.Teams))
	for i := range d.Teams {
		if t := &d.Teams[i]; teams[t.Team] == nil {
			teams[t.Team] = t
		}
	}
	return teams
}
