package values

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
)

// Values is everything that a submission sets about a job, by flags, a configuration file or parameters. The
// zero value of a field keeps what the manifest has; pointers distinguish zero from a missing value.
type Values struct {
	// Name is the job's exact name, Namespace the namespace of every object.
	Name, Namespace string

	Image      string
	PullPolicy string // Always, IfNotPresent or Never

	// InstanceType restricts the pods to nodes of the type ("ml." may be left out) and sets their size. Node,
	// if given, is what the cluster's own nodes of the type offer; it overrides the table and allows unknown
	// types.
	InstanceType string
	Node         *Node

	// NodeCount is the number of worker pods, one for each node.
	NodeCount *int
	// TasksPerNode is the number of processes in each pod. TasksBy is a word instead: "gpu" for one per
	// accelerator, "cpu" for one per vCPU of the type, "auto" for the one that fits the device.
	TasksPerNode *int
	TasksBy      string
	// Accelerators and EFA are devices for each pod. EFA follows the accelerators in proportion by default.
	Accelerators *int
	EFA          *int
	// Partition is a MIG profile, such as 1g.10gb, requested PartitionCount times
	// (default 1) instead of whole accelerators.
	Partition      string
	PartitionCount *int
	// VCPU and Memory are quantities requested for each pod; the limits are none by default.
	VCPU, Memory           string
	VCPULimit, MemoryLimit string

	// SecretEnv are further variables, out of Secrets. Environment may not have
	// their names.
	Environment map[string]string
	SecretEnv   []SecretEnv

	// Command is the program that starts the training, as words of a shell line (default "torchrun").
	// EntryScript is the script that it starts, and ScriptArgs are the arguments of the script.
	Command     string
	EntryScript string
	ScriptArgs  []string
	// Rendezvous says where the processes of several nodes meet.
	Rendezvous Rendezvous
	// ResultsDir is the directory inside the pods for checkpoints and results: the
	// template's parameter CHECKPOINT_DIR, else the variable RESULTS_DIR.
	ResultsDir string
	// PreScript and PostScript are shell lines around the container's command.
	PreScript, PostScript []string

	// LabelSelector adds requirements on node labels. DeepHealthOnly requires nodes that
	// passed the deep health check. HealthAffinity adds (true) or removes (false)
	// the affinity to healthy HyperPod nodes; nil leaves the manifest's.
	LabelSelector  Selector
	DeepHealthOnly bool
	HealthAffinity *bool

	Tolerations []Toleration
	// PreferredTopology and RequiredTopology are node labels: the level of the
	// topology within which Kueue should, or has to, place the pods.
	PreferredTopology, RequiredTopology string

	ServiceAccount   string
	PodPriorityClass string
	Volumes          []Volume
	RestartPolicy    string // Always, OnFailure, Never or ExitCode
	// AutoResume restarts the job after a node was replaced, at most MaxRetry times (default 1).
	AutoResume bool
	MaxRetry   *int
	RunPolicy  RunPolicy
	Elastic    Elastic

	// Labels go on the job and its pods, Annotations on the job.
	Labels, Annotations map[string]string
	// Queue is the LocalQueue, Priority the WorkloadPriorityClass. Both become labels of every object that the
	// admission policy checks.
	Queue, Priority string
	// QueueChosen: the user did not name Queue, so an object keeps the queue that it names.
	QueueChosen bool

	// Params are the parameters of the template by name. Set are assignments in order, to a parameter or to a
	// path into the job. Paths are set last.
	Params map[string]any
	// Swept names the variables of Environment that a sweep sets. A copy of the job takes
	// them as parameters.
	Swept []string
	// AllowUnset names placeholders of commands, arguments and environment values that may
	// stay as they are written.
	AllowUnset []string
	Set        []fieldpath.Assignment
}

// Node is what nodes of an instance type offer to pods: quantities by resource
// name, as in a node's status.allocatable.
type Node struct {
	Allocatable map[string]string
}

// Int returns a pointer to n.
func Int(n int) *int { return &n }
