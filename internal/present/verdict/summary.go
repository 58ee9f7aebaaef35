package verdict

import (
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Reason returns the summary of a verdict that is not Admitted without the phrase that
// repeats the verdict ("would not start now", "cannot run in smith").
func Reason(v *check.Verdict) string {
	if v.Verdict == check.Waits || v.Verdict == check.Never {
		return why(v)
	}
	return summary(v)
}

// summary returns the answer in one line, behind the verdict and the name of the job.
func summary(v *check.Verdict) string {
	switch v.Verdict {
	case check.Admitted:
		return admitted(v)
	case check.Waits:
		return "would not start now: " + why(v) + started(v, "would start")
	case check.Unknown:
		if v.Reason == check.NotReadable && v.Undecided() {
			return "would start now only if " + condition(v)
		}
		return "cannot be decided: " + undecidable(v)
	}
	if q := v.Job.QueueName(); q != "" && v.Detail != check.LocalQueueMissing {
		return "cannot run in " + q + ": " + why(v) + started(v, "would start now")
	}
	return "cannot run: " + why(v) + started(v, "would start now")
}

// started counts the groups of pods that start although others do not, "" where Kueue admits
// all pods together.
func started(v *check.Verdict, verb string) string {
	g := v.Groups
	if g == nil || g.Starting == 0 || g.Starting == g.All {
		return ""
	}
	noun := "groups"
	if k, _ := kinds.JobNamed(v.Job.Kind); k.OnePod {
		noun = "pods"
	}
	return fmt.Sprintf("; %d of %d %s %s", g.Starting, g.All, noun, verb)
}

func admitted(v *check.Verdict) string {
	if noPods(v) {
		return "has no pods: Kueue has nothing to admit"
	}
	text := "would start now"
	if v.Quota.Status == check.StatusNotApplicable {
		text += ", " + v.Quota.Message
	}
	if n := v.Quota.PreemptsTotal; n > 0 {
		text = "would start by preempting " + words.Count(n, "job", "jobs")
	}
	if v.Joins() {
		text += ", with the quota that the group holds"
	}
	if paused(v) {
		return "would be admitted with 0 pods; Kueue decides again when its parallelism is raised"
	}
	text += onWorkers(v)
	totals := v.Totals()
	if len(totals) == 0 {
		return text
	}
	a := totals[0]
	text += ": " + words.Amount(a.Resource, a.Amount)
	if a.Flavor != "" {
		text += " on " + a.Flavor
	}
	for _, b := range v.Quota.Borrowed {
		if b.Resource == a.Resource && b.Flavor == a.Flavor {
			text += fmt.Sprintf(", %s borrowed%s", words.Number(b.Resource, b.Amount), lenders(b))
		}
	}
	for _, more := range totals[1:] {
		if more.Resource == a.Resource && more.Flavor != "" {
			text += fmt.Sprintf(", %s on %s", words.Number(more.Resource, more.Amount), more.Flavor)
		}
	}
	return text
}

// noPods reports a service that is scaled to zero.
func noPods(v *check.Verdict) bool {
	return v.Quota.Skipped == check.NoPods && len(v.Job.PodSets) > 0
}

// paused reports a batch Job whose parallelism is 0.
func paused(v *check.Verdict) bool {
	pods := int32(0)
	for _, s := range v.Job.PodSets {
		pods += s.Pods
	}
	k, _ := kinds.JobNamed(v.Job.Kind)
	return k.Pauses && len(v.Job.PodSets) > 0 && pods == 0 && v.Quota.Status != check.StatusNotApplicable
}

// lenders names who lends, each with its amount where there are several.
func lenders(b check.Borrowed) string {
	if len(b.Lenders) == 0 {
		return ""
	}
	var names []string
	for _, l := range b.Lenders {
		name := l.Team
		if name == "" {
			name = "cohort " + l.Cohort
		}
		if len(b.Lenders) > 1 {
			name = words.Number(b.Resource, l.Amount) + " from " + name
		}
		names = append(names, name)
	}
	if len(b.Lenders) == 1 {
		return " from " + names[0]
	}
	return " (" + words.Some(names, 4) + ")"
}

// why returns why the job does not run now.
func why(v *check.Verdict) string {
	for _, s := range v.Submission {
		if s.Status == check.StatusFailed && (v.Reason == check.NotAllowed || s.Check != "Rights") && v.Detail != check.ClusterQueueStopped &&
			(s.Outcome() == check.Never || s.Code == v.Reason || s.Code == v.Detail) {
			return s.Message
		}
	}
	switch v.Reason {
	case check.Refused:
		for _, f := range v.Lint {
			if f.Level == lint.Error {
				return f.Message
			}
		}
	case check.NodesFull, check.NodesTooSmall, check.NoNodes:
		if v.Detail != check.InstanceTypeAbsent {
			return nodesWhy(v)
		}
	}
	if v.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads && len(v.Quota.WaitsForEvicted) > 0 {
		return afterEvictions(v.Quota.WaitsForEvicted)
	}
	if v.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPodsReady {
		return podsFirst(v)
	}
	if from := v.Quota.PreemptsFrom; from != nil {
		return "it can preempt other jobs from " + from.Format("15:04:05 UTC") + " on (concurrent admission)"
	}
	if text := detailText(v, v.Detail); text != "" {
		return text
	}
	if v.Quota.Message != "" {
		return words.OneLine(v.Quota.Message)
	}
	return v.Reason
}

// detailText returns a detail of a verdict in words, "" where Kueue's text says more.
func detailText(v *check.Verdict, detail string) string {
	team := v.Job.QueueName()
	switch detail {
	case check.LocalQueueStopped:
		return "queue " + v.Job.Queue + " is stopped by an administrator"
	case check.ClusterQueueStopped:
		return "ClusterQueue " + team + " is stopped by an administrator"
	case check.CohortCycle:
		return "the cohorts above " + team + " form a cycle, so it admits no jobs"
	case check.FlavorMissing, check.TopologyMissing, check.AdmissionCheckAbsent:
		return "ClusterQueue " + team + " is inactive: " + inactive(&v.Inactive)
	case check.BehindOthers:
		if v.Quota.Head == "" {
			return words.Count(v.Quota.Ahead, "job", "jobs") + " of " + team + " must start first"
		}
		text := v.Quota.Head
		if more := v.Quota.Ahead - 1; more > 0 {
			text += " and " + words.Count(more, "more job", "more jobs")
		}
		return text + " must start first: " + team + " is StrictFIFO"
	case check.BehindPreemptor:
		evicted := "other jobs"
		if len(v.Quota.WaitsForEvicted) > 0 {
			evicted = words.Some(v.Quota.WaitsForEvicted, namedTargets)
		}
		return "Kueue tries no other job of " + team + " while " + v.Quota.Head + " preempts " + evicted
	case check.PutAside:
		return "Kueue found that it does not fit, and tries it again when jobs end or quotas change"
	case check.LikePutAside:
		return "it requests the same as " + v.Quota.Head + ", which Kueue found not to fit: Kueue tries both when jobs end or quotas change"
	case check.NoQueueLabel:
		return v.Quota.Message
	case check.ExceedsNominal, check.ExceedsBorrowing, check.ExceedsCohort:
		if l, limit, ok := v.Exceeded(); ok {
			return exceedsText(v, l, limit)
		}
	case check.ResourceNotCovered:
		return notCovered(v)
	case check.FlavorDoesNotMatch:
		return noFlavor(v, "the job's pods do not select or tolerate", "the job's pods do not select or tolerate")
	case check.InstanceTypeAbsent:
		return noFlavor(v, "is not the instance type that the job selects", "are not the instance type that the job selects")
	case check.TopologyUnsupported:
		return noFlavor(v, "does not support TopologyAwareScheduling", "do not support TopologyAwareScheduling")
	case check.TopologyLevelMissing:
		return noFlavor(v, "has no topology level "+v.Topology.Level, "have no topology level "+v.Topology.Level)
	case check.QuotaInUse, check.QuotaLowered:
		return short(v)
	case check.WorkersWait, check.WorkersNever, check.WorkersRefuse:
		return workersWhy(v, detail)
	}
	return ""
}

// afterEvictions names the jobs that are being evicted and whose pods have to end first.
func afterEvictions(jobs []string) string {
	return words.Some(jobs, namedTargets) + " " + words.Verb(len(jobs), "is", "are") + " being evicted, and " + words.Verb(len(jobs), "its", "their") + " pods have to end first"
}

// podsFirst names the jobs whose pods have to be ready before Kueue admits another one.
func podsFirst(v *check.Verdict) string {
	return "Kueue admits no job before the pods of " + words.Some(v.Quota.WaitsForPods, 3) + " are ready (waitForPodsReady.blockAdmission)"
}

func inactive(i *check.Inactive) string {
	switch {
	case i.Topology != "":
		return "topology " + i.Topology + " of its flavor " + i.Flavor + " does not exist"
	case i.Flavor != "":
		return "its flavor " + i.Flavor + " does not exist"
	case i.Exists:
		return "its admission check " + i.AdmissionCheck + " is not active"
	}
	return "its admission check " + i.AdmissionCheck + " does not exist"
}

// notCovered names the resources that the queue has no quota for.
func notCovered(v *check.Verdict) string {
	var names []string
	for _, a := range v.Totals() {
		has := slices.ContainsFunc(v.Quota.Resources, func(l check.Line) bool { return l.Resource == a.Resource })
		if !has && !slices.Contains(names, a.Resource) {
			names = append(names, a.Resource)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return v.Job.QueueName() + " has no quota for " + strings.Join(names, ", ")
}

// noFlavor names the flavors that the queue has instead of the selected one, and what
// rules them out.
func noFlavor(v *check.Verdict, one, many string) string {
	var names []string
	for _, l := range v.Quota.Resources {
		if !slices.Contains(names, l.Flavor) {
			names = append(names, l.Flavor)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has only %s, which %s", v.Job.QueueName(), strings.Join(names, ", "), words.Verb(len(names), one, many))
}

// short returns what is missing, in words.
func short(v *check.Verdict) string {
	var parts []string
	for _, l := range shortLines(v) {
		text := words.Number(l.Resource, l.Short) + " more " + l.Resource
		if u := v.Quota.Unseen; u != nil && u.Tree && l.Available == nil && (l.BorrowingLimit == nil || *l.BorrowingLimit > 0) {
			text = "at least " + text // what others can lend is unknown
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, " and ") + " needed"
	if v.Detail == check.QuotaLowered {
		text += "; the queue holds more than its current quota"
	}
	return text
}

// shortLines returns the lines of what is missing in the flavor that misses least:
// accelerators where those are short, else everything.
func shortLines(v *check.Verdict) (out []check.Line) {
	for _, l := range v.LeastShort() {
		if l.Short == 0 {
			continue
		}
		if len(out) > 0 && kinds.ResourceRank(v.Quota.Resources[0].Resource) == 0 {
			break
		}
		out = append(out, l)
	}
	return out
}

// skipped returns why quota does not apply, or why Kueue suspends the job.
func skipped(v *check.Verdict) string {
	q := &v.Quota
	switch {
	case q.Detail == check.NoQueueLabel:
		return "the job has no queue, and Kueue keeps such jobs suspended (manageJobsWithoutQueueName)"
	case q.Skipped == check.NoPods:
		return "the job has no pods: Kueue has nothing to admit"
	case q.Skipped == check.NoKueue:
		return "this cluster has no Kueue"
	case q.Skipped == check.NoQueue && v.Unread(kinds.LocalQueue):
		return "the queue of the job is unknown: " + whyUnread(v, kinds.LocalQueue)
	case q.Skipped == check.NotGoverned:
		k, _ := kinds.JobNamed(v.Job.Kind)
		if v.Quota.GateOff {
			return "outside quota: Kueue's feature gate " + k.Gate + " is off"
		}
		return "outside quota: Kueue's configuration does not enable its integration " + k.Framework()
	case q.Skipped == check.NoQueue:
		return "outside quota: the job has no queue, and Kueue does not manage it"
	}
	return ""
}
