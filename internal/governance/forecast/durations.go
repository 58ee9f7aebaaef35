package forecast

import (
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// span is how long a workload runs in all: low if things go fast, high if slow.
type span struct {
	low, high time.Duration
	source    queue.DurationSource
	known     bool
}

// enough is how many finished workloads make a usual length.
const enough = 3

// durations knows how long workloads run.
type durations struct {
	o       Options
	history map[string][]time.Duration // sorted, by team and by team and priority
}

func team(w *kueue.Workload) string { return w.Namespace + "/" + string(w.Spec.QueueName) }

func teamPriority(w *kueue.Workload) string {
	if ref := w.Spec.PriorityClassRef; ref != nil && ref.Name != "" {
		return team(w) + "\x00" + ref.Name
	}
	p := int32(0)
	if w.Spec.Priority != nil {
		p = *w.Spec.Priority
	}
	return fmt.Sprintf("%s\x00%d", team(w), p)
}

func learn(finished []*kueue.Workload, o Options) *durations {
	l := &durations{o: o, history: map[string][]time.Duration{}}
	for _, w := range finished {
		if d, ok := ran(w); ok {
			for _, k := range []string{team(w), teamPriority(w)} {
				l.history[k] = append(l.history[k], d)
			}
		}
	}
	for _, h := range l.history {
		slices.Sort(h)
	}
	return l
}

// ran returns how long a finished workload held its quota.
func ran(w *kueue.Workload) (time.Duration, bool) {
	end := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadFinished)
	begin := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted)
	if end == nil || begin == nil || begin.Status != "True" || end.Reason == kueue.WorkloadSliceReplaced {
		return 0, false
	}
	d := end.LastTransitionTime.Sub(begin.LastTransitionTime.Time) + past(w)
	return d, d > 0
}

// past returns how long a workload ran before it was evicted.
func past(w *kueue.Workload) time.Duration {
	if s := w.Status.AccumulatedPastExecutionTimeSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 0
}

// elapsed returns how long a workload that holds its quota has been running; 0 for one
// that waits for its admission checks.
func elapsed(w *kueue.Workload, now time.Time) time.Duration {
	c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted)
	if c == nil || c.Status != "True" {
		return 0
	}
	return max(now.Sub(c.LastTransitionTime.Time), 0)
}

// remaining returns how much longer a workload runs that has run for a while. The
// limits are maxima, so what is usual in its team counts where it is shorter. A
// workload that outlasted all its like has no usual length any more. What a running job
// reports itself counts before what is usual.
func (l *durations) remaining(w *kueue.Workload, elapsed time.Duration) span {
	out := l.usual(w, elapsed)
	if l.o.Deadline != nil && elapsed > 0 { // a job that starts anew has reported nothing
		if left := l.o.Deadline(w).Left; left > 0 {
			out = span{left, left, queue.Reported, true}
		}
	}
	limit, source := l.limit(w)
	if limit > 0 {
		left := max(limit-elapsed, 0)
		switch {
		case !out.known:
			out = span{left, left, source, true}
		default:
			out.low, out.high = min(out.low, left), min(out.high, left)
		}
		if source == queue.ActiveDeadline && elapsed-limit >= late {
			out.source = queue.PastDeadline
		}
	}
	if !out.known && l.o.Assume > 0 {
		out = span{l.o.Assume - elapsed, l.o.Assume - elapsed, queue.Assumed, true}
		if out.low <= 0 {
			out = span{source: queue.PastAssumed, known: true}
		}
	}
	return out
}

// late is how long after its deadline a workload still counts as one that its operator is about to end.
const late = 2 * time.Minute

// limit returns the longest a workload may run, 0 when nothing limits it.
func (l *durations) limit(w *kueue.Workload) (limit time.Duration, source queue.DurationSource) {
	shorter := func(d time.Duration, s queue.DurationSource) {
		if d > 0 && (limit == 0 || d < limit) {
			limit, source = d, s
		}
	}
	if s := w.Spec.MaximumExecutionTimeSeconds; s != nil {
		// What it ran before an eviction counts against Kueue's limit.
		shorter(max(time.Duration(*s)*time.Second-past(w), time.Second), queue.MaximumExecutionTime)
	}
	for i := range w.Spec.PodSets {
		if s := w.Spec.PodSets[i].Template.Spec.ActiveDeadlineSeconds; s != nil {
			shorter(time.Duration(*s)*time.Second, queue.ActiveDeadline)
		}
	}
	if l.o.Deadline != nil {
		shorter(l.o.Deadline(w).Deadline, queue.ActiveDeadline)
	}
	return limit, source
}

// usual returns the quartiles of the durations of finished workloads that lasted
// longer than elapsed.
func (l *durations) usual(w *kueue.Workload, elapsed time.Duration) span {
	for _, from := range []struct {
		key    string
		source queue.DurationSource
	}{{teamPriority(w), queue.TeamPriorityHistory}, {team(w), queue.TeamHistory}} {
		h := l.history[from.key]
		if len(h) < enough {
			continue
		}
		i, _ := slices.BinarySearch(h, elapsed+1)
		longer := h[i:]
		if len(longer) == 0 {
			return span{}
		}
		n := len(longer)
		return span{longer[n/4] - elapsed, longer[(3*n)/4] - elapsed, from.source, true}
	}
	return span{}
}
