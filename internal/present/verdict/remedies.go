package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// ruleText returns the preemption policy that decides about a holder, or what rules it out.
func ruleText(r remedy.Rule) string {
	switch r.Obstacle {
	case remedy.QueueBorrowsNothing:
		return "its queue borrows nothing"
	case remedy.CohortBorrowsNothing:
		return "its cohort borrows nothing"
	case remedy.PriorityNotLower:
		return "its priority is not lower"
	case remedy.JobMustBorrow:
		return "the job would have to borrow (" + r.Policy + ": " + r.Value + ")"
	}
	return r.Policy + ": " + r.Value
}

// option returns a remedy as flags of start-job, "" where none make it.
func option(r *remedy.Remedy, namespace string) string {
	switch {
	case r.Code == remedy.HigherPriority:
		return suggest.PriorityClass(r.PriorityClass).String()
	case r.Code == remedy.OtherQueue && r.Namespace != namespace:
		return suggest.NamespaceQueue(r.Namespace, r.Queue).String()
	case r.Code == remedy.OtherQueue:
		return suggest.QueueName(r.Queue).String()
	case len(r.Options) > 0:
		return errs.Option(r.Options...).String()
	}
	return ""
}

// commands returns the commands that make a remedy for a job that exists.
func commands(r *remedy.Remedy, e *remedy.Existing, render Render) []string {
	if !r.Possible {
		return nil
	}
	var list []errs.Suggestion
	switch r.Code {
	case remedy.HigherPriority:
		list = append(list, suggest.Reprioritize(e.Namespace, e.Name, r.PriorityClass))
	case remedy.FewerNodes, remedy.OtherInstanceType:
		list = append(list, suggest.Replace(e.Namespace, e.Name, r.Options...))
	case remedy.OtherQueue:
		if r.Namespace == e.Namespace {
			list = append(list, suggest.Replace(e.Namespace, e.Name, suggest.QueueName(r.Queue).Args...))
		} else {
			list = append(list, suggest.StartFrom(e.Namespace, e.Name, r.Namespace, r.Queue), suggest.CancelJobs(e.Namespace, e.Name))
		}
	case remedy.JobsEnd:
		list = append(list, suggest.CancelJobs(e.Namespace, r.Own...))
	}
	var out []string
	for _, s := range list {
		out = append(out, render(s))
	}
	return out
}

// shownHolders is the number of jobs that a page names of a list.
const shownHolders = 5

// holderRows adds who holds what the job waits for.
func holderRows(p *textpage.Page, v *check.Verdict, age func(time.Duration) string) {
	shown := shown(v, v.Holders)
	for i, h := range shown {
		name := h.Namespace + "/" + h.Name
		if h.Hidden {
			name = hiddenJobs(v, h.Team)
		}
		text := name + "  " + words.Amount(h.Holds[0].Resource, h.Holds[0].Amount)
		if !h.Hidden && !h.Since.IsZero() { // of hidden jobs, nobody knows since when
			text += "  for " + age(v.Time.Sub(h.Since))
		}
		if h.Owner != "" {
			text += "  by " + h.Owner
		}
		if h.Preemptible {
			text += "  preemptible"
		}
		p.Row(once("held by", i), text)
	}
	moreRow(p, v.HoldersTotal-len(shown))
}

// shown returns the jobs of a list that a page names.
func shown[T any](v *check.Verdict, jobs []T) []T {
	if v.AllHolders {
		return jobs
	}
	return jobs[:min(len(jobs), shownHolders)]
}

func moreRow(p *textpage.Page, more int) {
	if more > 0 {
		p.Row("", fmt.Sprintf("and %s (see %s)", words.Count(more, "more job", "more jobs"), suggest.AllHolders()))
	}
}

// remedyRows adds what would let the job run, each with the commands that do it.
func remedyRows(p *textpage.Page, v *check.Verdict) {
	rows := 0
	row := func(text string) {
		p.Row(once("try", rows), text)
		rows++
	}
	shown := map[string]bool{}
	for i := range v.Remedies {
		r := &v.Remedies[i]
		row(remedyText(v, r))
		for _, c := range r.Commands {
			p.Command(c)
			shown[c] = true
		}
		shown[r.Flag] = true
	}
	for _, t := range v.Advice {
		if !shown[t] {
			shown[t] = true
			row(t)
		}
	}
}

