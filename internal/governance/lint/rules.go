// Package lint checks a job's manifest against the rules of HyperPod task governance
// and Kueue before it is submitted: what the cluster refuses, what can never run, and
// what surprises people. It is pure and returns codes and values; package
// present/verdict words them. docs/lint.md is the table of rules.
package lint

// Level is the severity of a finding.
type Level string

// The levels. An Error means that the cluster refuses the job or the job cannot run.
const (
	Error   Level = "Error"
	Warning Level = "Warning"
	Note    Level = "Note"
)

// Rule is one row of the table.
type Rule struct {
	// Code is the level's letter and the rule's number, as in W006.
	Code  string
	Level Level
	// Title states the rule in a sentence.
	Title string
	// Source names the document or program that the rule comes from.
	Source string
}

// The codes. A number never changes its meaning; rules from 41 on are this tool's own.
const (
	NoPriority        = "W006"
	UnknownPriority   = "E007"
	PodPriority       = "W008"
	WeightZero        = "W010"
	UnknownQueue      = "E011"
	NoQueue           = "E012"
	NoPodLabel        = "W012"
	NotOnDashboard    = "W013"
	TopologyTwice     = "E020"
	TopologyType      = "W020"
	SliceSize         = "E021"
	OldGovernance     = "E022"
	ResumeNamespace   = "W023"
	ResumeIncomplete  = "E023"
	DeviceRequests    = "E025"
	MoreThanNode      = "E026"
	CloseToNode       = "W026"
	ResourceUncovered = "E027"
	NoRequests        = "W041"
	NoPods            = "W042"
)

// Rules returns every rule, ordered by number.
func Rules() []Rule {
	return []Rule{
		{NoPriority, Warning, "A job without a priority class ranks lowest, behind every class.", "SageMaker HyperPod task governance: policies"},
		{UnknownPriority, Error, "The priority class must be a WorkloadPriorityClass of the cluster.", "SageMaker HyperPod task governance: HyperPod CLI"},
		{PodPriority, Warning, "With the label kueue.x-k8s.io/priority-class, the priorityClassName of the pods does not rank the job.", "Kueue: workload priority class"},
		{WeightZero, Warning, "With fair sharing, a queue with weight 0 is the first to lose what it borrows.", "Kueue: fair sharing; SageMaker HyperPod task governance: policies"},
		{UnknownQueue, Error, "The queue must be a LocalQueue of the job's namespace.", "Kueue: run a job"},
		{NoQueue, Error, "A governed namespace refuses jobs without the label kueue.x-k8s.io/queue-name.", "HyperPod task governance: admission policy of the add-on (seen in v1.6)"},
		{NoPodLabel, Warning, "In a governed namespace, the pod templates of a RayCluster or RayJob also need the queue label.", "HyperPod task governance: admission policy of the add-on (seen in v1.6)"},
		{NotOnDashboard, Warning, "The dashboard lists only jobs with both the queue label and the priority label.", "SageMaker HyperPod task governance: HyperPod CLI, tasks"},
		{TopologyTwice, Error, "A pod requests topology by annotation or by node selector, not by both.", "SageMaker HyperPod task governance: tasks scheduling"},
		{TopologyType, Warning, "Only some instance types have network topology labels.", "SageMaker HyperPod task governance: tasks scheduling"},
		{SliceSize, Error, "kueue.x-k8s.io/podset-slice-size must be a whole number of at least 1 that divides the number of pods, and needs a slice topology.", "SageMaker HyperPod task governance: upgrade notes of v1.6; Kueue: topology-aware scheduling"},
		{OldGovernance, Error, "Jobs of the HyperPod training operator need task governance v1.3.0 or later (Kueue v0.12 or later).", "SageMaker HyperPod: training operator"},
		{ResumeNamespace, Warning, "Auto-resume works only in the namespace kubeflow and in namespaces that begin with hyperpod.", "SageMaker HyperPod: run jobs with the HyperPod CLI"},
		{ResumeIncomplete, Error, "Auto-resume needs both of its annotations and restartPolicy OnFailure.", "SageMaker HyperPod: run jobs with the HyperPod CLI"},
		{DeviceRequests, Error, "Requests and limits of accelerators and EFA interfaces must be equal. A MIG profile must exist on the instance type and cannot be combined with whole GPUs.", "Kubernetes: extended resources; HyperPod CLI v3.9.0: accelerator partitions"},
		{MoreThanNode, Error, "A pod cannot request more than its instance type has.", "HyperPod CLI v3.9.0: instance types"},
		{CloseToNode, Warning, "A pod that requests nearly all cores or memory of its instance type is unschedulable: the system reserves a part.", "HyperPod CLI v3.9.0: kubelet reservations"},
		{ResourceUncovered, Error, "The queue must have quota for every requested resource.", "Kueue: resource groups"},
		{NoRequests, Warning, "Pods without requests use no quota and can run on any node.", "Kueue: quota counts requests"},
		{NoPods, Warning, "A job without pods has nothing to run.", "Kueue: pod sets"},
	}
}
