package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Step is what happened to a job at a moment of its timeline.
type Step string

// The steps, in the order in which those of one moment happen.
const (
	Created       Step = "Created"
	Finished      Step = "Finished" // succeeded or failed: see Moment.Failed
	Deactivated   Step = "Deactivated"
	Evicted       Step = "Evicted" // for another reason than preemption
	WasPreempted  Step = "Preempted"
	Lost          Step = "Lost"    // its pods were deleted, and nothing makes them again
	Stopped       Step = "Stopped" // its suspend field was set
	Queued        Step = "Queued"
	Waits         Step = "Waits"
	QuotaReserved Step = "QuotaReserved"
	Admitted      Step = "Admitted"
	Resumed       Step = "Resumed"
	Restarted     Step = "Restarted"
	Ran           Step = "Running"
)

var stepOrder = []Step{Created, Finished, Deactivated, Evicted, WasPreempted, Lost, Stopped, Queued, Waits, QuotaReserved, Admitted, Resumed, Restarted, Ran}

// Moment is one entry of a timeline.
type Moment struct {
	Time time.Time
	Step Step
	// Reason is Kueue's or the operator's own word, "" where there is none.
	Reason string
	// Message is the cluster's own sentence, "" where it has none.
	Message string
	// Failed is whether a job that Finished failed.
	Failed bool
	// By is who created the job and Priority its priority class; both are only known
	// of Created.
	By, Priority string
	// Queue is the LocalQueue of a job that was Created or Queued, and the ClusterQueue
	// of one that was Admitted.
	Queue string
	// ByWorkloadUID and ByJobUID are the UIDs of the workload that preempted the job and
	// of its job, as far as Kueue's message names them.
	ByWorkloadUID, ByJobUID string
	// HadQuota is whether a job that is Deactivated had been admitted before, as the workload's conditions show.
	HadQuota bool
	// Times counts how often the step happened up to this moment, if more than once.
	Times int
}

