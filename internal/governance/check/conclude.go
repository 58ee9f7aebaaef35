package check

import (
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
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
	TopologyMissing      = "TopologyMissing"
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
	if _, unread := v.unreadKind(); v.hangs() || unread || len(v.failedReads()) > 0 {
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

// unreadKind is the kind that could not be read and on which quota's answer rests.
func (v *Verdict) unreadKind() (kinds.Resource, bool) {
	var r kinds.Resource
	switch v.Quota.Detail {
	case LocalQueueMissing:
		r = kinds.LocalQueue
	case ClusterQueueMissing:
		r = kinds.ClusterQueue
	case FlavorMissing, FlavorDoesNotMatch:
		r = kinds.ResourceFlavor
	case TopologyMissing:
		r = kinds.Topology
	case AdmissionCheckAbsent:
		r = kinds.AdmissionCheck
	}
	return r, v.Quota.Status == Failed && slices.ContainsFunc(v.Missing, func(m MissingRead) bool { return m.Resource == r.FullName() })
}

// barred reports that the job could not be submitted, whatever its size, its queue,
// its priority and the nodes it asks for.
func (v *Verdict) barred() bool {
	classes := 0 // that do not exist: the job's is no bar, as another one may do
	if v.lacksClass() {
		classes--
	}
	for _, s := range v.Submission {
		switch {
		case s.Status != Failed || s.Check == "Queue":
		case s.Check == "PriorityClass":
			classes++
		default:
			return true
		}
	}
	return classes > 0 ||
		slices.ContainsFunc(v.Lint, func(f lint.Finding) bool { return f.Code == lint.NoQueue || f.Code == lint.DeviceRequests })
}

// lacksClass reports that the job's priority class does not exist.
func (v *Verdict) lacksClass() bool {
	return slices.ContainsFunc(v.Lint, func(f lint.Finding) bool { return f.Code == lint.UnknownPriority })
}
