package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// quotaRows adds quota: the first resource in full, of the others what is short.
func quotaRows(p *textpage.Page, v *check.Verdict, first string) {
	q := &v.Quota
	switch {
	case q.Status == check.StatusNotApplicable:
		if q.Message != "" && !strings.Contains(first, q.Message) && (v.Job.Queue != "" || !v.Tried("Queue")) { // else the queue row says it
			p.Row("quota", q.Message)
		}
		return
	case q.Detail == check.ResourceNotCovered || q.Detail == check.FlavorDoesNotMatch || q.Detail == check.InstanceTypeAbsent || q.Detail == check.TopologyUnsupported || q.Detail == check.TopologyLevelMissing:
		return // quota of other flavors and resources does not matter
	}
	HeldRows(p, q.Holds)
	var others []string
	for i := range q.Resources {
		l := &q.Resources[i]
		if l.Resource != q.Resources[0].Resource {
			if l.Short > 0 && l.Flavor == q.Resources[0].Flavor {
				others = append(others, words.Amount(l.Resource, l.Short))
			}
			continue
		}
		lineRows(p, v, l)
	}
	switch {
	case v.Verdict == check.Admitted:
	case len(others) > 0 && q.Resources[0].Short > 0:
		p.Row("", "also short: "+strings.Join(others, ", "))
	case len(others) > 0:
		p.Row("short", strings.Join(others, ", "))
	}
	if u := q.Unseen; v.Undecided() {
		p.Row("to decide", settledBy(v))
	} else if u != nil && v.Verdict == check.Admitted && u.Worst == string(admission.AdmittedByPreempting) && len(q.Preempts) == 0 {
		p.Row("", "if others have borrowed it, their jobs are preempted to reclaim it")
	}
	borrowRows(p, q)
	shown := shown(v, q.Preempts)
	for i, e := range shown {
		p.Row(once("preempts", i), preempted(v, &e))
	}
	moreRow(p, q.PreemptsTotal-len(shown))
	if text := then(v); text != "" {
		p.Row("then", text)
	}
	if text := fewer(v); text != "" {
		p.Row("", strings.TrimPrefix(text, "; "))
	}
	if q.Tie {
		p.Row("tie", "several queues have equal shares: Kueue can decide either way")
	}
	if q.Ahead > 0 && v.Verdict == check.Waits && v.Detail != check.BehindOthers {
		p.Row("queue", words.Count(q.Ahead, "pending job", "pending jobs")+" of "+v.Job.QueueName()+" "+words.Verb(q.Ahead, "is", "are")+" ahead of it")
	}
	if q.Status == check.StatusFailed && q.Message != "" && v.Verdict != check.Admitted && kueueSaysMore(v) && !strings.Contains(first, words.OneLine(q.Message)) {
		p.Row("Kueue says", words.Clip(q.Message, 150))
	}
}

// HeldRows adds what the team holds where its limit may not be read, of the first
// resource.
func HeldRows(p *textpage.Page, holds []check.Amount) {
	if len(holds) == 0 {
		return
	}
	resource, total := holds[0].Resource, quota.Base(0)
	var flavors []string
	for _, a := range holds {
		if a.Resource == resource {
			total += a.Amount
			flavors = append(flavors, a.Flavor+" ("+words.Number(resource, a.Amount)+")")
		}
	}
	p.Row("quota", "the team holds "+words.Number(resource, total)+" of "+resource+" now; its limit cannot be read")
	p.Row("flavors", strings.Join(flavors, ", "))
}

// kueueSaysMore reports whether Kueue's text holds more than our own about quota.
func kueueSaysMore(v *check.Verdict) bool {
	switch v.Quota.Detail {
	case check.LocalQueueMissing, check.ClusterQueueMissing, check.ClusterQueueFaulty, check.NamespaceNotSelected, check.NamespaceUnread:
		return false // a step of the submission says it
	}
	return detailText(v, v.Quota.Detail) == "" && why(v) != words.OneLine(v.Quota.Message)
}

