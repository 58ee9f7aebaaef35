package fidelity

import (
	"fmt"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// condition is what Kueue wrote about the quota of a workload; empty if it wrote nothing.
type condition struct{ status, reason string }

func quotaOf(w *kueue.Workload) condition {
	status, reason := conditionOf(w, kueue.WorkloadQuotaReserved)
	return condition{status, reason}
}

// evaluated reports that Kueue has tried the workload and wrote the result. PendingEvaluation is written before that.
func (c condition) evaluated() bool {
	return c.status != "" && c.reason != kueue.WorkloadQuotaReservedReasonPendingEvaluation
}

// settled returns an error while Kueue can still evaluate a workload of a queue. It never reaches a workload of a strict
// queue behind another one.
func (c condition) settled(strict, behind bool) error {
	if !c.evaluated() && !(strict && behind) {
		return fmt.Errorf("QuotaReserved is %q %q", c.status, c.reason)
	}
	return nil
}

// unlessUnwritten returns what to compare with a verdict: what Kueue wrote. If Kueue writes nothing in this scenario, and
// had its chance (passedOver), its silence means that the workload waits; silence has no reason to compare.
func (c condition) unlessUnwritten(d admission.Decision, unwritten bool) condition {
	if unwritten && !c.evaluated() {
		return condition{"False", d.Reason}
	}
	return c
}

// behind reports that another job of the same queue waits and can come before j. The order of jobs with equal priorities
// depends on times that have whole seconds.
func (m maker) behind(j job, waits func(job) bool) bool {
	for _, other := range m.running {
		if other.team == j.team && other.name != j.name && other.priority >= j.priority && waits(other) {
			return true
		}
	}
	return false
}

// TestSettled: only a workload of a strict queue behind another may stay without a word from Kueue.
func TestSettled(t *testing.T) {
	empty, pending := condition{}, condition{"False", kueue.WorkloadQuotaReservedReasonPendingEvaluation}
	word, admitted := condition{"False", "InsufficientQuota"}, condition{"True", "QuotaReserved"}
	for _, c := range []struct {
		condition      condition
		strict, behind bool
		want           bool
	}{
		{empty, false, false, false},
		{empty, false, true, false},
		{empty, true, false, false},
		{empty, true, true, true},
		{pending, false, false, false},
		{pending, false, true, false},
		{pending, true, false, false},
		{pending, true, true, true},
		{word, false, false, true},
		{word, true, true, true},
		{admitted, false, false, true},
	} {
		if got := c.condition.settled(c.strict, c.behind) == nil; got != c.want {
			t.Errorf("%q, strict %v, behind %v: settled %v", c.condition, c.strict, c.behind, got)
		}
	}
}

// TestUnlessUnwritten: silence agrees with a verdict only in a scenario in which Kueue writes nothing, and never with
// an admission.
func TestUnlessUnwritten(t *testing.T) {
	waits := admission.Decision{Reason: "InsufficientQuota"}
	empty, pending := condition{}, condition{"False", kueue.WorkloadQuotaReservedReasonPendingEvaluation}
	for _, c := range []struct {
		condition condition
		unwritten bool
		want      condition
	}{
		{empty, false, empty},
		{pending, false, pending},
		{empty, true, condition{"False", "InsufficientQuota"}},
		{pending, true, condition{"False", "InsufficientQuota"}},
		{condition{"False", "FlavorMismatch"}, true, condition{"False", "FlavorMismatch"}},
		{condition{"True", "QuotaReserved"}, true, condition{"True", "QuotaReserved"}},
	} {
		if got := c.condition.unlessUnwritten(waits, c.unwritten); got != c.want {
			t.Errorf("%q, unwritten %v: %q, not %q", c.condition, c.unwritten, got, c.want)
		}
	}
}

// TestBehind: a job is behind a waiting job of its queue that has at least its priority.
func TestBehind(t *testing.T) {
	m := maker{scenario: scenario{running: []job{
		{team: "a", name: "low", priority: 1}, {team: "a", name: "high", priority: 3}, {team: "b", name: "other", priority: 9}}}}
	for _, c := range []struct {
		target job
		waits  string
		want   bool
	}{
		{job{team: "a", name: "target", priority: 2}, "low", false},
		{job{team: "a", name: "target", priority: 2}, "high", true},
		{job{team: "a", name: "target", priority: 3}, "high", true},
		{job{team: "a", name: "target", priority: 2}, "other", false},
		{job{team: "a", name: "high", priority: 3}, "high", false},
	} {
		if got := m.behind(c.target, func(j job) bool { return j.name == c.waits }); got != c.want {
			t.Errorf("%s with priority %d while %s waits: behind %v", c.target.name, c.target.priority, c.waits, got)
		}
	}
}
