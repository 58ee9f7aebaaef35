package remedy

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// The codes of a Remedy.
const (
	FewerNodes        = "FewerNodes"
	HigherPriority    = "HigherPriority"
	OtherQueue        = "OtherQueue"
	OtherInstanceType = "OtherInstanceType"
	JobsEnd           = "JobsEnd"
)

// Remedy is a change after which the job would run now. Of the fields after Code
// those that it needs are set.
type Remedy struct {
	Code string
	// Flag is the change as start-job takes it, "" where no flag does it.
	Flag string `json:",omitempty"`
	// Nodes is the number of pods (FewerNodes).
	Nodes int32 `json:",omitempty"`
	// PriorityClass and Priority, its value, are the lowest class that is enough.
	PriorityClass string `json:",omitempty"`
	Priority      int32  `json:",omitempty"`
	Namespace     string `json:",omitempty"` // OtherQueue
	Queue         string `json:",omitempty"`
	Team          string `json:",omitempty"`
	ClusterQueue  string `json:",omitempty"`
	InstanceType  string `json:",omitempty"`
	// Jobs are those whose end frees enough, all of them together (JobsEnd).
	Jobs []Holder `json:",omitempty"`
	// Devices is what the job would then hold of its first accelerator resource.
	Resource string  `json:",omitempty"`
	Amount   float64 `json:",omitempty"`
	// Borrowed of that resource.
	Borrowed float64 `json:",omitempty"`
	// Preempts are the workloads ("namespace/name") that would be evicted.
	Preempts []Evicted `json:",omitempty"`
}

// Evicted is a job a remedy costs.
type Evicted struct {
	Namespace, Name, Workload string
	Priority                  int32
	Amount                    float64 // of Remedy.Resource
}

// Question is a job that does not run, and all there is to answer with.
type Question struct {
	In       *inputs.Inputs
	Engine   *admission.Engine
	Workload *kueue.Workload
	Holders  []Holder
	// Queues are other local queues that the user may use.
	Queues []*kueue.LocalQueue
	// Fits says whether the pods of a workload find nodes when decided so and the
	// pods of some other jobs are gone; nil when nodes are not known.
	Fits func(w *kueue.Workload, d *admission.Decision, ended []Holder) bool
}

// limits of the search: every question to the core costs up to some milliseconds.
const (
	mostQueues  = 32
	mostTypes   = 16
	mostHolders = 64
	mostSingles = 8
	// mostAhead: a job behind more than this many is not told whose end would start it.
	mostAhead = 32
)
