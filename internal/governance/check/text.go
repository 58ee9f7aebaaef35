package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prose"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
)

// Text renders the verdict for a person: the answer in the first line, then why,
// then what to do, in lines of at most width columns. now is what ages are counted
// to; age turns a duration into words. It ends in a newline.
func (v *Verdict) Text(width int, age func(time.Duration) string) string {
	p := prose.New(width)
	p.Line(strings.ToUpper(string(v.Verdict)) + "  " + v.Job.Name + " " + v.Summary)
	p.Blank()
	v.Body(p, age)
	p.Blank()
	v.Footer(p)
	return p.String()
}

// Footer says what the answer rests on.
func (v *Verdict) Footer(p *prose.Page) {
	for _, n := range v.Rules.Notes {
		p.Row("note", n.Text)
	}
	for _, m := range v.missingText() {
		p.Row("not read", m)
	}
	p.Line(v.Rules.text())
}

// Body is everything between the first line and the footer.
func (v *Verdict) Body(p *prose.Page, age func(time.Duration) string) {
	for i := range v.Job.PodSets {
		p.Row(once("needs", i), v.Job.PodSets[i].needs())
	}
	v.quotaRows(p)
	if t := v.Topology; t != nil {
		p.Row("topology", t.text())
	}
	if text := v.nodesText(); text != "" {
		p.Row("nodes", text)
	}
	for _, s := range v.Submission {
		switch {
		case s.Status == Failed:
			p.Row(label(s.Check), s.Message)
		case s.Status == Unclear:
			p.Row(label(s.Check), s.Message+try(s.Try))
		}
	}
	v.holderRows(p, age)
	v.remedyRows(p)
	v.tryRows(p)
	for _, f := range v.Lint {
		p.Row("also", fmt.Sprintf("[%s] %s%s", f.Code, f.Message, try(f.Fix)))
	}
}

// once is a label for the first of several rows.
func once(label string, i int) string {
	if i > 0 {
		return ""
	}
	return label
}

func label(check string) string {
	switch check {
	case "PriorityClass":
		return "priority"
	}
	return strings.ToLower(check)
}

