package check_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestSettings: without Kueue's configuration, an answer stands, and its note names the settings that could change it.
func TestSettings(t *testing.T) {
	alone := func(more ...any) *fixture.Server {
		s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		s.Add(more...)
		return s
	}
	shared := func(more ...any) *fixture.Server {
		s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""))
		s.Add(fixture.Team("t", "pool", 8, "", "")...)
		s.Add(fixture.Team("u", "pool", 8, "", "")...)
		s.Add(more...)
		return s
	}
	// ready is a workload of a PyTorchJob whose pods are ready, or not; "" without the condition.
	ready := func(status string) any {
		text := string(fixture.Work("t", "old", 1, 10, time.Hour, true).(json.RawMessage))
		if status != "" {
			text = strings.Replace(text, `"conditions":[`, `"conditions":[{"type":"PodsReady","status":"`+status+`","reason":"x","message":"","lastTransitionTime":"2026-01-02T12:00:00Z"},`, 1)
		}
		return json.RawMessage(text)
	}
	noQueue := object(t, fixture.Job("j", 1, 4, ""))
	delete(noQueue["metadata"].(map[string]any), "labels")
	for _, c := range []struct {
		name    string
		server  *fixture.Server
		job     map[string]any
		verdict check.Outcome
		want    []string // nil: no note
	}{
		{"the configuration is known", alone(fixture.Rules(fixture.FairSharing)), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, nil},
		{"nothing matters", alone(ready("")), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{}},
		{"no job of the kind yet", alone(), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{"integrations.frameworks"}},
		{"pods are ready", alone(ready("True")), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{}},
		{"pods are not ready", alone(ready("False")), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{"waitForPodsReady.blockAdmission"}},
		{"within the own quota", shared(ready("")), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{}},
		{"borrows", shared(ready(""), fixture.Work("t", "full", 7, 10, time.Hour, true)), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{"fairSharing"}},
		{"another team waits", shared(ready(""), fixture.Work("u", "next", 20, 10, time.Hour, false)), object(t, fixture.Job("j", 1, 4, "")), check.Admitted, []string{"fairSharing"}},
		{"too large", alone(ready("")), object(t, fixture.Job("j", 3, 4, "")), check.Never, []string{"resources.excludeResourcePrefixes", "resources.transformations"}},
		{"no queue", alone(ready("")), noQueue, check.Admitted, []string{"manageJobsWithoutQueueName"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ask(t, checker(t, c.server), check.Request{Object: c.job, Namespace: "t"})
			var got []string
			for _, n := range v.Rules.Notes {
				if n.Code == inputs.ConfigurationUnknown {
					got = n.Settings
				}
			}
			if (got == nil) != (c.want == nil) || !slices.Equal(got, c.want) || v.Quota.Status != check.StatusNotApplicable && v.Verdict != c.verdict {
				t.Errorf("%s %s: %q, want %q", v.Verdict, v.Reason, got, c.want)
			}
		})
	}
}

// TestHiddenNamespace: whether a queue that selects namespaces by label admits a job is unknown where the labels are hidden.
func TestHiddenNamespace(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""))
	for _, o := range fixture.Team("t", "", 8, "", "") {
		text := string(o.(json.RawMessage))
		s.Add(json.RawMessage(strings.Replace(text, `"namespaceSelector":{}`, `"namespaceSelector":{"matchLabels":{"x":"y"}}`, 1)))
	}
	job := check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"}
	if v := ask(t, checker(t, s), job); v.Verdict != check.Never || v.Detail != check.NamespaceNotSelected {
		t.Errorf("%s %s: %s", v.Verdict, v.Detail, v.Summary)
	}
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "namespaces" }
	v := ask(t, checker(t, s), job)
	if want := "whether ClusterQueue t admits jobs of namespace t is unknown: no permission to list namespaces"; v.Verdict != check.Unknown || !strings.Contains(v.Summary, want) {
		t.Errorf("%s %s: %s", v.Verdict, v.Reason, v.Summary)
	}
}
