// Package doctor examines what every command depends on: the connection, the credentials,
// permissions, Kueue and the operators of the cluster. It returns values with codes;
// package present/doctortext words them.
package doctor

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// Schema is the name and version of the document.
const Schema = "hyperpod.doctor/v1"

// Status is the result of a diagnosis.
type Status string

// The statuses, the best first.
const (
	OK Status = "Ok"
	// Skipped: it could not be examined, which may be fine.
	Skipped Status = "Skipped"
	Warn    Status = "Warn"
	Fail    Status = "Fail"
)

// Code names what was examined.
type Code string

// The codes, in the order of the document.
const (
	Settings       Code = "Settings"
	Target         Code = "Cluster"
	Connection     Code = "Connection"
	Latency        Code = "Latency"
	Clock          Code = "Clock"
	Credentials    Code = "Credentials"
	Namespace      Code = "Namespace"
	Permissions    Code = "Permissions"
	Services       Code = "Services"
	Kueue          Code = "Kueue"
	Controller     Code = "KueueController"
	Configuration  Code = "KueueConfiguration"
	Rules          Code = "KueueRules"
	Webhooks       Code = "Webhooks"
	Queues         Code = "Queues"
	QueuePositions Code = "QueuePositions"
	JobKinds       Code = "JobKinds"
	Operators      Code = "Operators"
	Nodes          Code = "Nodes"
)

// The reasons of a diagnosis that is not Ok.
const (
	// NoAnswer: the time was over before an answer came.
	NoAnswer = "NoAnswer"
	// NoConnection: nothing can be examined without a connection.
	NoConnection = "NoConnection"
	// NoPermission: only other users can examine it.
	NoPermission = "NoPermission"
	// NotServed: the API server does not have the kind.
	NotServed = "NotServed"
	// NotFound: the object does not exist.
	NotFound = "NotFound"
	// Failed: Diagnosis.Err says why.
	Failed = "Failed"
	// Slow, Skewed: beyond a limit of this package.
	Slow, Skewed = "Slow", "Skewed"
	// Incomplete: some commands lack a required permission.
	Incomplete = "Incomplete"
	// OldVersion: a version that is no longer maintained for the purpose.
	OldVersion = "OldVersion"
	// NotReady: no replica, or no endpoint, is ready.
	NotReady = "NotReady"
	// NoCertificate: the API server cannot trust a webhook.
	NoCertificate = "NoCertificate"
	// Differs: decisions may differ from the built-in rules.
	Differs = "Differs"
	// Unknown: the version or the configuration could not be read.
	Unknown = "Unknown"
	// NotActive: queues that admit nothing.
	NotActive = "NotActive"
	// None: there is none.
	None = "None"
	// Missing: something that belongs to it is missing.
	Missing = "Missing"
	// Unhealthy: nodes that take no jobs.
	Unhealthy = "Unhealthy"
)

// Diagnosis is one result.
type Diagnosis struct {
	Code   Code
	Status Status
	// Reason says why the status is not Ok; "" where it is.
	Reason string
	// Message is a sentence without a full stop, Advice what to do and Try a command; ""
	// until present/doctortext sets them.
	Message, Advice, Try string
	// Names are the objects, commands or differences that the diagnosis is about.
	Names []string

	// Version, Took, Count and Of are what the sentence needs.
	Version string        `json:"-"`
	Took    time.Duration `json:"-"`
	Count   int           `json:"-"`
	Of      int           `json:"-"`
	Err     error         `json:"-"`
	// Notes are settings that the built-in rules do not follow.
	Notes []admission.Warning `json:"-"`
	// Suggest is Try as a value.
	Suggest errs.Suggestion `json:"-"`
}

// CommandPermissions are the permissions of the current user for a command.
type CommandPermissions struct {
	Command string
	// Allowed: every required permission is granted, for at least one job kind.
	Allowed bool
	// MissingPermissions are required. HiddenWithout are those without which the command
	// works, but not with everything: it hides something, or leaves out job kinds. Both
	// are written as kubectl auth can-i takes them.
	MissingPermissions, HiddenWithout []string
}

// Document is the result of all examinations.
type Document struct {
	Schema string
	Time   time.Time
	// Status is the worst status of the diagnoses; Skipped counts as Ok.
	Status Status
	// Server, ServerVersion, User, Namespace and KueueVersion are "" where unknown.
	Server, ServerVersion, User, Namespace, KueueVersion string
	// RulesVersion is Kueue's version whose rules this program follows.
	RulesVersion string
	// LatencySeconds is the time of one small request over an open connection, and
	// ClockSkewSeconds how far this machine's clock is ahead of the server's, both null where
	// unknown. The server's clock is known to a second.
	LatencySeconds, ClockSkewSeconds *float64
	Diagnoses                        []Diagnosis
	// CommandPermissions is empty where permissions could not be reviewed.
	CommandPermissions []CommandPermissions
}

// rank orders statuses by what they mean for the whole.
var rank = map[Status]int{OK: 0, Skipped: 0, Warn: 1, Fail: 2}

// Close sets the status of the document and makes its lists non-nil.
func (d *Document) Close() {
	d.Status = OK
	for i := range d.Diagnoses {
		if rank[d.Diagnoses[i].Status] > rank[d.Status] {
			d.Status = d.Diagnoses[i].Status
		}
		if d.Diagnoses[i].Names == nil {
			d.Diagnoses[i].Names = []string{}
		}
	}
	if d.Diagnoses == nil {
		d.Diagnoses = []Diagnosis{}
	}
	if d.CommandPermissions == nil {
		d.CommandPermissions = []CommandPermissions{}
	}
}