func lineRows(p *textpage.Page, v *check.Verdict, l *check.Line) {
	idle := max(l.Nominal-l.Used, 0)
	team := v.Job.QueueName()
	text := ""
	switch {
	case math.IsInf(float64(l.Nominal), 1):
		text = words.Amount(l.Resource, l.Nominal) + " in " + team
	case l.Free == nil:
		text = fmt.Sprintf("%s of %s idle in %s", words.Number(l.Resource, idle), words.Amount(l.Resource, l.Nominal), team)
	default:
		text = fmt.Sprintf("%s of %s free in %s", words.Number(l.Resource, *l.Free), words.Amount(l.Resource, l.Nominal), team)
	}
	if len(v.Job.PodSets) > 0 && l.Flavor != "" {
		text += " on " + l.Flavor
	}
	switch {
	case l.Free == nil:
		text += "; others may have borrowed it"
	case *l.Lent > 0:
		text += fmt.Sprintf(", %s lent to others", words.Number(l.Resource, *l.Lent))
	}
	p.Row("own", text)
	if !v.Quota.Shared || l.Short == 0 && l.Free != nil && l.Requested <= *l.Free {
		return
	}
	var parts []string
	if limit := limitText(l); limit != "" {
		parts = append(parts, limit)
	}
	switch {
	case l.Available != nil:
		parts = append(parts, words.Number(l.Resource, *l.Available)+" available now without preemption")
	case l.Requested > idle:
		parts = append(parts, "what others can lend is unknown")
	}
	if len(parts) > 0 {
		p.Row("limit", strings.Join(parts, "; "))
	}
}

// limitText returns the most that the queue can hold, "" where that is unknown.
func limitText(l *check.Line) string {
	switch {
	case l.BorrowingLimit != nil:
		total := l.Nominal + *l.BorrowingLimit
		text := fmt.Sprintf("%s own + %s borrowing limit = %s at most", words.Number(l.Resource, l.Nominal), words.Number(l.Resource, *l.BorrowingLimit), words.Number(l.Resource, total))
		if l.Limit != nil && *l.Limit < total && *l.Limit >= l.Nominal {
			text += fmt.Sprintf(" (others can lend only %s)", words.Number(l.Resource, *l.Limit-l.Nominal))
		}
		return text
	case l.Limit != nil:
		return words.Number(l.Resource, *l.Limit) + " at most"
	}
	return ""
}

// borrowRows adds the lenders of the first borrowed resource, and who can reclaim it.
func borrowRows(p *textpage.Page, q *check.Quota) {
	var with []string
	for _, b := range q.Borrowed {
		if b.Resource != q.Borrowed[0].Resource {
			with = append(with, words.Amount(b.Resource, b.Amount))
		}
	}
	for i, b := range q.Borrowed {
		if b.Resource != q.Borrowed[0].Resource {
			break
		}
		text := words.Amount(b.Resource, b.Amount) + lenders(b)
		if i == 0 && len(with) > 0 && kinds.ResourceRank(b.Resource) > 2 {
			text += ", and " + strings.Join(with, ", ")
		}
		p.Row("borrows", text)
	}
	if q.Reclaim != nil {
		p.Row("", reclaimText(q.Reclaim))
	}
}

func reclaimText(t *check.Reclaim) string {
	if !t.Possible {
		return "nobody can reclaim it before the job ends"
	}
	var names []string
	for _, l := range t.Lenders {
		if l.Policy == "LowerPriority" {
			names = append(names, l.Team+" (for jobs of higher priority)")
		} else {
			names = append(names, l.Team)
		}
	}
	return words.Some(names, 4) + " can reclaim it at any time"
}

// then says that jobs preempt each other without end, or that another one preempts the job at once; "" if the job keeps
// its quota.
func then(v *check.Verdict) string {
	switch {
	case v.Quota.PreemptedBy != "":
		return v.Quota.PreemptedBy + " preempts " + v.Job.Name + " at once"
	case len(v.Quota.LoopJobs) == 0:
		return ""
	}
	return words.SomeOf(v.Quota.LoopJobs, len(v.Quota.LoopJobs), namedTargets) + " preempt each other again and again: the policies of their queues never converge"
}

func preempted(v *check.Verdict, e *check.Preemption) string {
	text := e.Namespace + "/" + e.Name
	if e.Hidden {
		text = hiddenJobs(v, e.Team)
	}
	if len(e.Holds) > 0 {
		text += ", " + words.Amount(e.Holds[0].Resource, e.Holds[0].Amount)
	}
	text += fmt.Sprintf(", priority %d: %s", e.Priority, words.PreemptionReason(e.Reason))
	if e.JobLost {
		text += "; " + words.JobLost
	}
	return text
}
