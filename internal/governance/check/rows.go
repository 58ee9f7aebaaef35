package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

func (v *Verdict) nodesText() string {
	n := &v.Nodes
	switch n.Status {
	case Unclear:
		return n.Message + ": not checked"
	case Skipped:
		return ""
	case OK:
		pods, nodes := 0, 0
		for _, g := range n.Placements {
			pods, nodes = pods+g.PodsPlaced, nodes+g.Nodes
		}
		if len(n.Placements) > 1 {
			return fmt.Sprintf("all %d pods find room on nodes", pods)
		}
		return fmt.Sprintf("%s %s room on %s", words.Count(pods, "pod", "pods"), words.Verb(pods, "finds", "find"), words.Count(nodes, "node", "nodes"))
	}
	return v.nodesWhy()
}

// nodesWhy says of the first role that finds no room how much did, and why not more.
func (v *Verdict) nodesWhy() string {
	n := &v.Nodes
	for _, g := range n.Placements {
		if g.PodsPlaced >= g.Pods {
			continue
		}
		text := fmt.Sprintf("%d of %s (%s) %s room", g.PodsPlaced, words.Count(g.Pods, "pod", "pods"), g.PodSet, words.Verb(g.PodsPlaced, "finds", "find"))
		switch n.Reason {
		case NodesTooSmall:
			text += " even on empty nodes"
		case NoNodes:
			text = "there is no node of the flavor"
		case NodesFull:
			text += " on the nodes now"
		}
		return text + ": " + Reasons(g.Reasons)
	}
	return n.Message
}

// Reasons sums up why nodes cannot take a pod: "6 nodes: no 8 free
// nvidia.com/gpu; 2: cordoned".
func Reasons(reasons []fit.Reason) string {
	var parts []string
	for i, r := range reasons {
		count := fmt.Sprint(r.Nodes)
		if i == 0 {
			count = words.Count(r.Nodes, "node", "nodes")
		}
		parts = append(parts, count+": "+ReasonText(r))
	}
	return strings.Join(parts, "; ")
}

// ReasonText is one reason in words.
func ReasonText(r fit.Reason) string {
	switch r.Reason {
	case fit.NotReady:
		return "not ready"
	case fit.Cordoned:
		return "cordoned"
	case fit.Unhealthy:
		return "held back by HyperPod (" + r.Message + ")"
	case fit.WrongNode:
		return "not what the job selects"
	case fit.WrongFlavor:
		return "of another flavor"
	case fit.WrongDomain:
		return "outside the topology"
	case fit.Tainted:
		return "tainted " + r.Message
	case fit.TooManyPods:
		return "as many pods as it may run"
	case fit.TooSmall:
		return fmt.Sprintf("has no %s (%s at most)", words.Amount(r.Resource, r.Needed), words.Number(r.Resource, r.Most))
	case fit.Insufficient:
		return fmt.Sprintf("no %s free %s", words.Number(r.Resource, r.Needed), r.Resource)
	}
	return r.Reason
}

// shownHolders is how many holders a page names.
const shownHolders = 5

// holderRows show who has what the job waits for.
func (v *Verdict) holderRows(p *textpage.Page, age func(time.Duration) string) {
	if len(v.Holders) == 0 {
		return
	}
	for i, h := range v.Holders {
		if i == shownHolders {
			p.Row("", fmt.Sprintf("and %s more (-o json shows all)", words.Count(len(v.Holders)-i, "job", "jobs")))
			break
		}
		name := h.Namespace + "/" + h.Name
		if h.Hidden {
			name = v.unreadJobs(h.Team)
		}
		text := fmt.Sprintf("%s  %s  since %s", name, words.Amount(h.Holds[0].Resource, h.Holds[0].Amount), age(v.Time.Sub(h.Since)))
		if h.Owner != "" {
			text += "  by " + h.Owner
		}
		if h.Preemptible {
			text += "  preemptible"
		}
		p.Row(once("held by", i), text)
	}
}

