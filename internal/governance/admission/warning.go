package admission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// WarningCode is what a Warning is about.
type WarningCode string

// The codes of warnings.
const (
	// GateUnknown: this Kueue version does not have the gate Name, which is On in the cluster.
	GateUnknown WarningCode = "GateUnknown"
	// GateLocked: this Kueue version fixes the gate Name, which is On in the cluster, to
	// the opposite.
	GateLocked WarningCode = "GateLocked"
	// GatesRefused: Kueue's registry refuses the gates; Reason is its message.
	GatesRefused WarningCode = "GatesRefused"
	// NamespaceUnknown: the namespace Name was not loaded.
	NamespaceUnknown WarningCode = "NamespaceUnknown"
	// MultiKueueCheck: other clusters decide about the admission check Name.
	MultiKueueCheck WarningCode = "MultiKueueCheck"
	// OrderedByUse: the ClusterQueues Names order workloads by past use.
	OrderedByUse WarningCode = "OrderedByUse"
	// MaybeOrderedByUse: the ClusterQueues Names do, if Kueue has admission fair sharing on.
	MaybeOrderedByUse WarningCode = "MaybeOrderedByUse"
	// ConcurrentQueues: the ClusterQueues Names use concurrent admission.
	ConcurrentQueues WarningCode = "ConcurrentQueues"
	// ClaimingWorkloads: the devices of the workloads Names could not be counted.
	ClaimingWorkloads WarningCode = "ClaimingWorkloads"
	// OwnClaims: the devices of the workload itself could not be counted.
	OwnClaims WarningCode = "OwnClaims"
	// UncountedUnknown: the workloads Names hold quota in the ClusterQueue Name, which was not loaded.
	UncountedUnknown WarningCode = "UncountedUnknown"
	// UncountedInvalid: the workloads Names hold quota in the ClusterQueue Name, which is
	// invalid.
	UncountedInvalid WarningCode = "UncountedInvalid"
)

// Warning is a part of the input that an engine does not follow exactly. Package present/notetext words it.
type Warning struct {
	Code   WarningCode
	Name   string
	Names  []string
	On     bool
	Reason string
}

// gateWarnings are warnings about gates that could not be set.
func gateWarnings(faults []embedded.GateFault) []Warning {
	codes := map[embedded.GateFaultCode]WarningCode{embedded.GateUnknown: GateUnknown, embedded.GateLocked: GateLocked, embedded.GatesRefused: GatesRefused}
	var out []Warning
	for _, f := range faults {
		out = append(out, Warning{Code: codes[f.Code], Name: f.Name, On: f.On, Reason: f.Reason})
	}
	return out
}

func compareWarnings(a, b Warning) int {
	return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Name, b.Name), slices.Compare(a.Names, b.Names), cmp.Compare(a.Reason, b.Reason))
}

// InvalidError is a ClusterQueue or Cohort that the API server would refuse.
// [Engine.Load] leaves it out, and so does package quota: their arithmetic must never
// see it. Package present/notetext words the faults.
type InvalidError struct {
	Kind, Name string
	Faults     []quota.Fault
}

func (e *InvalidError) Error() string { return e.Kind + " " + e.Name + " is invalid" }

// Problems splits the joined error of [Engine.Load], sorted and without duplicates.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, one := range joined.Unwrap() {
		out = append(out, Problems(one)...)
	}
	slices.SortStableFunc(out, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.CompactFunc(out, func(a, b error) bool { return a.Error() == b.Error() })
}
