package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestRestingNodes: nodes that take no pods at the moment make a job wait; the job
// can still run later.
func TestRestingNodes(t *testing.T) {
	cordoned := `"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]`
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, cordoned))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"})
	if v.Verdict != check.Waits || v.Reason != check.NodesFull || !v.Nodes.EmptyCluster || !strings.Contains(verdict.Text(v, 0, hours), "1 node is cordoned") {
		t.Errorf("%s %s\n%s", v.Verdict, v.Reason, verdict.Text(v, 0, hours))
	}
	v = ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 16, "")), Namespace: "t"})
	if v.Nodes.Reason != check.NodesTooSmall {
		t.Errorf("larger than a cordoned node: %s", v.Nodes.Reason)
	}
}

// TestEndsBehindOthers: a job that ends frees quota first for the jobs ahead, so
// their part must end, too, before the job can run.
func TestEndsBehindOthers(t *testing.T) {
	ends := func(jobs ...any) string {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		s.Add(fixture.Work("t", "one", 4, 0, time.Hour, true), fixture.Work("t", "two", 4, 0, time.Hour, true))
		s.Add(jobs...)
		c := checker(t, s)
		var found []string
		for range 2 { // asking changes nothing
			found = nil
			for _, r := range ask(t, c, check.Request{Object: object(t, fixture.Job("late", 1, 4, "")), Namespace: "t", Remedies: true}).Remedies {
				for _, h := range r.Jobs {
					found = append(found, h.Name)
				}
			}
		}
		return strings.Join(found, " ")
	}
	if got := ends(); got != "one" {
		t.Errorf("first in the queue: %q", got)
	}
	if got := ends(fixture.Work("t", "first", 4, 0, time.Minute, false)); got != "one two" {
		t.Errorf("behind one of 4: %q", got)
	}
	if got := ends(fixture.Work("t", "first", 8, 0, time.Minute, false)); got != "one" { // too large for what one frees: it is passed over
		t.Errorf("behind one of 8: %q", got)
	}
	if got := ends(fixture.Work("t", "least", 4, -5, time.Minute, false)); got != "one" {
		t.Errorf("before one of less priority: %q", got)
	}
}

// TestManagedNamespaces: jobs without a queue stay suspended where Kueue's namespace
// selector matches, and nowhere else.
func TestManagedNamespaces(t *testing.T) {
	rules := "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanageJobsWithoutQueueName: true\n"
	for more, want := range map[string]check.Outcome{
		"": check.Never,
		"managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: t}}\n":                                                     check.Never,
		"managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [t, kube-system]}]}\n": check.Admitted,
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(rules+more), fixture.Node("n1", "a100", 8, ""))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		v := ask(t, checker(t, s), check.Request{Object: job("j", 1, 4, "kueue.x-k8s.io/queue-name", ""), Namespace: "t"})
		if v.Verdict != want {
			t.Errorf("%q: %s: %s", more, v.Verdict, v.Summary)
		}
	}
}

// TestOthersPods: Kueue suspends a RayJob on an existing cluster if it has a queue, and never resumes it (seen with Kueue v0.19.2: its
// webhook sets spec.suspend, and its controller makes no Workload).
func TestOthersPods(t *testing.T) {
	const manages = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanageJobsWithoutQueueName: true\n"
	for name, c := range map[string]struct {
		rules, label, more string
		want               check.Outcome
	}{
		"no queue":        {want: check.Admitted},
		"a queue":         {label: `"kueue.x-k8s.io/queue-name":"queue"`, want: check.Never},
		"a missing queue": {label: `"kueue.x-k8s.io/queue-name":"none"`, want: check.Never},
		"a default queue": {more: `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"default","namespace":"t"},"spec":{"clusterQueue":"t"}}`, want: check.Never},
		"all are managed": {rules: manages, want: check.Never},
		"pods of its own": {label: `"kueue.x-k8s.io/queue-name":"queue"`, more: "own", want: check.Admitted},
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(c.rules), fixture.Node("n1", "a100", 8, ""))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		spec := `"clusterSelector":{"ray.io/cluster":"c"},"shutdownAfterJobFinishes":false`
		if c.more == "own" {
			spec = `"shutdownAfterJobFinishes":true,"submissionMode":"HTTPMode","rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[{"name":"head","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}}`
		} else if c.more != "" {
			s.Add(json.RawMessage(c.more))
		}
		v := ask(t, checker(t, s), check.Request{Namespace: "t", Object: object(t, json.RawMessage(`{"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j","labels":{`+c.label+`}},"spec":{"entrypoint":"x",`+spec+`}}`))})
		if v.Verdict != c.want || (v.Detail == check.NeverResumed) != (c.want == check.Never) {
			t.Errorf("%s: %s %s: %s", name, v.Verdict, v.Detail, v.Summary)
		}
	}
}

