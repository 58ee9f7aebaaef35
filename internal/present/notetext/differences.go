package notetext

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// subjects say what the differences between versions of Kueue are about.
var subjects = map[versions.Code]string{
	versions.ImplicitTopology:       "placement by topology without a request for it",
	versions.TopologyPreemption:     "preemption for places in a topology",
	versions.BestFit:                "best-fit placement in topologies",
	versions.IdleReclaim:            "reclaiming quota under reclaimWithinCohort: Any",
	versions.NodeSelectors:          "node selectors in topologies",
	versions.AssumedUse:             "use of topologies by jobs that start in the same cycle",
	versions.ZeroWeightCohorts:      "preemption within the nominal quota of cohorts of weight 0",
	versions.NestedPreemption:       "preemption in nested cohorts",
	versions.SimulatedPreemption:    "flavors that need preemption",
	versions.FairReclaim:            "reclaiming nominal quota under fair sharing",
	versions.FairTies:               "preemption between equal shares",
	versions.ShareRounding:          "rounding of shares",
	versions.NearestBorrowing:       "flavors with quota in the nearest cohort",
	versions.HeadAfterPreemption:    "the head of BestEffortFIFO queues while it waits for preemption",
	versions.NodeAffinity:           "node affinity in topologies",
	versions.FailedPreemption:       "another try after a preemption that failed",
	versions.UnconstrainedPlacement: "unconstrained placement in topologies",
	versions.PastUse:                "admission fair sharing, which is off by default",
	versions.NominalFirst:           "the turn of jobs within nominal quota under fair sharing",
	versions.WithinNominal:          "fair-sharing preemption within nominal quota",
	versions.TopologyTargets:        "preemption for several resources in topologies",
	versions.SliceQuota:             "quota of elastic jobs with unchanged pod sets",
	versions.ChangedPriority:        "jobs put aside whose priority changes",
	versions.TransformedPlacement:   "placement of transformed resources",
	versions.ImpossiblePlacement:    "flavors that cannot serve a topology request",
	versions.ZeroRequests:           "requests of 0 for resources that the queue lacks",
	versions.SwappedPreference:      "the meaning of flavorFungibility.preference",
	versions.CombinedPodSets:        "pods of several pod sets on one node",
	versions.GroupedDomains:         "capacity of domains for grouped pod sets",
	versions.SecondPassFlavors:      "flavors of jobs that get nodes after their admission checks",
	versions.EqualWorkloads:         "equal jobs in BestEffortFIFO queues",
	versions.ClaimSelectors:         "resource claims with CEL selectors",
	versions.ResourcesOnNodes:       "transformed and excluded resources on nodes",
	versions.RecomputedPlacement:    "places in a topology that two jobs choose in one cycle",
	versions.SelectorLabels:         "node selectors with labels of another flavor",
	versions.PodLevelResources:      "pod-level resources",
	versions.EqualDomains:           "equally good topology domains",
	versions.ElasticSlices:          "quota of growing elastic jobs",
	versions.DeviceConstraints:      "resource claims with constraints",
	versions.PartitionableDevices:   "partitionable devices",
	versions.MilliConversions:       "transformations of fractions of a unit",
	versions.ReclaimedPods:          "ended pods of elastic jobs that shrink",
	versions.ElasticLeaders:         "places for leaders of elastic jobs",
	versions.SteadyHead:             "the order of BestEffortFIFO queues while their head waits for preemption",
	versions.AdmissionGates:         "the annotation admission-gated-by",
	versions.PreferredPreemption:    "flavors under preference: PreemptionOverBorrowing",
	versions.FlavorScan:             "the order in which flavors are tried",
	versions.ZeroWeightQueues:       "LocalQueues of weight 0 under admission fair sharing",
	versions.KeptLeaders:            "leaders of elastic jobs that grow",
	versions.InferredTopology:       "topology of pod sets with several flavors",
	versions.DomainNames:            "topology domains with the same name at two levels",
	versions.ResizedPods:            "pods outside Kueue that are resized in place",
	versions.FreedNodes:             "jobs put aside when a pod outside Kueue ends",
	versions.ChangedFlavors:         "jobs put aside when labels, taints or tolerations of a flavor change",
	versions.BlockedSecondPass:      "waitForPodsReady.blockAdmission for jobs that already have quota",
	versions.EntryPenalties:         "entry penalties of jobs with admission checks",
	versions.FractionalUse:          "past use below a thousandth of a unit",
	versions.SlicePriority:          "elastic jobs whose priority class changes",
	versions.EvictedSlices:          "elastic jobs that grow while they are evicted",
	versions.HugeSums:               "sums of requests beyond 64 bits",
	versions.DeviceClasses:          "the device class that a resource claim counts for",
	versions.VariantOrder:           "the order of preemption among variants",
	versions.ReplacementDomains:     "replacement of failed nodes within a topology domain",
	versions.MovedPlacement:         "places that change after quota was reserved",
	versions.LimitRangeLimits:       "quota of pods with limits only, under a LimitRange",
	versions.StickyHead:             "the head of BestEffortFIFO queues after a failed preemption",
	versions.RejectedChecks:         "rejected admission checks",
	versions.RequeuedResources:      "resources of requeued workloads",
	versions.FinishedPodSets:        "topology of completed pod sets",
	versions.LeaderFeasibility:      "nodes for leader pods",
	versions.HugeLimits:             "limits beyond 64 bits",
	versions.Transformations:        "resource transformations with excluded inputs",
	versions.PodLevelRequests:       "pod-level requests",
	versions.PodsQuota:              "preemption for quota of pods",
	versions.PodSetGroups:           "preemption for pod set groups",
	versions.PodGroupOrder:          "flavors of pod groups",
	versions.UseOrder:               "order under admission fair sharing",
	versions.DefaultPriority:        "the default priority class",
	versions.OverlappingTargets:     "jobs that would preempt the same job",
	versions.NodeFeasibility:        "feasibility at all topology levels",
	versions.SlicedGroups:           "slices of grouped pod sets",
	versions.PartialSlices:          "a last slice with fewer pods",
	versions.RemotePreemption:       "preemption on the worker clusters of MultiKueue",
	versions.ReservedUse:            "past use of jobs that wait for admission checks",
	versions.UseTargets:             "preemption under admission fair sharing",
	versions.ElasticPlacement:       "places for elastic jobs that grow",
	versions.FreshPlacement:         "places for jobs that lost a node and their quota",
	versions.VariantGates:           "which variant of a job preempts first",
	versions.ElasticWithoutPods:     "flavors of elastic jobs without pods",
	versions.ElasticGrowth:          "quota of the cohort for elastic jobs that grow",
	versions.RemovedFlavors:         "jobs with variants on a removed flavor",
	versions.MixedResize:            "elastic jobs that grow and shrink at once",
	versions.LeaderCapacity:         "places for workers beside their leader",
	versions.RetainedInputs:         "resource transformations that retain the input",
	versions.ExcludedMultipliers:    "resource transformations with an excluded multiplier",
	versions.ShrinkingPodSets:       "elastic jobs that shrink below what they got",
	versions.CheckRetries:           "quota of jobs whose admission checks are tried again",
}

// Difference returns what a difference between versions of Kueue is about: a code of package versions in words.
func Difference(code string) string {
	if text, ok := subjects[versions.Code(code)]; ok {
		return text
	}
	return code
}

// differences ends the note about another version. Codes are nil where the note is not about one job.
func differences(codes []string) string {
	if codes == nil {
		return ""
	}
	var list []string
	for _, d := range versions.All() {
		for _, code := range codes {
			if string(d.Code) == code {
				list = append(list, fmt.Sprintf("%s (kueue#%d)", Difference(code), d.Pull))
			}
		}
	}
	if len(list) == 0 {
		return "; no known difference concerns this job"
	}
	return "; decisions may differ on " + words.Some(list, 4)
}
