package check

import (
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Reasons of layers that Kueue does not know.
const (
	// NotAllowed: the user may not create the job.
	NotAllowed = "NotAllowed"
	// Refused: the cluster would refuse the job or its pods.
	Refused = "Refused"
	// NotReadable: what decides may not be read.
	NotReadable = "NotReadable"
	// NotModelled: Kueue decides by something that is not followed here.
	NotModelled = "NotModelled"
)

// Details: finer codes where Kueue has one for several causes.
const (
	LocalQueueMissing    = "LocalQueueMissing"
	ClusterQueueMissing  = "ClusterQueueMissing"
	ClusterQueueFaulty   = "ClusterQueueFaulty"
	NamespaceNotSelected = "NamespaceNotSelected"
	PriorityClassMissing = "PriorityClassMissing"
	InvalidRequests      = "InvalidRequests"
	KindNotServed        = "KindNotServed"
	NoQueueLabel         = "NoQueueLabel"
	LocalQueueStopped    = "LocalQueueStopped"
	ClusterQueueStopped  = "ClusterQueueStopped"
	FlavorMissing        = "FlavorMissing"
	AdmissionCheckAbsent = "AdmissionCheckMissing"
	CohortCycle          = "CohortCycle"
	ClusterQueueInactive = "ClusterQueueInactive"
	ResourceNotCovered   = "ResourceNotCovered"
	FlavorDoesNotMatch   = "FlavorDoesNotMatch"
	ExceedsNominal       = "ExceedsNominalQuota"
	ExceedsBorrowing     = "ExceedsBorrowingLimit"
	ExceedsCohort        = "ExceedsCohort"
	BehindOthers         = "BehindOthers"
	QuotaLowered         = "QuotaLoweredBelowUse"
	QuotaInUse           = "QuotaInUse"
)

// conclude draws the verdict from the layers: the worst of them decides, and of
// equals the first.
func (v *Verdict) conclude() {
	v.Verdict, v.Reason = Admitted, ""
	worse := func(o Outcome, reason, detail string) {
		if rank(o) > rank(v.Verdict) {
			v.Verdict, v.Reason, v.Detail = o, reason, detail
		}
	}
	switch admission.Outcome(v.Quota.Outcome) {
	case admission.Waits:
		worse(Waits, v.Quota.Reason, v.Quota.Detail)
	case admission.Never:
		worse(Never, v.Quota.Reason, v.Quota.Detail)
	}
	if len(v.Quota.NotModelled) > 0 {
		v.Verdict, v.Reason, v.Detail = Unknown, NotModelled, ""
	}
	if v.hangs() || v.unreadQueue() || len(v.failedReads()) > 0 {
		v.Verdict, v.Reason, v.Detail = Unknown, NotReadable, ""
	}
	for _, s := range v.Submission {
		if s.Status != Failed {
			continue
		}
		switch s.Check {
		case "Rights":
			worse(Never, NotAllowed, "")
		case "Kind":
			worse(Never, Refused, KindNotServed)
		case "Queue":
			worse(Never, kueue.WorkloadQuotaReservedReasonMisconfigured, LocalQueueMissing)
		case "PriorityClass":
			worse(Never, kueue.WorkloadQuotaReservedReasonMisconfigured, PriorityClassMissing)
		}
	}
	for _, f := range v.Lint {
		switch f.Code {
		case lint.NoQueue:
			worse(Never, Refused, NoQueueLabel)
		case lint.DeviceRequests:
			worse(Never, Refused, InvalidRequests)
		}
	}
	if v.Nodes.Status == Failed {
		switch v.Nodes.Reason {
		case NodesTooSmall:
			worse(Never, NodesTooSmall, "")
		default:
			worse(Waits, v.Nodes.Reason, "")
		}
	}
}

func rank(o Outcome) int { return slices.Index([]Outcome{Admitted, Waits, Unknown, Never}, o) }

// failedReads are the kinds of which reading failed and which decide over quota.
// That is no matter of rights, where the rest is known to be the own share.
func (v *Verdict) failedReads() (out []string) {
	if v.Quota.Status == Skipped {
		return nil
	}
	for _, m := range v.Missing {
		if name, _, kueues := strings.Cut(m.Resource, ".kueue.x-k8s.io"); kueues && m.Reason == state.Failed &&
			slices.Contains([]string{"workloads", "clusterqueues", "localqueues", "cohorts", "resourceflavors"}, name) {
			out = append(out, name)
		}
	}
	return out
}

// unreadQueue reports that quota's answer rests on a queue or flavor that could
// not be read.
func (v *Verdict) unreadQueue() bool {
	if v.Quota.Status != Failed {
		return false
	}
	missing := func(resource string) bool {
		return slices.ContainsFunc(v.Missing, func(m MissingRead) bool { return m.Resource == resource+".kueue.x-k8s.io" })
	}
	switch v.Quota.Detail {
	case LocalQueueMissing:
		return missing("localqueues")
	case ClusterQueueMissing:
		return missing("clusterqueues")
	case FlavorMissing, FlavorDoesNotMatch:
		return missing("resourceflavors")
	}
	return false
}
