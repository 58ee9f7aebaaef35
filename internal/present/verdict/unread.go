package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// reasonOf returns why a kind was not read: a reason of package state.
func reasonOf(v *check.Verdict, fullName string) string {
	for _, m := range v.Missing {
		if m.Resource == fullName {
			return m.Reason
		}
	}
	return state.Forbidden
}

// whyUnread returns why a kind was not read, in words.
func whyUnread(v *check.Verdict, r kinds.Resource) string {
	switch reasonOf(v, r.FullName()) {
	case state.NotInFile:
		return r.Plural + " are not in the file"
	case state.Failed:
		return r.Plural + " could not be read"
	}
	return "no permission to list " + r.Plural
}

// hiddenJobs names the jobs of a team that were not read.
func hiddenJobs(v *check.Verdict, team string) string {
	team = cmp.Or(team, "other teams")
	switch reasonOf(v, kinds.Workload.FullName()) {
	case state.NotInFile:
		return "jobs of " + team + " that are not in the file"
	case state.Failed:
		return "jobs of " + team + " that could not be read"
	}
	return "hidden jobs of " + team
}

// missingRows lists what was not read, one row for each reason: a label and a text.
func missingRows(v *check.Verdict) (rows [][2]string) {
	for _, w := range []struct{ reason, label, format string }{
		{state.Forbidden, "hidden", "you need permission to list %s in the whole cluster"},
		{state.NotInFile, "file", "the file has no %s"},
		{state.Failed, "not read", "failed to read %s"},
	} {
		var names []string
		for _, m := range v.Missing {
			name, _, _ := strings.Cut(m.Resource, ".")
			if m.Reason == w.reason && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			rows = append(rows, [2]string{w.label, fmt.Sprintf(w.format, strings.Join(names, ", "))})
		}
	}
	return rows
}

// settledBy returns what has to be read to decide.
func settledBy(v *check.Verdict) string {
	var hidden, inFile, failed []string
	for _, full := range v.Quota.Unseen.SettledBy {
		name, _, _ := strings.Cut(full, ".")
		switch reasonOf(v, full) {
		case state.NotInFile:
			inFile = append(inFile, name)
		case state.Failed:
			failed = append(failed, name)
		default:
			hidden = append(hidden, name)
		}
	}
	var out []string
	if len(hidden) > 0 {
		out = append(out, "you need permission to list "+strings.Join(hidden, " and ")+" in the whole cluster")
	}
	if len(inFile) > 0 {
		out = append(out, "you need a file with all "+strings.Join(inFile, " and "))
	}
	if len(failed) > 0 {
		out = append(out, "reading "+strings.Join(failed, " and ")+" failed")
	}
	return strings.Join(out, "; ")
}

// condition returns what has to hold for an undecided job to start now.
func condition(v *check.Verdict) string {
	c := v.Quota.Unseen.Condition
	team := v.Job.QueueName()
	switch {
	case c.Lend > 0 && c.Own > 0:
		return fmt.Sprintf("other teams lend %s and have not borrowed %s's own %s", words.Amount(c.Resource, c.Lend), team, words.Number(c.Resource, c.Own))
	case c.Lend > 0:
		return "other teams lend " + words.Amount(c.Resource, c.Lend)
	case c.Own > 0:
		return fmt.Sprintf("other teams have not borrowed %s of %s's own", words.Amount(c.Resource, c.Own), team)
	case c.Ahead:
		return "no hidden job is ahead of it in " + team
	}
	return "it can preempt the jobs that hold the quota"
}

// notModelled says what of a decision depends on a feature that is not followed.
var notModelled = map[string]string{
	admission.NotModelledClaims:     "what counts the devices of its resource claims could not be read",
	admission.NotModelledMultiKueue: "this cluster has the quota for it; a worker cluster must admit it, too",
	admission.NotModelledConcurrent: "Kueue may try a variant of the job for each flavor",
	admission.NotModelledAdmission:  "past use decides which job is first, and Kueue's settings for it are unknown",
}

// unsettledVariants is why Kueue itself does not settle what becomes of a job with variants.
const unsettledVariants = "Kueue v0.19.2 replaces a failed node of a variant and not of its job, and changes the numbers of pods of a job and not of its variants"

// undecidable returns why there is no verdict.
func undecidable(v *check.Verdict) string {
	if v.WorkersUnasked() && len(v.Quota.NotModelled) == 1 {
		return "this cluster has the quota for it; the worker clusters of MultiKueue were not asked"
	}
	if v.Reason == check.NotModelled {
		var list []string
		for _, name := range v.Quota.NotModelled {
			depends := notModelled[name]
			if name == admission.NotModelledConcurrent && v.Rules.ConfigurationKnown {
				depends = unsettledVariants
			}
			if depends != "" {
				name += " (" + depends + ")"
			}
			list = append(list, name)
		}
		return "the check does not follow a feature that Kueue uses here: " + strings.Join(list, ", ")
	}
	if failed := v.FailedReads(); len(failed) > 0 {
		return strings.Join(failed, " and ") + " could not be read"
	}
	if v.Detail == check.WorkerUnread {
		return unreadWorkers(v)
	}
	if v.Detail == check.RuntimeUnread {
		return "the runtime with its pods could not be read"
	}
	if v.Detail == check.PodsElsewhere {
		return "the " + v.Job.Kind + " does not say what its pods need"
	}
	r, _ := v.UnreadKind()
	why, team := whyUnread(v, r), v.Job.QueueName()
	switch v.Quota.Detail {
	case check.LocalQueueMissing:
		return "the ClusterQueue of queue " + v.Job.Queue + " is unknown: " + why
	case check.NamespaceUnread:
		return "whether ClusterQueue " + v.Job.ClusterQueue + " admits jobs of namespace " + v.Job.Namespace + " is unknown: " + why
	case check.ClusterQueueMissing:
		return "ClusterQueue " + v.Job.ClusterQueue + " of queue " + v.Job.Queue + " is unknown: " + why
	case check.FlavorMissing, check.FlavorDoesNotMatch, check.TopologyUnsupported:
		return "the flavors of " + team + " are unknown: " + why
	case check.TopologyMissing, check.TopologyLevelMissing:
		return "the topologies of " + team + " are unknown: " + why
	case check.AdmissionCheckAbsent:
		return "the admission checks of " + team + " are unknown: " + why
	}
	if r, lacks := v.Absent(); lacks {
		return whyUnread(v, r)
	}
	return "something that affects the decision could not be read"
}

// exceedsText returns a request beyond the most that the queue can ever hold.
func exceedsText(v *check.Verdict, l check.Line, limit quota.Base) string {
	return fmt.Sprintf("%s is more than the most %s can ever hold (%s)", words.Amount(l.Resource, l.Requested), v.Job.QueueName(), words.Number(l.Resource, limit))
}
