package check_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// object is a fixture's job as a map.
func object(t testing.TB, o any) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal(o.(json.RawMessage), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func hours(d time.Duration) string { return d.Round(time.Minute).String() }

// busy is the cluster of John and Smith, who both have a running job with a low priority.
func busy() *fixture.Server {
	s := fixture.JohnSmith()
	s.Add(fixture.Class("low", 10), fixture.Class("high", 90))
	s.Add(fixture.Work("john", "base", 8, 10, 3*time.Hour, true), fixture.Work("smith", "sweep", 6, 10, time.Hour, true))
	for i, n := range []int{4, 4} {
		s.Add(fixture.Pod("john", "base", fmt.Sprint("n", i), n))
	}
	s.Add(fixture.Pod("smith", "sweep", "n2", 4), fixture.Pod("smith", "sweep", "n3", 2))
	return s
}

// TestScreens: the verdicts of the documentation, as they are shown on 80 columns.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name, team string
		server     *fixture.Server
		job        any
		verdict    check.Outcome
		reason     string
		detail     string
		summary    string
	}{
		{"lend-three", "b", fixture.LendThree(), fixture.Job("task", 1, 4, ""), check.Admitted, "", "",
			"would start now: 4 nvidia.com/gpu on a100, 3 borrowed from a"},
		{"smith-8", "smith", fixture.JohnSmith(), fixture.Job("train", 2, 4, ""), check.Admitted, "", "",
			"would start now: 8 nvidia.com/gpu on a100, 4 borrowed from john"},
		{"smith-12", "smith", fixture.JohnSmith(), fixture.Job("train", 3, 4, ""), check.Never, "ExceedsMaxQuota", check.ExceedsBorrowing,
			"cannot run in smith: 12 nvidia.com/gpu is more than the most smith can ever hold (8)"},
		{"waits", "smith", busy(), fixture.Job("train", 1, 4, "", "kueue.x-k8s.io/priority-class", "low"), check.Waits, "WaitingForQuota", check.QuotaInUse,
			"would not start now: 2 more nvidia.com/gpu needed"},
		{"preempts", "john", busy(), fixture.Job("train", 1, 4, "", "kueue.x-k8s.io/priority-class", "high"), check.Admitted, "", "",
			"would start by preempting 1 job: 4 nvidia.com/gpu on a100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ask(t, checker(t, c.server), check.Request{Object: object(t, c.job), Namespace: c.team, Remedies: true})
			if v.Verdict != c.verdict || v.Reason != c.reason || v.Detail != c.detail || v.Summary != c.summary {
				t.Errorf("%s %s %s: %s", v.Verdict, v.Reason, v.Detail, v.Summary)
			}
			golden.Screen(t, "testdata/"+c.name+".golden", verdict.Text(v, 80, hours))
		})
	}
}

