package remedy

import (
	"context"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// The codes of a Remedy.
const (
	FewerNodes        = "FewerNodes"
	HigherPriority    = "HigherPriority"
	OtherQueue        = "OtherQueue"
	OtherInstanceType = "OtherInstanceType"
	JobsEnd           = "JobsEnd"
)

// Remedy is a change after which the job would run now. Of the fields after
// Commands those of the kind are set.
type Remedy struct {
	Code string
	// Waits: the job would then wait, and not run at once. Only for a job that
	// could never run as it is.
	Waits bool `json:",omitempty"`
	// Flag is the change as start-job takes it, "" where no flag does it.
	Flag string `json:",omitempty"`
	// Commands make the change to a job that exists, one after the other. None where
	// it is another one's to make: the Jobs of other teams, say, or where the user has
	// no right to them.
	Commands []string `json:",omitempty"`
	// Message says which right is missing for (some of) the commands.
	Message string `json:",omitempty"`
	// Nodes is the number of nodes as start-job counts them, or, where start-job
	// cannot change it, the number of pods of PodSet (FewerNodes).
	Nodes  int32  `json:",omitempty"`
	PodSet string `json:",omitempty"`
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
	// Amount is what the job would then hold of Resource, its first accelerator resource.
	Resource string     `json:",omitempty"`
	Amount   quota.Base `json:",omitempty"`
	// Borrowed of that resource.
	Borrowed quota.Base `json:",omitempty"`
	// Preempts are the jobs that would be evicted.
	Preempts []Evicted `json:",omitempty"`
}

// Evicted is a job a remedy costs.
type Evicted struct {
	Namespace, Name, Workload string
	Priority                  int32
	Amount                    quota.Base // of Remedy.Resource
}

// Question is a job that does not run, and all there is to answer with.
type Question struct {
	In       *inputs.Inputs
	Engine   *admission.Engine
	Workload *kueue.Workload
	Holders  []Holder
	// Queues are other local queues that the user may use.
	Queues []*kueue.LocalQueue
	// Make renders the job anew with a change, as start-job would; nil, or an error,
	// where it cannot be. Without it a change is tried on the workload itself, and no
	// flag or command is offered.
	Make func(Change) (*kueue.Workload, Made, error)
	// May reports whether the user may do something; nil, or true, where that is not
	// known. It is asked only what a command would need.
	May func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	// Existing is the job where it exists already: remedies then are commands.
	Existing *Existing
	// Hopeless: the job can never run as it is, so a change that lets it wait is
	// worth telling.
	Hopeless bool
	// Room says whether the pods of a workload find nodes when decided so and the
	// pods of some other jobs are gone; nil when nodes are not known.
	Room func(w *kueue.Workload, d *admission.Decision, ended []Holder) Room
}

// Room is whether the pods of a job find nodes.
type Room int

// The answers.
const (
	RoomNow   Room = iota
	RoomLater      // once other pods are gone
	RoomNever      // not even on empty nodes
)

// Change is what start-job is told to do otherwise; zero fields stay as they are.
type Change struct {
	Nodes        int
	InstanceType string
	// Resize goes with InstanceType: of its nodes' cores, memory and network
	// interfaces each pod asks for the part that goes with its accelerators, and not
	// for what it asked for on the type before.
	Resize bool
}

// Made says how a job was rendered anew.
type Made struct {
	Nodes int    // that it then has
	Flags string // what start-job is told for it
}

// Existing is a job that commands can change.
type Existing struct {
	kinds.Resource  // of its kind
	Namespace, Name string
	// Together: other objects were submitted with it and go with it, so it cannot be
	// replaced from the job alone.
	Together bool
	// Flags say which cluster is meant (" --sandbox=lab"), "" where nothing has to.
	Flags string
}

// limits of the search: every question to the core costs up to some milliseconds.
const (
	mostQueues  = 32
	mostTypes   = 16
	mostHolders = 64
	mostSingles = 8
	// mostAnswers is how many instance types, and queues, are told.
	mostAnswers = 2
	// mostAhead: a job behind more than this many is not told whose end would start it.
	mostAhead = 32
)
