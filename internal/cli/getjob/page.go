package getjob

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Limits of the page. Longer lists have a command of their own.
const (
	mostPods   = 20
	mostEvents = 8
	mostSteps  = 20
	mostNodes  = 5
)

// writer builds the page.
type writer struct {
	io  *output.IO
	b   bytes.Buffer
	now time.Time
}

// page renders a report for people: the state first, then what explains it.
func (r report) page(io *output.IO, now time.Time) string {
	w := &writer{io: io, now: now}
	s := jobs.StatusOf(r.job, r.workload, r.pods)
	health := r.resilience()
	r.answer(w, s, health)
	r.facts(w, s, health)
	r.roles(w, s)
	r.podTable(w)
	r.timeline(w)
	r.eventTable(w)
	if len(r.unseen) > 0 {
		w.b.WriteByte('\n')
	}
	for _, u := range r.unseen {
		w.line(output.Dim, "hidden: "+u)
	}
	return w.b.String()
}

// line writes a text from the left edge and wraps it on a terminal.
func (w *writer) line(style output.Style, text string) {
	p := textpage.New(w.width())
	p.Line(w.safe(text))
	for l := range strings.Lines(p.String()) {
		w.b.WriteString(w.io.Paint(style, strings.TrimSuffix(l, "\n")) + "\n")
	}
}

// row writes a label and a text, or nothing where the text is empty.
func (w *writer) row(label, value string) {
	if value != "" {
		p := textpage.New(w.width())
		p.Row(label, w.safe(value))
		w.b.WriteString(p.String())
	}
}

func (w *writer) width() int {
	if w.io.OutTTY {
		return w.io.Width
	}
	return 0
}

func (w *writer) safe(text string) string {
	if w.io.OutTTY {
		return output.Safe(text)
	}
	return text
}

// table writes a table below a blank line, or nothing where it has no rows.
func (w *writer) table(t output.Table) {
	if len(t.Rows) == 0 {
		return
	}
	w.b.WriteByte('\n')
	at := *w.io
	at.Out = &w.b
	_ = at.PrintTable(t) // a buffer takes everything
}

func (r report) answer(w *writer, s jobs.Status, health jobs.Resilience) {
	text := jobtext.Lasting(r.job.Name, s.State, s.Since, w.now, words.Age)
	if place, of := r.order.Position(r.workload, r.workloads); of > 1 {
		text += fmt.Sprintf(", %s of %d in its queue", words.Ordinal(place), of)
	}
	why := jobtext.Why(s)
	if jobs.Unattended(r.job, s, w.now) {
		why = jobtext.Unattended(r.job.Kind.Operator)
	}
	if missing := jobs.MissingCluster(r.job, r.pods, r.events); missing != "" {
		text += ": " + jobtext.MissingCluster(missing)
	} else if why != "" && s.State != jobs.Running && s.State != jobs.Succeeded {
		text += ": " + why
	}
	if losing := jobtext.AwaitingRepair(health); losing != "" && !s.State.Finished() {
		text += "; " + losing
	}
	w.line(output.Strong, text)
	w.b.WriteByte('\n')
}

