package jobs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Step is what happened to a job at a moment of its time line.
type Step string

// The steps, in the order in which those of one moment happen.
const (
	Created       Step = "Created"
	Finished      Step = "Finished" // of its own accord or not: see Reason
	Deactivated   Step = "Deactivated"
	Evicted       Step = "Evicted" // for another reason than preemption
	WasPreempted  Step = "Preempted"
	Stopped       Step = "Stopped" // its suspend field was set
	Queued        Step = "Queued"
	Waits         Step = "Waits"
	QuotaReserved Step = "QuotaReserved"
	Admitted      Step = "Admitted"
	Resumed       Step = "Resumed"
	Restarted     Step = "Restarted"
	Ran           Step = "Running"
)

var stepOrder = []Step{Created, Finished, Deactivated, Evicted, WasPreempted, Stopped, Queued, Waits, QuotaReserved, Admitted, Resumed, Restarted, Ran}

// Moment is one entry of a time line.
type Moment struct {
	Time time.Time
	Step Step
	// Reason is Kueue's or the operator's own word, "" where there is none.
	Reason string
	// Text says it in words; Kueue's own message where it has one (see Plain).
	Text string
	// ByWorkloadUID and ByJobUID are whom a preempted job made way for, as far as
	// the message says.
	ByWorkloadUID, ByJobUID string
	// Times is how often it happened up to this moment, where it was more than once.
	Times int
}

// TimelineOf tells the life of a job as far as it is recorded, oldest first: the
// conditions of the job and its workload hold the last time of each step, the
// events of both (others are ignored) the times before, as long as the cluster
// keeps events. w may be nil.
func TimelineOf(j state.Job, w *state.Workload, events []state.Event) []Moment {
	l := line{}
	l.add(j.CreationTimestamp, Created, "", createdText(j))
	l.ofJob(j, w)
	if w != nil {
		l.ofWorkload(*w)
	}
	for _, e := range events {
		if e.ObjectUID == j.UID && e.ObjectUID != "" || w != nil && e.ObjectUID == w.UID && w.UID != "" {
			l.ofEvent(e)
		}
	}
	return l.sorted()
}

func createdText(j state.Job) string {
	text := "created"
	if by := Creator(j.Labels, j.Annotations); by != "" {
		text += " by " + by
	}
	if q := j.Queue(); q != "" {
		text += ", queue " + q
	}
	if p := j.Priority(); p != "" {
		text += ", " + p
	}
	return text
}

// Creator returns who made an object, as far as its labels and annotations say.
func Creator(labels, annotations map[string]string) string {
	return cmp.Or(labels[kinds.CreatedByLabel], annotations[kinds.CreatedByAnnotation])
}

// line collects moments.
type line struct{ moments []Moment }

func (l *line) add(t time.Time, s Step, reason, text string) {
	if t.IsZero() {
		return
	}
	m := Moment{Time: t.UTC(), Step: s, Reason: reason, Text: text}
	if s == WasPreempted {
		p, _ := words.PreemptionIn(text)
		m.ByWorkloadUID, m.ByJobUID = p.WorkloadUID, p.JobUID
		m.Reason = cmp.Or(words.ReasonInMessage(text), reason)
	}
	l.moments = append(l.moments, m)
}

// ofJob takes what the job's own status records.
func (l *line) ofJob(j state.Job, w *state.Workload) {
	for _, c := range j.Conditions {
		switch {
		case c.Type == "Suspended" && w == nil && c.Status == "False" && c.Reason != "":
			l.add(c.LastTransitionTime, Resumed, c.Reason, "resumed")
		case !c.True():
		case c.Type == "Suspended" && w == nil:
			l.add(c.LastTransitionTime, Stopped, c.Reason, "suspended")
		case c.Type == "Running" || c.Type == "PodsRunning":
			l.add(c.LastTransitionTime, Ran, c.Reason, "running")
		case c.Type == "Restarting":
			l.add(c.LastTransitionTime, Restarted, c.Reason, cmp.Or(c.Message, "restarting"))
		}
	}
	s, over := ended(j, w)
	switch {
	case over && s.State == Succeeded:
		l.add(s.Since, Finished, s.Reason, "succeeded")
	case over:
		l.add(s.Since, Finished, s.Reason, "failed"+after(": ", s.Message))
	case j.Start != nil && !l.has(Ran) && runs(j):
		l.add(*j.Start, Ran, "", "running")
	}
}

func (l *line) has(s Step) bool {
	return slices.ContainsFunc(l.moments, func(m Moment) bool { return m.Step == s })
}

