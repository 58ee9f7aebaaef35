package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Text returns a filled verdict as a page: the answer in the first line, then why, then what
// to do. Lines have at most width columns, 0 for no limit. age words a duration. The
// page ends in a newline.
func Text(v *check.Verdict, width int, age func(time.Duration) string) string {
	p := textpage.New(width)
	first := strings.ToUpper(string(v.Verdict)) + "  " + v.Job.Name + " " + v.Summary
	p.Line(first)
	p.Blank()
	Body(p, v, age, first)
	p.Blank()
	Footer(p, v)
	return p.String()
}

// Footer adds what the answer is based on.
func Footer(p *textpage.Page, v *check.Verdict) {
	for _, n := range v.Rules.Notes {
		if n.Code != inputs.Invalid { // Body shows those
			p.Row("note", n.Message)
		}
	}
	for _, row := range missingRows(v) {
		p.Row(row[0], row[1])
	}
	p.Line(rulesText(&v.Rules))
}

func rulesText(r *check.Rules) string {
	text := "checked with Kueue " + r.KueueRules + " rules"
	if r.ClusterKueue != "" {
		text += "; the cluster runs " + r.ClusterKueue
	}
	switch {
	case r.ConfigurationKnown && r.FairSharing:
		text += ", fair sharing on"
	case r.ConfigurationKnown:
		text += ", fair sharing off"
	}
	return text
}

// Body adds everything between the first line and the footer. It leaves out what the
// first line shows.
func Body(p *textpage.Page, v *check.Verdict, age func(time.Duration) string, first string) {
	for i := range v.Job.PodSets {
		p.Row(once("needs", i), needs(v, &v.Job.PodSets[i]))
	}
	ignored := 0
	for _, n := range v.Rules.Notes {
		own, isOwn := strings.CutPrefix(n.Message, "ClusterQueue "+v.Job.ClusterQueue+": ")
		if n.Code == inputs.Invalid && !(isOwn && strings.Contains(first, own)) {
			p.Row(once("ignored", ignored), n.Message)
			ignored++
		}
	}
	quotaRows(p, v, first)
	if t := v.Topology; t != nil {
		p.Row("topology", topologyText(t))
	}
	if text := nodesText(v); text != "" {
		p.Row("nodes", text)
	}
	for _, s := range v.Submission {
		switch {
		case s.Status == check.StatusFailed && !strings.Contains(first, s.Message):
			p.Row(stepLabel(s.Check), s.Message)
		case s.Status == check.StatusUnknown:
			p.Row(stepLabel(s.Check), Row(s))
		}
	}
	WorkerRows(p, v.Workers, age)
	startRow(p, v, age)
	holderRows(p, v, age)
	remedyRows(p, v)
	findingRows(p, v)
}

// findingRows adds the findings that no step of the submission shows.
func findingRows(p *textpage.Page, v *check.Verdict) {
	failed := func(name string) bool {
		return slices.ContainsFunc(v.Submission, func(s check.Step) bool { return s.Check == name && s.Status == check.StatusFailed })
	}
	shown := 0
	for _, f := range v.Lint {
		if f.Code == lint.UnknownQueue && failed("Queue") || f.Code == lint.UnknownPriority && failed("PriorityClass") {
			continue
		}
		if f.Code == lint.NotOnDashboard && slices.ContainsFunc(v.Lint, func(o lint.Finding) bool { return o.Code == lint.NoPriority && strings.HasPrefix(o.Try, f.Try) }) {
			continue // the row about the priority class has the same cause and fix
		}
		p.Row(once("also", shown), fmt.Sprintf("[%s] %s%s", f.Code, f.Message, inBrackets(f.Try, f.Advice)))
		shown++
	}
}

// once returns the label of the first of several rows, "" for the others.
func once(label string, i int) string {
	if i > 0 {
		return ""
	}
	return label
}

// Row words a step that could not be decided.
func Row(s check.Step) string { return s.Message + inBrackets(s.Try, s.Advice) }

func stepLabel(check string) string {
	switch check {
	case "PriorityClass":
		return "priority"
	case "Rights":
		return "access"
	}
	return strings.ToLower(check)
}

func inBrackets(try, advice string) string {
	if text := cmp.Or(try, advice); text != "" {
		return " (" + strings.Replace(text, "   # ", ": ", 1) + ")" // a note of a suggestion
	}
	return ""
}

// podSetName returns the name of a pod set for people. Those of a pod group have hashes for names: it is "" then.
func podSetName(v *check.Verdict, name string) string {
	if v.Job.Kind == kinds.PodKind.Kind && name != kinds.PodKind.Roles[0].PodSet {
		return ""
	}
	return name
}

func needs(v *check.Verdict, ps *check.PodSet) string {
	var parts []string
	flavor := ""
	for _, r := range ps.Requests {
		if r.Amount == 0 || len(parts) > 0 && kinds.ResourceRank(r.Resource) > 2 && kinds.ResourceRank(ps.Requests[0].Resource) < 3 {
			continue // cores and memory come with the accelerators
		}
		parts = append(parts, words.Amount(r.Resource, r.Amount))
		if flavor == "" {
			flavor = r.Flavor
		}
	}
	text := cmp.Or(strings.Join(parts, ", "), "nothing")
	if flavor != "" {
		text += " on " + flavor
	}
	pods := words.Count(int(ps.Pods), "pod", "pods")
	if name := podSetName(v, ps.Name); name != "" {
		pods = name + ": " + pods
	}
	text += " (" + pods + ")"
	if ps.Admitted > 0 {
		text += fmt.Sprintf("; Kueue would admit %d of them", ps.Admitted)
	}
	return text
}

func topologyText(t *check.Topology) string {
	if t.Status == check.StatusFailed {
		return words.OneLine(t.Message)
	}
	if len(t.Domains) == 0 {
		return "requests " + t.Level + "; not placed yet"
	}
	var parts []string
	for i, d := range t.Domains {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", t.DomainsTotal-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s in %s", words.Count(int(d.Pods), "pod", "pods"), strings.Join(d.Levels, "/")))
	}
	return strings.Join(parts, ", ")
}

// startRow adds when the job may start, and what the estimate is based on.
func startRow(p *textpage.Page, v *check.Verdict, age func(time.Duration) string) {
	e := v.ETA
	switch {
	case e == nil || !e.Known() && e.Reason == string(queue.NotQueued):
		return // the first line says why
	case e.Reason == string(queue.NoDuration) && !e.Known():
		p.Row("starts", "unknown: "+e.Message+" (see "+suggest.AssumeDuration().Args[0]+")")
		return
	case !e.Known():
		p.Row("starts", "unknown: "+e.Message)
		return
	}
	latest, bounded := e.Latest()
	text := "in about " + age(e.Earliest())
	switch {
	case !bounded && e.Earliest() == 0 && e.Reason == string(queue.Overdue):
		p.Row("starts", "at any time: "+e.Message)
		return
	case !bounded && e.Earliest() == 0:
		p.Row("starts", "unknown: "+e.Message)
		return
	case !bounded:
		text += " or later"
	case latest == 0:
		text = "at any moment"
	case age(latest) != age(e.Earliest()):
		text += " to " + age(latest)
	}
	var basis []string
	for _, b := range e.Basis {
		basis = append(basis, estimate.Basis(b.Source, b.Count))
	}
	text += " (estimate"
	if len(basis) > 0 {
		text += " based on " + strings.Join(basis, ", ")
	}
	p.Row("starts", text+")")
}
