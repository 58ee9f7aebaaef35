// Package versions knows in what the decisions of Kueue's versions differ, and which of the differences can matter to a
// job.
package versions

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// Code names a difference after what it is about. Package present/notetext words it.
type Code string

// The differences, from Kueue's change logs and history.
const (
	ImplicitTopology       Code = "ImplicitTopology"
	TopologyPreemption     Code = "TopologyPreemption"
	BestFit                Code = "BestFit"
	IdleReclaim            Code = "IdleReclaim"
	NodeSelectors          Code = "NodeSelectors"
	AssumedUse             Code = "AssumedUse"
	ZeroWeightCohorts      Code = "ZeroWeightCohorts"
	NestedPreemption       Code = "NestedPreemption"
	SimulatedPreemption    Code = "SimulatedPreemption"
	FairReclaim            Code = "FairReclaim"
	FairTies               Code = "FairTies"
	ShareRounding          Code = "ShareRounding"
	NearestBorrowing       Code = "NearestBorrowing"
	HeadAfterPreemption    Code = "HeadAfterPreemption"
	NodeAffinity           Code = "NodeAffinity"
	FailedPreemption       Code = "FailedPreemption"
	UnconstrainedPlacement Code = "UnconstrainedPlacement"
	PastUse                Code = "PastUse"
	NominalFirst           Code = "NominalFirst"
	WithinNominal          Code = "WithinNominal"
	TopologyTargets        Code = "TopologyTargets"
	SliceQuota             Code = "SliceQuota"
	ChangedPriority        Code = "ChangedPriority"
	TransformedPlacement   Code = "TransformedPlacement"
	ImpossiblePlacement    Code = "ImpossiblePlacement"
	ZeroRequests           Code = "ZeroRequests"
	SwappedPreference      Code = "SwappedPreference"
	CombinedPodSets        Code = "CombinedPodSets"
	GroupedDomains         Code = "GroupedDomains"
	SecondPassFlavors      Code = "SecondPassFlavors"
	EqualWorkloads         Code = "EqualWorkloads"
	ClaimSelectors         Code = "ClaimSelectors"
	ResourcesOnNodes       Code = "ResourcesOnNodes"
	RecomputedPlacement    Code = "RecomputedPlacement"
	SelectorLabels         Code = "SelectorLabels"
	PodLevelResources      Code = "PodLevelResources"
	EqualDomains           Code = "EqualDomains"
	ElasticSlices          Code = "ElasticSlices"
	DeviceConstraints      Code = "DeviceConstraints"
	PartitionableDevices   Code = "PartitionableDevices"
	MilliConversions       Code = "MilliConversions"
	ReclaimedPods          Code = "ReclaimedPods"
	ElasticLeaders         Code = "ElasticLeaders"
	SteadyHead             Code = "SteadyHead"
	AdmissionGates         Code = "AdmissionGates"
	PreferredPreemption    Code = "PreferredPreemption"
	FlavorScan             Code = "FlavorScan"
	ZeroWeightQueues       Code = "ZeroWeightQueues"
	KeptLeaders            Code = "KeptLeaders"
	InferredTopology       Code = "InferredTopology"
	DomainNames            Code = "DomainNames"
	ResizedPods            Code = "ResizedPods"
	FreedNodes             Code = "FreedNodes"
	ChangedFlavors         Code = "ChangedFlavors"
	BlockedSecondPass      Code = "BlockedSecondPass"
	EntryPenalties         Code = "EntryPenalties"
	FractionalUse          Code = "FractionalUse"
	SlicePriority          Code = "SlicePriority"
	EvictedSlices          Code = "EvictedSlices"
	HugeSums               Code = "HugeSums"
	DeviceClasses          Code = "DeviceClasses"
	VariantOrder           Code = "VariantOrder"
	ReplacementDomains     Code = "ReplacementDomains"
	MovedPlacement         Code = "MovedPlacement"
	LimitRangeLimits       Code = "LimitRangeLimits"
	StickyHead             Code = "StickyHead"
	RejectedChecks         Code = "RejectedChecks"
	RequeuedResources      Code = "RequeuedResources"
	FinishedPodSets        Code = "FinishedPodSets"
	LeaderFeasibility      Code = "LeaderFeasibility"
	HugeLimits             Code = "HugeLimits"
	Transformations        Code = "Transformations"
	PodLevelRequests       Code = "PodLevelRequests"
	PodsQuota              Code = "PodsQuota"
	PodSetGroups           Code = "PodSetGroups"
	PodGroupOrder          Code = "PodGroupOrder"
	UseOrder               Code = "UseOrder"
	DefaultPriority        Code = "DefaultPriority"
	OverlappingTargets     Code = "OverlappingTargets"
	NodeFeasibility        Code = "NodeFeasibility"
	SlicedGroups           Code = "SlicedGroups"
	PartialSlices          Code = "PartialSlices"
	RemotePreemption       Code = "RemotePreemption"
	ReservedUse            Code = "ReservedUse"
	UseTargets             Code = "UseTargets"
	ElasticPlacement       Code = "ElasticPlacement"
	FreshPlacement         Code = "FreshPlacement"
	VariantGates           Code = "VariantGates"
	ElasticWithoutPods     Code = "ElasticWithoutPods"
	ElasticGrowth          Code = "ElasticGrowth"
	RemovedFlavors         Code = "RemovedFlavors"
	MixedResize            Code = "MixedResize"
	LeaderCapacity         Code = "LeaderCapacity"
	RetainedInputs         Code = "RetainedInputs"
	ExcludedMultipliers    Code = "ExcludedMultipliers"
	ShrinkingPodSets       Code = "ShrinkingPodSets"
	CheckRetries           Code = "CheckRetries"
)

// Difference is a change of decisions.
type Difference struct {
	Code Code
	// Pull is the number of the change in Kueue's repository: of the pull request to the main branch, a cherry-pick, or the issue.
	Pull int
	// Since are the first releases with the change, one for each minor version, in order.
	Since []string
	// Concerns reports what the change can matter to.
	Concerns func(Case) bool
}

// All returns the differences in the order of the versions.
func All() []Difference { return slices.Clone(table) }

// Between returns the known differences between two versions of Kueue ("v0.18.1") that can matter to a case, in the
// order of the versions. It is nil if a version cannot be parsed.
func Between(a, b string, c Case) []Difference {
	va, err := version.ParseGeneric(a)
	if err != nil {
		return nil
	}
	vb, err := version.ParseGeneric(b)
	if err != nil {
		return nil
	}
	out := []Difference{}
	for _, d := range table {
		if d.in(va) != d.in(vb) && d.Concerns(c) {
			out = append(out, d)
		}
	}
	return out
}

// in reports whether a version has the change: it is not older than the first release with it of its minor version, or its
// minor version is later than all of them.
func (d Difference) in(v *version.Version) bool {
	for _, s := range d.Since {
		first := version.MustParseGeneric(s)
		if first.Major() == v.Major() && first.Minor() == v.Minor() {
			return v.AtLeast(first)
		}
	}
	return v.AtLeast(version.MustParseGeneric(d.Since[len(d.Since)-1]))
}