// A Job whose parallelism is 0 has nothing that could start.
func TestPausedJob(t *testing.T) {
	job := object(t, json.RawMessage(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"paused","namespace":"b","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"parallelism":0,
		"template":{"spec":{"containers":[{"name":"a","image":"i","resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}}}`))
	v := ask(t, checker(t, fixture.LendThree()), check.Request{Object: job, Namespace: "b"})
	if v.Verdict != check.Admitted || v.Summary != "would be admitted with 0 pods; Kueue decides again when its parallelism is raised" {
		t.Errorf("%s: %s", v.Verdict, v.Summary)
	}
}

// TestLendThree: the worked example says 3 borrowed from A, and that A may take
// them back.
func TestLendThree(t *testing.T) {
	v := ask(t, checker(t, fixture.LendThree()), check.Request{Object: object(t, fixture.Job("task", 1, 4, "")), Namespace: "b"})
	b := v.Quota.Borrowed
	if len(b) != 1 || b[0].Amount != 3 || len(b[0].Lenders) != 1 || b[0].Lenders[0] != (check.Lender{Team: "a", ClusterQueue: "a", Amount: 3}) {
		t.Errorf("borrowed %+v", b)
	}
	if tb := v.Quota.Reclaim; tb == nil || !tb.Possible || len(tb.Lenders) != 1 || tb.Lenders[0] != (check.Reclaimer{Team: "a", ClusterQueue: "a", Policy: "Any"}) {
		t.Errorf("take back %+v", tb)
	}
	l := v.Quota.Resources
	if len(l) != 1 || l[0].Nominal != 5 || l[0].Used != 4 || *l[0].Available != 5 || *l[0].Limit != 11 || *l[0].Free != 1 || *l[0].Lent != 0 || l[0].Short != 0 {
		t.Errorf("lines %+v", l)
	}
	if v.Verdict.Exit() != errs.OK || check.Waits.Exit() != errs.Pending || check.Never.Exit() != errs.No || check.Unknown.Exit() != errs.Failure {
		t.Error("exit codes")
	}
}

// TestReasons: Kueue's reason and our finer one for what users run into.
func TestReasons(t *testing.T) {
	gpu := func(v, flavors string) string {
		return fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"t"},"spec":{%s"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[%s]}]}}`, v, flavors)
	}
	a100 := `{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8"}]}`
	base := func(cq string, more ...any) *fixture.Server {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""), json.RawMessage(cq))
		s.Add(fixture.Team("t", "", 0, "", "")[:2]...)
		s.Add(more...)
		return s
	}
	stopped := json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"closed","namespace":"t"},"spec":{"clusterQueue":"t","stopPolicy":"Hold"}}`)
	lost := json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lost","namespace":"t"},"spec":{"clusterQueue":"nowhere"}}`)
	cohort := func(name, parent string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":%q},"spec":{"parentName":%q}}`, name, parent))
	}
	with := func(queue string) any { return fixture.Job("j", 1, 4, "", "kueue.x-k8s.io/queue-name", queue) }
	job := fixture.Job("j", 1, 4, "")
	for _, c := range []struct {
		name    string
		server  *fixture.Server
		job     any
		verdict check.Outcome
		reason  string
		detail  string
	}{
		{"fits", base(gpu("", a100)), job, check.Admitted, "", ""},
		{"unknown queue", base(gpu("", a100)), with("qeue"), check.Never, "Misconfigured", check.LocalQueueMissing},
		{"queue leads nowhere", base(gpu("", a100), lost), with("lost"), check.Never, "Misconfigured", check.ClusterQueueMissing},
		{"queue stopped", base(gpu("", a100), stopped), with("closed"), check.Waits, "Suspended", check.LocalQueueStopped},
		{"ClusterQueue stopped", base(gpu(`"stopPolicy":"HoldAndDrain",`, a100)), job, check.Waits, "Suspended", check.ClusterQueueStopped},
		{"flavor missing", base(gpu("", strings.ReplaceAll(a100, "a100", "h200"))), job, check.Waits, "Suspended", check.FlavorMissing},
		{"admission check missing", base(gpu(`"admissionChecksStrategy":{"admissionChecks":[{"name":"budget"}]},`, a100)), job, check.Waits, "Suspended", check.AdmissionCheckAbsent},
		{"namespace not selected", base(strings.Replace(gpu("", a100), `"namespaceSelector":{}`, `"namespaceSelector":{"matchLabels":{"x":"y"}}`, 1)), job, check.Never, "Misconfigured", check.NamespaceNotSelected},
		{"resource not covered", base(strings.ReplaceAll(gpu("", a100), "nvidia.com/gpu", "cpu")), job, check.Never, "NoMatchingFlavor", check.ResourceNotCovered},
		{"flavor does not match", base(gpu("", a100)), fixture.Job("j", 1, 4, `"nodeSelector":{"node.kubernetes.io/instance-type":"h200"}`), check.Never, "NoMatchingFlavor", check.FlavorDoesNotMatch},
		{"larger than nominal", base(gpu("", a100)), fixture.Job("j", 1, 12, ""), check.Never, "ExceedsMaxQuota", check.ExceedsNominal},
		{"larger than the cohort", base(gpu(`"cohortName":"c",`, a100)), fixture.Job("j", 1, 12, ""), check.Never, "ExceedsMaxQuota", check.ExceedsCohort},
		{"cyclic cohorts", base(gpu(`"cohortName":"c",`, a100), cohort("c", "d"), cohort("d", "c")), job, check.Waits, "Suspended", check.CohortCycle},
		{"quota in use", base(gpu("", a100), fixture.Work("t", "run", 6, 0, time.Hour, true)), job, check.Waits, "WaitingForQuota", check.QuotaInUse},
		{"quota lowered below use", base(gpu("", a100), fixture.Work("t", "run", 12, 0, time.Hour, true)), job, check.Waits, "WaitingForQuota", check.QuotaLowered},
		{"behind another in StrictFIFO", base(gpu(`"queueingStrategy":"StrictFIFO",`, a100), fixture.Work("t", "run", 2, 0, time.Hour, true), fixture.Work("t", "first", 8, 50, time.Hour, false)), job, check.Waits, "WaitingForQuota", check.BehindOthers},
		{"behind one that preempts", base(gpu(`"preemption":{"withinClusterQueue":"LowerPriority"},`, a100), preemptions(t)...), fixture.Job("j", 1, 1, ""), check.Waits, "PendingEvaluation", check.BehindPreemptor},
		{"nodes too small", base(gpu("", strings.Replace(a100, `"8"`, `"64"`, 1))), fixture.Job("j", 1, 16, ""), check.Never, check.NodesTooSmall, ""},
		{"nodes full", base(gpu("", a100), fixture.Pod("x", "other", "n1", 6), fixture.Pod("x", "more", "n2", 6)), job, check.Waits, check.NodesFull, ""},
		{"no node of the flavor", base(gpu("", strings.ReplaceAll(a100, "a100", "h200")), fixture.Flavor("h200")), job, check.Waits, check.NoNodes, ""},
		{"no such priority, and no quota", base(gpu("", a100), fixture.Class("low", 1), fixture.Work("t", "run", 6, 0, time.Hour, true)), fixture.Job("j", 2, 2, "", "kueue.x-k8s.io/priority-class", "lwo"), check.Never, "Misconfigured", check.PriorityClassMissing},
		{"no such priority", base(gpu("", a100), fixture.Class("low", 1)), fixture.Job("j", 1, 4, "", "kueue.x-k8s.io/priority-class", "lwo"), check.Never, "Misconfigured", check.PriorityClassMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ask(t, checker(t, c.server), check.Request{Object: object(t, c.job), Namespace: "t", Remedies: true})
			if v.Verdict != c.verdict || v.Reason != c.reason || v.Detail != c.detail {
				t.Errorf("%s %s %s: %s\n%s", v.Verdict, v.Reason, v.Detail, v.Summary, verdict.Text(v, 80, hours))
			}
			if strings.TrimSpace(v.Summary) == "" || strings.HasSuffix(v.Summary, ": ") {
				t.Errorf("summary %q", v.Summary)
			}
			page := verdict.Text(v, 0, hours)
			for _, s := range v.Submission {
				if s.Status == check.StatusFailed && strings.Count(page, s.Message) != 1 {
					t.Errorf("not exactly once: %s\n%s", s.Message, page)
				}
			}
			for _, r := range v.Remedies {
				if v.Detail == check.PriorityClassMissing && r.Code != remedy.HigherPriority {
					t.Errorf("no change of the job's size makes up for its class: %+v", r)
				}
			}
		})
	}
}

