package doctor

import (
	"k8s.io/apimachinery/pkg/util/version"
)

// Difference is a decision that versions of Kueue make in another way.
type Difference string

// The differences between v0.19.2, whose rules are built in, and later versions, from
// Kueue's change logs. Each is named after what it is about.
const (
	// LimitRangeLimits: the quota of pods with limits only, under a LimitRange (#15039).
	LimitRangeLimits Difference = "LimitRangeLimits"
	// StickyHead: the head of a BestEffortFIFO queue after a failed preemption (#15089).
	StickyHead Difference = "StickyHead"
	// RejectedChecks: workloads with a rejected admission check (#14871).
	RejectedChecks Difference = "RejectedChecks"
	// RequeuedResources: resources of a workload that is queued again (#15350).
	RequeuedResources Difference = "RequeuedResources"
	// FinishedPodSets: topology domains of completed pod sets (#15225).
	FinishedPodSets Difference = "FinishedPodSets"
	// LeaderFeasibility: the nodes of leaders with a template of their own (#15690).
	LeaderFeasibility Difference = "LeaderFeasibility"
	// HugeLimits: limits beyond a 64-bit number (#15653).
	HugeLimits Difference = "HugeLimits"
	// Transformations: resource transformations whose input is excluded (#16053).
	Transformations Difference = "Transformations"
	// PodLevelRequests: requests of a pod below those of its containers (#16047).
	PodLevelRequests Difference = "PodLevelRequests"
	// PodsQuota: preemption for the quota of the resource pods (#16200).
	PodsQuota Difference = "PodsQuota"
	// PodSetGroups: preemption for groups of pod sets that are not adjacent (#16273).
	PodSetGroups Difference = "PodSetGroups"
	// PodGroupOrder: the order of flavors for groups of pods (#14809).
	PodGroupOrder Difference = "PodGroupOrder"
	// UseOrder: the order by past use under admission fair sharing (#16307).
	UseOrder Difference = "UseOrder"
	// DefaultPriority: jobs without a priority class get the default one (#13719).
	DefaultPriority Difference = "DefaultPriority"
	// RecomputedTopology: topology after preemption targets overlap (#13863).
	RecomputedTopology Difference = "RecomputedTopology"
	// NodeFeasibility: feasibility of nodes at all levels of a topology (#14191).
	NodeFeasibility Difference = "NodeFeasibility"
	// EarlierRules: the cluster's version is older than the rules.
	EarlierRules Difference = "EarlierRules"
)

// since has the first version with a difference.
var since = []struct {
	version string
	is      []Difference
}{
	{"0.19.3", []Difference{LimitRangeLimits, StickyHead, RejectedChecks}},
	{"0.19.4", []Difference{RequeuedResources, FinishedPodSets}},
	{"0.19.5", []Difference{LeaderFeasibility, HugeLimits}},
	{"0.19.6", []Difference{Transformations, PodLevelRequests}},
	{"0.19.7", []Difference{PodsQuota, PodSetGroups, PodGroupOrder, UseOrder}},
	{"0.20.0", []Difference{DefaultPriority, RecomputedTopology, NodeFeasibility}},
}

// Differences returns the known differences between the decisions of a cluster's Kueue and
// the rules of another version. Versions that cannot be parsed have none.
func Differences(cluster, rules string) []Difference {
	c, err := version.ParseGeneric(cluster)
	if err != nil {
		return nil
	}
	r, err := version.ParseGeneric(rules)
	if err != nil {
		return nil
	}
	if c.LessThan(r) {
		return []Difference{EarlierRules}
	}
	var out []Difference
	for _, s := range since {
		if v := version.MustParseGeneric(s.version); c.AtLeast(v) && r.LessThan(v) {
			out = append(out, s.is...)
		}
	}
	return out
}
