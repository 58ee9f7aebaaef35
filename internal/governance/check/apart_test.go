package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestGroups: Kueue admits each pod of a Deployment, and each group of a LeaderWorkerSet, on its
// own, so some of them start where all together do not.
func TestGroups(t *testing.T) {
	deployment := func(pods, gpus int) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"replicas":%d,"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"%d"}}}]}}}}`, pods, gpus))
	}
	groups := func(n, size, gpus int) any {
		pod := fmt.Sprintf(`{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"%d"}}}]}}`, gpus)
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"name":"l","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"replicas":%d,
			"leaderWorkerTemplate":{"size":%d,"leaderTemplate":%s,"workerTemplate":%s}}}`, n, size, pod, pod))
	}
	one := func(gpus int, more ...any) *fixture.Server {
		s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""))
		s.Add(fixture.Team("t", "", gpus, "", "")...)
		s.Add(more...)
		return s
	}
	two := func(more ...any) *fixture.Server {
		s := fixture.New(fixture.Flavor("a100"), fixture.Flavor("h100"), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "h100", 8, ""))
		s.Add(fixture.Team("t", "", 0, "", "")[:2]...)
		s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"t"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[
			{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"4"}]},{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"4"}]}]}]}}`))
		s.Add(more...)
		return s
	}
	old := fixture.Work("t", "old", 4, 0, time.Hour, true)
	for _, c := range []struct {
		name    string
		server  *fixture.Server
		job     any
		verdict check.Outcome
		start   int64
		total   int64
		summary string
	}{
		{"all at once", one(16), deployment(4, 2), check.Admitted, 4, 4, "would start now: 8 nvidia.com/gpu on a100"},
		{"some wait", one(8, old), deployment(4, 2), check.Waits, 2, 4, "would not start now: 4 more nvidia.com/gpu needed; 2 of 4 pods would start"},
		{"some never start", one(6), deployment(4, 2), check.Never, 3, 4, "cannot run in t: 8 nvidia.com/gpu is more than the most t can ever hold (6); 3 of 4 pods would start now"},
		{"flavors differ", two(), deployment(4, 2), check.Admitted, 4, 4, "would start now: 4 nvidia.com/gpu on a100, 4 on h100"},
		{"flavors differ, and some wait", two(old), deployment(4, 2), check.Waits, 2, 4, "would not start now: 2 more nvidia.com/gpu needed; 2 of 4 pods would start"},
		{"groups of a LeaderWorkerSet", one(8, old), groups(3, 2, 1), check.Waits, 2, 3, "would not start now: 2 more nvidia.com/gpu needed; 2 of 3 groups would start"},
		{"a group starts whole", one(3), groups(2, 2, 1), check.Never, 1, 2, "cannot run in t: 4 nvidia.com/gpu is more than the most t can ever hold (3); 1 of 2 groups would start now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ask(t, checker(t, c.server), check.Request{Object: object(t, c.job), Namespace: "t", Remedies: true})
			if v.Groups == nil {
				t.Fatalf("%s %s: no groups", v.Verdict, v.Summary)
			}
			if v.Verdict != c.verdict || *v.Groups != (check.Groups{All: c.total, Starting: c.start}) || v.Summary != c.summary {
				t.Errorf("%s %+v: %s", v.Verdict, *v.Groups, v.Summary)
			}
			pods := int32(0)
			for _, ps := range v.Job.PodSets {
				pods += ps.Pods
			}
			if c.verdict == check.Admitted && pods != int32(c.total) {
				t.Errorf("%d pods: %+v", pods, v.Job.PodSets)
			}
			requested := map[string]quota.Base{}
			for _, ps := range v.Job.PodSets {
				for _, a := range ps.Requests {
					requested[a.Flavor] += a.Amount
				}
			}
			for _, l := range v.Quota.Resources {
				requested[l.Flavor] -= l.Requested
			}
			for flavor, rest := range requested {
				if c.verdict == check.Admitted && rest != 0 {
					t.Errorf("%s: %v more for the pods than in the lines of the quota: %+v", flavor, rest, v.Quota.Resources)
				}
			}
		})
	}
	v := ask(t, checker(t, one(16)), check.Request{Object: object(t, fixture.Job("x", 4, 2, "")), Namespace: "t"})
	if v.Groups != nil {
		t.Errorf("a PyTorchJob is admitted whole: %+v", v.Groups)
	}
	if v := ask(t, checker(t, one(600)), check.Request{Object: object(t, deployment(500, 1)), Namespace: "t"}); v.Reason != check.NodesTooSmall || v.Groups.Starting != 16 {
		t.Errorf("nodes for 16: %s %s, %+v", v.Verdict, v.Reason, v.Groups)
	}
	large := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 300, ""), fixture.Node("n2", "a100", 300, ""), fixture.Node("n3", "a100", 300, "")) // each takes 110 pods
	large.Add(fixture.Team("t", "", 300, "", "")...)
	if v := ask(t, checker(t, large), check.Request{Object: object(t, deployment(500, 1)), Namespace: "t"}); v.Verdict != check.Never || v.Groups.Starting != 300 {
		t.Errorf("more than are tried one by one: %s %s, %+v", v.Verdict, v.Reason, v.Groups)
	}
}

