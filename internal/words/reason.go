package words

import (
	"path"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// PodsGone says what becomes of the pods of a preempted job that have no controller, and JobLost what becomes of the job.
const (
	PodsGone = "its pods are deleted and nothing makes them again"
	JobLost  = "it is lost: " + PodsGone
)

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
	case "FlavorMigration":
		return "its variant with a better flavor fits"
	}
	return reason
}

// Preemption is what Kueue's message about a preemption says. Fields that it does not
// name are "".
type Preemption struct {
	// WorkloadUID, JobUID and ClusterQueue are the preemptor's.
	WorkloadUID, JobUID, ClusterQueue string
	// Reason is the reason as in Kueue's Preempted condition; Kueue's phrase where it
	// stands for none that is known.
	Reason string
}

var preemption = pattern.Lazy(`to accommodate a workload \(UID: ([^,)]*)(?:, JobUID: ([^,)]*))?[^)]*\)(?: due to ([^;]*))?(?:; preemptor path: ([^;]*))?`)

// preemptionPhrases are the phrases of Kueue's messages and the reasons that they
// stand for (HumanReadablePreemptionReasons in Kueue's pkg/scheduler/preemption).
var preemptionPhrases = map[string]string{
	"reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing",
	"reclamation within the cohort":                 "InCohortReclamation",
	"Fair Sharing within the cohort":                "InCohortFairSharing",
	"prioritization in the ClusterQueue":            "InClusterQueue",
}

// PreemptionIn reads Kueue's message about a preemption ("Preempted to accommodate a
// workload (UID: ..., JobUID: ...) due to ...; preemptor path: ..."); false for any
// other message.
func PreemptionIn(message string) (Preemption, bool) {
	m := preemption().FindStringSubmatch(message)
	if m == nil {
		return Preemption{}, false
	}
	known := func(s string) string {
		if s == "UNKNOWN" {
			return ""
		}
		return s
	}
	p := Preemption{WorkloadUID: known(m[1]), JobUID: known(m[2]), Reason: OneLine(m[3])}
	if reason, ok := preemptionPhrases[p.Reason]; ok {
		p.Reason = reason
	}
	if m[4] != "" {
		p.ClusterQueue = path.Base(m[4])
	}
	return p, true
}

// PlainPreemption returns a message of Kueue without UIDs and paths: of a preemption whose
// job it was for and why; any other message stays as it is.
func PlainPreemption(message string) string {
	p, ok := PreemptionIn(message)
	if !ok || p.Reason == "" || !strings.HasPrefix(message, "Preempted ") {
		return message
	}
	text := "preempted for a job"
	if p.ClusterQueue != "" {
		text += " of " + p.ClusterQueue
	}
	return text + " (" + PreemptionReason(p.Reason) + ")"
}