// preemptions are a job that is being evicted, and the one that preempts it.
func preemptions(t *testing.T) []any {
	t.Helper()
	low, first := object(t, fixture.Work("t", "low", 4, 0, time.Hour, true)), object(t, fixture.Work("t", "first", 7, 50, time.Minute, false))
	add := func(o map[string]any, condition map[string]any) {
		status, _ := o["status"].(map[string]any)
		if status == nil {
			status = map[string]any{}
			o["status"] = status
		}
		list, _ := status["conditions"].([]any)
		condition["lastTransitionTime"] = "2026-01-02T12:00:00Z"
		status["conditions"] = append(list, condition)
	}
	add(low, map[string]any{"type": "Evicted", "status": "True", "reason": "Preempted", "message": "Preempted to accommodate a workload"})
	add(first, map[string]any{"type": "QuotaReserved", "status": "False", "reason": "Pending",
		"message": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 3 more needed. Pending the preemption of 1 workload(s)"})
	return []any{low, first}
}

// TestBehindPreemptor: the texts about a job that Kueue does not try while another one preempts.
func TestBehindPreemptor(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""))
	s.Add(fixture.Team("t", "", 8, "", `"preemption":{"withinClusterQueue":"LowerPriority"}`)...)
	s.Add(preemptions(t)...)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 1, "")), Namespace: "t", Remedies: true, Assume: time.Hour})
	want := "Kueue tries no other job of t while t/first preempts t/low"
	if page := verdict.Text(v, 0, hours); verdict.Reason(v) != want || strings.Count(page, want) != 1 || v.Quota.Ahead != 1 ||
		v.ETA == nil || !v.ETA.Known() || verdict.Brief(v, hours) != "waits: "+want {
		t.Errorf("%+v\n%+v\n%s\n%s", v.Quota, v.ETA, verdict.Brief(v, hours), page)
	}
}

