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

// Reasons of the layers that Kueue does not know.
const (
	// NotAllowed means that the user has no permission to create the job.
	NotAllowed = "NotAllowed"
	// Refused means that the cluster would refuse the job or its pods.
	Refused = "Refused"
	// PodsRefused means that the pods could not be created, or could not start.
	PodsRefused = "PodsRefused"
	// GroupIncomplete means that the pod group has fewer pods than it names: Kueue waits for the others.
	GroupIncomplete = "GroupIncomplete"
	// NotReadable means that something that affects the decision could not be read.
	NotReadable = "NotReadable"
	// NotModelled means that Kueue uses a feature that the check does not follow.
	NotModelled = "NotModelled"
)

// Details distinguish causes that share one reason of Kueue.
const (
	LocalQueueMissing    = "LocalQueueMissing"
	ClusterQueueMissing  = "ClusterQueueMissing"
	NeverResumed         = "NeverResumed"     // Kueue suspends the job, and does not manage it
	GroupMismatch        = "GroupMismatch"    // pods of a group differ in what must be the same
	GroupTooLarge        = "GroupTooLarge"    // the group has more pods than it names
	GroupWithoutRole     = "GroupWithoutRole" // the group has its workload, which has no pods like the new one
	ClusterQueueFaulty   = "ClusterQueueFaulty"
	NamespaceNotSelected = "NamespaceNotSelected"
	NamespaceUnread      = "NamespaceNotReadable" // the ClusterQueue selects namespaces by label, and the labels are unknown
	PriorityClassMissing = "PriorityClassMissing"
	InvalidRequests      = "InvalidRequests"
	ClaimsNotCounted     = "ClaimsNotCounted" // Kueue cannot count the devices of resource claims
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
	TopologyUnsupported  = "TopologyUnsupported"
	TopologyLevelMissing = "TopologyLevelMissing"
	InstanceTypeAbsent   = "InstanceTypeNotInQueue" // with more than the quota of the types that the queue has, or unread nodes
	ExceedsNominal       = "ExceedsNominalQuota"
	ExceedsBorrowing     = "ExceedsBorrowingLimit"
	ExceedsCohort        = "ExceedsCohort"
	BehindOthers         = "BehindOthers"
	BehindPreemptor      = "BehindPreemptor"
	PutAside             = "PutAside"
	LikePutAside         = "LikePutAside"
	QuotaLowered         = "QuotaLoweredBelowUse"
	QuotaInUse           = "QuotaInUse"
	ServerRefuses        = "ServerRefuses"
	ReferenceMissing     = "ReferenceMissing"
	PullSecretMissing    = "PullSecretMissing"
	ResourceQuotaSmall   = "ResourceQuotaTooSmall"
	ResourceQuotaInUse   = "ResourceQuotaInUse"
	PodSecurity          = "PodSecurity"
	// NoRuntime and RuntimeUnread are about the object with the templates of the pods.
	NoRuntime     = "NoRuntime"
	RuntimeUnread = "RuntimeUnread"
	// PodsElsewhere: the object does not say what its pods need.
	PodsElsewhere   = "PodsElsewhere"
	VolumeElsewhere = "VolumeElsewhere"
)

// conclude sets the verdict: the worst layer decides. Of layers that rule the job out the first decides, except that a
// missing permission comes after quota. Of layers that make it wait, quota decides.
func (v *Verdict) conclude() {
	v.Verdict, v.Reason = Admitted, ""
	v.concludeQuota()
	v.concludeSubmission()
	for _, f := range v.Lint {
		switch f.Code {
		case lint.NoQueue:
			v.worsen(Never, Refused, NoQueueLabel)
		case lint.DeviceRequests:
			v.worsen(Never, Refused, InvalidRequests)
		}
	}
	if v.otherType { // no node of these flavors has this type
		v.worsen(Never, NodesTooSmall, InstanceTypeAbsent)
	}
	if v.Nodes.Status == StatusFailed {
		outcome := Waits
		if v.Nodes.Reason == NodesTooSmall {
			outcome = Never
		}
		v.worsen(outcome, v.Nodes.Reason, "")
	}
}

// worsen sets the verdict if it is worse than the present one.
func (v *Verdict) worsen(o Outcome, reason, detail string) {
	if rank(o) > rank(v.Verdict) {
		v.Verdict, v.Reason, v.Detail = o, reason, detail
	}
}

// concludeQuota sets the verdict by Kueue's decision, or to Unknown if something that it depends on is not known.
func (v *Verdict) concludeQuota() {
	switch admission.Outcome(v.Quota.Outcome) {
	case admission.Waits:
		v.worsen(Waits, v.Quota.Reason, v.Quota.Detail)
	case admission.Never:
		v.worsen(Never, v.Quota.Reason, v.Quota.Detail)
	}
	if len(v.Quota.NotModelled) > 0 {
		v.Verdict, v.Reason, v.Detail = Unknown, NotModelled, ""
	}
	if _, unread := v.UnreadKind(); v.Undecided() || unread || len(v.FailedReads()) > 0 {
		v.Verdict, v.Reason, v.Detail = Unknown, NotReadable, ""
	}
	if _, lacks := v.Absent(); lacks && v.Verdict == Admitted {
		v.Verdict, v.Reason, v.Detail = Unknown, NotReadable, ""
	}
}

