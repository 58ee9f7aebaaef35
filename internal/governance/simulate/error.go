package simulate

import (
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ErrorCode is why a change cannot be made or a simulation cannot run.
type ErrorCode string

// The codes of errors.
const (
	// A change that cannot be read.

	EmptyChange   ErrorCode = "EmptyChange"   // the change has no text
	UnknownChange ErrorCode = "UnknownChange" // there is no such kind; Names are the kinds
	TeamForm      ErrorCode = "TeamForm"      // it is not NAME=TEAM
	PriorityForm  ErrorCode = "PriorityForm"  // it is not JOB=CLASS or JOB=NUMBER
	SettingForm   ErrorCode = "SettingForm"   // it is not TEAM.SETTING=VALUE
	NodeCount     ErrorCode = "NodeCount"     // Value is not a number of nodes
	FairSharing   ErrorCode = "FairSharing"   // it is neither on nor off
	NoSetting     ErrorCode = "NoSetting"     // there is no such setting; Names are the settings
	NoValue       ErrorCode = "NoValue"       // the setting has no value
	NotWord       ErrorCode = "NotWord"       // the value is none of Names
	NotAmount     ErrorCode = "NotAmount"     // the value is not a quantity
	NotPercentage ErrorCode = "NotPercentage" // the value is not a percentage
	NotWeight     ErrorCode = "NotWeight"     // the value is not a weight
	Negative      ErrorCode = "Negative"      // the value is below 0
	TooLarge      ErrorCode = "TooLarge"      // the value is too large
	PriorityRange ErrorCode = "PriorityRange" // the priority is out of range

	// A file that cannot be read.

	NotChanges    ErrorCode = "NotChanges"    // it has no list of changes
	NotText       ErrorCode = "NotText"       // Value of change Count is not a text
	InChange      ErrorCode = "InChange"      // Err is about change Count of a file
	InvalidFile   ErrorCode = "InvalidFile"   // Err is why the objects of the file cannot be read
	NoObjects     ErrorCode = "NoObjects"     // it contains no object
	ObjectIgnored ErrorCode = "ObjectIgnored" // objects of kind Kind, like Value, cannot change

	// A change that does not suit the cluster.

	NotFound       ErrorCode = "NotFound"       // no Kind is called Value; Names are those that exist
	TeamExists     ErrorCode = "TeamExists"     // the ClusterQueue Value exists
	Ambiguous      ErrorCode = "Ambiguous"      // several jobs have the name; Names are these jobs
	NoQuota        ErrorCode = "NoQuota"        // nothing has this quota; Names are the quotas
	WhichQuota     ErrorCode = "WhichQuota"     // several quotas could be meant; Names are these
	PercentOfQuota ErrorCode = "PercentOfQuota" // a percentage of the quota Value is too large
	TeamsOnly      ErrorCode = "TeamsOnly"      // cohorts do not have this setting
	Refused        ErrorCode = "Refused"        // Kueue refuses Kind Value; Refusals say why
	TooFewNodes    ErrorCode = "TooFewNodes"    // the cluster has only Count such nodes
	NoNodes        ErrorCode = "NoNodes"        // no nodes could be read
	NoJob          ErrorCode = "NoJob"          // the manifest has no job that Kueue queues; Names are the kinds
	InvalidJob     ErrorCode = "InvalidJob"     // Err is why the job cannot be added
	GroupLacksPods ErrorCode = "GroupLacksPods" // the pod group Value has Count of its Whole pods
	GroupMismatch  ErrorCode = "GroupMismatch"  // Mismatch is why Kueue does not admit the pod group Value
	NoNamespace    ErrorCode = "NoNamespace"    // the job names no namespace
	NoQueue        ErrorCode = "NoQueue"        // the namespace Value has no LocalQueue
	WhichQueue     ErrorCode = "WhichQueue"     // the namespace Value has several: Names
	JobExists      ErrorCode = "JobExists"      // Kind Value exists in Namespace

	// A simulation that cannot be run.

	InvalidRules ErrorCode = "InvalidRules" // Err is why no engine can have Kueue's configuration
	NotRun       ErrorCode = "NotRun"       // Err is why the engine stopped
	// NeverConverges: the policy never converges before time Value, when the changes are made
	NeverConverges ErrorCode = "NeverConverges"
)

// What a NotFound or a JobExists is about.
const (
	aTeam          = "team"
	aCohort        = "cohort"
	aJob           = "job"
	aPriorityClass = "priority class"
	anInstanceType = "instance type"
	aNode          = "node or instance type"
	aPodGroup      = "pod group"
)

// Error is a change that cannot be made, or a simulation that cannot be run. Package
// present/simulation words it.
type Error struct {
	Code   ErrorCode
	Change Change
	// Copied: new nodes would copy the node that is not found.
	Copied bool
	// Removed: an earlier change removed what is not found.
	Removed                bool
	Kind, Value, Namespace string
	Names                  []string
	Count, Whole           int
	Mismatch               *kinds.GroupMismatch
	Refusals               []Refusal
	Err                    error
}

func (e *Error) Error() string {
	text := string(e.Code)
	for _, part := range []string{e.Change.Text, e.Kind, e.Value} {
		if part != "" {
			text += " " + part
		}
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refusal is a reason for which Kueue refuses a ClusterQueue or Cohort: what the
// engine says of the object, or nil for a policy of preemption while borrowing
// without one of reclaiming quota.
type Refusal struct{ Err error }

// notFound returns the error of a name that nothing has.
func notFound(kind, name string, names map[string]bool) *Error {
	return &Error{Code: NotFound, Kind: kind, Value: name, Names: slices.Sorted(maps.Keys(names))}
}
