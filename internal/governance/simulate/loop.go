package simulate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// Loop is why a policy never converges: who preempts whom, again and again.
type Loop struct {
	// Exact: the steps repeat unchanged. Otherwise they are the most frequent preemptions
	// up to the end of the simulation.
	Exact bool
	Steps []LoopStep
}

// LoopStep is one eviction or admission of a loop.
type LoopStep struct {
	// Action is Preempts or Starts.
	Action string
	Job    string // "namespace/job": who acts
	// Workload ("namespace/name") is Job's.
	Workload string
	// Target is the job that it preempts, TargetWorkload its workload ("namespace/name").
	Target         string
	TargetWorkload string
	// Reason is Kueue's: InClusterQueue, InCohortReclamation, InCohortFairSharing,
	// InCohortReclaimWhileBorrowing.
	Reason string
	// Times is the number of times that the step happened, if the loop is not exact.
	Times int
}

// The actions of a loop.
const (
	Preempts = "Preempts"
	Starts   = "Starts"
)

// moves returns the events that change who runs.
func moves(events []admission.Event) []admission.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e admission.Event) bool {
		return e.Kind != admission.EventPreempted && e.Kind != admission.EventAdmitted && e.Kind != admission.EventQuotaReserved
	})
}

func sameMove(a, b admission.Event) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && a.By == b.By
}

// findLoop finds a sequence of moves that the events end with three times in a row
// and that holds an eviction; nil when there is none.
func findLoop(events []admission.Event, label func(namespace, name string) string) *Loop {
	m := moves(events)
	for n := 1; 3*n <= len(m); n++ {
		tail := m[len(m)-n:]
		if !slices.ContainsFunc(tail, func(e admission.Event) bool { return e.Kind == admission.EventPreempted }) {
			continue
		}
		if slices.EqualFunc(tail, m[len(m)-2*n:len(m)-n], sameMove) && slices.EqualFunc(tail, m[len(m)-3*n:len(m)-2*n], sameMove) {
			return &Loop{Exact: true, Steps: steps(turned(tail), label)}
		}
	}
	return nil
}

// turned returns a loop that begins with an eviction, which is easier to read.
func turned(m []admission.Event) []admission.Event {
	i := slices.IndexFunc(m, func(e admission.Event) bool { return e.Kind == admission.EventPreempted })
	return slices.Concat(m[i:], m[:i])
}

func steps(m []admission.Event, label func(string, string) string) []LoopStep {
	var out []LoopStep
	for _, e := range m {
		out = append(out, step(e, label))
	}
	return out
}

func step(e admission.Event, label func(string, string) string) LoopStep {
	if e.Kind != admission.EventPreempted {
		return LoopStep{Action: Starts, Job: label(e.Namespace, e.Name), Workload: e.Namespace + "/" + e.Name}
	}
	ns, name, _ := strings.Cut(e.By, "/")
	return LoopStep{Action: Preempts, Job: label(ns, name), Workload: e.By, Target: label(e.Namespace, e.Name), TargetWorkload: e.Namespace + "/" + e.Name, Reason: e.Reason}
}

// mostFrequent returns the evictions seen most often, at most ten; nil without any.
func mostFrequent(events []admission.Event, label func(string, string) string) *Loop {
	times := map[LoopStep]int{}
	for _, e := range events {
		if e.Kind == admission.EventPreempted {
			times[step(e, label)]++
		}
	}
	if len(times) == 0 {
		return nil
	}
	l := &Loop{}
	for s, n := range times {
		s.Times = n
		l.Steps = append(l.Steps, s)
	}
	slices.SortFunc(l.Steps, func(a, b LoopStep) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Target, b.Target))
	})
	l.Steps = l.Steps[:min(len(l.Steps), 10)]
	return l
}
