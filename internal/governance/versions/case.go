package versions

// Case is what of Kueue a decision uses.
type Case struct {
	Fair       bool // fair sharing is on
	ZeroWeight bool // a queue or cohort has the weight 0
	PastUse    bool // the ClusterQueue uses admission fair sharing
	Converts   bool // resources are transformed or excluded
	Blocks     bool // one job starts at a time (waitForPodsReady.blockAdmission)

	Cohort     bool // the ClusterQueue is in a cohort
	Nested     bool // the cohort has a parent
	Flavors    bool // there are several flavors to choose from
	Preference bool // the ClusterQueue prefers to borrow or to preempt
	Preempts   bool // the ClusterQueue may preempt
	BestEffort bool // its strategy is BestEffortFIFO
	Checks     bool // it has admission checks
	PodsQuota  bool // it has a quota of pods
	Variants   bool // it has a concurrentAdmissionPolicy
	Topology   bool // its flavors have topologies, or the job requests one

	Ranges     bool // the namespace has LimitRanges
	PodSets    bool // there are several pod sets
	Groups     bool // pod sets form groups
	Slices     bool // pod sets are placed in slices
	Affinity   bool // pods have node affinity
	Selector   bool // pods select nodes
	PodLevel   bool // pods have requests beside those of their containers
	LimitsOnly bool // containers have limits without requests
	Huge       bool // a limit is beyond a 64-bit number
	Zero       bool // containers request 0 of a resource
	Claims     bool // pods have resource claims
	Elastic    bool // the job is elastic
	Gated      bool // an annotation gates its admission
	NoClass    bool // the job has no priority class
}
