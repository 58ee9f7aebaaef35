package lint

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// Finding is a rule that a job breaks. Package present/verdict fills in Message, Try
// and Advice from Facts.
type Finding struct {
	Code    string
	Level   Level
	Source  string
	Message string
	// Try is what to type to mend it; Advice is what to do where no command does it.
	Try    string `json:",omitempty"`
	Advice string `json:",omitempty"`
	Facts  Facts  `json:"-"`
}

// Facts are the values of a finding. Each rule sets those that it is about.
type Facts struct {
	// Case tells apart the ways to break a rule that can be broken in several ways.
	Case Case
	// PodSet is the role of the pods.
	PodSet string
	// Name is the class, queue, kind, label, MIG profile or policy at fault.
	Name      string
	Namespace string
	// InstanceType is the type that the pods require, Resource what they request,
	// Requested how much of it, Limit how much there is: quantities as Kubernetes writes
	// them.
	InstanceType, Resource, Requested, Limit string
	// Pods is the number of pods of the role.
	Pods int64
	// Kueue is the version of the cluster's Kueue.
	Kueue string
	// Known is what exists instead: covered resources, MIG profiles.
	Known []string
	// Fix is the change of the job that mends it, nil where none does.
	Fix *Fix
}

// Case is one way to break a rule.
type Case string

// The cases of SliceSize, DeviceRequests and ResumeIncomplete.
const (
	NotANumber         Case = "NotANumber"
	NoTopology         Case = "NoTopology"
	NotDivisible       Case = "NotDivisible"
	LimitDiffers       Case = "LimitDiffers"
	NoSuchProfile      Case = "NoSuchProfile"
	ProfileAndWhole    Case = "ProfileAndWhole"
	WrongRestartPolicy Case = "WrongRestartPolicy"
)

// Field is a part of a job that a user can set.
type Field string

// The fields that fixes change.
const (
	Priority      Field = "Priority"
	Queue         Field = "Queue"
	NodeCount     Field = "NodeCount"
	Accelerators  Field = "Accelerators"
	VCPU          Field = "VCPU"
	Memory        Field = "Memory"
	RestartPolicy Field = "RestartPolicy"
	AutoResume    Field = "AutoResume"
)

// Fix is a change of one field of a job: to the value where Values has one, to one of
// several, to any where it is empty.
type Fix struct {
	Field  Field
	Values []string
}

// Nearest returns the fix for a field whose value does not exist: the name nearest to
// it, else a choice of all. It is nil where there are no names.
func Nearest(field Field, value string, names []string) *Fix {
	if near := errs.Near(value, names); len(near) > 0 {
		return &Fix{Field: field, Values: near[:1]}
	}
	if len(names) == 0 {
		return nil
	}
	return &Fix{Field: field, Values: names}
}