// TestLoop: a job preempts one whose quota another team then takes, and reclaims it again.
func TestLoop(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""))
	any := `"preemption":{"withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Any"}`
	s.Add(fixture.Team("alpha", "pool", 6, "", any)...)
	s.Add(fixture.Team("beta", "pool", 2, "", any)...)
	s.Add(fixture.Team("gamma", "pool", 0, "", any+`,"queueingStrategy":"StrictFIFO"`)...)
	s.Add(fixture.Class("some", 5), fixture.Work("alpha", "small", 4, 0, time.Hour, true), fixture.Work("alpha", "base", 2, 9, 2*time.Hour, true), fixture.Work("gamma", "guest", 4, 10, time.Minute, false))
	list, err := checker(t, s).Together(t.Context(), []check.Request{{Object: object(t, fixture.Job("big", 1, 6, "", "kueue.x-k8s.io/priority-class", "some")), Namespace: "alpha"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := list[0]
	verdict.Fill(v, errs.Suggestion.String)
	want := "alpha/big, alpha/small, gamma/guest preempt each other again and again"
	if v.Quota.Outcome != string(admission.AdmittedByPreempting) || !strings.Contains(verdict.Text(v, 0, hours), "  then      "+want) ||
		!strings.Contains(verdict.PreemptionQuestion(v, hours), ". Then "+want) {
		t.Errorf("%+v\n%s", v.Quota, verdict.Text(v, 0, hours))
	}
}

// TestPreemptedAtOnce: a job preempts one of a team that then reclaims its own quota for another job.
func TestPreemptedAtOnce(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""))
	s.Add(fixture.Team("alpha", "pool", 4, "", `"preemption":{"reclaimWithinCohort":"Any"}`)...)
	s.Add(fixture.Team("beta", "pool", 4, "", `"preemption":{"reclaimWithinCohort":"Any","borrowWithinCohort":{"policy":"LowerPriority"}}`)...)
	s.Add(fixture.Class("some", 5), fixture.Work("alpha", "wide", 8, 0, 2*time.Hour, true), fixture.Work("alpha", "small", 4, 0, time.Hour, false))
	for size, want := range map[int]string{6: "alpha/small", 4: ""} {
		list, err := checker(t, s).Together(t.Context(), []check.Request{{Object: object(t, fixture.Job("mine", 1, size, "", "kueue.x-k8s.io/priority-class", "some")), Namespace: "beta"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := list[0]
		verdict.Fill(v, errs.Suggestion.String)
		row := "  then      alpha/small preempts mine at once"
		if v.Quota.Outcome != string(admission.AdmittedByPreempting) || v.Quota.PreemptedBy != want || strings.Contains(verdict.Text(v, 0, hours), row) != (want != "") ||
			strings.HasSuffix(verdict.Brief(v, hours), "; then alpha/small preempts mine at once") != (want != "") {
			t.Errorf("%d: %+v\n%s\n%s", size, v.Quota, verdict.Text(v, 0, hours), verdict.Brief(v, hours))
		}
	}
}

// TestPutAside: the texts about a job that fits, and that Kueue does not try because it put an equivalent one aside.
func TestPutAside(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	job := fixture.Job("old", 1, 1, "").(json.RawMessage)
	wl, err := integration.WorkloadFor(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	wl.Namespace = "t"
	wl.TypeMeta = metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload"}
	wl.Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending", Message: "couldn't assign flavors to pod set worker: insufficient unused quota"}}
	data, err := json.Marshal(wl)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(json.RawMessage(data))
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("new", 1, 1, "")), Namespace: "t", Remedies: true})
	want := "it requests the same as t/old, which Kueue found not to fit: Kueue tries both when jobs end or quotas change"
	if verdict.Reason(v) != want || v.Verdict != check.Waits || v.Detail != check.LikePutAside {
		t.Errorf("%s %s %s\n%s", v.Verdict, v.Reason, v.Detail, verdict.Text(v, 0, hours))
	}
	v = ask(t, checker(t, s), check.Request{Object: object(t, job), Namespace: "t", Workload: wl, Remedies: true})
	if v.Detail != check.PutAside || verdict.Reason(v) != "Kueue found that it does not fit, and tries it again when jobs end or quotas change" {
		t.Errorf("%s %s %s\n%s", v.Verdict, v.Reason, v.Detail, verdict.Text(v, 0, hours))
	}
}

// TestLayersDoNotHide: a job that is wrong in every layer has a finding in each.
func TestLayersDoNotHide(t *testing.T) {
	s := fixture.JohnSmith()
	s.Add(fixture.Class("low", 1))
	v := ask(t, checker(t, s), check.Request{
		Object: object(t, fixture.Job("j", 2, 16, "", "kueue.x-k8s.io/priority-class", "none")), Namespace: "smith",
		Steps: []check.Step{{Check: "Rights", Status: check.StatusFailed, Message: "no permission to create pytorchjobs in smith"}},
	})
	if len(v.Lint) == 0 || v.Lint[0].Code != "E007" {
		t.Errorf("lint %+v", v.Lint)
	}
	if v.Quota.Reason != "ExceedsMaxQuota" || v.Nodes.Reason != check.NodesTooSmall {
		t.Errorf("quota %s, nodes %s", v.Quota.Reason, v.Nodes.Reason)
	}
	failed := map[string]bool{}
	for _, s := range v.Submission {
		failed[s.Check] = s.Status == check.StatusFailed
	}
	if !failed["Rights"] || !failed["PriorityClass"] || failed["Queue"] {
		t.Errorf("submission %+v", v.Submission)
	}
	if v.Verdict != check.Never {
		t.Error(v.Verdict)
	}
}

// TestOverdue: a job that has run longer than assumed has no known end.
func TestOverdue(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""))
	s.Add(fixture.Team("a", "", 8, "", "")...)
	s.Add(fixture.Work("a", "run", 8, 0, 4*time.Hour, true))
	for assume, want := range map[time.Duration]string{
		time.Hour:     "starts    at any time: a/run has run longer than assumed\n",
		5 * time.Hour: "starts    in about 1h0m0s (estimate based on 1 job's assumed run time)\n",
	} {
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 1, 8, "")), Namespace: "a", Remedies: true, Assume: assume})
		if text := verdict.Text(v, 0, hours); !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", assume, text)
		}
		if overdue := assume == time.Hour; overdue != (v.ETA.Reason == "Overdue") || overdue != (v.ETA.LatestSeconds == nil) || overdue != (*v.ETA.EarliestSeconds == 0) {
			t.Errorf("%s: %+v", assume, v.ETA)
		}
	}
}

