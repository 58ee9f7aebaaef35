// Package lint holds the rules of HyperPod task governance and Kueue that a job's
// manifest can be held against before it is submitted: what is refused, what can
// never run, and what surprises people. It is pure; docs/lint.md is the table.
package lint

// Level is how bad a finding is.
type Level string

// The levels. An Error means that the job is refused or cannot run as it is.
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
	// Title says what the rule wants.
	Title string
	// Source is where the rule comes from.
	Source string
}

// The codes. The numbers are those of docs/lint.md and never change their
// meaning; from 41 on they are this tool's own.
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

// Rules returns every rule, by number.
func Rules() []Rule {
	return []Rule{
		{NoPriority, Warning, "A job without a priority class ranks as 0, behind every class.", "SageMaker HyperPod task governance: policies"},
		{UnknownPriority, Error, "The priority class must be one of the cluster's WorkloadPriorityClasses.", "SageMaker HyperPod task governance: HyperPod CLI"},
		{PodPriority, Warning, "A pod's priorityClassName does not rank jobs; the label kueue.x-k8s.io/priority-class does.", "SageMaker HyperPod task governance: HyperPod CLI"},
		{WeightZero, Warning, "With fair sharing, a queue of weight 0 always loses what it borrows to the others.", "Kueue: fair sharing; SageMaker HyperPod task governance: policies"},
		{UnknownQueue, Error, "The queue must be a LocalQueue of the job's namespace.", "Kueue: run a job"},
		{NoQueue, Error, "In a governed namespace a job without kueue.x-k8s.io/queue-name is refused.", "HyperPod task governance: admission policy of the add-on (seen in v1.6)"},
		{NoPodLabel, Warning, "In a governed namespace the pod templates need the queue label too where the job kind makes pods that are checked.", "HyperPod task governance: admission policy of the add-on (seen in v1.6)"},
		{NotOnDashboard, Warning, "The dashboard lists only jobs with both the queue and the priority label.", "SageMaker HyperPod task governance: HyperPod CLI, tasks"},
		{TopologyTwice, Error, "Topology is asked for by annotation or by node selector, not by both.", "SageMaker HyperPod task governance: tasks scheduling"},
		{TopologyType, Warning, "Only some instance types have network topology labels.", "SageMaker HyperPod task governance: tasks scheduling"},
		{SliceSize, Error, "kueue.x-k8s.io/podset-slice-size is a whole number above 0 that divides the pods, and needs a slice topology.", "SageMaker HyperPod task governance: upgrade notes of v1.6; Kueue: topology-aware scheduling"},
		{OldGovernance, Error, "Jobs of HyperPod's training operator need task governance v1.3.0 or newer, whose Kueue is v0.12 or newer.", "SageMaker HyperPod: training operator"},
		{ResumeNamespace, Warning, "Auto-resume works only in the namespace kubeflow and in those that begin with hyperpod.", "SageMaker HyperPod: run jobs with the HyperPod CLI"},
		{ResumeIncomplete, Error, "Auto-resume needs both annotations, and restartPolicy OnFailure.", "SageMaker HyperPod: run jobs with the HyperPod CLI"},
		{DeviceRequests, Error, "Requests and limits of accelerators and EFA interfaces must be equal; a MIG profile must be one of the instance type, and is not combined with whole GPUs.", "Kubernetes: extended resources; HyperPod CLI v3.9.0: accelerator partitions"},
		{MoreThanNode, Error, "A pod cannot ask for more than its instance type has.", "HyperPod CLI v3.9.0: instance types"},
		{CloseToNode, Warning, "What the system keeps for itself makes a pod that asks for (nearly) all cores or memory of its instance type unschedulable.", "HyperPod CLI v3.9.0: kubelet reservations"},
		{ResourceUncovered, Error, "Every resource asked for must be covered by the queue's quota.", "Kueue: resource groups"},
		{NoRequests, Warning, "Pods that ask for nothing take no quota and may run anywhere.", "Kueue: quota counts requests"},
		{NoPods, Warning, "A job without pods has nothing to run.", "Kueue: pod sets"},
	}
}

// Finding is one rule that a job does not keep.
type Finding struct {
	Code    string
	Level   Level
	Source  string
	Message string
	// Try is the option of start-job that mends it, Advice what to do where none does.
	Try    string `json:",omitempty"`
	Advice string `json:",omitempty"`
}
