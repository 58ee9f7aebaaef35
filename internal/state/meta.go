// Package state holds slim values of what a cluster contains, and the parallel
// load that reads them. Everything after a load is a pure function of a State.
package state

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Meta is what every object has. The JSON tags are the API's.
type Meta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Owners            []Owner           `json:"ownerReferences,omitempty"`
}

// Owner is an owner reference.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller,omitempty"`
}

// Condition is one condition of a status. Status is "True", "False" or "Unknown".
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
}

// True reports a condition that holds.
func (c Condition) True() bool { return c.Status == "True" }

// Find returns the condition of a type.
func Find(conditions []Condition, kind string) (Condition, bool) {
	for _, c := range conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return Condition{}, false
}

// Amounts are quantities of resources as whole numbers: cpu in thousandths of a
// core, memory and storage in bytes, devices in pieces.
type Amounts map[string]int64

// Job is an object of one of the job kinds.
type Job struct {
	Kind kinds.Job
	Meta
	// Manager is the field manager that created the object (metadata.managedFields): the name of a program, or
	// of a person who sets it. It is "" if that is not recorded.
	Manager string
	// Suspended is the job's own suspend field, or that a pod has the gate of Kueue.
	Suspended  bool
	Conditions []Condition
	Start      *time.Time
	Completion *time.Time
	Replicas   map[string]ReplicaStatus // by role
	Phase      string                   // RayJob jobStatus, RayCluster state, JobSet terminalState
	// DeploymentPhase is RayJob's jobDeploymentStatus.
	DeploymentPhase string
	// Reason and Message are a status' own, outside its conditions (RayJob).
	Reason, Message string
	// Restarts as far as the status tells (JobSet, HyperPodPyTorchJob, RayJob).
	Restarts int
	// MaxRetries is how often the operator tries again (HyperPodPyTorchJob's
	// jobMaxRetryCount).
	MaxRetries int
	// Progress is the part that is done, in percent, and Remaining the time to the end, as
	// the job itself reports them (TrainJob); nil where it does not.
	Progress  *int
	Remaining *time.Duration
	// PodPriorityClass is the priorityClassName of the first pod template that has one.
	PodPriorityClass string
	// TemplatePriority is Kueue's priority label of the first pod template that has one.
	TemplatePriority string
	Roles            []RoleCount
	// PodSelector is the label selector of the job's pods; "" while it is
	// unknown (a RayJob without a cluster).
	PodSelector string
}

// ReplicaStatus counts the pods of one role.
type ReplicaStatus struct{ Active, Ready, Succeeded, Failed int }

// RoleCount is one role of a job: how many pods it wants, and the devices
// (nvidia.com/*, aws.amazon.com/neuron*) that each of them asks for.
type RoleCount struct {
	Name     string
	Replicas int64
	Requests map[string]int64
}

// Queue returns the job's local queue; "" when it has none.
func (j Job) Queue() string { return j.Labels[kinds.QueueLabel] }

// Group returns the pod group of a pod; "" for other jobs and for a pod without a group.
func (j Job) Group() string {
	if !j.Kind.Itself {
		return ""
	}
	return j.Labels[kinds.PodGroupName]
}

// Priority returns the job's priority class: of Kueue on the job, else on a pod
// template, else the pods' priority class; "" when there is none.
func (j Job) Priority() string {
	switch {
	case j.Labels[kinds.PriorityLabel] != "":
		return j.Labels[kinds.PriorityLabel]
	case j.TemplatePriority != "":
		return j.TemplatePriority
	}
	return j.PodPriorityClass
}