// remedyText is "would run now with --node-count 2: 16 nvidia.com/gpu, 8 borrowed".
func remedyText(v *check.Verdict, r *remedy.Remedy) string {
	text := ""
	switch {
	case r.Code == remedy.JobsEnd:
		text = endText(v, r)
	case r.Waits:
		text = "could wait for quota " + changeText(v, r)
	default:
		text = "would run now " + changeText(v, r)
	}
	if r.Message != "" {
		text += "; " + r.Message
	}
	return text
}

// changeText returns a change and its effect: "with --node-count 2: 16 nvidia.com/gpu, 8
// borrowed; preempts a/b".
func changeText(v *check.Verdict, r *remedy.Remedy) string {
	text := change(v, r)
	if r.Amount > 0 {
		text += ": " + words.Amount(r.Resource, r.Amount)
		if r.Borrowed > 0 {
			text += ", " + words.Number(r.Resource, r.Borrowed) + " borrowed"
		}
	}
	if total := r.PreemptsTotal; len(r.Preempts) > 0 {
		var names []string
		for _, e := range r.Preempts {
			name := e.Namespace + "/" + e.Name
			switch {
			case e.Hidden:
				name = hiddenJobs(v, e.Team)
			case e.JobLost:
				name += " (" + words.JobLost + ")"
			}
			if e.Hidden && slices.Contains(names, name) { // one stands for each resource
				total--
				continue
			}
			names = append(names, name)
		}
		text += "; preempts " + words.SomeOf(names, total, 2)
	}
	return text
}

// change returns what a remedy changes: a flag for a job that does not exist yet.
func change(v *check.Verdict, r *remedy.Remedy) string {
	switch {
	case v.Existing == nil && r.Flag != "":
		return "with " + r.Flag
	case r.Code == remedy.FewerNodes && r.PodSet != "":
		pods := words.Count(int(r.Nodes), "pod", "pods")
		switch name := podSetName(v, r.PodSet); {
		case name != "":
			return "with " + pods + " of " + name
		case len(v.Job.PodSets) > 1:
			return ofGroup(v, r)
		}
		return "with a pod group of " + pods
	case r.Code == remedy.FewerNodes:
		return "with " + words.Count(int(r.Nodes), "node", "nodes")
	case r.Code == remedy.HigherPriority:
		return fmt.Sprintf("with priority %s (%d)", r.PriorityClass, r.Priority)
	case r.Code == remedy.OtherInstanceType:
		return "on " + r.InstanceType
	case r.Code == remedy.OtherQueue && r.Namespace != v.Job.Namespace:
		return "in " + r.Team + " (namespace " + r.Namespace + ")"
	}
	return "in queue " + r.Queue
}

// ofGroup returns what a pod group with several roles would have: fewer pods of one role. The roles have hashes for names, so a
// pod stands for its role.
func ofGroup(v *check.Verdict, r *remedy.Remedy) string {
	all, like := int32(0), ""
	for _, ps := range v.Job.PodSets {
		if ps.Name == r.PodSet {
			ps.Pods, like = r.Nodes, ps.Like
		}
		all += ps.Pods
	}
	of := " of one role"
	if like != "" {
		of = " like " + like
	}
	return fmt.Sprintf("with %s%s, in a pod group of %s", words.Count(int(r.Nodes), "pod", "pods"), of, words.Count(int(all), "pod", "pods"))
}

// endText returns a remedy that waits for the end of other jobs, with whom to ask.
func endText(v *check.Verdict, r *remedy.Remedy) string {
	var names []string
	for _, h := range r.Jobs {
		if name := h.Namespace + "/" + h.Name; !slices.Contains(names, name) { // a Deployment holds quota for each pod
			names = append(names, name)
		}
	}
	text := "would run when " + words.Some(names, 3) + words.Verb(len(names), " ends", " end")
	var ask []string
	for _, h := range r.Others(v.Job.Namespace) {
		who := "team " + h.Team
		if h.Owner != "" {
			who = h.Owner + " (" + who + ")"
		}
		if !slices.Contains(ask, who) {
			ask = append(ask, who)
		}
	}
	if len(ask) > 0 {
		text += ": ask " + words.Some(ask, 3)
	}
	return text
}

