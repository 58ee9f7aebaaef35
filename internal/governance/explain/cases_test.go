package explain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// TestQueueCases: what users run into with their queue. The first line carries the
// answer, a page fits 80 columns but for commands, and a reason that waiting mends
// differs from one that it does not.
func TestQueueCases(t *testing.T) {
	queue := func(spec, flavors string) string {
		return fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"t"},"spec":{%s"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[%s]}]}}`, spec, flavors)
	}
	a100 := `{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8"}]}`
	local := func(spec string) json.RawMessage {
		return json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"queue","namespace":"t"},"spec":{` + spec + `}}`)
	}
	cohort := func(name, parent string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":%q},"spec":{"parentName":%q}}`, name, parent))
	}
	run := func(gpus int) any { return fixture.Work("t", "run", gpus, 0, time.Hour, true) }
	for _, c := range []struct {
		name, queue string
		local       string // the LocalQueue's spec
		gpus        int
		selects     string // an instance type
		topology    string // the level of a required topology
		more        []any
		detail      string
		first       string
		obstacle    string
	}{
		{name: "cluster-queue-missing", queue: strings.Replace(queue("", a100), `"name":"t"`, `"name":"other"`, 1), detail: check.ClusterQueueMissing,
			first: "can never run: Misconfigured: queue queue points to ClusterQueue t, which does not exist", obstacle: "can never run: queue queue points"},
		{name: "cluster-queue-faulty", queue: strings.Replace(queue("", a100), `"8"`, `"-8"`, 1), detail: check.ClusterQueueFaulty,
			first: "Misconfigured: ClusterQueue t is invalid and ignored: flavor a100, nvidia.com/gpu: nominalQuota -8 is negative", obstacle: "can never run: ClusterQueue t is invalid"},
		{name: "queue-stopped", queue: queue("", a100), local: `"clusterQueue":"t","stopPolicy":"Hold"`, detail: check.LocalQueueStopped,
			first: "Suspended: queue queue is stopped by an administrator", obstacle: "cannot start: queue queue is stopped by an administrator"},
		{name: "cluster-queue-stopped", queue: queue(`"stopPolicy":"HoldAndDrain",`, a100), detail: check.ClusterQueueStopped,
			first: "Suspended: ClusterQueue t is stopped by an administrator", obstacle: "cannot start: ClusterQueue t is stopped"},
		{name: "flavor-missing", queue: queue("", strings.ReplaceAll(a100, "a100", "h200")), detail: check.FlavorMissing,
			first: "Suspended: ClusterQueue t is inactive: its flavor h200 does not exist", obstacle: "cannot start: ClusterQueue t is inactive"},
		{name: "check-missing", queue: queue(`"admissionChecksStrategy":{"admissionChecks":[{"name":"budget"}]},`, a100), detail: check.AdmissionCheckAbsent,
			first: "Suspended: ClusterQueue t is inactive: its admission check budget does not exist", obstacle: "cannot start: "},
		{name: "check-inactive", queue: queue(`"admissionChecksStrategy":{"admissionChecks":[{"name":"budget"}]},`, a100), detail: check.AdmissionCheckAbsent,
			more:  []any{json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"budget"},"spec":{"controllerName":"x"}}`)},
			first: "Suspended: ClusterQueue t is inactive: its admission check budget is not active", obstacle: "cannot start: "},
		{name: "topology-missing", queue: queue("", strings.ReplaceAll(a100, "a100", "h200")), detail: check.TopologyMissing,
			more:  []any{json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"h200"},"spec":{"nodeLabels":{"node.kubernetes.io/instance-type":"h200"},"topologyName":"racks"}}`)},
			first: "Suspended: ClusterQueue t is inactive: topology racks of its flavor h200 does not exist", obstacle: "cannot start: "},
		{name: "cohorts-in-a-cycle", queue: queue(`"cohortName":"c",`, a100), more: []any{cohort("c", "d"), cohort("d", "c")}, detail: check.CohortCycle,
			first: "Suspended: the cohorts above t form a cycle, so it admits no jobs", obstacle: "cannot start: "},
		{name: "namespace-not-selected", queue: strings.Replace(queue("", a100), `"namespaceSelector":{}`, `"namespaceSelector":{"matchLabels":{"x":"y"}}`, 1), detail: check.NamespaceNotSelected,
			first: "can never run: Misconfigured: ClusterQueue t does not admit jobs of namespace t", obstacle: "can never run: "},
		{name: "not-covered", queue: strings.ReplaceAll(queue("", a100), "nvidia.com/gpu", "cpu"), detail: check.ResourceNotCovered,
			first: "can never run: NoMatchingFlavor: t has no quota for nvidia.com/gpu", obstacle: "can never run: "},
		{name: "no-such-flavor", queue: queue("", a100), selects: "h200", detail: check.FlavorDoesNotMatch,
			first: "NoMatchingFlavor: t has only a100, which the job's pods do not select or tolerate", obstacle: "can never run: "},
		{name: "no-topology", queue: queue("", a100), topology: "rack", detail: check.TopologyUnsupported,
			first: "NoMatchingFlavor: t has only a100, which does not support TopologyAwareScheduling", obstacle: "can never run: "},
		{name: "no-topology-level", queue: queue("", strings.ReplaceAll(a100, "a100", "h200")), topology: "rack", detail: check.TopologyLevelMissing,
			more: []any{json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"h200"},"spec":{"nodeLabels":{"node.kubernetes.io/instance-type":"h200"},"topologyName":"hosts"}}`),
				json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"hosts"},"spec":{"levels":[{"nodeLabel":"kubernetes.io/hostname"}]}}`)},
			first: "NoMatchingFlavor: t has only h200, which has no topology level rack", obstacle: "can never run: "},
		{name: "more-than-nominal", queue: queue("", a100), gpus: 12, detail: check.ExceedsNominal,
			first: "ExceedsMaxQuota: 12 nvidia.com/gpu is more than the most t can ever hold (8)", obstacle: "can never run: "},
		{name: "more-than-the-cohort", queue: queue(`"cohortName":"c",`, a100), gpus: 12, detail: check.ExceedsCohort,
			first: "ExceedsMaxQuota: 12 nvidia.com/gpu is more than the most t can ever hold (8)", obstacle: "can never run: "},
		{name: "quota-lowered", queue: queue("", a100), more: []any{run(12)}, detail: check.QuotaLowered,
			first: "1st in t, WaitingForQuota: 4 more nvidia.com/gpu needed; the queue holds more than its current quota"},
		{name: "behind-others", queue: queue(`"queueingStrategy":"StrictFIFO",`, a100), more: []any{run(2), fixture.Work("t", "first", 8, 50, 2*time.Hour, false)}, detail: check.BehindOthers,
			first: "2nd in t, WaitingForQuota: t/first must start first: t is StrictFIFO"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.local == "" {
				c.local = `"clusterQueue":"t"`
			}
			if c.gpus == 0 {
				c.gpus = 4
			}
			job, work := pytorch("llama", queued, c.gpus, true), text(fixture.Work("t", "llama", c.gpus, 10, 92*time.Minute, false))
			if c.selects != "" {
				selector := `"nodeSelector":{"node.kubernetes.io/instance-type":"` + c.selects + `"},`
				job = strings.Replace(job, `"containers":`, selector+`"containers":`, 1)
				work = strings.Replace(work, `"containers":`, selector+`"containers":`, 1)
			}
			if c.topology != "" {
				work = strings.Replace(work, `"template":`, `"topologyRequest":{"required":"`+c.topology+`"},"template":`, 1)
			}
			s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""),
				fixture.Team("t", "", 0, "", "")[0], local(c.local), json.RawMessage(c.queue), json.RawMessage(work))
			s.Add(c.more...)
			e := explained(t, s, question(t, job, work))
			page := explanation.Text(e, 80, false, hours)
			if e.Detail != c.detail {
				t.Errorf("detail %s %s", e.Reason, e.Detail)
			}
			for _, s := range e.Verdict.Submission {
				if s.Status == check.StatusFailed && strings.Count(explanation.Text(e, 0, false, hours), s.Message) != 1 {
					t.Errorf("not exactly once: %s\n%s", s.Message, page)
				}
			}
			head, _, _ := strings.Cut(page, "\n\n")
			if flat := strings.Join(strings.Fields(head), " "); !strings.HasSuffix(flat, c.first) {
				t.Errorf("first line %q, want ... %q", flat, c.first)
			}
			if got := explanation.Obstacle(e); !strings.HasPrefix(got, c.obstacle) || (got == "") != (c.obstacle == "") {
				t.Errorf("obstacle %q, want %q", got, c.obstacle)
			}
			for line := range strings.Lines(page) {
				if len(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(strings.TrimSpace(line), "hyperpod ") {
					t.Errorf("more than 80 columns: %q", line)
				}
			}
			golden.Screen(t, "testdata/"+c.name+".golden", page)
		})
	}
}