// concludeSubmission worsens the verdict by the steps of the submission. A step that rules the job out comes before quota:
// Kueue never sees the job.
func (v *Verdict) concludeSubmission() {
	byQuota := v.Verdict == Never && v.Detail != ClusterQueueStopped
	beforeQuota := func(o Outcome, reason, detail string) {
		if v.worsen(o, reason, detail); byQuota && o == Never {
			v.Reason, v.Detail, byQuota = reason, detail, false
		}
	}
	for _, s := range v.Submission {
		if s.Code == RuntimeUnread || s.Code == PodsElsewhere {
			v.worsen(Unknown, NotReadable, s.Code)
		}
		if s.Status != StatusFailed {
			continue
		}
		switch s.Check {
		case "Rights":
			v.worsen(Never, NotAllowed, "")
		case "Kind":
			beforeQuota(Never, Refused, KindNotServed)
		case "Queue":
			detail := LocalQueueMissing
			if s.Code == NeverResumed {
				detail = NeverResumed
			}
			v.worsen(Never, kueue.WorkloadQuotaReservedReasonMisconfigured, detail)
			byQuota = false // Kueue's reason is about the queue, too, and more exact
		case "PriorityClass":
			beforeQuota(Never, kueue.WorkloadQuotaReservedReasonMisconfigured, PriorityClassMissing)
		case "Group":
			if outcome := s.Outcome(); outcome == Waits {
				if v.worsen(outcome, s.Code, ""); v.Verdict == Waits { // without all pods, quota does not help
					v.Reason, v.Detail = s.Code, ""
				}
			} else {
				beforeQuota(outcome, kueue.WorkloadQuotaReservedReasonMisconfigured, s.Code)
			}
		case "Server":
			beforeQuota(Never, Refused, ServerRefuses)
		case "Pods":
			if s.Code != VolumeElsewhere { // the nodes layer decides about volumes
				beforeQuota(s.Outcome(), PodsRefused, s.Code)
			}
		}
	}
}

func rank(o Outcome) int { return slices.Index([]Outcome{Admitted, Waits, Unknown, Never}, o) }

// FailedReads returns the kinds that affect the decision about quota and whose list failed. A missing permission is not
// a failure: the user's own namespace was read instead.
func (v *Verdict) FailedReads() (out []string) {
	if v.Quota.Status == StatusNotApplicable {
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

// UnreadKind returns the kind that the answer about quota depends on, and reports
// whether it could not be read.
func (v *Verdict) UnreadKind() (kinds.Resource, bool) {
	var r kinds.Resource
	switch v.Quota.Detail {
	case NamespaceUnread:
		return kinds.Namespace, true
	case LocalQueueMissing:
		r = kinds.LocalQueue
	case ClusterQueueMissing:
		r = kinds.ClusterQueue
	case FlavorMissing, FlavorDoesNotMatch, TopologyUnsupported:
		r = kinds.ResourceFlavor
	case TopologyMissing, TopologyLevelMissing:
		r = kinds.Topology
	case AdmissionCheckAbsent:
		r = kinds.AdmissionCheck
	}
	return r, v.Quota.Status == StatusFailed && v.Unread(r)
}

// Unread reports whether objects of a kind could not be read.
func (v *Verdict) Unread(r kinds.Resource) bool {
	return slices.ContainsFunc(v.Missing, func(m state.Unread) bool { return m.Resource == r.FullName() })
}

// Absent returns a kind that a layer needs and that could not be read at all: a file lacks it, although the cluster may
// have objects of it, or the server failed. False if there is none.
func (v *Verdict) Absent() (kinds.Resource, bool) {
	absent := func(r kinds.Resource) bool { return slices.Contains(v.absent, r.FullName()) }
	switch {
	case (v.Quota.Skipped == NoQueue || v.Job.Queue != "") && absent(kinds.LocalQueue):
		return kinds.LocalQueue, true
	case v.Quota.Status != StatusNotApplicable && absent(kinds.Workload):
		return kinds.Workload, true
	case v.classUnread() && absent(kinds.WorkloadPriorityClass):
		return kinds.WorkloadPriorityClass, true
	case v.Nodes.Status == StatusUnknown && absent(v.Nodes.Unread):
		return v.Nodes.Unread, true
	}
	return kinds.Resource{}, false
}

// classUnread reports a job whose priority class may not exist.
func (v *Verdict) classUnread() bool {
	return slices.ContainsFunc(v.Submission, func(s Step) bool { return s.Check == "PriorityClass" && s.Status == StatusUnknown })
}

// barred reports whether the job could not be submitted with any size, queue, priority
// or instance type.
func (v *Verdict) barred() bool {
	classes := 0 // missing classes; the job's own can be changed
	if v.lacksClass() {
		classes--
	}
	for _, s := range v.Submission {
		switch {
		case s.Status != StatusFailed || s.Check == "Queue":
		case s.Check == "PriorityClass":
			classes++
		default:
			return true
		}
	}
	return classes > 0 ||
		slices.ContainsFunc(v.Lint, func(f lint.Finding) bool { return f.Code == lint.NoQueue || f.Code == lint.DeviceRequests })
}

// lacksClass reports whether the job's priority class does not exist.
func (v *Verdict) lacksClass() bool {
	return slices.ContainsFunc(v.Lint, func(f lint.Finding) bool { return f.Code == lint.UnknownPriority })
}