// advice returns what to do about a job that no remedy lets run.
func advice(v *check.Verdict, render Render) (out []string) {
	for _, s := range v.Submission {
		for _, text := range []string{s.Try, s.Advice} {
			if s.Status == check.StatusFailed && text != "" {
				out = append(out, text)
			}
		}
	}
	if v.WorkersUnasked() {
		out = append(out, "--workers asks them with Kueue's own kubeconfigs, --workers=WORKER=CONTEXT with your contexts")
	}
	if text := smallerPods(v); text != "" && v.Verdict == check.Never {
		out = append(out, text)
	}
	out = append(out, detailAdvice(v, v.Detail, render)...)
	if v.Quota.Detail != v.Detail {
		out = append(out, detailAdvice(v, v.Quota.Detail, render)...)
	}
	return out
}

// detailAdvice returns what to do about the detail of a verdict or of its quota.
func detailAdvice(v *check.Verdict, detail string, render Render) (out []string) {
	if r, unread := v.UnreadKind(); unread && detail == v.Quota.Detail {
		if reasonOf(v, r.FullName()) == state.Forbidden {
			out = append(out, "ask a cluster administrator for permission to list "+r.Plural)
		}
		return out
	}
	switch detail {
	case check.ExceedsNominal, check.ExceedsBorrowing, check.ExceedsCohort:
		out = append(out, exceededAdvice(v)...)
	case check.LocalQueueStopped, check.ClusterQueueStopped:
		out = append(out, "wait until an administrator resumes the queue, or use another queue")
	case check.NeverResumed:
		out = append(out, "remove the label "+kinds.QueueLabel+", or let the job make its own pods")
	case check.FlavorMissing, check.TopologyMissing, check.AdmissionCheckAbsent, check.CohortCycle, check.ClusterQueueMissing, check.ClusterQueueFaulty, check.NamespaceNotSelected:
		out = append(out, "ask an administrator to correct the queue")
	case check.ResourceNotCovered, check.FlavorDoesNotMatch, check.InstanceTypeAbsent, check.TopologyUnsupported, check.TopologyLevelMissing:
		if len(v.Remedies) == 0 {
			out = append(out, render(suggest.GetQuota())+" shows what the queue has")
		}
	}
	return out
}

// noNodeSuits reports pods whose node selector or affinity excludes every node that is large enough.
func noNodeSuits(v *check.Verdict) bool {
	return v.Nodes.Status == check.StatusFailed && !v.Nodes.EmptyCluster && slices.ContainsFunc(v.Nodes.Placements, func(g fit.Placement) bool {
		has := func(why string) bool {
			return slices.ContainsFunc(g.Reasons, func(r fit.Reason) bool { return r.Reason == why })
		}
		return has(fit.WrongNode) && !has(fit.TooSmall)
	})
}

// smallerPods returns what to do about a pod that no node can hold, "" where nodes can.
func smallerPods(v *check.Verdict) string {
	for _, g := range v.Nodes.Placements {
		for _, r := range g.Reasons {
			if v.Nodes.Reason == check.NodesTooSmall && r.Reason == fit.TooSmall && r.Most > 0 {
				return "request at most " + words.Amount(r.Resource, r.Most) + " per pod: no node has more"
			}
		}
	}
	return ""
}

// exceededAdvice returns what to do about a request beyond a limit, where smaller pods are not the advice.
func exceededAdvice(v *check.Verdict) []string {
	if smallerPods(v) != "" {
		return nil
	}
	l, limit, ok := v.Exceeded()
	if !ok || limit <= 0 || noNodeSuits(v) {
		return nil
	}
	out := []string{"request at most " + words.Amount(l.Resource, limit)}
	if v.MoreBorrowing {
		out = append(out, "ask an administrator for a higher borrowing limit")
	}
	return out
}