// TestKueueCondition: Kueue's word on a pending job is what its conditions say about
// admission, not a newer condition about its pods.
func TestKueueCondition(t *testing.T) {
	condition := func(kind, reason, at string) string {
		return fmt.Sprintf(`{"type":%q,"status":"False","reason":%q,"message":"%s message","lastTransitionTime":"2026-01-02T%s:00Z"}`, kind, reason, reason, at)
	}
	pods := condition("PodsReady", "WaitForStart", "11:55")
	for name, c := range map[string]struct{ conditions, reason, says string }{
		"pods only":      {pods, "", "Kueue has not written a reason yet"},
		"another reason": {condition("QuotaReserved", "Pending", "11:00") + "," + pods, "Pending", "Kueue says Pending, 1h0m0s ago: Pending message"},
		"the same":       {condition("QuotaReserved", "WaitingForQuota", "11:00") + "," + pods, "WaitingForQuota", ""}, // the first line is shorter
		"none":           {"", "", "Kueue has not written a reason yet"},
	} {
		work := strings.Replace(text(fixture.Work("t", "llama", 8, 10, time.Hour, false)), `"status":{}`, `"status":{"conditions":[`+c.conditions+`]}`, 1)
		s := cluster(json.RawMessage(work), fixture.Work("t", "sweep", 8, 10, time.Hour, true))
		e := explained(t, s, question(t, pytorch("llama", queued, 8, true), work))
		reason := ""
		if e.Kueue != nil {
			reason = e.Kueue.Reason
		}
		if page := explanation.Text(e, 0, false, hours); reason != c.reason || !strings.Contains(page, c.says) || c.says == "" && strings.Contains(page, "Kueue says") || strings.Contains(page, "WaitForStart") {
			t.Errorf("%s: %q\n%s", name, reason, page)
		}
	}
}

