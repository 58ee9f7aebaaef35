package fidelity

import (
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// unlessUnwritten returns what to compare with a verdict: what Kueue wrote. If Kueue writes nothing in this scenario, and
// had its chance (passedOver), its silence means that the workload waits; silence has no reason to compare.
func unlessUnwritten(c live.Condition, d admission.Decision, unwritten bool) live.Condition {
	if unwritten && !c.Evaluated() {
		return live.Condition{Status: "False", Reason: d.Reason}
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

// TestUnlessUnwritten: silence agrees with a verdict only in a scenario in which Kueue writes nothing, and never with
// an admission.
func TestUnlessUnwritten(t *testing.T) {
	waits := admission.Decision{Reason: "InsufficientQuota"}
	empty, pending := live.Condition{}, live.Condition{Status: "False", Reason: kueue.WorkloadQuotaReservedReasonPendingEvaluation}
	for _, c := range []struct {
		condition live.Condition
		unwritten bool
		want      live.Condition
	}{
		{empty, false, empty},
		{pending, false, pending},
		{empty, true, live.Condition{Status: "False", Reason: "InsufficientQuota"}},
		{pending, true, live.Condition{Status: "False", Reason: "InsufficientQuota"}},
		{live.Condition{Status: "False", Reason: "FlavorMismatch"}, true, live.Condition{Status: "False", Reason: "FlavorMismatch"}},
		{live.Condition{Status: "True", Reason: "QuotaReserved"}, true, live.Condition{Status: "True", Reason: "QuotaReserved"}},
	} {
		if got := unlessUnwritten(c.condition, waits, c.unwritten); got != c.want {
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