// TestLent: what others have borrowed of the queue's own is not free.
func TestLent(t *testing.T) {
	s := fixture.LendThree()
	s.Add(fixture.Work("b", "more", 5, 0, time.Minute, true)) // b: 9 of 5, 4 borrowed from a
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 1, 4, "")), Namespace: "a"})
	if l := v.Quota.Resources[0]; *l.Free != 0 || *l.Lent != 4 || *l.Available != 0 || l.Short != 4 {
		t.Errorf("free %v, lent %v, available %v", *l.Free, *l.Lent, *l.Available)
	}
	if text := verdict.Text(v, 80, hours); !strings.Contains(text, "0 of 6 nvidia.com/gpu free in a on a100, 4 lent to others") {
		t.Errorf("%s", text)
	}
}

// TestTopology: placements are shown, and only their nodes count for the pods.
func TestTopology(t *testing.T) {
	s := fixture.New(fixture.Rules(fixture.FairSharing),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"default"},"spec":{"levels":[{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"a100"},"spec":{"topologyName":"default","nodeLabels":{"node.kubernetes.io/instance-type":"a100"}}}`))
	for i := range 4 {
		n := string(fixture.Node(fmt.Sprint("n", i), "a100", 8, "").(json.RawMessage))
		s.Add(json.RawMessage(strings.Replace(n, `"labels":{`, fmt.Sprintf(`"labels":{"rack":"r%d",`, i/2), 1)))
	}
	s.Add(fixture.Team("t", "", 64, "", "")...)
	c := checker(t, s)
	job := func(pods int) map[string]any {
		o := object(t, fixture.Job("j", pods, 8, ""))
		tmpl := o["spec"].(map[string]any)["pytorchReplicaSpecs"].(map[string]any)["Worker"].(map[string]any)["template"].(map[string]any)
		tmpl["metadata"] = map[string]any{"annotations": map[string]any{"kueue.x-k8s.io/podset-required-topology": "rack"}}
		return o
	}
	v := ask(t, c, check.Request{Object: job(2), Namespace: "t"})
	if v.Verdict != check.Admitted || v.Topology == nil || v.Topology.Level != "rack" || len(v.Topology.Domains) == 0 || v.Nodes.Status != check.StatusOK {
		t.Errorf("%s %s %+v %+v", v.Verdict, v.Summary, v.Topology, v.Nodes)
	}
	if d := v.Topology; d.DomainsTotal != len(d.Domains) {
		t.Errorf("%d of %d domains", len(d.Domains), d.DomainsTotal)
	}
	v = ask(t, c, check.Request{Object: job(3), Namespace: "t", Remedies: true})
	if v.Verdict != check.Never || v.Reason != "TopologyPlacementFailed" || v.Topology == nil || v.Topology.Status != check.StatusFailed {
		t.Errorf("%s %s %s %+v", v.Verdict, v.Reason, v.Summary, v.Topology)
	}
	if len(v.Remedies) != 1 || v.Remedies[0].Nodes != 2 || v.Remedies[0].PodSet != "worker" {
		t.Errorf("remedies %+v", v.Remedies)
	}
}

// TestPodPriority: a priority class of the pods that does not exist is a finding,
// and hides nothing.
func TestPodPriority(t *testing.T) {
	v := ask(t, checker(t, fixture.JohnSmith()), check.Request{Object: object(t, fixture.Job("j", 3, 4, `"priorityClassName":"none"`)), Namespace: "smith"})
	if v.Verdict != check.Never || v.Quota.Reason != "ExceedsMaxQuota" || len(v.Submission) == 0 || v.Submission[0].Status != check.StatusFailed {
		t.Errorf("%s %s, %+v", v.Verdict, v.Quota.Reason, v.Submission)
	}
}

// TestPolicyPriority: the same holds for the class of a scheduling policy, which Kueue reads
// for a job without a label.
func TestPolicyPriority(t *testing.T) {
	o := map[string]any{"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob",
		"metadata": map[string]any{"name": "m", "namespace": "smith", "labels": map[string]any{kinds.QueueLabel: "smith"}},
		"spec": map[string]any{"runPolicy": map[string]any{"schedulingPolicy": map[string]any{"priorityClass": "none"}},
			"mpiReplicaSpecs": map[string]any{"Launcher": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}}}}}
	v := ask(t, checker(t, fixture.JohnSmith()), check.Request{Object: o, Namespace: "smith"})
	if v.Verdict != check.Never || v.Detail != check.PriorityClassMissing || !slices.ContainsFunc(v.Submission, func(s check.Step) bool { return s.Code == check.OwnPriorityClassMissing }) {
		t.Errorf("%s %s %s, %+v", v.Verdict, v.Reason, v.Summary, v.Submission)
	}
	o["metadata"].(map[string]any)["labels"].(map[string]any)[kinds.PriorityLabel] = "none"
	v = ask(t, checker(t, fixture.JohnSmith()), check.Request{Object: o, Namespace: "smith"})
	if v.Verdict != check.Never || len(v.Submission) == 0 || v.Submission[0].Code != check.PriorityClassMissing || slices.ContainsFunc(v.Submission, func(s check.Step) bool { return s.Code == check.OwnPriorityClassMissing }) {
		t.Errorf("%s %s %s, %+v", v.Verdict, v.Reason, v.Summary, v.Submission)
	}
}
