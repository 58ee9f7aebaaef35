package state

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Namespace is a namespace.
type Namespace struct {
	Meta
	Phase string
}

// Managed reports whether SageMaker HyperPod task governance made the namespace.
func (n Namespace) Managed() bool { return n.Labels[kinds.ManagedQueueLabel] == "true" }

// Team returns the team (quota allocation) of a managed namespace; "" if none.
func (n Namespace) Team() string { return n.Labels[kinds.QuotaAllocationLabel] }

// Taint keeps pods off a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Toleration lets a pod onto a tainted node.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

// Node is a node.
type Node struct {
	Meta
	Unschedulable bool // cordoned
	Ready         bool
	Taints        []Taint
	Conditions    []Condition
	Capacity      Amounts
	Allocatable   Amounts
}

// InstanceType returns the node's instance type; "" when it is not labelled.
func (n Node) InstanceType() string { return n.Labels[kinds.InstanceTypeLabel] }

// Pod is a pod.
type Pod struct {
	Meta
	Phase           string
	Reason, Message string
	NodeName        string
	PriorityClass   string
	Ready           bool
	Gated           bool // it has scheduling gates
	Restarts        int  // of all containers
	Start           *time.Time
	Conditions      []Condition
	Containers      []Container
	// ContainerNames and InitNames are the spec's; Containers are known later.
	ContainerNames, InitNames []string
	Requests                  Amounts // of the whole pod, init containers considered
	NodeSelector              map[string]string
}

// Container is one container of a pod and its state.
type Container struct {
	Name     string
	ID       string // the runtime's, such as containerd://...; "" before it ran
	Init     bool
	Ready    bool
	Started  bool
	Restarts int
	// Waiting is why it waits (ImagePullBackOff, ...), Terminated why it ended
	// (Completed, Error, OOMKilled, ...); at most one is set.
	Waiting, Terminated string
	Message             string
	ExitCode            int
	StartedAt           *time.Time
	FinishedAt          *time.Time
	// LastTerminated and LastExitCode are of the run before a restart.
	LastTerminated string
	LastExitCode   int
}