// TestNotGoverned: a job of a kind that Kueue's configuration leaves out starts outside quota; a
// feature gate that the kind needs is assumed, unless the configuration says more.
func TestNotGoverned(t *testing.T) {
	spark := json.RawMessage(`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"s","labels":{"kueue.x-k8s.io/queue-name":"queue"}},
		"spec":{"type":"Scala","mode":"cluster","sparkVersion":"4.0.0","mainApplicationFile":"f","driver":{},"executor":{"instances":1,"gpu":{"name":"nvidia.com/gpu","quantity":9}}}}`)
	const head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
	for _, c := range []struct {
		name, rules string
		job         any
		skipped     string
		assumed     bool
		summary     string
	}{
		{"not among the integrations", head + "integrations: {frameworks: [batch/job, pod]}\n", fixture.Job("x", 1, 9, ""), check.NotGoverned, false,
			"would start now, outside quota: Kueue's configuration does not enable its integration kubeflow.org/pytorchjob: 9 nvidia.com/gpu"},
		{"among them", head + "integrations: {frameworks: [kubeflow.org/pytorchjob]}\n", fixture.Job("x", 1, 9, ""), "", false,
			"cannot run in t: 9 nvidia.com/gpu is more than the most t can ever hold (8)"},
		{"no list", head, fixture.Job("x", 1, 9, ""), "", false, "cannot run in t: 9 nvidia.com/gpu is more than the most t can ever hold (8)"},
		{"a gate that nothing names", head, spark, "", true, "cannot run in t: t has no quota for memory"},
		{"a gate that is on", head + "featureGates: {SparkApplicationIntegration: true}\n", spark, "", false, "cannot run in t: t has no quota for memory"},
		{"a gate that is off", head + "featureGates: {SparkApplicationIntegration: false}\n", spark, check.NotGoverned, false,
			"would start now, outside quota: Kueue's feature gate SparkApplicationIntegration is off: 9 nvidia.com/gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fixture.New(fixture.Flavor("a100"), fixture.Rules(c.rules), fixture.Node("n1", "a100", 16, ""))
			s.Add(fixture.Team("t", "", 8, "", "")...)
			v := ask(t, checker(t, s), check.Request{Object: object(t, c.job), Namespace: "t"})
			if v.Quota.Skipped != c.skipped || v.Summary != c.summary {
				t.Errorf("%q: %s", v.Quota.Skipped, v.Summary)
			}
			assumed, uncounted := false, false
			for _, n := range v.Rules.Notes {
				assumed = assumed || n.Code == inputs.GateAssumed
				uncounted = uncounted || n.Code == inputs.CPUNotCounted
			}
			if isSpark := v.Job.Kind == "SparkApplication"; assumed != c.assumed || uncounted != (isSpark && c.skipped == "") {
				t.Errorf("notes %+v", v.Rules.Notes)
			}
		})
	}
}

// TestNoPods: a service that is scaled to zero does not run.
func TestNoPods(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	const pod = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"2"}}}]}}`
	for kind, spec := range map[string]string{
		"apps/v1 Deployment":                          `"selector":{"matchLabels":{"a":"b"}},"template":` + pod,
		"apps/v1 StatefulSet":                         `"selector":{"matchLabels":{"a":"b"}},"template":` + pod,
		"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": `"leaderWorkerTemplate":{"size":2,"workerTemplate":` + pod + `}`,
	} {
		version, kind, _ := strings.Cut(kind, " ")
		for n, want := range map[int]string{0: "has no pods", 1: "runs now"} {
			job := json.RawMessage(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"d","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"replicas":%d,%s}}`, version, kind, n, spec))
			v := ask(t, checker(t, s), check.Request{Object: object(t, job), Namespace: "t"})
			if got := verdict.Brief(v, hours); got != want || n == 0 && v.Summary != "has no pods: Kueue has nothing to admit" {
				t.Errorf("%s with %d replicas: %q, %q", kind, n, got, v.Summary)
			}
		}
	}
}
