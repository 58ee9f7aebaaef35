package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestTypeAbsent: a flavor with the older label of the instance type, as task governance has it, is not ruled out by Kueue.
// That the queue does not have the type is the cause all the same, also for users who cannot list nodes.
func TestTypeAbsent(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		s := fixture.New(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"a100"},"spec":{"nodeLabels":{"beta.kubernetes.io/instance-type":"a100"}}}`),
			fixture.Rules(fixture.FairSharing), json.RawMessage(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"node.kubernetes.io/instance-type":"a100","beta.kubernetes.io/instance-type":"a100"}},
			"status":{"allocatable":{"nvidia.com/gpu":"8","pods":"100"},"conditions":[{"type":"Ready","status":"True"}]}}`))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		s.Forbid = func(_, plural, _, _ string) bool { return hidden && plural == "nodes" }
		for _, c := range []struct{ selected, detail string }{{"h200", check.InstanceTypeAbsent}, {"a100", check.ExceedsNominal}} {
			v := ask(t, checker(t, s), check.Request{Namespace: "t", Remedies: true,
				Object: object(t, fixture.Job("j", 2, 8, `"nodeSelector":{"node.kubernetes.io/instance-type":"`+c.selected+`"}`))})
			if v.Verdict != check.Never || v.Reason != "ExceedsMaxQuota" || v.Detail != c.detail {
				t.Errorf("%s: %s %s %s", c.selected, v.Verdict, v.Reason, v.Detail)
			}
			// One that fits the quota starts in Kueue, and its pods find no node.
			v1 := ask(t, checker(t, s), check.Request{Namespace: "t", Object: object(t, fixture.Job("j", 1, 8, `"nodeSelector":{"node.kubernetes.io/instance-type":"`+c.selected+`"}`))})
			if want := map[string]check.Outcome{"h200": check.Never, "a100": check.Admitted}[c.selected]; v1.Verdict != want ||
				hidden && want == check.Never && (v1.Detail != check.InstanceTypeAbsent || !strings.Contains(v1.Summary, "t has only a100")) {
				t.Errorf("%s that fits, nodes hidden %v: %s %s %s: %s", c.selected, hidden, v1.Verdict, v1.Reason, v1.Detail, v1.Summary)
			}
			page := verdict.Text(v, 0, hours)
			if absent := c.selected == "h200"; absent != strings.Contains(page, "t has only a100, which is not the instance type that the job selects") ||
				absent == strings.Contains(page, "request at most") {
				t.Errorf("%s, nodes hidden %v:\n%s", c.selected, hidden, page)
			}
		}
	}
}