func (r report) facts(w *writer, s jobs.Status, health jobs.Resilience) {
	j := r.job
	w.row("kind", j.Kind.Kind+" in "+j.Namespace)
	w.row("queue", r.queueText())
	priority := cmp.Or(j.Priority(), "none: the job ranks lowest")
	if r.workload != nil && j.Priority() != "" {
		priority += fmt.Sprintf(" (%d)", r.workload.Priority)
	}
	w.row("priority", priority)
	w.row("devices", r.accelerators())
	w.row("group", r.group())
	if ran, _ := jobs.RunTimes(j, s, w.now); ran != nil {
		w.row("busy", jobtext.Utilization(r.use, *ran))
	}
	w.row("evicted", r.evictions())
	w.row("retries", jobtext.Retries(health.Resume))
	for _, n := range health.Bad[:min(len(health.Bad), mostNodes)] {
		w.row("node", n.Node+" is "+jobtext.Health(n))
	}
	if more := len(health.Bad) - mostNodes; more > 0 {
		w.row("", words.Count(more, "more node has", "more nodes have")+" a fault")
	}
	w.row("fault", jobtext.JobFault(health.Last, w.now))
	created := jobs.Time(j.CreationTimestamp)
	if by := jobs.OwnerText(j); by != "" {
		created += " by " + by
	}
	if t := j.Annotations[kinds.TemplateAnnotation]; t != "" {
		created += ", template " + t
	}
	w.row("created", created)
	w.row("command", j.Annotations[kinds.CommandAnnotation])
	w.row("console", r.console)
	if !s.State.Finished() {
		w.row("progress", jobtext.Reported(j))
	}
	if s.Wanted > 0 {
		pods := fmt.Sprintf("%d of %d ready", s.Ready, s.Wanted)
		if s.State == jobs.Succeeded { // pods that completed are not ready
			pods = fmt.Sprintf("%d wanted", s.Wanted)
		}
		w.row("pods", fmt.Sprintf("%s, %d failed, restarts: %d", pods, s.Failed, s.Restarts))
	}
}

func (r report) queueText() string {
	q := r.job.Queue()
	if q == "" {
		return "none: the job is not queued and uses no quota"
	}
	if r.workload == nil || r.workload.Admission == nil {
		return q
	}
	text := q + " -> " + r.workload.Admission.ClusterQueue
	var flavors []string
	for _, ps := range r.workload.Admission.PodSets {
		for _, f := range ps.Flavors {
			flavors = append(flavors, f)
		}
	}
	slices.Sort(flavors)
	if flavors = slices.Compact(flavors); len(flavors) > 0 {
		text += ", flavor " + strings.Join(flavors, ", ")
	}
	return text
}

// group returns the pod group of a pod, with the devices that the group holds.
func (r report) group() string {
	group := r.job.Group()
	if group == "" {
		return ""
	}
	if held := jobtext.Holdings(jobs.Holdings(r.workload, r.queue, r.workloads), r.queue != nil); held != "" {
		return group + ", which holds " + held
	}
	return group
}

// accelerators returns the devices that the job holds or requests. What a pod group holds belongs to all its pods.
func (r report) accelerators() string {
	if held := jobs.AllHoldings(jobs.WorkloadsOf(r.job, r.workload, r.workloads), r.queue, r.workloads); len(held) > 0 && r.job.Group() == "" {
		return cmp.Or(jobtext.Holdings(held, r.queue != nil), "none")
	}
	total := map[string]int64{}
	for _, role := range r.job.Roles {
		for name, n := range role.Requests {
			total[name] += n * role.Replicas
		}
	}
	return cmp.Or(devices(total), "none")
}

func devices(requests map[string]int64) string {
	var out []string
	for name, n := range requests {
		out = append(out, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (r report) evictions() string {
	if r.workload == nil {
		return ""
	}
	var out []string
	for _, e := range r.workload.Evictions {
		out = append(out, fmt.Sprintf("%d x %s", e.Count, e.Reason))
	}
	return strings.Join(out, ", ")
}

func (r report) roles(w *writer, s jobs.Status) {
	if len(s.Roles) == 0 {
		return
	}
	t := output.Table{Columns: []output.Column{{Title: "ROLE"}, {Title: "WANTED", Right: true}, {Title: "READY", Right: true}, {Title: "FAILED", Right: true}, {Title: "EACH"}}}
	for i, role := range s.Roles {
		t.Rows = append(t.Rows, output.T(role.Name, fmt.Sprint(role.Wanted), fmt.Sprint(role.Ready), fmt.Sprint(role.Failed),
			cmp.Or(devices(r.job.Roles[i].Requests), "no accelerators")))
	}
	w.table(t)
}
