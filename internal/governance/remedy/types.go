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

// Remedy is a change after which the job would run now. Package present/verdict fills
// in Flag, Commands and Message; of the fields after Message each code sets its own.
type Remedy struct {
	Code string
	// Waits reports that the job would wait after the change instead of running at
	// once. Only a job that can never run has such remedies.
	Waits bool `json:",omitempty"`
	// Flag is the change as an option of start-job, "" where no option makes it.
	Flag string `json:",omitempty"`
	// Commands make the change to an existing job, in this order. It is empty where
	// someone else must make the change or the user lacks a permission.
	Commands []string `json:",omitempty"`
	// Message names the permission that is missing for Commands.
	Message string `json:",omitempty"`
	// Nodes is the number of nodes as start-job counts them, or the number of pods of
	// PodSet where start-job cannot change it (FewerNodes).
	Nodes  int32  `json:",omitempty"`
	PodSet string `json:",omitempty"`
	// PriorityClass is the lowest class that is enough, Priority its value.
	PriorityClass string `json:",omitempty"`
	Priority      int32  `json:",omitempty"`
	Namespace     string `json:",omitempty"` // OtherQueue
	Queue         string `json:",omitempty"`
	Team          string `json:",omitempty"`
	ClusterQueue  string `json:",omitempty"`
	InstanceType  string `json:",omitempty"`
	// Jobs are the jobs whose end, together, frees enough (JobsEnd).
	Jobs []Holder `json:",omitempty"`
	// Amount is what the job would then hold of Resource, its first accelerator resource.
	Resource string     `json:",omitempty"`
	Amount   quota.Base `json:",omitempty"`
	// Borrowed of that resource.
	Borrowed quota.Base `json:",omitempty"`
	// Preempts are the jobs that the job would preempt: the first of PreemptsTotal.
	Preempts      []Evicted `json:",omitempty"`
	PreemptsTotal int       `json:",omitempty"`

	// Options are the words that start-job takes for the change, as Question.Make
	// returns them (FewerNodes, OtherInstanceType).
	Options []string `json:"-"`
	// Possible reports that commands can make the change to the existing job.
	Possible bool `json:"-"`
	// Own are the names of the Jobs that the user can end (JobsEnd).
	Own []string `json:"-"`
	// Denied is a permission that the user lacks for the change, nil for none.
	Denied *Permission `json:"-"`
}

// Permission is a permission: a verb on a resource in a namespace.
type Permission struct{ Verb, Resource, Namespace string }

// Others returns the Jobs that the user cannot end from the given namespace: their
// owners have to be asked.
func (r *Remedy) Others(namespace string) []Holder {
	var out []Holder
	for _, h := range r.Jobs {
		if !h.cancellable(namespace) {
			out = append(out, h)
		}
	}
	return out
}

// Evicted is a job that a remedy preempts.
type Evicted struct {
	Namespace, Name, Workload string
	// Team is that of a hidden job, "" if it is unknown.
	Team string `json:"-"`
	// Hidden reports that it stands for workloads that could not be read.
	Hidden   bool `json:",omitempty"`
	Priority int32
	Amount   quota.Base // of Remedy.Resource
	// JobLost reports that its pods would be deleted and nothing makes them again.
	JobLost bool `json:",omitempty"`
}

// Question is a job that does not run and everything needed to find remedies for it.
type Question struct {
	In       *inputs.Inputs
	Engine   *admission.Engine
	Workload *kueue.Workload
	Holders  []Holder
	// Queues are the other local queues that the user can use.
	Queues []*kueue.LocalQueue
	// Make renders the job again with a change, as start-job would. Where it is nil or
	// fails, the change is tried on the workload itself and has no options.
	Make func(Change) (*kueue.Workload, Rendered, error)
	// May reports whether the user has a permission, true where this is not known. It
	// is called only for what a command would need, and may be nil.
	May func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	// Existing is the job if it exists already, else nil.
	Existing *Existing
	// NeverAdmitted reports that the job can never run, so that a change that lets it wait
	// is a remedy too.
	NeverAdmitted bool
	// Fits reports whether the pods of a workload fit on nodes with the flavors of a
	// decision, without the pods of the ended jobs; nil when nodes are not known.
	Fits func(w *kueue.Workload, d *admission.Decision, ended []Holder) Fit
}

// Fit tells when the pods of a job fit on the nodes.
type Fit int

// The answers.
const (
	FitsNow   Fit = iota
	FitsLater     // when other pods are gone
	FitsNever     // not even on empty nodes
)

// Change is a change of a job; zero fields stay as they are.
type Change struct {
	Nodes        int
	InstanceType string
	// Resize goes with InstanceType: each pod requests the share of the new type's
	// cores, memory and network interfaces that goes with its accelerators, instead of
	// what it requested before.
	Resize bool
}

// Rendered describes a job that was rendered again.
type Rendered struct {
	Nodes   int      // number of nodes
	Options []string // words that start-job takes for the change
}

// Existing is a job that exists.
type Existing struct {
	kinds.Resource  // of its kind
	Namespace, Name string
	// Together reports that other objects were submitted with the job and are deleted
	// with it, so that it cannot be replaced from itself.
	Together bool
}

// Limits of the search: every question to Kueue's core takes up to some milliseconds.
const (
	mostQueues  = 32
	mostTypes   = 16
	mostHolders = 64
	mostSingles = 8
	// mostAnswers is how many instance types, and queues, are returned.
	mostAnswers = 2
	// mostAhead limits the jobs ahead in the queue up to which JobsEnd is searched.
	mostAhead = 32
)
