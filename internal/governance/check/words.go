package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// totals adds the requests of all roles, by resource in the order they are shown.
func (v *Verdict) totals() []Amount {
	var out []Amount
	for _, ps := range v.Job.PodSets {
		for _, r := range ps.Requests {
			if r.Amount == 0 {
				continue
			}
			i := slices.IndexFunc(out, func(a Amount) bool { return a.Resource == r.Resource && a.Flavor == r.Flavor })
			if i < 0 {
				out = append(out, r)
				continue
			}
			out[i].Amount += r.Amount
		}
	}
	return out
}

// main is the resource a job is spoken of in.
func (v *Verdict) main() (Amount, bool) {
	t := v.totals()
	if len(t) == 0 {
		return Amount{}, false
	}
	return t[0], true
}

func (v *Verdict) queueName() string {
	if v.Job.ClusterQueue != "" {
		return quota.TeamOf(v.Job.ClusterQueue)
	}
	return v.Job.Queue
}

// summary is the answer in a line.
func (v *Verdict) summary() string {
	switch v.Verdict {
	case Admitted:
		return v.admitted()
	case Waits:
		return "would not start now: " + v.why()
	case Unknown:
		if v.Reason == NotReadable && v.hangs() {
			return "would start now if " + v.Quota.Unseen.If + ": that could not be read"
		}
		return "cannot be decided: " + v.unreadable()
	}
	where := ""
	if q := v.queueName(); q != "" && v.Detail != LocalQueueMissing {
		where = " in " + q
	}
	return "cannot run" + where + ": " + v.why()
}

func (v *Verdict) admitted() string {
	text := "would start now"
	if v.Quota.Status == Skipped {
		text += ", " + v.Quota.Message
	}
	if n := len(v.Quota.Preempts); n > 0 {
		text = "would start by preempting " + words.Count(n, "job", "jobs")
	}
	if a, ok := v.main(); ok {
		text += ": " + words.Amount(a.Resource, a.Amount)
		if a.Flavor != "" {
			text += " on " + a.Flavor
		}
		for _, b := range v.Quota.Borrowed {
			if b.Resource == a.Resource && b.Flavor == a.Flavor {
				text += fmt.Sprintf(", %s borrowed%s", words.Number(b.Resource, b.Amount), from(b))
			}
		}
	}
	return text
}

// from names the lenders, each with its amount when there are several.
func from(b Borrowed) string {
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
	return " (" + strings.Join(names, ", ") + ")"
}

// unreadable says what an answer hangs on.
func (v *Verdict) unreadable() string {
	if v.Reason == NotModelled {
		return "Kueue decides by what is not followed here: " + strings.Join(v.Quota.NotModelled, ", ")
	}
	if failed := v.failedReads(); len(failed) > 0 {
		return "the " + strings.Join(failed, " and ") + " could not be read"
	}
	r, _ := v.unreadKind()
	switch v.Quota.Detail {
	case LocalQueueMissing:
		return "where queue " + v.Job.Queue + " leads " + v.whyUnread(r, "is")
	case ClusterQueueMissing:
		return "ClusterQueue " + v.Job.ClusterQueue + ", where queue " + v.Job.Queue + " leads, " + v.whyUnread(r, "is")
	case FlavorMissing, FlavorDoesNotMatch:
		return "the flavors of " + v.queueName() + " " + v.whyUnread(r, "are")
	case TopologyMissing:
		return "the topologies of the flavors of " + v.queueName() + " " + v.whyUnread(r, "are")
	case AdmissionCheckAbsent:
		return "the admission checks of " + v.queueName() + " " + v.whyUnread(r, "are")
	}
	return "what decides could not be read"
}

// why is the reason of a job that does not run now.
func (v *Verdict) why() string {
	for _, s := range v.Submission {
		if s.Status == Failed && (v.Reason == NotAllowed || s.Check != "Rights") && v.Detail != ClusterQueueStopped {
			return s.Message
		}
	}
	switch v.Reason {
	case Refused:
		for _, f := range v.Lint {
			if f.Level == "Error" {
				return f.Message
			}
		}
	case NodesFull, NodesTooSmall, NoNodes:
		return v.nodesWhy()
	}
	switch v.Detail {
	case LocalQueueStopped:
		return "queue " + v.Job.Queue + " is stopped by an administrator"
	case ClusterQueueStopped:
		return "ClusterQueue " + v.queueName() + " is stopped by an administrator"
	case CohortCycle:
		return "the cohorts above " + v.queueName() + " form a cycle, so it takes no jobs"
	case FlavorMissing, TopologyMissing, AdmissionCheckAbsent:
		return "ClusterQueue " + v.queueName() + " is inactive: " + v.inactive
	case BehindOthers:
		return words.Count(v.Quota.Ahead, "job", "jobs") + " of " + v.queueName() + " must start first"
	case NoQueueLabel:
		return v.Quota.Message
	case ExceedsNominal, ExceedsBorrowing, ExceedsCohort:
		return v.tooMuch()
	case ResourceNotCovered:
		if text := v.notCovered(); text != "" {
			return text
		}
	case FlavorDoesNotMatch:
		if text := v.noFlavor(); text != "" {
			return text
		}
	case QuotaInUse, QuotaLowered:
		if text := v.short(); text != "" {
			return text
		}
	}
	if v.Quota.Message != "" {
		return words.OneLine(v.Quota.Message)
	}
	return v.Reason
}

// notCovered names what the queue has no quota for at all.
func (v *Verdict) notCovered() string {
	var names []string
	for _, a := range v.totals() {
		has := slices.ContainsFunc(v.Quota.Resources, func(l Line) bool { return l.Resource == a.Resource })
		if !has && !slices.Contains(names, a.Resource) {
			names = append(names, a.Resource)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return v.queueName() + " has no quota for " + strings.Join(names, ", ")
}

// noFlavor names what the queue has instead of what the job selects.
func (v *Verdict) noFlavor() string {
	var names []string
	for _, l := range v.Quota.Resources {
		if !slices.Contains(names, l.Flavor) {
			names = append(names, l.Flavor)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has only %s, which is not what the job's pods select or tolerate", v.queueName(), strings.Join(names, ", "))
}

// tooMuch speaks of a request beyond the largest that can ever be had.
func (v *Verdict) tooMuch() string {
	var best *Line
	bestMost := quota.Base(0)
	for i := range v.Quota.Resources {
		l := &v.Quota.Resources[i]
		most, known := l.most()
		if known && l.Requested > most && (best == nil || l.Resource == best.Resource && most > bestMost) {
			best, bestMost = l, most
		}
	}
	if best == nil {
		return words.OneLine(v.Quota.Message)
	}
	return fmt.Sprintf("%s is more than the most %s can ever hold (%s)", words.Amount(best.Resource, best.Requested), v.queueName(), words.Number(best.Resource, bestMost))
}

// short speaks of what is missing, in the flavor that misses least: of the
// accelerators where those are short, else of everything.
func (v *Verdict) short() string {
	var parts []string
	for _, l := range v.leastShort() {
		if l.Short == 0 {
			continue
		}
		if len(parts) > 0 && remedy.Rank(v.Quota.Resources[0].Resource) == 0 {
			break
		}
		parts = append(parts, words.Number(l.Resource, l.Short)+" more "+l.Resource)
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, " and ") + " needed"
	if v.Detail == QuotaLowered {
		text += ", the queue holds more than its quota allows now"
	}
	return text
}

// Shorten keeps a text of Kueue to about two lines; the whole is in the JSON.
func Shorten(s string) string { return words.Clip(s, 150) }