// TestBeside: what is submitted before a job takes its quota first, if Kueue governs it and it has a queue.
func TestBeside(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules("integrations: {frameworks: [kubeflow.org/pytorchjob, deployment]}\n"), fixture.Node("n1", "a100", 8, ""))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	deployment := func(queue string) map[string]any {
		return object(t, json.RawMessage(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"redis","labels":{`+queue+`}},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"3"}}}]}}}}`))
	}
	const queue = `"kueue.x-k8s.io/queue-name":"queue"`
	for name, c := range map[string]struct {
		beside []map[string]any
		gpus   int
		want   check.Outcome
		notes  string
	}{
		"nothing":                {gpus: 4, want: check.Admitted},
		"leaves enough":          {[]map[string]any{deployment(queue)}, 2, check.Admitted, "counted before the job, with the same manifest: Deployment redis"},
		"takes its quota":        {[]map[string]any{deployment(queue)}, 4, check.Waits, "counted before the job, with the same manifest: Deployment redis"},
		"without a queue":        {[]map[string]any{deployment("")}, 4, check.Admitted, ""},
		"another job":            {[]map[string]any{job("other", 1, 8)}, 4, check.Waits, "counted before the job, with the same manifest: PyTorchJob other"},
		"an object without pods": {[]map[string]any{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}}}, 4, check.Admitted, ""},
	} {
		v := ask(t, checker(t, s), check.Request{Object: job("j", 1, c.gpus), Beside: c.beside, Namespace: "t", Remedies: true})
		var notes []string
		for _, n := range v.Rules.Notes {
			notes = append(notes, n.Message)
		}
		if v.Verdict != c.want || strings.Join(notes, ";") != c.notes {
			t.Errorf("%s: %s: %s, %q", name, v.Verdict, v.Summary, notes)
		}
	}
}

// TestUnreadCohorts: a limit above the queue that may not be read decides over what
// is borrowed, but not over what the queue's own limit forbids.
func TestUnreadCohorts(t *testing.T) {
	s := fixture.JohnSmith()
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "cohorts" }
	c := checker(t, s)
	v := ask(t, c, check.Request{Object: object(t, fixture.Job("j", 2, 4, "")), Namespace: "smith"})
	if v.Verdict != check.Unknown || v.Reason != check.NotReadable || v.Quota.Unseen == nil || strings.Join(v.Quota.Unseen.SettledBy, " ") != "cohorts.kueue.x-k8s.io" {
		t.Errorf("%s %s %+v", v.Verdict, v.Reason, v.Quota.Unseen)
	}
	v = ask(t, c, check.Request{Object: object(t, fixture.Job("j", 3, 4, "")), Namespace: "smith"})
	if v.Verdict != check.Never || v.Detail != check.ExceedsBorrowing {
		t.Errorf("beyond the own borrowing limit: %s %s %s", v.Verdict, v.Reason, v.Summary)
	}
}

// TestPodSetWithoutRequests: a launcher that asks for nothing leaves the workers on
// the flavor that was decided.
func TestPodSetWithoutRequests(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Flavor("h200"), fixture.Rules(fixture.FairSharing),
		fixture.Node("n1", "a100", 8, `"unschedulable":true`), fixture.Node("n2", "h200", 8, ""))
	s.Add(fixture.Team("t", "", 0, "", "")[:2]...)
	flavor := `{"name":%q,"resources":[{"name":"nvidia.com/gpu","nominalQuota":"8"}]}`
	s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"t"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[` +
		fmt.Sprintf(flavor, "a100") + "," + fmt.Sprintf(flavor, "h200") + `]}]}}`))
	o := object(t, fixture.Job("j", 1, 4, ""))
	specs := o["spec"].(map[string]any)["pytorchReplicaSpecs"].(map[string]any)
	specs["Master"] = map[string]any{"replicas": 1, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "i"}}}}}
	v := ask(t, checker(t, s), check.Request{Object: o, Namespace: "t"})
	if v.Verdict != check.Waits || v.Nodes.Reason != check.NodesFull {
		t.Errorf("the decided flavor is cordoned: %s %+v", v.Verdict, v.Nodes)
	}
}