// ofWorkload takes what the workload's status records. A condition that does not
// hold any more still tells when it ended, which is a step of its own only for
// QuotaReserved: then the job waits.
func (l *line) ofWorkload(w state.Workload) {
	l.add(w.CreationTimestamp, Queued, "", "queued"+after(" in ", w.QueueName))
	queue := ""
	if w.Admission != nil {
		queue = " by " + w.Admission.ClusterQueue
	}
	preempted, _ := holds(w.Conditions, "Preempted")
	for _, c := range w.Conditions {
		switch {
		case c.Type == "QuotaReserved" && c.Status == "False" && c.Message != "":
			l.add(c.LastTransitionTime, Waits, c.Reason, c.Message)
		case !c.True():
		case c.Type == "QuotaReserved":
			l.add(c.LastTransitionTime, QuotaReserved, c.Reason, c.Message)
		case c.Type == "Admitted":
			l.add(c.LastTransitionTime, Admitted, c.Reason, "admitted"+queue)
		case c.Type == "Requeued":
			l.add(c.LastTransitionTime, Queued, c.Reason, "queued again")
		case c.Type == "PodsReady" && !l.has(Ran):
			l.add(c.LastTransitionTime, Ran, c.Reason, "running")
		case c.Type == "Evicted" && c.Reason == "Preempted":
			l.add(c.LastTransitionTime, WasPreempted, cmp.Or(preempted.Reason, c.Reason), cmp.Or(preempted.Message, c.Message))
		case c.Type == "Evicted" && deactivation(c.Reason):
			l.add(c.LastTransitionTime, Deactivated, c.Reason, deactivated(c.Message))
		case c.Type == "Evicted":
			l.add(c.LastTransitionTime, Evicted, c.Reason, cmp.Or(c.Message, c.Reason))
		}
	}
}

// deactivation reports an eviction because somebody, or Kueue itself, made the
// workload inactive ("Deactivated", "DeactivatedDueTo..."; "InactiveWorkload"
// before Kueue v0.10).
func deactivation(reason string) bool {
	return strings.HasPrefix(reason, "Deactivated") || strings.HasPrefix(reason, "InactiveWorkload")
}

// deactivated says in words what Kueue's bare message means.
func deactivated(message string) string {
	if message == "" || message == "The workload is deactivated" {
		return "suspended: its Workload was deactivated"
	}
	return message
}

// ofEvent takes an event of Kueue or of the job's operator.
func (l *line) ofEvent(e state.Event) {
	reason := e.Reason
	var step Step
	text := e.Message
	switch {
	case e.Kind == "Workload" && reason == "QuotaReserved":
		step = QuotaReserved
		text = trimWait(text)
	case e.Kind == "Workload" && reason == "Admitted":
		step = Admitted
		text = lowerFirst(trimWait(text))
	case e.Kind == "Workload" && reason == "Pending":
		step = Waits
	case e.Kind == "Workload" && reason == "Preempted":
		step = WasPreempted
	case e.Kind == "Workload" && strings.HasPrefix(reason, "EvictedDueTo"):
		switch reason = strings.TrimPrefix(reason, "EvictedDueTo"); {
		case reason == "Preempted":
			step = WasPreempted
		case deactivation(reason):
			step, text = Deactivated, deactivated(text)
		default:
			step = Evicted
		}
	case strings.HasSuffix(reason, "JobRunning"):
		step, text = Ran, "running"
	case strings.HasSuffix(reason, "JobRestarting"):
		step = Restarted
	default:
		return
	}
	l.add(e.First, step, reason, text)
	// Operators say again and again that a job runs.
	if e.Count > 1 && step != Ran {
		l.add(e.Last, step, reason, text)
		l.moments[len(l.moments)-1].Times = e.Count
	}
}

// same is how far apart the records of one step may be: a condition is written
// with whole seconds, its event a moment before or after.
const same = time.Second

// sorted puts the moments in order and drops what is told twice.
func (l *line) sorted() []Moment {
	slices.SortStableFunc(l.moments, func(a, b Moment) int {
		if d := a.Time.Truncate(time.Second).Compare(b.Time.Truncate(time.Second)); d != 0 {
			return d
		}
		return cmp.Compare(slices.Index(stepOrder, a.Step), slices.Index(stepOrder, b.Step))
	})
	var out []Moment
	for _, m := range l.moments {
		if !merge(out, m) {
			out = append(out, m)
		}
	}
	return slices.DeleteFunc(out, func(m Moment) bool {
		// Quota that is admitted at once is no step of its own.
		return m.Step == QuotaReserved && slices.ContainsFunc(out, func(a Moment) bool { return a.Step == Admitted && near(a.Time, m.Time) })
	})
}

// merge adds m to a moment in out that tells the same. A wait goes on under
// changing words until something else happens: the last words are kept, and when
// it began.
func merge(out []Moment, m Moment) bool {
	for i := len(out) - 1; i >= 0; i-- {
		o := &out[i]
		switch {
		case m.Step == Waits && o.Step == Waits:
			o.Reason, o.Text = cmp.Or(m.Reason, o.Reason), m.Text
			return true
		case m.Step == Waits && near(o.Time, m.Time) && (o.Text == m.Text || o.Text == deactivated(m.Text)):
			return true // Kueue repeats why it evicted as why the job waits
		case m.Step == Waits || !near(o.Time, m.Time):
			return false
		case o.Step != m.Step:
			continue
		}
		if len(m.Text) > len(o.Text) {
			o.Text = m.Text
		}
		if o.Reason == "" || o.Reason == string(o.Step) {
			o.Reason = cmp.Or(m.Reason, o.Reason)
		}
		o.Times = max(o.Times, m.Times)
		o.ByWorkloadUID, o.ByJobUID = cmp.Or(o.ByWorkloadUID, m.ByWorkloadUID), cmp.Or(o.ByJobUID, m.ByJobUID)
		return true
	}
	return false
}

func near(a, b time.Time) bool {
	return a.Truncate(time.Second).Sub(b.Truncate(time.Second)).Abs() <= same
}

var waited = regexp.MustCompile(`, wait time since .*$`)

func trimWait(text string) string { return waited.ReplaceAllString(text, "") }

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// after returns sep and s, or nothing where s is empty.
func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprint(sep, s)
}
