package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Text renders the verdict for a person: the answer in the first line, then why,
// then what to do, in lines of at most width columns. now is what ages are counted
// to; age turns a duration into words. It ends in a newline.
func (v *Verdict) Text(width int, age func(time.Duration) string) string {
	p := textpage.New(width)
	first := strings.ToUpper(string(v.Verdict)) + "  " + v.Job.Name + " " + v.Summary
	p.Line(first)
	p.Blank()
	v.Body(p, age, first)
	p.Blank()
	v.Footer(p)
	return p.String()
}

// Footer says what the answer rests on.
func (v *Verdict) Footer(p *textpage.Page) {
	for _, n := range v.Rules.Notes {
		if n.Code != inputs.Invalid { // said above
			p.Row("note", n.Message)
		}
	}
	for _, m := range v.missingText() {
		p.Row("not read", m)
	}
	p.Line(v.Rules.text())
}

// Body is everything between the first line, which is said already, and the footer.
func (v *Verdict) Body(p *textpage.Page, age func(time.Duration) string, said string) {
	for i := range v.Job.PodSets {
		p.Row(once("needs", i), v.Job.PodSets[i].needs())
	}
	left := 0
	for _, n := range v.Rules.Notes {
		own, isOwn := strings.CutPrefix(n.Message, "ClusterQueue "+v.Job.ClusterQueue+": ")
		if n.Code == inputs.Invalid && !(isOwn && strings.Contains(said, own)) {
			p.Row(once("left out", left), n.Message)
			left++
		}
	}
	v.quotaRows(p, said)
	if t := v.Topology; t != nil {
		p.Row("topology", t.text())
	}
	if text := v.nodesText(); text != "" {
		p.Row("nodes", text)
	}
	for _, s := range v.Submission {
		switch {
		case s.Status == Failed && !strings.Contains(said, s.Message):
			p.Row(label(s.Check), s.Message)
		case s.Status == Unclear:
			p.Row(label(s.Check), s.Message+inBrackets(s.Try, s.Advice))
		}
	}
	v.etaRow(p, age)
	v.holderRows(p, age)
	v.remedyRows(p)
	v.tryRows(p)
	shown := 0
	for _, f := range v.Lint {
		if f.Code == lint.UnknownQueue && v.failed("Queue") || f.Code == lint.UnknownPriority && v.failed("PriorityClass") {
			continue // said already
		}
		p.Row(once("also", shown), fmt.Sprintf("[%s] %s%s", f.Code, f.Message, inBrackets(f.Try, f.Advice)))
		shown++
	}
}