// TestPreemptible: whom the job could preempt is what Kueue's rules say, and why
// not names the rule.
func TestPreemptible(t *testing.T) {
	const plain = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
	reclaim := func(policy, more string) string {
		return fmt.Sprintf(`"preemption":{"withinClusterQueue":"Never","reclaimWithinCohort":%q%s}`, policy, more)
	}
	for name, c := range map[string]struct {
		rules, policy string
		gpus          int
		want          bool
		message       string
	}{
		"within the own quota":      {plain, reclaim("Any", ""), 4, true, "reclaimWithinCohort: Any"},
		"it would borrow":           {plain, reclaim("Any", ""), 6, false, "the job would have to borrow (borrowWithinCohort: Never)"},
		"it may borrow":             {plain, reclaim("Any", `,"borrowWithinCohort":{"policy":"LowerPriority"}`), 6, true, "reclaimWithinCohort: Any"},
		"above the threshold":       {plain, reclaim("Any", `,"borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-9}`), 6, false, "the job would have to borrow (borrowWithinCohort: LowerPriority)"},
		"lower priority":            {plain, reclaim("LowerPriority", ""), 4, true, "reclaimWithinCohort: LowerPriority"},
		"never":                     {plain, reclaim("Never", ""), 4, false, "reclaimWithinCohort: Never"},
		"fair sharing asks shares":  {fixture.FairSharing, reclaim("Any", ""), 6, true, "reclaimWithinCohort: Any"},
		"fair sharing, never":       {fixture.FairSharing, reclaim("Never", ""), 6, false, "reclaimWithinCohort: Never"},
		"fair sharing, lower ranks": {fixture.FairSharing, reclaim("LowerPriority", ""), 6, true, "reclaimWithinCohort: LowerPriority"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.New(fixture.Flavor("a100"), fixture.Rules(c.rules), fixture.Node("n1", "a100", 8, ""), fixture.Class("low", -1))
			s.Add(fixture.Team("a", "all", 4, "", c.policy+`,"queueingStrategy":"StrictFIFO"`)...)
			s.Add(fixture.Team("b", "all", 4, "", "")...)
			s.Add(fixture.Work("a", "first", 1, 100, time.Minute, false)) // so that it waits in any case
			s.Add(fixture.Work("b", "one", 4, -5, time.Hour, true), fixture.Work("b", "two", 4, -5, time.Hour, true))
			v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, c.gpus, "")), Namespace: "a", Remedies: true})
			if len(v.Holders) != 2 {
				t.Fatalf("%s: %+v", v.Summary, v.Holders)
			}
			for _, h := range v.Holders {
				if h.Preemptible != c.want || h.Message != c.message {
					t.Errorf("%s: %v (%s), want %v (%s)", h.Name, h.Preemptible, h.Message, c.want, c.message)
				}
			}
		})
	}
}

