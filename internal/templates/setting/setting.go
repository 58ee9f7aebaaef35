// Package setting is the one table of what a submission can set: the name of each
// setting's flag, the placeholders of templates that take its value, and the errors
// about values that it cannot have. Packages that decide name a setting, never a flag.
package setting

import "slices"

// Setting is one thing that a submission can set, named as its flag is, without dashes.
// A setting whose name starts with = has no flag: its value is computed.
type Setting string

// The settings.
const (
	Name              Setting = "name"
	Namespace         Setting = "namespace"
	Image             Setting = "image"
	PullPolicy        Setting = "pull-policy"
	InstanceType      Setting = "instance-type"
	NodeCount         Setting = "node-count"
	TasksPerNode      Setting = "tasks-per-node"
	Accelerators      Setting = "accelerators"
	Partition         Setting = "accelerator-partition-type"
	PartitionCount    Setting = "accelerator-partition-count"
	EFA               Setting = "efa"
	VCPU              Setting = "vcpu"
	Memory            Setting = "memory"
	VCPULimit         Setting = "vcpu-limit"
	MemoryLimit       Setting = "memory-limit"
	Environment       Setting = "environment"
	SecretEnvironment Setting = "environment-from-secret"
	Command           Setting = "command"
	EntryScript       Setting = "entry-script"
	ScriptArgs        Setting = "script-args"
	PreScript         Setting = "pre-script"
	PostScript        Setting = "post-script"
	RdzvBackend       Setting = "rdzv-backend"
	RdzvEndpoint      Setting = "rdzv-endpoint"
	ResultsDir        Setting = "results-dir"
	LabelSelector     Setting = "label-selector"
	DeepHealthOnly    Setting = "deep-health-check-passed-nodes-only"
	Toleration        Setting = "toleration"
	PreferredTopology Setting = "preferred-topology"
	RequiredTopology  Setting = "required-topology"
	ServiceAccount    Setting = "service-account-name"
	Volumes           Setting = "volumes"
	Claims            Setting = "persistent-volume-claims"
	RestartPolicy     Setting = "restart-policy"
	AutoResume        Setting = "auto-resume"
	MaxRetry          Setting = "max-retry"
	CleanPodPolicy    Setting = "clean-pod-policy"
	TTL               Setting = "ttl-after-finished"
	Deadline          Setting = "active-deadline"
	Backoff           Setting = "backoff-limit"
	MinNodeCount      Setting = "min-node-count"
	MaxNodeCount      Setting = "max-node-count"
	ElasticStep       Setting = "elastic-replica-increment-step"
	ElasticSizes      Setting = "elastic-replica-discrete-values"
	ScalingTimeout    Setting = "elastic-scaling-timeout-in-seconds"
	ShutdownTimeout   Setting = "elastic-graceful-shutdown-timeout-in-seconds"
	ScaleUpSnooze     Setting = "elastic-scale-up-snooze-time-in-seconds"
	Label             Setting = "label"
	Annotation        Setting = "annotation"
	Queue             Setting = "queue-name"
	Priority          Setting = "priority"
	Set               Setting = "set"
	AllowUnset        Setting = "allow-unset"
	JobKind           Setting = "job-kind"
	Template          Setting = "template"
	Recipe            Setting = "recipe"
	Overrides         Setting = "override-parameters"
	// Flags of create-template.
	Default Setting = "default"
	Fix     Setting = "fix"
	FixPath Setting = "fix-path"
	Require Setting = "require"
	// Computed values, which no flag sets.
	Processes     Setting = "=processes"
	TorchrunFlags Setting = "=torchrun-flags"
	MpirunFlags   Setting = "=mpirun-flags"
)

// placeholders are the names of the parameters that take the value of a setting: ${NODE_COUNT} gets the number
// of nodes. The first name is the documented one; public samples use the others.
var placeholders = map[Setting][]string{
	Name:           {"JOB_NAME"},
	Namespace:      {"NAMESPACE"},
	Image:          {"IMAGE", "IMAGE_URI"},
	InstanceType:   {"INSTANCE_TYPE"},
	NodeCount:      {"NODE_COUNT", "NUM_NODES", "NNODES"},
	TasksPerNode:   {"TASKS_PER_NODE", "NPROC_PER_NODE"},
	Accelerators:   {"ACCELERATORS_PER_NODE", "GPU_PER_NODE", "NUM_GPU_PER_NODE", "NEURON_PER_NODE"},
	EFA:            {"EFA_PER_NODE", "NUM_EFA_PER_NODE"},
	Processes:      {"PROCESS_COUNT"},
	Command:        {"COMMAND"},
	EntryScript:    {"ENTRY_SCRIPT"},
	ScriptArgs:     {"SCRIPT_ARGS"},
	TorchrunFlags:  {"TORCHRUN_FLAGS", "LAUNCH_FLAGS"},
	MpirunFlags:    {"MPIRUN_FLAGS"},
	RdzvBackend:    {"RDZV_BACKEND"},
	RdzvEndpoint:   {"RDZV_ENDPOINT"},
	ResultsDir:     {"CHECKPOINT_DIR", ResultsVariable},
	CleanPodPolicy: {"CLEAN_POD_POLICY"},
}

// ResultsVariable is the environment variable with the folder for results, in jobs whose template has no
// placeholder for it.
const ResultsVariable = "RESULTS_DIR"

// OfPlaceholder returns the setting whose value a parameter of that name takes.
func OfPlaceholder(name string) (Setting, bool) {
	for s, names := range placeholders {
		if slices.Contains(names, name) {
			return s, true
		}
	}
	return "", false
}

// FlagOfPlaceholder returns the flag that gives a parameter's value, "" if none does.
func FlagOfPlaceholder(name string) string {
	s, _ := OfPlaceholder(name)
	return s.Flag()
}

// Placeholder returns the documented name of the parameter that takes the value of the setting, "" if there is
// none.
func (s Setting) Placeholder() string {
	if names := placeholders[s]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// Flag returns the setting's flag as a person types it, "" for a computed one.
func (s Setting) Flag() string {
	if s == "" || s[0] == '=' {
		return ""
	}
	return "--" + string(s)
}

// String returns the flag.
func (s Setting) String() string { return s.Flag() }
