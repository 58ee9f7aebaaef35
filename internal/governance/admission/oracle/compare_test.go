package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// side is one of the two schedulers that run the same input.
type side interface {
	// step runs one scheduling cycle. It returns false if no workload was pending,
	// and what each workload with a new quota reservation borrows, by its key.
	step() (worked bool, borrowed map[client.ObjectKey]string)
	arrive(*kueue.Workload)
	finish(client.ObjectKey)
	pass(client.ObjectKey) // all admission checks of a workload become ready
	node(nodeEvent)
	end(client.ObjectKey) // the pods of a workload that is being evicted end
	wait(time.Duration)
	workload(client.ObjectKey) *kueue.Workload
}

// cycle is one scheduling cycle of a recorded run: the events before it, its
// outcome, and the events after it.
type cycle struct {
	dropped  []client.ObjectKey // old slices that the job controller deletes
	arrived  []*kueue.Workload
	outcome  outcome
	passed   []client.ObjectKey
	nodes    []nodeEvent
	ended    []client.ObjectKey
	finished []client.ObjectKey
	waited   time.Duration
}

// nodeEvent is a node that fails or is ready again. Kueue's node controller notes it in the status of the workloads.
type nodeEvent struct {
	node  *corev1.Node
	ready bool
	of    []client.ObjectKey
}

// noted is a workload with the failed node in its status.
func (ev nodeEvent) noted(old *kueue.Workload) *kueue.Workload {
	w := old.DeepCopy()
	w.Status.UnhealthyNodes = append(w.Status.UnhealthyNodes, kueue.UnhealthyNode{Name: ev.node.Name})
	return w
}

// alone reports that a workload may need a second pass. With fair sharing Kueue tries one workload of each queue in a
// cycle. Of several that need a second pass that one is any, cycle after cycle, so that no run of Kueue repeats another.
func alone(in *input, s side, k client.ObjectKey, others []client.ObjectKey) bool {
	return in.fair == nil || !slices.ContainsFunc(others, func(o client.ObjectKey) bool {
		w := s.workload(o)
		return o != k && workload.NeedsSecondPass(w) && w.Status.Admission.ClusterQueue == s.workload(k).Status.Admission.ClusterQueue
	})
}