// TestNotModelled: what Kueue decides by and is not followed makes no verdict; the
// answer names it, in words and in the JSON.
func TestNotModelled(t *testing.T) {
	multi := json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"remote"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue"},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	for want, c := range map[string]struct {
		queue, pod string
		hidden     bool // Kueue's configuration
	}{
		"MultiKueue":           {`"admissionChecksStrategy":{"admissionChecks":[{"name":"remote"}]}`, "", false},
		"AdmissionFairSharing": {`"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"}`, "", true},
		"ConcurrentAdmission":  {`"concurrentAdmissionPolicy":{}`, "", true},
		"ResourceClaims":       {"", `"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one"}]`, true},
	} {
		t.Run(want, func(t *testing.T) {
			s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""), multi)
			if !c.hidden {
				s.Add(fixture.Rules(fixture.FairSharing + "featureGates: {ConcurrentAdmission: true}\n"))
			}
			s.Add(fixture.Team("t", "", 8, "", c.queue)...)
			v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, c.pod)), Namespace: "t", Remedies: true})
			if c.hidden {
				off := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""))
				off.Add(fixture.Team("t", "", 8, "", c.queue)...)
				if v := ask(t, checker(t, off), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"}); v.Verdict != check.Admitted || len(v.Rules.Notes) > 0 {
					t.Errorf("where Kueue has it off: %s, %v", v.Summary, v.Rules.Notes)
				}
			}
			if v.Verdict != check.Unknown || v.Reason != check.NotModelled || strings.Join(v.Quota.NotModelled, " ") != want || !strings.Contains(v.Summary, want) {
				t.Errorf("%s %s %v: %s", v.Verdict, v.Reason, v.Quota.NotModelled, v.Summary)
			}
		})
	}
}

// TestPreemptsBeforeChecks: a job that preempts others, and then waits for a check before MultiKueue's, is known to wait.
func TestPreemptsBeforeChecks(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""), fixture.Rules(""), fixture.Class("low", 1), fixture.Class("high", 9))
	for name, controller := range map[string]string{"remote": "kueue.x-k8s.io/multikueue", "budget": "example.com/budget"} {
		s.Add(json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":%q},"spec":{"controllerName":%q},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, name, controller)))
	}
	s.Add(fixture.Team("t", "", 8, "", `"preemption":{"withinClusterQueue":"LowerPriority"},"admissionChecksStrategy":{"admissionChecks":[{"name":"remote"},{"name":"budget"}]}`)...)
	s.Add(fixture.Work("t", "other", 8, 1, time.Hour, true))
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "", "kueue.x-k8s.io/priority-class", "high")), Namespace: "t", Remedies: true})
	if v.Verdict != check.Waits || v.Reason != "UnsatisfiedAdmissionChecks" || len(v.Quota.Preempts) != 1 || !strings.Contains(v.Summary, "budget, remote") {
		t.Errorf("%s %s, preempts %v\n%s", v.Verdict, v.Reason, v.Quota.Preempts, verdict.Text(v, 0, hours))
	}
}

// TestWorkersRefuse: a job of a kind that MultiKueue cannot send never runs, whether it waits for quota or not.
func TestWorkersRefuse(t *testing.T) {
	multi := json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"remote"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue"},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	spark := `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"j","labels":{"kueue.x-k8s.io/queue-name":"queue"}},
"spec":{"type":"Python","mode":"cluster","driver":{"gpu":{"name":"nvidia.com/gpu","quantity":1}},"executor":{"instances":1,"gpu":{"name":"nvidia.com/gpu","quantity":1}}}}`
	for name, c := range map[string]struct {
		held  int
		rule  string
		never bool
	}{
		"quota is free":               {0, `{"name":"remote"}`, true},
		"quota is held":               {8, `{"name":"remote"}`, true},
		"held, for a flavor":          {8, `{"name":"remote","onFlavors":["a100"]}`, false},
		"free, for the flavor it has": {0, `{"name":"remote","onFlavors":["a100"]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.New(fixture.Flavor("a100"), fixture.Node("n1", "a100", 8, ""), multi,
				fixture.Rules("resources: {excludeResourcePrefixes: [cpu, memory]}\nintegrations: {frameworks: [sparkoperator.k8s.io/sparkapplication]}\n"))
			s.Add(fixture.Team("t", "", 8, "", `"admissionChecksStrategy":{"admissionChecks":[`+c.rule+`]}`)...)
			if c.held > 0 {
				s.Add(fixture.Work("t", "other", c.held, 10, time.Hour, true))
			}
			v := ask(t, checker(t, s), check.Request{Object: object(t, json.RawMessage(spark)), Namespace: "t", Remedies: true})
			if never := v.Verdict == check.Never && v.Detail == check.WorkersRefuse && v.ETA == nil && len(v.Holders) == 0; never != c.never {
				t.Errorf("%s %s %s: %s, holders %v", v.Verdict, v.Reason, v.Detail, v.Summary, v.Holders)
			}
		})
	}
}

