package values

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
)

// Values is everything a submission says about a job, whatever said it: flags,
// a configuration file, parameters. The zero value of a field says nothing and
// leaves the manifest's own; pointers tell zero from unsaid.
type Values struct {
	// Name is the job's exact name, Namespace the namespace of every object.
	Name, Namespace string

	Image      string
	PullPolicy string // Always, IfNotPresent or Never

	// InstanceType pins the pods to nodes of the type ("ml." may be left out) and
	// says how large they are. Node, when given, is what the cluster's own nodes of
	// the type offer; it wins over the table and makes unknown types usable.
	InstanceType string
	Node         *Node

	// NodeCount is the number of worker pods, one a node.
	NodeCount *int
	// TasksPerNode is the number of processes in each. TasksBy says it in words
	// instead: "gpu" for one per accelerator, "cpu" for one per vCPU of the type,
	// "auto" for what the type of device is made for.
	TasksPerNode *int
	TasksBy      string
	// Accelerators and EFA are devices for each pod. The default of EFA follows
	// the accelerators.
	Accelerators *int
	EFA          *int
	// Partition is a MIG profile, such as 1g.10gb, asked for PartitionCount times
	// (1 when unsaid) instead of whole accelerators.
	Partition      string
	PartitionCount *int
	// VCPU and Memory are quantities requested for each pod, the limits what it may
	// not exceed (none when unsaid).
	VCPU, Memory           string
	VCPULimit, MemoryLimit string

	// SecretEnv are further variables, out of Secrets. Environment may not have
	// their names.
	Environment map[string]string
	SecretEnv   []SecretEnv

	// Command is the program that starts the training, as words of a shell line
	// ("torchrun" when unsaid). EntryScript is the script it starts and ScriptArgs
	// the script's arguments.
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
	// AutoResume restarts the job after a node was replaced, at most MaxRetry times
	// (1 when unsaid).
	AutoResume bool
	MaxRetry   *int
	RunPolicy  RunPolicy
	Elastic    Elastic

	// Labels go on the job and its pods, Annotations on the job.
	Labels, Annotations map[string]string
	// Queue is the LocalQueue, Priority the WorkloadPriorityClass; both become
	// labels of everything the admission policy looks at.
	Queue, Priority string
	// QueueChosen: the user did not name Queue, so an object keeps the queue that it names.
	QueueChosen bool

	// Params are the template's parameters by name. Set are assignments in order:
	// a parameter's, or a path's into the job. Paths are set last.
	Params map[string]any
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

// Int returns a pointer to n, for the fields of Values that tell zero from unsaid.
func Int(n int) *int { return &n }
