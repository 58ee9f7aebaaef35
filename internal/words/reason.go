package words

import "strings"

// PreemptionReason words the reason of Kueue's Preempted condition (pkg/util/api:
// InClusterQueue, InCohortReclamation, InCohortFairSharing,
// InCohortReclaimWhileBorrowing); any other word stays as it is.
func PreemptionReason(reason string) string {
	switch reason {
	case "InClusterQueue":
		return "lower priority in the same queue"
	case "InCohortReclamation":
		return "borrowed quota is reclaimed"
	case "InCohortFairSharing":
		return "fair sharing in the cohort"
	case "InCohortReclaimWhileBorrowing":
		return "lower priority in the cohort"
	}
	return reason
}

// preemptionPhrases are the phrases of Kueue's messages and the reasons that they
// stand for, the longer phrase first (HumanReadablePreemptionReasons in Kueue's
// pkg/scheduler/preemption).
var preemptionPhrases = [][2]string{
	{"reclamation within the cohort while borrowing", "InCohortReclaimWhileBorrowing"},
	{"reclamation within the cohort", "InCohortReclamation"},
	{"Fair Sharing within the cohort", "InCohortFairSharing"},
	{"prioritization in the ClusterQueue", "InClusterQueue"},
}

// ReasonInMessage is the preemption reason that a message of Kueue names ("Preempted
// to accommodate a workload (UID: ..., JobUID: ...) due to ..."), "" when it names
// none.
func ReasonInMessage(message string) string {
	for _, p := range preemptionPhrases {
		if strings.Contains(message, "due to "+p[0]) {
			return p[1]
		}
	}
	return ""
}
