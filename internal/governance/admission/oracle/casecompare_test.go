package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	intake "github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// TestCases gives the engine the clusters of the cases of Kueue's scheduler tests, as files, and compares each cycle with what
// Kueue's scheduler did in the case.
func TestCases(t *testing.T) {
	counts := map[string]int{}
	for _, c := range readCases(t) {
		if len(c.Cycles) == 0 {
			continue
		}
		apart := c.apart()
		var diffs []string
		for _, one := range c.asClusters() {
			if diffs = guarded(func() []string { return one.compareCycles(t) }); len(diffs) == 0 {
				break
			}
		}
		switch {
		case len(diffs) == 0 && apart != "":
			t.Errorf("%s agrees, and is listed as one that cannot: %s", c.Name, apart)
		case len(diffs) > 0 && apart == "":
			t.Errorf("%s:\n  %s", c.Name, strings.Join(diffs, "\n  "))
		case apart != "":
			counts[apart]++
		default:
			counts["agree"]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d: %s", counts[k], k)
	}
}

// TestPreemptionCases gives the engine the clusters of the cases of Kueue's preemption tests, with the workload that preempts as
// the only one that waits. These cases give Kueue the flavors. Where the engine takes others, the case says nothing.
func TestPreemptionCases(t *testing.T) {
	counts := map[string]int{}
	for _, c := range readCases(t) {
		if len(c.Direct) == 0 {
			continue
		}
		var result string
		diffs := guarded(func() (diffs []string) { result, diffs = c.compareTargets(t); return diffs })
		if len(diffs) > 0 {
			t.Errorf("%s:\n  %s", c.Name, strings.Join(diffs, "\n  "))
			continue
		}
		counts[result]++
		if result != "agree" {
			t.Logf("%s: %s", c.Name, result)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d: %s", counts[k], k)
	}
}

// guarded returns a panic as a difference.
func guarded(f func() []string) (diffs []string) {
	defer func() {
		if p := recover(); p != nil {
			diffs = []string{fmt.Sprintf("panic %v\n%s", p, callers())}
		}
	}()
	return f()
}

// Why the outcome of a case is not that of a cluster.
const (
	apiFails    = "the API server refuses what the scheduler writes"
	refused     = "the API server refuses the objects"
	undefaulted = "the objects lack defaults of the API server"
	noEvent     = "the scheduler sees no update of its own changes"
)

// setApart are the cases that the engine cannot repeat, by a part of their names.
var setApart = map[string]string{
	"TestSchedule/error_during_admission":                                        apiFails,
	"TestSchedulerNotifiesWatchersWhenAssumedWorkloadAdmissionFailsWithNotFound": apiFails,
	"error_on_patch)": apiFails,
	"TestScheduleForFairSharing/multiple_preemptions_within_cq_when_fair_sharing":  undefaulted,
	"TestScheduleForFairSharing/with_fair_sharing:_nominal-first_ordering_admits":  refused,
	"TestScheduleForPreserveFlavorScanProgress/no_generation_churn,_gate_disabled": noEvent,
}

// apart returns why a case cannot be repeated, "" if it can.
func (c *unitCase) apart() string {
	for part, why := range setApart {
		if strings.Contains(c.Name, part) {
			return why
		}
	}
	return ""
}

// library reports a case with the gate SchedulerLibraryIntegration.
func (c *unitCase) library() bool {
	return slices.ContainsFunc(c.Cycles, func(cy *caseCycle) bool { return cy.Gates["SchedulerLibraryIntegration"] })
}

// queuesOf returns the queue manager of an engine.
func queuesOf(e *admission.Engine) *qcache.Manager {
	f := reflect.ValueOf(e).Elem().FieldByName("queues")
	return *(**qcache.Manager)(unsafe.Pointer(f.UnsafeAddr()))
}

// uids is a UID in a message. In a file, every object has one.
var uids = regexp.MustCompile(`\(UID: [^,]*,`)

// verdictOf is what a cycle did to a workload: the part of the status that the scheduler writes.
func verdictOf(old, now *kueue.Workload) string {
	if now == nil {
		return "gone"
	}
	var out []string
	c := func(w *kueue.Workload, kind string) metav1.Condition {
		if w != nil {
			if found := apimeta.FindStatusCondition(w.Status.Conditions, kind); found != nil {
				return *found
			}
		}
		return metav1.Condition{}
	}
	same := func(kind string) bool {
		a, b := c(old, kind), c(now, kind)
		return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
	}
	write := func(kind string) {
		k := c(now, kind)
		out = append(out, fmt.Sprintf("%s=%s/%s %q", kind, k.Status, k.Reason, uids.ReplaceAllString(k.Message, "(UID: ,")))
	}
	evicted := !same(kueue.WorkloadEvicted) && c(now, kueue.WorkloadEvicted).Status == metav1.ConditionTrue
	for _, k := range []string{kueue.WorkloadEvicted, kueue.WorkloadPreempted, kueue.WorkloadFinished, kueue.WorkloadBlockedOnPreemptionGates} {
		if !same(k) {
			write(k)
		}
	}
	if evicted {
		return strings.Join(out, "; ")
	}
	if workload.HasQuotaReservation(now) {
		out = append(out, asJSON(now.Status.Admission))
		if workload.IsAdmitted(now) && (old == nil || !workload.HasQuotaReservation(old)) {
			out = append(out, "Admitted")
		}
	} else {
		if c(now, kueue.WorkloadQuotaReserved).Status != "" {
			write(kueue.WorkloadQuotaReserved)
		}
		out = append(out, asJSON(now.Status.ResourceRequests))
	}
	return strings.Join(out, "; ")
}

func decoded(raw []json.RawMessage) map[client.ObjectKey]*kueue.Workload {
	out := map[client.ObjectKey]*kueue.Workload{}
	for _, r := range raw {
		var w kueue.Workload
		must(json.Unmarshal(r, &w))
		if w.Kind == "Workload" {
			out[client.ObjectKeyFromObject(&w)] = &w
		}
	}
	return out
}

// compareCycles runs the cycles of a case on the engine and returns the differences.
func (c *unitCase) compareCycles(t *testing.T) (diffs []string) {
	ctx := context.Background()
	var e *admission.Engine
	var asked []string
	for i, cy := range c.Cycles {
		before, after := decoded(cy.Objects), decoded(cy.After)
		if i == 0 {
			var notes []intake.Note
			var err error
			e, notes, err = c.open(t, cy.settings, cy.Objects).Engine(ctx)
			must(err)
			for _, n := range notes {
				if n.Code != intake.VersionUnknown {
					diffs = append(diffs, fmt.Sprintf("note %s %v %+v", n.Code, n.Err, n.Warning))
				}
			}
			e.KeepEvictions()
			asked = cy.compareVerdict(e)
		} else {
			last := c.Cycles[i-1]
			for k := range decoded(last.After) {
				if before[k] == nil {
					must(e.Remove(ctx, k.Namespace, k.Name))
				}
			}
			known := map[string]bool{}
			for _, o := range last.Objects {
				known[string(o)] = true
			}
			for _, o := range cy.Objects {
				objs, err := decode.Objects(o)
				must(err)
				if len(objs) == 0 {
					continue
				}
				if _, ok := objs[0].(*kueue.Workload); !ok && !known[string(o)] {
					must(e.Load(ctx, objs[0]))
				}
			}
		}
		tl, err := e.Run(ctx, 1)
		if err != nil {
			diffs = append(diffs, err.Error())
		}
		diffs = append(diffs, cy.compareQueues(e, tl)...)
		if i == 0 {
			diffs = append(diffs, asked...)
		}
		for _, k := range slices.SortedFunc(maps.Keys(after), compareKeys) {
			mine := e.Workload(k.Namespace, k.Name)
			if byController(after[k], mine) {
				continue
			}
			want, got := verdictOf(before[k], checked(after[k], cy.queues())), verdictOf(before[k], mine)
			if want != got {
				diffs = append(diffs, fmt.Sprintf("cycle %d %s\n   Kueue:  %s\n   engine: %s", i, k, want, got))
			}
		}
	}
	return diffs
}

// callers are the places of a panic in this package.
func callers() string {
	var out []string
	lines := strings.Split(string(debug.Stack()), "\n")
	for i := 0; i+1 < len(lines); i++ {
		if strings.Contains(lines[i+1], "/admission/") && !strings.Contains(lines[i], "must(") && !strings.Contains(lines[i], "callers") {
			out = append(out, lines[i+1])
		}
	}
	return strings.Join(out[:min(len(out), 8)], "\n")
}

// byController reports that Kueue's controllers, which take no part in its scheduler's tests, say that a workload has no queue.
func byController(theirs, mine *kueue.Workload) bool {
	if mine == nil || apimeta.FindStatusCondition(theirs.Status.Conditions, kueue.WorkloadQuotaReserved) != nil {
		return false
	}
	c := apimeta.FindStatusCondition(mine.Status.Conditions, kueue.WorkloadQuotaReserved)
	return c != nil && (strings.HasSuffix(c.Message, "doesn't exist") || strings.HasSuffix(c.Message, "is inactive"))
}

// compareQueues compares which workloads wait in each queue, and which of them wait for a change. What an eviction wakes up,
// the scheduler's tests do not show.
func (cy *caseCycle) compareQueues(e *admission.Engine, tl admission.Timeline) (diffs []string) {
	m := queuesOf(e)
	left := map[string]bool{}
	moved := slices.ContainsFunc(tl.Events, func(ev admission.Event) bool {
		if ev.Kind == admission.EventPreempted || ev.Kind == admission.EventEvicted || ev.Kind == admission.EventReplaced {
			left[ev.Namespace+"/"+ev.Name] = true
		}
		return false
	}) || len(left) > 0
	show := func(queue, state, key string) string {
		if moved {
			state = "waits"
		}
		return queue + " " + state + " " + key
	}
	var want, got []string
	for state, queues := range map[string]map[string][]string{"active": cy.Active, "inadmissible": cy.Inadmissible} {
		for queue, list := range queues {
			for _, key := range list {
				want = append(want, show(queue, state, key))
			}
		}
	}
	for state, queues := range map[string]map[kueue.ClusterQueueReference][]workload.Reference{"active": m.Dump(), "inadmissible": m.DumpInadmissible()} {
		for queue, list := range queues {
			for _, key := range list {
				if !left[string(key)] {
					got = append(got, show(string(queue), state, string(key)))
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		diffs = append(diffs, fmt.Sprintf("queues\n   Kueue:  %q\n   engine: %q", want, got))
	}
	return diffs
}

// compareTargets runs a cycle with the workload of a preemption case, and compares what it preempts, and why.
func (c *unitCase) compareTargets(t *testing.T) (result string, diffs []string) {
	d := c.Direct[0]
	in := c.anyInput()
	e, notes, err := c.open(t, d.settings, raws(in.objects())).Engine(context.Background())
	must(err)
	for _, n := range notes {
		if n.Code != intake.VersionUnknown {
			diffs = append(diffs, fmt.Sprintf("note %s %v %+v", n.Code, n.Err, n.Warning))
		}
	}
	e.KeepEvictions()
	answer := verdictFor(e, incomingOf(in))
	tl, err := e.Run(context.Background(), 1)
	must(err)
	got := map[string]string{}
	result = "the workload fits, or no flavor can have it"
	for _, ev := range tl.Events {
		switch ev.Kind {
		case admission.EventPreempted:
			got[ev.Namespace+"/"+ev.Name] = ev.Reason
		case admission.EventPreempting:
			result = "agree"
			for i, ps := range ev.Flavors {
				for res, f := range ps.Flavors {
					if i < len(d.Flavors) && strings.Fields(d.Flavors[i][res])[0] != f {
						result = "the engine takes another flavor"
					}
				}
			}
		}
	}
	want := map[string]string{}
	evicted := map[string]bool{}
	for k, w := range decoded(d.Objects) {
		evicted[k.String()] = workloadevict.IsEvicted(w)
	}
	for key, reason := range d.Targets {
		if evicted[key] {
			continue // is on its way out, and is not evicted again
		}
		if strings.HasPrefix(key, "/") {
			key = "default" + key
		}
		want[key] = reason
	}
	if len(want)+len(got) == 0 {
		result = "agree"
	}
	if result == "agree" && !maps.Equal(want, got) {
		diffs = append(diffs, fmt.Sprintf("preempted\n   Kueue:  %v\n   engine: %v\n %v\n %+v", want, got, d.Flavors, tl.Events))
	}
	if asked := verdictOfEvents(tl, got, evicted); len(diffs) == 0 && asked != answer {
		diffs = append(diffs, fmt.Sprintf("verdict %s, and in the cycle %s", answer, asked))
	}
	return result, diffs
}

// incomingOf is the only workload that waits, nil if there are others.
func incomingOf(in *input) *kueue.Workload {
	if all := pending(in.objects()); len(all) == 1 {
		return all[0]
	}
	return nil
}

// verdictFor is the answer to a question about a workload.
func verdictFor(e *admission.Engine, w *kueue.Workload) string {
	d, err := e.Probe(context.Background(), w)
	must(err)
	targets := map[string]string{}
	for _, p := range d.Preempts {
		targets[p.Namespace+"/"+p.Name] = p.Reason
	}
	if len(d.Leaving) > 0 && d.Preemptor == "" && d.Outcome == admission.Waits {
		return fmt.Sprint(admission.AdmittedByPreempting, targets, d.NotModelled)
	}
	if d.Reason == kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks && len(targets) > 0 {
		return fmt.Sprint(admission.AdmittedByPreempting, targets, d.NotModelled)
	}
	if d.Reason == kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks { // it gets its quota
		return fmt.Sprint(admission.Admitted, targets, d.NotModelled)
	}
	if !d.Outcome.Starts() {
		return fmt.Sprint(admission.Waits, targets, d.NotModelled)
	}
	return fmt.Sprint(d.Outcome, targets, d.NotModelled)
}

// verdictOfEvents is the answer that a cycle gives.
func verdictOfEvents(tl admission.Timeline, targets map[string]string, evicted map[string]bool) string {
	outcome, none := admission.Waits, []string(nil)
	for _, ev := range tl.Events {
		switch ev.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved:
			outcome = admission.Admitted
		case admission.EventPreempting:
			outcome = admission.AdmittedByPreempting
		}
	}
	return fmt.Sprint(outcome, targets, none)
}

// compareVerdict compares the answer to a question about the only workload that waits with what Kueue's scheduler did.
func (cy *caseCycle) compareVerdict(e *admission.Engine) []string {
	before, after := decoded(cy.Objects), decoded(cy.After)
	var w *kueue.Workload
	for _, o := range before {
		if workload.HasQuotaReservation(o) {
			continue
		}
		if w != nil {
			return nil
		}
		w = o
	}
	if w == nil {
		return nil
	}
	now := after[client.ObjectKeyFromObject(w)]
	outcome, targets := admission.Waits, map[string]string{}
	for k, o := range after {
		if !workloadevict.IsEvicted(before[k]) && workloadevict.IsEvicted(o) {
			targets[k.String()] = evictedFor(o)
		}
	}
	switch {
	case workload.HasQuotaReservation(now):
		outcome = admission.Admitted
	case preempts(apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadQuotaReserved)):
		outcome = admission.AdmittedByPreempting
	}
	var none []string
	if want, got := fmt.Sprint(outcome, targets, none), verdictFor(e, w); want != got {
		return []string{fmt.Sprintf("verdict %s, and Kueue %s", got, want)}
	}
	return nil
}

// preempts reports that a workload waits for others that it preempts, or for the variant that it replaces.
func preempts(c *metav1.Condition) bool {
	return c != nil && (strings.Contains(c.Message, "Pending the preemption") || strings.Contains(c.Message, "Pending the migration"))
}

// evictedFor is why a workload was evicted: the reason of its preemption, if it was one.
func evictedFor(w *kueue.Workload) string {
	for _, kind := range []string{kueue.WorkloadPreempted, kueue.WorkloadEvicted} {
		if c := apimeta.FindStatusCondition(w.Status.Conditions, kind); c != nil {
			return c.Reason
		}
	}
	return ""
}