func (v *Verdict) failed(check string) bool {
	return slices.ContainsFunc(v.Submission, func(s Step) bool { return s.Check == check && s.Status == Failed })
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

// inBrackets is what to do about something, behind it.
func inBrackets(try, advice string) string {
	if text := cmp.Or(try, advice); text != "" {
		return " (" + text + ")"
	}
	return ""
}

func (ps *PodSet) needs() string {
	var parts []string
	flavor := ""
	for _, r := range ps.Requests {
		if r.Amount == 0 || len(parts) > 0 && remedy.Rank(r.Resource) > 2 && remedy.Rank(ps.Requests[0].Resource) < 3 {
			continue // cores and memory of a job with accelerators come with them
		}
		parts = append(parts, words.Amount(r.Resource, r.Amount))
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
	text += fmt.Sprintf(" (%s: %s)", ps.Name, words.Count(int(ps.Pods), "pod", "pods"))
	if ps.Admitted > 0 {
		text += fmt.Sprintf("; %d of them would be admitted", ps.Admitted)
	}
	return text
}

// quotaRows show quota: of the first resource in full, of the others only what is
// short.
func (v *Verdict) quotaRows(p *textpage.Page, said string) {
	q := &v.Quota
	if q.Status == Skipped {
		if q.Message != "" && !strings.Contains(said, q.Message) && (v.Job.Queue != "" || !v.tried("Queue")) { // a row says that it has no queue
			p.Row("quota", q.Message)
		}
		return
	}
	if q.Detail == ResourceNotCovered || q.Detail == FlavorDoesNotMatch {
		return // what the queue has of other things is no matter
	}
	var others []string
	for i := range q.Resources {
		l := &q.Resources[i]
		if l.Resource != q.Resources[0].Resource {
			if l.Short > 0 && l.Flavor == q.Resources[0].Flavor {
				others = append(others, words.Number(l.Resource, l.Short)+" "+l.Resource)
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
	if u := q.Unseen; v.hangs() {
		p.Row("settled by", v.settles(u.SettledBy))
	} else if u != nil && v.Verdict == Admitted && u.Worst == string(admission.AdmittedByPreempting) && len(q.Preempts) == 0 {
		p.Row("", "if others have borrowed of it, their jobs are preempted to take it back")
	}
	v.borrowRows(p)
	for i, e := range q.Preempts {
		if i == shownHolders {
			p.Row("", fmt.Sprintf("and %d more", len(q.Preempts)-i))
			break
		}
		p.Row(once("preempts", i), v.evicted(&e))
	}
	if q.Tie {
		p.Row("tie", "Kueue is undecided between equal shares: it may decide otherwise")
	}
	if q.Ahead > 0 && v.Verdict == Waits && v.Detail != BehindOthers {
		p.Row("queue", words.Count(q.Ahead, "waiting job", "waiting jobs")+" of "+v.queueName()+" before it")
	}
	if q.Status == Failed && q.Message != "" && v.Verdict != Admitted && v.ownWords() && !strings.Contains(said, words.OneLine(q.Message)) {
		p.Row("Kueue says", Shorten(q.Message))
	}
}

// ownWords reports that Kueue's text is worth showing: ours does not say it all.
func (v *Verdict) ownWords() bool {
	switch v.Quota.Detail {
	case QuotaInUse, QuotaLowered, ExceedsNominal, ExceedsBorrowing, ExceedsCohort, BehindOthers, NoQueueLabel,
		LocalQueueMissing, LocalQueueStopped, ClusterQueueMissing, ClusterQueueFaulty, ClusterQueueStopped,
		NamespaceNotSelected, FlavorMissing, TopologyMissing, AdmissionCheckAbsent, CohortCycle:
		return false
	}
	return v.why() != words.OneLine(v.Quota.Message)
}

func (v *Verdict) lineRows(p *textpage.Page, l *Line) {
	idle := max(l.Nominal-l.Used, 0)
	text := ""
	switch {
	case math.IsInf(float64(l.Nominal), 1):
		text = fmt.Sprintf("%s in %s", words.Amount(l.Resource, l.Nominal), v.queueName())
	case l.Free == nil:
		text = fmt.Sprintf("%s of %s idle in %s", words.Number(l.Resource, idle), words.Amount(l.Resource, l.Nominal), v.queueName())
	default:
		text = fmt.Sprintf("%s of %s free in %s", words.Number(l.Resource, *l.Free), words.Amount(l.Resource, l.Nominal), v.queueName())
	}
	if len(v.Job.PodSets) > 0 && l.Flavor != "" {
		text += " on " + l.Flavor
	}
	switch {
	case l.Free == nil:
		text += "; not known how much of it others have borrowed"
	case *l.Lent > 0:
		text += fmt.Sprintf(", %s lent to others", words.Number(l.Resource, *l.Lent))
	}
	p.Row("own", text)
	if !v.Quota.Shared || l.Short == 0 && l.Free != nil && l.Requested <= *l.Free {
		return
	}
	text = ""
	if l.BorrowingLimit != nil {
		total := l.Nominal + *l.BorrowingLimit
		text = fmt.Sprintf("%s own + %s borrowing limit = %s at most", words.Number(l.Resource, l.Nominal), words.Number(l.Resource, *l.BorrowingLimit), words.Number(l.Resource, total))
		if l.Limit != nil && *l.Limit < total && *l.Limit >= l.Nominal {
			text += fmt.Sprintf(" (the others have only %s to lend)", words.Number(l.Resource, *l.Limit-l.Nominal))
		}
	} else if l.Limit != nil {
		text = words.Number(l.Resource, *l.Limit) + " at most"
	}
	switch {
	case l.Available != nil:
		p.Row("limit", fmt.Sprintf("%s; %s to be had now without preempting", text, words.Number(l.Resource, *l.Available)))
	case l.Requested > idle:
		if text != "" {
			text += "; "
		}
		p.Row("limit", text+"not known what others could lend")
	case text != "":
		p.Row("limit", text)
	}
}

// borrowRows name the lenders of the first resource that is borrowed.
func (v *Verdict) borrowRows(p *textpage.Page) {
	var with []string
	for i, b := range v.Quota.Borrowed {
		switch {
		case i == 0:
		case b.Resource != v.Quota.Borrowed[0].Resource:
			with = append(with, words.Amount(b.Resource, b.Amount))
		}
	}
	for i, b := range v.Quota.Borrowed {
		if i > 0 && b.Resource != v.Quota.Borrowed[0].Resource {
			break
		}
		text := words.Amount(b.Resource, b.Amount) + from(b)
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
			names = append(names, l.Team+" (for jobs of higher priority)")
		} else {
			names = append(names, l.Team)
		}
	}
	return "it can be taken back when needed by " + strings.Join(names, ", ")
}

func (v *Verdict) evicted(e *Preemption) string {
	text := e.Namespace + "/" + e.Name
	if e.Hidden {
		text = v.unreadJobs(e.Team)
	}
	if len(e.Holds) > 0 {
		text += ", " + words.Amount(e.Holds[0].Resource, e.Holds[0].Amount)
	}
	return text + fmt.Sprintf(", priority %d: %s", e.Priority, words.PreemptionReason(e.Reason))
}

func (t *Topology) text() string {
	if t.Status == Failed {
		return words.OneLine(t.Message)
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
		parts = append(parts, fmt.Sprintf("%s in %s", words.Count(int(d.Pods), "pod", "pods"), strings.Join(d.Levels, "/")))
	}
	return strings.Join(parts, ", ")
}

// missingText names what could not be read: in one line what there is no right to,
// in one what is not in the file that is looked at, in one what failed.
func (v *Verdict) missingText() []string {
	words := []struct{ reason, text string }{
		{state.Forbidden, "no right to list them for the whole cluster"},
		{state.NotInFile, "not in the file"},
		{state.Failed, "reading failed"},
	}
	var out []string
	for _, w := range words {
		var names []string
		for _, m := range v.Missing {
			name, _, _ := strings.Cut(m.Resource, ".")
			if m.Reason == w.reason && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, strings.Join(names, ", ")+": "+w.text)
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