// TestNotInFile: a kind that a file lacks is not a missing permission.
func TestNotInFile(t *testing.T) {
	for reason, want := range map[string]string{state.NotInFile: "%s are not in the file", state.Forbidden: "no permission to list %s", state.Failed: "%s could not be read"} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		c := checker(t, s)
		for _, r := range []kinds.Resource{kinds.Node, kinds.WorkloadPriorityClass} {
			c.In.Missing = append(c.In.Missing, state.Missing{Resource: r, Verb: "list", Reason: reason})
		}
		v := ask(t, c, check.Request{Object: object(t, fixture.Job("j", 1, 4, "", "kueue.x-k8s.io/priority-class", "high")), Namespace: "t"})
		text := verdict.Text(v, 0, hours)
		if !strings.Contains(text, "not checked: "+fmt.Sprintf(want, "nodes")) ||
			!strings.Contains(text, "value of priority class high unknown, 0 is assumed: "+fmt.Sprintf(want, "workloadpriorityclasses")) {
			t.Errorf("%s:\n%s", reason, text)
		}
	}
}

// TestAbsentKind: a job does not start by what was read if a kind is missing: the file lacks it, or the server failed.
func TestAbsentKind(t *testing.T) {
	for _, c := range []struct {
		kind   kinds.Resource
		reason string
		partly bool
		want   check.Outcome
	}{
		{kinds.Node, state.NotInFile, false, check.Unknown}, {kinds.Node, state.Failed, false, check.Unknown}, {kinds.Node, state.Forbidden, false, check.Admitted},
		{kinds.Pod, state.NotInFile, false, check.Unknown}, {kinds.Pod, state.Failed, false, check.Unknown}, {kinds.Pod, state.Forbidden, false, check.Admitted},
		{kinds.Workload, state.NotInFile, false, check.Unknown}, {kinds.Workload, state.NotInFile, true, check.Admitted},
		{kinds.LocalQueue, state.NotInFile, false, check.Unknown}, {kinds.LocalQueue, state.NotInFile, true, check.Admitted},
		{kinds.WorkloadPriorityClass, state.NotInFile, false, check.Unknown}, {kinds.WorkloadPriorityClass, state.Failed, false, check.Unknown},
		{kinds.WorkloadPriorityClass, state.Forbidden, false, check.Admitted},
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
		s.Add(fixture.Team("t", "", 8, "", "")...)
		if c.kind.Kind != kinds.Node.Kind {
			s.Add(fixture.Node("n", "a100", 8, ""))
		}
		if c.kind.Kind != kinds.WorkloadPriorityClass.Kind {
			s.Add(fixture.Class("high", 100))
		}
		checker := checker(t, s)
		checker.In.Missing = append(checker.In.Missing, state.Missing{Resource: c.kind, Verb: "list", Reason: c.reason, Partly: c.partly})
		v := ask(t, checker, check.Request{Object: object(t, fixture.Job("j", 1, 4, "", "kueue.x-k8s.io/priority-class", "high")), Namespace: "t"})
		if v.Verdict != c.want || v.Verdict == check.Unknown && !strings.Contains(v.Summary, c.kind.Plural) {
			t.Errorf("%s, %s, partly %t: %s, want %s: %s", c.kind.Plural, c.reason, c.partly, v.Verdict, c.want, v.Summary)
		}
	}
}
