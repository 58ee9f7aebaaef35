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

// TestOverhead: a runtime class adds its overhead to the requests of each pod.
func TestOverhead(t *testing.T) {
	class := json.RawMessage(`{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"nvidia.com/gpu":"1"}}}`)
	for name, c := range map[string]struct {
		objects []any
		gpus    int
		verdict check.Outcome
		noted   bool
	}{
		"with room for it":                {[]any{class}, 7, check.Admitted, false},
		"without room for it":             {[]any{class}, 8, check.Never, false},
		"a class that is not read":        {nil, 8, check.Admitted, true},
		"another class, no such overhead": {[]any{json.RawMessage(`{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"kata"},"handler":"kata"}`)}, 8, check.Admitted, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 16, ""))
			s.Add(fixture.Team("t", "", 8, "", "")...)
			s.Add(c.objects...)
			v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, c.gpus, `"runtimeClassName":"kata"`)), Namespace: "t"})
			noted := false
			for _, n := range v.Rules.Notes {
				noted = noted || n.Code == inputs.NotModelled && n.RuntimeClasses
			}
			if v.Verdict != c.verdict || noted != c.noted {
				t.Errorf("%s: %s; noted %v", v.Verdict, v.Summary, noted)
			}
		})
	}
}

// TestClaims: devices of resource claims count where Kueue's configuration maps their class.
func TestClaims(t *testing.T) {
	template := json.RawMessage(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"four","namespace":"t"},"spec":{"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":4}}]}}}}`)
	for rules, want := range map[string]check.Outcome{
		"resources: {deviceClassMappings: [{name: nvidia.com/gpu, deviceClassNames: [gpu.example.com]}]}\n": check.Admitted,
		"resources: {deviceClassMappings: [{name: nvidia.com/gpu, deviceClassNames: [other]}]}\n":           check.Never,
		"": check.Never,
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing+rules), fixture.Node("n1", "a100", 16, ""), template)
		s.Add(fixture.Team("t", "", 8, "", "")...)
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, `"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"four"}]`)), Namespace: "t"})
		if v.Verdict != want || len(v.Quota.NotModelled) > 0 || want == check.Never && (v.Quota.Detail != check.ClaimsNotCounted || v.Reason != "Misconfigured") {
			t.Errorf("%s: %s %s %s, %s", rules, v.Verdict, v.Reason, v.Quota.Detail, v.Summary)
		}
		if eight := func(a check.Amount) bool { return a.Resource == "nvidia.com/gpu" && a.Amount == 8 }; want == check.Admitted && !slices.ContainsFunc(v.Job.PodSets[0].Requests, eight) {
			t.Errorf("4 GPUs and 4 devices: %+v", v.Job.PodSets)
		}
	}
}

// TestPodsFirst: with waitForPodsReady.blockAdmission a job waits for the pods of others.
func TestPodsFirst(t *testing.T) {
	for rules, want := range map[string]check.Outcome{
		"waitForPodsReady: {blockAdmission: true}\n": check.Waits,
		"waitForPodsReady: {timeout: 5m}\n":          check.Admitted,
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing+rules), fixture.Node("n1", "a100", 16, ""))
		s.Add(fixture.Team("t", "", 16, "", "")...)
		s.Add(fixture.Work("t", "starting", 4, 0, time.Hour, true))
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"})
		if v.Verdict != want || len(v.Rules.Notes) > 0 || len(v.Quota.NotModelled) > 0 {
			t.Errorf("%s%s: %s, %v", rules, v.Verdict, v.Summary, v.Rules.Notes)
		}
		if want == check.Waits && (v.Reason != "WaitingForPodsReady" || strings.Join(v.Quota.WaitsForPods, " ") != "t/starting" ||
			!strings.Contains(v.Summary, "Kueue admits no job before the pods of t/starting are ready")) {
			t.Errorf("%s %v: %s", v.Reason, v.Quota.WaitsForPods, v.Summary)
		}
	}
}

// TestOtherVersion: under another version of Kueue the verdict names the differences that can matter to the job.
func TestOtherVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v0.18.4": "EqualWorkloads", // has it, as the rules do
		"v0.17.9": "EqualWorkloads",
	} {
		rules := strings.Replace(string(fixture.Rules(fixture.FairSharing).(json.RawMessage)), "v0.19.2", version, 1)
		s := fixture.New(fixture.Flavor("a100"), json.RawMessage(rules), fixture.Node("n1", "a100", 16, ""))
		s.Add(fixture.Team("t", "", 16, "", "")...)
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"})
		i := slices.IndexFunc(v.Rules.Notes, func(n inputs.Note) bool { return n.Code == inputs.VersionDiffers })
		if i < 0 {
			t.Fatalf("%s: no note", version)
		}
		if got := v.Rules.Notes[i]; slices.Contains(got.Differences, want) != (version < "v0.18") || slices.Contains(got.Differences, "NodeFeasibility") {
			t.Errorf("%s: %v", version, got.Differences)
		}
	}
}