func try(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func (ps *PodSet) needs() string {
	var parts []string
	flavor := ""
	for _, r := range ps.Requests {
		if r.Value == 0 || len(parts) > 0 && remedy.Rank(r.Resource) > 2 && remedy.Rank(ps.Requests[0].Resource) < 3 {
			continue // cores and memory of a job with accelerators come with them
		}
		parts = append(parts, Words(r.Resource, r.Value))
		if flavor == "" {
			flavor = r.Flavor
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "nothing"
	}
	if flavor != "" {
		text += " on " + flavor
	}
	text += fmt.Sprintf(" (%s: %s)", ps.Name, plural(int(ps.Pods), "pod", "pods"))
	if ps.Admitted > 0 {
		text += fmt.Sprintf("; %d of them would be admitted", ps.Admitted)
	}
	return text
}

// quotaRows show quota: of the first resource in full, of the others only what is
// short.
func (v *Verdict) quotaRows(p *prose.Page) {
	q := &v.Quota
	if q.Status == Skipped {
		if q.Message != "" {
			p.Row("quota", q.Message)
		}
		return
	}
	var others []string
	for i := range q.Resources {
		l := &q.Resources[i]
		if l.Resource != q.Resources[0].Resource {
			if l.Short > 0 && l.Flavor == q.Resources[0].Flavor {
				others = append(others, number(l.Resource, l.Short)+" "+l.Resource)
			}
			continue
		}
		v.lineRows(p, l)
	}
	switch {
	case v.Verdict == Admitted:
	case len(others) > 0 && q.Resources[0].Short > 0:
		p.Row("", "also short: "+strings.Join(others, ", "))
	case len(others) > 0:
		p.Row("short", strings.Join(others, ", "))
	}
	v.borrowRows(p)
	for i, e := range q.Preempts {
		if i == shownHolders {
			p.Row("", fmt.Sprintf("and %d more", len(q.Preempts)-i))
			break
		}
		p.Row(once("preempts", i), e.text())
	}
	if q.Tie {
		p.Row("tie", "Kueue is undecided between equal shares: it may decide otherwise")
	}
	if q.Ahead > 0 && v.Verdict != Admitted && v.Detail != BehindOthers {
		p.Row("queue", plural(q.Ahead, "waiting job", "waiting jobs")+" of "+v.queueName()+" before it")
	}
	if q.Status == Failed && q.Message != "" && v.Verdict != Admitted && v.ownWords() {
		p.Row("Kueue says", Shorten(q.Message))
	}
}

// ownWords reports that Kueue's text is worth showing: ours does not say it all.
func (v *Verdict) ownWords() bool {
	switch v.Quota.Detail {
	case QuotaInUse, QuotaLowered, ExceedsNominal, ExceedsBorrowing, ExceedsCohort, BehindOthers, LocalQueueMissing, LocalQueueStopped, ClusterQueueStopped, NoQueueLabel:
		return false
	}
	return v.why() != oneLine(v.Quota.Message)
}

func (v *Verdict) lineRows(p *prose.Page, l *Line) {
	text := fmt.Sprintf("%s of %s free in %s", number(l.Resource, max(l.Nominal-l.Used, 0)), Words(l.Resource, l.Nominal), v.queueName())
	if len(v.Job.PodSets) > 0 && l.Flavor != "" {
		text += " on " + l.Flavor
	}
	p.Row("own", text)
	if !v.Quota.Shared || l.Short == 0 && l.Requested <= l.Nominal-l.Used {
		return
	}
	text = number(l.Resource, l.Most) + " at most"
	if l.BorrowingLimit != nil {
		total := l.Nominal + *l.BorrowingLimit
		text = fmt.Sprintf("%s own + %s borrowing limit = %s at most", number(l.Resource, l.Nominal), number(l.Resource, *l.BorrowingLimit), number(l.Resource, total))
		if l.Most < total {
			text += fmt.Sprintf(" (the others have only %s to lend)", number(l.Resource, l.Most-l.Nominal))
		}
	}
	p.Row("limit", fmt.Sprintf("%s; %s to be had now without preempting", text, number(l.Resource, l.Available)))
}

// borrowRows name the lenders of the first resource that is borrowed.
func (v *Verdict) borrowRows(p *prose.Page) {
	var with []string
	for i, b := range v.Quota.Borrowed {
		switch {
		case i == 0:
		case b.Resource != v.Quota.Borrowed[0].Resource:
			with = append(with, Words(b.Resource, b.Value))
		}
	}
	for i, b := range v.Quota.Borrowed {
		if i > 0 && b.Resource != v.Quota.Borrowed[0].Resource {
			break
		}
		text := Words(b.Resource, b.Value) + from(b)
		if i == 0 && len(with) > 0 && remedy.Rank(b.Resource) > 2 {
			text += ", and " + strings.Join(with, ", ")
		}
		p.Row("borrows", text)
	}
	if t := v.Quota.TakeBack; t != nil {
		p.Row("", t.text())
	}
}

func (t *TakeBack) text() string {
	if !t.Possible {
		return "it cannot be taken back before the job ends"
	}
	var names []string
	for _, l := range t.Lenders {
		if l.Policy == "LowerPriority" {
			names = append(names, Team(l.ClusterQueue)+" (for jobs of higher priority)")
		} else {
			names = append(names, Team(l.ClusterQueue))
		}
	}
	return "it can be taken back when needed by " + strings.Join(names, ", ")
}

func (e *Preemption) text() string {
	text := e.Namespace + "/" + e.Job
	if e.Hidden {
		text = "jobs of " + Team(e.ClusterQueue) + " that may not be read"
	}
	if len(e.Releases) > 0 {
		text += ", " + Words(e.Releases[0].Resource, e.Releases[0].Value)
	}
	return text + fmt.Sprintf(", priority %d: %s", e.Priority, Cause(e.Reason))
}

// Cause says Kueue's preemption reason in words.
func Cause(reason string) string {
	switch reason {
	case "InClusterQueue":
		return "lower rank in the same queue"
	case "InCohortReclamation":
		return "borrowed quota is reclaimed"
	case "InCohortFairSharing":
		return "fair sharing"
	case "InCohortReclaimWhileBorrowing":
		return "lower rank in the cohort"
	}
	return reason
}

func (t *Topology) text() string {
	if t.Status == Failed {
		return oneLine(t.Message)
	}
	if len(t.Domains) == 0 {
		return "asks for " + t.Level + "; not placed yet"
	}
	var parts []string
	for i, d := range t.Domains {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(t.Domains)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s in %s", plural(int(d.Pods), "pod", "pods"), strings.Join(d.Levels, "/")))
	}
	return strings.Join(parts, ", ")
}

func (v *Verdict) nodesText() string {
	n := &v.Nodes
	switch n.Status {
	case Unclear:
		return n.Message + ": not checked"
	case Skipped:
		return ""
	case OK:
		pods, nodes := 0, 0
		for _, g := range n.Now {
			pods, nodes = pods+g.Placed, nodes+g.Nodes
		}
		if len(n.Now) > 1 {
			return fmt.Sprintf("all %d pods find room on nodes", pods)
		}
		return fmt.Sprintf("%s %s room on %s", plural(pods, "pod", "pods"), verb(pods, "finds", "find"), plural(nodes, "node", "nodes"))
	}
	return v.nodesWhy()
}

// nodesWhy says of the first role that finds no room how much did, and why not more.
func (v *Verdict) nodesWhy() string {
	n := &v.Nodes
	for _, g := range n.Now {
		if g.Placed >= g.Count {
			continue
		}
		text := fmt.Sprintf("%d of %s (%s) %s room", g.Placed, plural(g.Count, "pod", "pods"), g.Name, verb(g.Placed, "finds", "find"))
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
			count = plural(r.Nodes, "node", "nodes")
		}
		parts = append(parts, count+": "+ReasonText(r))
	}
	return strings.Join(parts, "; ")
}

// ReasonText is one reason in words.
func ReasonText(r fit.Reason) string {
	value := func(n int64) float64 { return remedy.Value(r.Resource, n) }
	switch r.Code {
	case fit.NotReady:
		return "not ready"
	case fit.Cordoned:
		return "cordoned"
	case fit.Unhealthy:
		return "held back by HyperPod (" + r.Detail + ")"
	case fit.WrongNode:
		return "not what the job selects"
	case fit.WrongFlavor:
		return "of another flavor"
	case fit.WrongDomain:
		return "outside the topology"
	case fit.Tainted:
		return "tainted " + r.Detail
	case fit.TooManyPods:
		return "as many pods as it may run"
	case fit.TooSmall:
		return fmt.Sprintf("has no %s (%s at most)", Words(r.Resource, value(r.Needed)), number(r.Resource, value(r.Most)))
	case fit.Insufficient:
		return fmt.Sprintf("no %s free %s", number(r.Resource, value(r.Needed)), r.Resource)
	}
	return r.Code
}

// shownHolders is how many holders a page names.
const shownHolders = 5

// holderRows show who has what the job waits for.
func (v *Verdict) holderRows(p *prose.Page, age func(time.Duration) string) {
	if len(v.Holders) == 0 {
		return
	}
	for i, h := range v.Holders {
		if i == shownHolders {
			p.Row("", fmt.Sprintf("and %s more (-o json shows all)", plural(len(v.Holders)-i, "job", "jobs")))
			break
		}
		name := h.Namespace + "/" + h.Job
		if h.Hidden {
			name = "jobs of " + Team(h.ClusterQueue) + " that may not be read"
		}
		text := fmt.Sprintf("%s  %s  since %s", name, Words(h.Holds[0].Resource, h.Holds[0].Value), age(v.Taken.Sub(h.Since)))
		if h.Owner != "" {
			text += "  by " + h.Owner
		}
		if h.Preemptible {
			text += "  preemptible"
		}
		p.Row(once("held by", i), text)
	}
}

// remedyRows show what would make the job run now.
func (v *Verdict) remedyRows(p *prose.Page) {
	for i, r := range v.Remedies {
		p.Row(once("runs now", i), remedyText(r))
	}
}

func remedyText(r remedy.Remedy) string {
	lead := "with " + r.Flag
	if r.Kind == remedy.JobsEnd {
		var names []string
		for i, h := range r.Jobs {
			if i == 3 && len(r.Jobs) > 4 {
				names = append(names, fmt.Sprintf("%d more", len(r.Jobs)-i))
				break
			}
			names = append(names, h.Namespace+"/"+h.Job)
		}
		lead = "when " + strings.Join(names, ", ") + " ends"
		if len(r.Jobs) > 1 {
			lead = "when " + strings.Join(names, ", ") + " end"
		}
		return lead
	}
	text := lead
	if r.Amount > 0 {
		text += ": " + Words(r.Resource, r.Amount)
		if r.Borrowed > 0 {
			text += ", " + number(r.Resource, r.Borrowed) + " borrowed"
		}
	}
	if n := len(r.Preempts); n > 0 {
		var names []string
		for i, e := range r.Preempts {
			if i == 2 && n > 3 {
				names = append(names, fmt.Sprintf("%d more", n-i))
				break
			}
			names = append(names, e.Namespace+"/"+e.Job)
		}
		text += "; preempts " + strings.Join(names, ", ")
	}
	return text
}

// tryRows say how to get a job through that no remedy was found for.
func (v *Verdict) tryRows(p *prose.Page) {
	var tries []string
	for _, s := range v.Submission {
		if s.Status == Failed && s.Try != "" {
			tries = append(tries, s.Try)
		}
	}
	switch v.Detail {
	case ExceedsNominal, ExceedsBorrowing, ExceedsCohort:
		for _, l := range v.Quota.Resources {
			if l.Requested > l.Most && l.Most > 0 {
				tries = append(tries, fmt.Sprintf("ask for at most %s", Words(l.Resource, l.Most)))
				if v.Detail == ExceedsBorrowing {
					tries = append(tries, "ask an administrator for a higher borrowing limit")
				}
				break
			}
		}
	case LocalQueueStopped, ClusterQueueStopped:
		tries = append(tries, "wait until an administrator opens it, or use another queue")
	case FlavorMissing, AdmissionCheckAbsent, CohortCycle:
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

func (v *Verdict) missingText() []string {
	var out []string
	for _, m := range v.Missing {
		name, _, _ := strings.Cut(m.Resource, ".")
		where := ""
		if m.Namespace != "" {
			where = " of " + m.Namespace
		}
		text := name + where + ": no right to " + m.Verb
		if m.Reason != "Forbidden" {
			text = name + where + ": could not be read"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func (r *Rules) text() string {
	text := "checked with Kueue " + r.KueueRules + " rules"
	if r.ClusterKueue != "" {
		text += "; the cluster runs " + r.ClusterKueue
	}
	if r.ConfigurationKnown {
		if r.FairSharing {
			return text + ", fair sharing on"
		}
		return text + ", fair sharing off"
	}
	return text
}

// CauseIn says why a job was preempted, from Kueue's message about it ("Preempted
// to accommodate a workload (UID: ..., JobUID: ...) due to reclamation within the
// cohort; ..."); the message itself where it has another form.
func CauseIn(message string) string {
	_, cause, ok := strings.Cut(message, " due to ")
	if !ok {
		return oneLine(message)
	}
	cause, _, _ = strings.Cut(cause, ";")
	return oneLine(cause)
}