// TimelineOf returns the life of a job as far as it is recorded, oldest first: the
// conditions of the job and its workload hold the last time of each step, the
// events of both (others are ignored) the times before, as long as the cluster
// keeps events. w may be nil.
func TimelineOf(j state.Job, w *state.Workload, events []state.Event) []Moment {
	l := line{}
	l.add(j.CreationTimestamp, Moment{Step: Created, By: Creator(j.Labels, j.Annotations), Queue: j.Queue(), Priority: j.Priority()})
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

// line collects moments.
type line struct{ moments []Moment }

func (l *line) add(t time.Time, m Moment) {
	if t.IsZero() {
		return
	}
	m.Time = t.UTC()
	if m.Step == WasPreempted {
		p, _ := words.PreemptionIn(m.Message)
		m.ByWorkloadUID, m.ByJobUID = p.WorkloadUID, p.JobUID
		m.Reason = cmp.Or(p.Reason, m.Reason)
	}
	l.moments = append(l.moments, m)
}

// ofJob adds what the job's own status records.
func (l *line) ofJob(j state.Job, w *state.Workload) {
	for _, c := range j.Conditions {
		switch {
		case c.Type == "Suspended" && w == nil && c.Status == "False" && c.Reason != "":
			l.add(c.LastTransitionTime, Moment{Step: Resumed, Reason: c.Reason})
		case !c.True():
		case c.Type == "Suspended" && w == nil:
			l.add(c.LastTransitionTime, Moment{Step: Stopped, Reason: c.Reason})
		case c.Type == "Running" || c.Type == "PodsRunning":
			l.add(c.LastTransitionTime, Moment{Step: Ran, Reason: c.Reason})
		case c.Type == "Restarting":
			l.add(c.LastTransitionTime, Moment{Step: Restarted, Reason: c.Reason, Message: c.Message})
		}
	}
	s, over := ended(j, w)
	switch {
	case over && s.State == Succeeded:
		l.add(s.Since, Moment{Step: Finished, Reason: s.Reason})
	case over:
		l.add(s.Since, Moment{Step: Finished, Reason: s.Reason, Message: s.Message, Failed: true})
	case j.Start != nil && !l.has(Ran) && runs(j):
		l.add(*j.Start, Moment{Step: Ran})
	}
}

func (l *line) has(s Step) bool {
	return slices.ContainsFunc(l.moments, func(m Moment) bool { return m.Step == s })
}

// ofWorkload adds what the workload's status records. A condition that does not hold
// any more still has the time at which it ended, which is a step of its own only for
// QuotaReserved: the job is pending from then on.
func (l *line) ofWorkload(w state.Workload) {
	l.add(w.CreationTimestamp, Moment{Step: Queued, Queue: w.QueueName})
	queue := ""
	if w.Admission != nil {
		queue = w.Admission.ClusterQueue
	}
	preempted, _ := holds(w.Conditions, "Preempted")
	lost := quota.Lost(&w)
	requeued, again := reactivated(&w)
	_, hadQuota := state.Find(w.Conditions, "Admitted") // Kueue sets it at the first admission
	for _, c := range w.Conditions {
		m, at := Moment{Reason: c.Reason, Message: c.Message}, c.LastTransitionTime
		switch {
		case lost && (c.Type == "QuotaReserved" || c.Type == "Requeued"):
		case lost && c.Type == "WaitingForReplacementPods":
			m.Step, m.Message = Lost, ""
		case c.Type == "QuotaReserved" && c.Status == "False" && c.Message != "":
			m.Step = Waits
			if again { // its time is that of the deactivation, its message that of the wait
				at = requeued
			}
		case !c.True():
		case c.Type == "QuotaReserved":
			m.Step = QuotaReserved
		case c.Type == "Admitted":
			m.Step, m.Queue, m.Message = Admitted, queue, ""
		case c.Type == "Requeued":
			m.Step, m.Message = Queued, ""
		case c.Type == "PodsReady" && !l.has(Ran):
			m.Step, m.Message = Ran, ""
		case c.Type == "Evicted" && c.Reason == "Preempted":
			m.Step, m.Reason, m.Message = WasPreempted, cmp.Or(preempted.Reason, c.Reason), cmp.Or(preempted.Message, c.Message)
		case c.Type == "Evicted" && deactivation(c.Reason):
			m.Step, m.HadQuota = Deactivated, hadQuota
		case c.Type == "Evicted":
			m.Step = Evicted
		}
		if m.Step != "" {
			l.add(at, m)
		}
	}
}

// deactivation reports an eviction because somebody, or Kueue itself, made the
// workload inactive ("Deactivated", "DeactivatedDueTo..."; "InactiveWorkload"
// before Kueue v0.10).
func deactivation(reason string) bool {
	return strings.HasPrefix(reason, "Deactivated") || strings.HasPrefix(reason, "InactiveWorkload")
}

// ofEvent adds an event of Kueue or of the job's operator.
func (l *line) ofEvent(e state.Event) {
	m := Moment{Reason: e.Reason, Message: e.Message}
	evicted, isEviction := strings.CutPrefix(e.Reason, "EvictedDueTo")
	switch {
	case e.Kind == "Workload" && e.Reason == "QuotaReserved":
		m.Step, m.Message = QuotaReserved, trimWait(e.Message)
	case e.Kind == "Workload" && e.Reason == "Admitted":
		m.Step, m.Message = Admitted, trimWait(e.Message)
	case e.Kind == "Workload" && e.Reason == "Pending":
		m.Step = Waits
	case e.Kind == "Workload" && e.Reason == "Preempted":
		m.Step = WasPreempted
	case e.Kind == "Workload" && isEviction:
		switch m.Reason = evicted; {
		case evicted == "Preempted":
			m.Step = WasPreempted
		case deactivation(evicted):
			m.Step = Deactivated
		default:
			m.Step = Evicted
		}
	case strings.HasSuffix(e.Reason, "JobRunning"):
		m.Step, m.Message = Ran, ""
	case strings.HasSuffix(e.Reason, "JobRestarting"):
		m.Step = Restarted
	default:
		return
	}
	l.add(e.First, m)
	// Operators report again and again that a job runs.
	if e.Count > 1 && m.Step != Ran {
		m.Times = e.Count
		l.add(e.Last, m)
	}
}

// same is how far apart the records of one step may be: a condition is written
// with whole seconds, its event a moment before or after.
const same = time.Second

// sorted puts the moments in order and drops repetitions.
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
	admittedFirst(out)
	return slices.DeleteFunc(out, func(m Moment) bool {
		// Quota that is admitted at once is no step of its own.
		return m.Step == QuotaReserved && slices.ContainsFunc(out, func(a Moment) bool { return a.Step == Admitted && near(a.Time, m.Time) })
	})
}