// remedyRows show what would make the job run now, each with the commands that do it.
func (v *Verdict) remedyRows(p *textpage.Page) {
	last := ""
	for i := range v.Remedies {
		r := &v.Remedies[i]
		label := "runs now"
		if r.Waits {
			label = "could run"
		}
		p.Row(first(label, last), v.remedyText(r))
		last = label
		for _, c := range r.Commands {
			p.Command(c)
		}
	}
}

// first is a label where it is another one than the row above has.
func first(label, above string) string {
	if label == above {
		return ""
	}
	return label
}

// change is what a remedy changes, in words.
func (v *Verdict) change(r *remedy.Remedy) string {
	switch {
	case len(r.Commands) == 0 && r.Message == "" && r.Flag != "":
		return "with " + r.Flag
	case r.Code == remedy.FewerNodes && r.PodSet != "":
		return "with " + words.Count(int(r.Nodes), "pod", "pods") + " of " + r.PodSet
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

// ends is the text of a remedy that waits for others' end.
func (v *Verdict) ends(r *remedy.Remedy) string {
	var names []string
	for i, h := range r.Jobs {
		if i == 3 && len(r.Jobs) > 4 {
			names = append(names, fmt.Sprintf("%d more", len(r.Jobs)-i))
			break
		}
		names = append(names, h.Namespace+"/"+h.Name)
	}
	text := "when " + strings.Join(names, ", ") + words.Verb(len(r.Jobs), " ends", " end")
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
	if n := len(ask); n > 4 {
		ask = append(ask[:3], fmt.Sprintf("%d others (-o json names all jobs)", n-3))
	}
	if len(ask) > 0 {
		text += ": ask " + strings.Join(ask, ", ")
	}
	return text
}

func (v *Verdict) remedyText(r *remedy.Remedy) string {
	text := v.ends(r)
	if r.Code != remedy.JobsEnd {
		text = v.changed(r)
	}
	if r.Message != "" {
		text += "; " + r.Message
	}
	return text
}

func (v *Verdict) changed(r *remedy.Remedy) string {
	text := v.change(r)
	if r.Amount > 0 {
		text += ": " + words.Amount(r.Resource, r.Amount)
		if r.Borrowed > 0 {
			text += ", " + words.Number(r.Resource, r.Borrowed) + " borrowed"
		}
	}
	if n := len(r.Preempts); n > 0 {
		var names []string
		for i, e := range r.Preempts {
			if i == 2 && n > 3 {
				names = append(names, fmt.Sprintf("%d more", n-i))
				break
			}
			names = append(names, e.Namespace+"/"+e.Name)
		}
		text += "; preempts " + strings.Join(names, ", ")
	}
	if r.Waits {
		text += ", after a wait"
	}
	return text
}

// tryRows say how to get a job through that no remedy was found for.
func (v *Verdict) tryRows(p *textpage.Page) {
	var tries []string
	for _, s := range v.Submission {
		for _, text := range []string{s.Try, s.Advice} {
			if s.Status == Failed && text != "" {
				tries = append(tries, text)
			}
		}
	}
	switch v.Detail {
	case ExceedsNominal, ExceedsBorrowing, ExceedsCohort:
		for _, l := range v.Quota.Resources {
			if most, known := l.most(); known && l.Requested > most && most > 0 {
				tries = append(tries, fmt.Sprintf("ask for at most %s", words.Amount(l.Resource, most)))
				if v.Detail == ExceedsBorrowing {
					tries = append(tries, "ask an administrator for a higher borrowing limit")
				}
				break
			}
		}
	case LocalQueueStopped, ClusterQueueStopped:
		tries = append(tries, "wait until an administrator opens it, or use another queue")
	case FlavorMissing, TopologyMissing, AdmissionCheckAbsent, CohortCycle, ClusterQueueMissing, ClusterQueueFaulty, NamespaceNotSelected:
		tries = append(tries, "ask an administrator to correct the queue")
	case ResourceNotCovered, FlavorDoesNotMatch:
		if len(v.Remedies) == 0 {
			tries = append(tries, "hyperpod get-quota shows what the queue has")
		}
	}
	first := "to run it"
	for i, t := range tries {
		if slices.Contains(tries[:i], t) {
			continue
		}
		p.Row(first, t)
		first = ""
	}
}