// turn makes a node fail, or a failed one ready, and finds the workloads on it. Kueue evicts a workload at its second
// failed node without the scheduler, so no workload gets a second one. Kueue keeps replacing a node that is ready again,
// if that was to be replaced; so such a node stays as it is.
func turn(r *rand.Rand, in *input, s side, running []client.ObjectKey, down map[string]bool) (nodeEvent, bool) {
	n := pick(r, in.nodes).DeepCopy()
	ev := nodeEvent{node: n, ready: down[n.Name]}
	if ev.ready && slices.ContainsFunc(running, func(k client.ObjectKey) bool { return workload.HasUnhealthyNode(s.workload(k), n.Name) }) {
		return ev, false
	}
	down[n.Name] = !ev.ready
	for i := range n.Status.Conditions {
		if !ev.ready {
			n.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	for _, k := range running {
		w := s.workload(k)
		marked := slices.ContainsFunc(ev.of, func(o client.ObjectKey) bool { return in.fair != nil && o.Namespace == k.Namespace })
		if !ev.ready && !marked && in.families[k.Namespace] == nil && alone(in, s, k, running) && len(w.Status.UnhealthyNodes) == 0 && utiltas.HasTASAssignmentOnNode(w.Status.Admission, n.Name) {
			ev.of = append(ev.of, k)
		}
	}
	return ev, true
}

// outcome is everything that is compared after a cycle.
type outcome struct {
	worked   bool
	borrowed map[client.ObjectKey]string
	status   map[client.ObjectKey]status
}

// status is a workload's status. Its messages stand apart, because no later
// decision depends on them.
type status struct{ decision, messages string }

// decisions returns the first difference from another outcome that is more than
// the text of a message, "" if there is none.
func (o outcome) decisions(other outcome) string {
	if o.worked != other.worked {
		return fmt.Sprintf("had work %v, %v", o.worked, other.worked)
	}
	if !maps.Equal(o.borrowed, other.borrowed) {
		return fmt.Sprintf("borrowed:\n  %v\n  %v", o.borrowed, other.borrowed)
	}
	for _, k := range slices.SortedFunc(maps.Keys(o.status), compareKeys) {
		if a, b := o.status[k], other.status[k]; a.decision != b.decision {
			return fmt.Sprintf("%s:\n  %s\n  %s", k, a, b)
		}
	}
	return ""
}

// messages returns the workloads whose messages differ.
func (o outcome) messages(other outcome) map[client.ObjectKey]string {
	out := map[client.ObjectKey]string{}
	for k, a := range o.status {
		if b := other.status[k]; !same(a.messages, b.messages) {
			out[k] = fmt.Sprintf("%s:\n  %s\n  %s", k, a, b)
		}
	}
	return out
}

func compareKeys(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) }

// observe runs one cycle on a side and describes the named workloads after it.
func observe(s side, keys []client.ObjectKey) outcome {
	o := outcome{status: make(map[client.ObjectKey]status, len(keys))}
	o.worked, o.borrowed = s.step()
	for _, k := range keys {
		o.status[k] = describe(s.workload(k))
	}
	return o
}

// record runs an input on one side and writes down every event and outcome.
// Workloads arrive late, and every few cycles a running one finishes, so that
// there is always movement.
func record(in *input, s side, seen *effects) []cycle {
	r := rand.New(rand.NewPCG(uint64(in.seed), 99))
	var keys []client.ObjectKey
	for _, o := range in.objects() {
		if w, ok := o.(*kueue.Workload); ok {
			keys = append(append(keys, client.ObjectKeyFromObject(w)), in.members(w)...)
		}
	}
	remove := func(k client.ObjectKey) {
		keys = slices.DeleteFunc(keys, func(o client.ObjectKey) bool { return o == k })
	}
	late, arrived := in.late, []*kueue.Workload(nil)
	before, down := map[client.ObjectKey]*kueue.Workload{}, map[string]bool{}
	var out []cycle
	for range in.cycles() {
		var c cycle
		for ; len(late) > 0 && r.IntN(3) > 0; late = late[1:] {
			c.arrived = append(c.arrived, late[0])
			s.arrive(late[0].DeepCopy())
			keys = append(append(keys, client.ObjectKeyFromObject(late[0])), in.members(late[0])...)
			arrived = append(arrived, late[0])
		}
		// The job controller deletes old slices that do not run.
		for _, w := range arrived {
			if old, ok := oldSlice(w); ok {
				if o := s.workload(old); o != nil && !workload.HasQuotaReservation(o) && !workloadfinish.IsFinished(o) {
					c.dropped = append(c.dropped, old)
					gone := append(in.members(o), old)
					s.finish(old)
					for _, k := range gone {
						remove(k)
					}
				}
			}
		}
		c.outcome = observe(s, keys)
		if c.outcome.worked {
			seen.cycles++
		}
		seen.borrowing(c.outcome.borrowed)
		var running []client.ObjectKey
		for _, k := range keys {
			w := s.workload(k)
			seen.change(in, before[k], w)
			if before[k] = w.DeepCopy(); w != nil && !workloadfinish.IsFinished(w) && workload.HasQuotaReservation(w) {
				running = append(running, k)
			}
		}
		if in.checks && len(running) > 0 && r.IntN(2) == 0 {
			if k := running[r.IntN(len(running))]; len(s.workload(k).Status.AdmissionChecks) > 0 && alone(in, s, k, running) {
				c.passed = append(c.passed, k)
				s.pass(k)
				seen.change(in, before[k], s.workload(k))
				before[k] = s.workload(k).DeepCopy()
			}
		}
		if leaving := slices.DeleteFunc(slices.Clone(running), func(k client.ObjectKey) bool { return !workloadevict.IsEvicted(s.workload(k)) }); len(leaving) > 0 && r.IntN(3) == 0 {
			k := leaving[r.IntN(len(leaving))]
			c.ended = append(c.ended, k)
			s.end(k)
			seen.change(in, before[k], s.workload(k))
			before[k] = s.workload(k).DeepCopy()
			seen.of[underWay]++
		}
		if in.failing && r.IntN(3) == 0 {
			if ev, ok := turn(r, in, s, running, down); ok {
				c.nodes = append(c.nodes, ev)
				s.node(ev)
			}
		}
		jobs := slices.DeleteFunc(running, in.isMember) // the variants of a job go with it
		if len(jobs) > 0 && (!c.outcome.worked || r.IntN(4) == 0) {
			k := jobs[r.IntN(len(jobs))]
			c.finished = append(c.finished, k)
			gone := in.members(s.workload(k))
			s.finish(k)
			remove(k)
			for _, m := range gone {
				remove(m)
			}
		}
		if in.concurrent && r.IntN(3) == 0 {
			c.waited = time.Duration(1+r.IntN(6)) * time.Minute
			s.wait(c.waited)
		}
		out = append(out, c)
	}
	return out
}

// text names one workload's messages after one cycle.
type text struct {
	cycle int
	key   client.ObjectKey
}

// replay is one run of a side along a recorded run.
type replay struct {
	// end is the first cycle with another decision; the number of cycles if all agree.
	end  int
	diff string
	// texts are the messages before end that differ.
	texts map[text]string
}

// follow plays the events of a recorded run to a side, as far as the decisions agree.
func follow(run []cycle, s side) replay {
	out := replay{end: len(run), texts: map[text]string{}}
	for i, c := range run {
		for _, w := range c.arrived {
			s.arrive(w.DeepCopy())
		}
		for _, k := range c.dropped {
			s.finish(k)
		}
		got := observe(s, slices.Collect(maps.Keys(c.outcome.status)))
		if d := c.outcome.decisions(got); d != "" {
			out.end, out.diff = i, fmt.Sprintf("cycle %d %s", i, d)
			return out
		}
		for k, d := range c.outcome.messages(got) {
			out.texts[text{i, k}] = fmt.Sprintf("cycle %d %s", i, d)
		}
		for _, k := range c.passed {
			s.pass(k)
		}
		for _, k := range c.ended {
			s.end(k)
		}
		for _, ev := range c.nodes {
			s.node(ev)
		}
		for _, k := range c.finished {
			s.finish(k)
		}
		if c.waited > 0 {
			s.wait(c.waited)
		}
	}
	return out
}

// verify holds a recorded run to Kueue. Kueue has several outcomes where shares or
// places are equal, because it walks through Go maps. One run of Kueue must make
// all recorded decisions, and each recorded message must be one that Kueue writes
// after these decisions. Where a run of Kueue differs, Kueue starts over until one
// has the recorded outcome there and goes on along the recorded run.
//
// verify returns the number of cycles at which a run of Kueue differed (ties). It
// returns a difference if Kueue reached a cycle tries times and never had the
// recorded outcome there.
func verify(run []cycle, tries int, kueue func() side) (ties int, diff string) {
	v := verdict{tied: map[int]bool{}, passed: make([]bool, len(run)), differed: map[text]int{}, written: map[text]bool{}}
	furthest, reached, complete := replay{end: -1}, 0, false
	// Most runs end at a tie before the furthest cycle, so all runs have a limit of their own. With ties at 15 cycles, one run in
	// 30,000 has all outcomes.
	const runs = 1000
	for n := 1; n <= runs*tries; n++ {
		r := follow(run, kueue())
		v.note(r)
		switch {
		case r.end == len(run):
			complete = true
		case r.end > furthest.end:
			furthest, reached = r, 1
		case r.end == furthest.end:
			reached++
		}
		at, open := v.open()
		switch {
		case complete && !open:
			return len(v.tied), ""
		case !complete && reached >= tries:
			return 0, fmt.Sprintf("Kueue reached this cycle %d times in %d runs, always with another outcome: %s", reached, n, furthest.diff)
		case open && v.differed[at] >= tries:
			return 0, fmt.Sprintf("Kueue never wrote this message in %d runs: %s", v.differed[at], r.texts[at])
		}
	}
	return 0, fmt.Sprintf("no run of Kueue in %d has all outcomes, ties at %d cycles; the last difference: %s", runs*tries, len(v.tied), furthest.diff)
}

// verdict sums up runs of Kueue along a recorded run.
type verdict struct {
	tied     map[int]bool  // cycles at which a run differed
	passed   []bool        // cycles that a run got past
	differed map[text]int  // how many runs wrote another message
	written  map[text]bool // messages of differed that a run wrote
}

func (v verdict) note(r replay) {
	if r.end < len(v.passed) {
		v.tied[r.end] = true
	}
	for at := range v.differed {
		if r.texts[at] == "" && at.cycle < r.end {
			v.written[at] = true
		}
	}
	for at := range r.texts {
		v.tied[at.cycle] = true
		if v.differed[at]++; v.differed[at] == 1 && v.passed[at.cycle] {
			v.written[at] = true // by each run before
		}
	}
	for i := range r.end {
		v.passed[i] = true
	}
}

// open returns the message that most runs wrote otherwise and none as recorded.
func (v verdict) open() (most text, found bool) {
	for at, n := range v.differed {
		if !v.written[at] && (!found || n > v.differed[most]) {
			most, found = at, true
		}
	}
	return most, found
}

// oldSlice returns the workload that a new slice of an elastic job replaces.
func oldSlice(w *kueue.Workload) (client.ObjectKey, bool) {
	ref := workloadslicing.ReplacementForKey(w)
	if ref == nil {
		return client.ObjectKey{}, false
	}
	ns, name, _ := strings.Cut(string(*ref), "/")
	return client.ObjectKey{Namespace: ns, Name: name}, true
}

var noReason = regexp.MustCompile(`QuotaReserved=False/\w* `)

// same compares two descriptions. Under UnadmittedWorkloadsObservability Kueue
// leaves the reason empty when none of its flavor attempts has one. The engine
// names one, because an API server refuses a condition without a reason. The
// reason is not compared there.
func same(a, b string) bool {
	if strings.Contains(a, "QuotaReserved=False/ ") || strings.Contains(b, "QuotaReserved=False/ ") {
		a, b = noReason.ReplaceAllString(a, ""), noReason.ReplaceAllString(b, "")
	}
	return a == b
}

// describe returns everything in a workload's status that must be the same.
func describe(w *kueue.Workload) status {
	if w == nil {
		return status{decision: "gone"}
	}
	var parts, messages []string
	for _, c := range w.Status.Conditions {
		if c.Type == kueue.WorkloadQuotaReserved && c.Status == metav1.ConditionFalse { // no decision depends on the reason
			parts = append(parts, fmt.Sprintf("%s=%s ", c.Type, c.Status))
			messages = append(messages, fmt.Sprintf("%s=%s/%s %q", c.Type, c.Status, c.Reason, c.Message))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s=%s/%s ", c.Type, c.Status, c.Reason))
		messages = append(messages, fmt.Sprintf("%s %q", c.Type, c.Message))
	}
	for _, c := range w.Status.AdmissionChecks {
		if concurrentadmission.IsVariant(w) && !workload.HasQuotaReservation(w) {
			break // Kueue lists them earlier than the engine
		}
		parts = append(parts, fmt.Sprintf("check %s=%s", c.Name, c.State))
	}
	for _, g := range w.Status.PreemptionGates {
		parts = append(parts, fmt.Sprintf("gate %s=%s", g.Name, g.Position))
	}
	slices.Sort(parts)
	slices.Sort(messages)
	for _, n := range w.Status.UnhealthyNodes {
		parts = append(parts, "unhealthy "+n.Name)
	}
	requests := ""
	if len(w.Status.ResourceRequests) > 0 {
		requests = asJSON(w.Status.ResourceRequests)
	}
	return status{strings.Join(parts, "; ") + asJSON(w.Status.Admission) + requests, strings.Join(messages, "; ")}
}