// merge adds m to a moment in out that records the same step. A wait continues under
// changing messages until another step happens: merge keeps its start and the last
// message.
func merge(out []Moment, m Moment) bool {
	soon := m.Step == Admitted // after an admission, with no loss of the quota between
	for i := len(out) - 1; i >= 0; i-- {
		o := &out[i]
		soon = soon && !ends(o.Step) && m.Time.Sub(o.Time) <= late
		switch {
		case m.Step == Waits && o.Step == Waits:
			o.Reason, o.Message = cmp.Or(m.Reason, o.Reason), m.Message
			return true
		case m.Step == Waits && near(o.Time, m.Time) && o.Message == m.Message && m.Message != "":
			return true // Kueue repeats why it evicted as why the job waits
		case soon && o.Step == Admitted:
		case soon:
			continue
		case m.Step == Waits || !near(o.Time, m.Time):
			return false
		case o.Step != m.Step:
			continue
		}
		if len(m.Message) > len(o.Message) {
			o.Message = m.Message
		}
		o.Queue, o.HadQuota = cmp.Or(o.Queue, m.Queue), o.HadQuota || m.HadQuota
		if o.Reason == "" || o.Reason == string(o.Step) {
			o.Reason = cmp.Or(m.Reason, o.Reason)
		}
		o.Times = max(o.Times, m.Times)
		o.ByWorkloadUID, o.ByJobUID = cmp.Or(o.ByWorkloadUID, m.ByWorkloadUID), cmp.Or(o.ByJobUID, m.ByJobUID)
		return true
	}
	return false
}

// late is how long after the condition Kueue's event about an admission may come.
const late = time.Minute

// ends reports whether a workload loses its quota in a step.
func ends(s Step) bool {
	return s == Finished || s == Deactivated || s == Evicted || s == WasPreempted || s == Lost || s == Stopped
}

// admittedFirst moves an admission before a preemption of the same second if the workload was not admitted before:
// what has no quota cannot be preempted.
func admittedFirst(line []Moment) {
	admitted := false
	for i, m := range line {
		if m.Step == WasPreempted && !admitted {
			same := func(o Moment) bool {
				return o.Step == Admitted && o.Time.Truncate(time.Second).Equal(m.Time.Truncate(time.Second))
			}
			if n := slices.IndexFunc(line[i:], same); n >= 0 {
				first := line[i+n]
				copy(line[i+1:i+n+1], line[i:i+n])
				line[i], admitted = first, true
				continue
			}
		}
		if ends(m.Step) {
			admitted = false
		}
		admitted = admitted || m.Step == Admitted
	}
}

func near(a, b time.Time) bool {
	return a.Truncate(time.Second).Sub(b.Truncate(time.Second)).Abs() <= same
}

var waited = pattern.Lazy(`, wait time since .*$`)

func trimWait(text string) string { return waited().ReplaceAllString(text, "") }