// TestUnreadableQueue: where queues may not be read, Kueue's own word about a queue that does not exist leads, without a
// position in a queue that is not known.
func TestUnreadableQueue(t *testing.T) {
	work := strings.Replace(text(fixture.Work("t", "llama", 8, 10, time.Hour, false)), `"status":{}`,
		`"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Inadmissible","message":"LocalQueue elsewhere doesn't exist","lastTransitionTime":"2026-01-02T11:00:00Z"}]}`, 1)
	work = strings.Replace(work, `"queueName":"queue"`, `"queueName":"elsewhere"`, 1)
	s := cluster(json.RawMessage(work))
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "localqueues" }
	e := explained(t, s, question(t, pytorch("llama", `"kueue.x-k8s.io/queue-name":"elsewhere"`, 8, true), work))
	page := explanation.Text(e, 0, false, hours)
	if first, _, _ := strings.Cut(page, "\n"); !strings.HasSuffix(first, ": Inadmissible: LocalQueue elsewhere doesn't exist") {
		t.Errorf("%s\n%s", e.Cause, page)
	}
}

// TestUnreadableStoppedQueue: where Kueue says that a queue is inactive that may not be read, nothing else is the reason.
func TestUnreadableStoppedQueue(t *testing.T) {
	for _, c := range []struct{ hidden, message string }{
		{"localqueues", "LocalQueue queue is inactive"},
		{"clusterqueues", "ClusterQueue t is inactive"},
	} {
		work := strings.Replace(text(fixture.Work("t", "llama", 4, 10, time.Hour, false)), `"status":{}`,
			`"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Inadmissible","message":"`+c.message+`","lastTransitionTime":"2026-01-02T11:00:00Z"}]}`, 1)
		s := cluster(json.RawMessage(work))
		s.Forbid = func(_, plural, _, _ string) bool { return plural == c.hidden }
		e := explained(t, s, question(t, pytorch("llama", queued, 4, true), work))
		page := explanation.Text(e, 0, false, hours)
		if first, _, _ := strings.Cut(page, "\n"); e.Cause != explain.ByKueue || e.Position.Position != 0 && c.hidden == "clusterqueues" || !strings.HasSuffix(first, "Suspended: "+c.message) {
			t.Errorf("%s\n%s", e.Cause, page)
		}
	}
}
