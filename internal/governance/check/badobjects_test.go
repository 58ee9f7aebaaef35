package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestOddJobs: manifests that are invalid or extreme.
func TestOddJobs(t *testing.T) {
	c := checker(t, fixture.JohnSmith())
	check1 := func(o any) (*check.Verdict, error) {
		return c.Check(context.Background(), check.Request{Object: object(t, o), Namespace: "smith"})
	}
	if v, err := check1(fixture.Job("none", 0, 4, "")); err != nil || v.Verdict != check.Admitted || !hasCode(v, "W042") {
		t.Errorf("no replicas: %+v, %v", v, err)
	}
	v, err := check1(fixture.Job("huge", 10000, 4, ""))
	if err != nil || v.Verdict != check.Never || v.Quota.Reason != "ExceedsMaxQuota" || v.Job.PodSets[0].Pods != 10000 {
		t.Errorf("10,000 replicas: %+v, %v", v, err)
	}
	empty := `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"e","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"pytorch","image":"i"}]}}}}}}`
	v, err = check1(json.RawMessage(empty))
	if err != nil || v.Verdict != check.Admitted || !hasCode(v, "W041") {
		t.Errorf("no requests: %+v, %v", v, err)
	}
	_, err = check1(json.RawMessage(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d"},"spec":{}}`))
	if err == nil || !strings.Contains(errs.Text(verdict.Error(err), false), "PyTorchJob (kubeflow.org/v1)") {
		t.Errorf("a DaemonSet: %v", err)
	}
	_, err = check1(json.RawMessage(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"e"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":"many"}}}}`))
	if err = verdict.Error(err); err == nil || strings.Contains(err.Error(), "Go ") || !strings.Contains(err.Error(), "replicas") {
		t.Errorf("a count that is text: %v", err)
	}
}

func hasCode(v *check.Verdict, code string) bool {
	for _, f := range v.Lint {
		if f.Code == code {
			return true
		}
	}
	return false
}

// TestBadObjects: objects that cannot be right are left out and reported, and do not keep
// the rest from being answered.
func TestBadObjects(t *testing.T) {
	bad := func(name, spec string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":%q},"spec":{"cohortName":"all","namespaceSelector":{},%s}}`, name, spec))
	}
	quota := func(n string) string {
		return `"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"` + n + `"}]}]}]`
	}
	s := fixture.JohnSmith()
	s.Add(
		bad("twice", `"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"1"}]},{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"1"}]}]}]`),
		bad("negative", quota("-5")),
		bad("weight", quota("5")+`,"fairSharing":{"weight":"-1"}`),
	)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 2, 4, "")), Namespace: "smith"})
	if v.Verdict != check.Admitted {
		t.Errorf("%s: %s", v.Verdict, v.Summary)
	}
	var notes []string
	for _, n := range v.Rules.Notes {
		notes = append(notes, n.Code+" "+n.Message)
	}
	all := strings.Join(notes, "\n")
	for _, want := range []string{"Invalid ClusterQueue twice: flavor a100 is listed twice", "Invalid ClusterQueue negative: flavor a100, nvidia.com/gpu: nominalQuota -5 is negative", "Invalid ClusterQueue weight: fairSharing.weight -1 is negative"} {
		if !strings.Contains(all, want) {
			t.Errorf("no note %q in\n%s", want, all)
		}
	}
	// A job of one of them is told what is wrong with it, and not that there is none.
	s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"queue","namespace":"negative"},"spec":{"clusterQueue":"negative"}}`))
	v = ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 2, 4, "")), Namespace: "negative"})
	if want := "cannot run in negative: ClusterQueue negative is invalid and ignored: flavor a100, nvidia.com/gpu: nominalQuota -5 is negative"; v.Verdict != check.Never || v.Summary != want || v.Reason != "Misconfigured" || v.Detail != check.ClusterQueueFaulty {
		t.Errorf("%s %s %s: %s", v.Verdict, v.Reason, v.Detail, v.Summary)
	}
	if text := verdict.Text(v, 0, hours); strings.Count(text, "nominalQuota -5 is negative") != 1 || strings.Count(text, "twice") != 2 || strings.Contains(text, "exist") || strings.Contains(text, "own  ") || !strings.Contains(text, "needs     8 nvidia.com/gpu (") {
		t.Errorf("%s", text)
	}
	// Alone with faulty ones it can borrow from nobody, and every row says so.
	s = fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""), bad("weight", quota("5")+`,"fairSharing":{"weight":"-1"}`))
	s.Add(fixture.Team("a", "all", 5, "", "")...)
	v = ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 1, 8, "")), Namespace: "a"})
	if l := v.Quota.Resources[0]; v.Verdict != check.Never || *l.Available != 5 || *l.Limit != 5 || l.Short != 3 {
		t.Errorf("%s: %s, %+v", v.Verdict, v.Summary, l)
	}
	text := verdict.Text(v, 80, hours)
	if i, j := strings.Index(text, "ignored   ClusterQueue weight: fairSharing.weight -1 is negative"), strings.Index(text, "own  "); i < 0 || i > j {
		t.Errorf("what is not counted is not named first\n%s", text)
	}
}

// TestEndlessQuota: a quota beyond 64 bits has no end, in words and in JSON, and a job
// that asks for more than can be counted is refused.
func TestEndlessQuota(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""))
	for _, o := range fixture.Team("a", "all", 77, `"borrowingLimit":"9e99"`, "") {
		s.Add(json.RawMessage(strings.ReplaceAll(string(o.(json.RawMessage)), `"77"`, `"9e99"`)))
	}
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("train", 1, 8, "")), Namespace: "a"})
	if text := verdict.Text(v, 0, hours); v.Verdict != check.Admitted || !strings.Contains(text, "own       unlimited nvidia.com/gpu in a on a100\n") {
		t.Errorf("%s", text)
	}
	data, err := json.Marshal(v.Quota.Resources)
	if err != nil || string(data) != `[{"Flavor":"a100","Resource":"nvidia.com/gpu","Requested":8,"Nominal":null,"BorrowingLimit":null,"LendingLimit":null,"Used":0,"Free":null,"Lent":0,"Available":null,"Limit":null,"Short":0}]` {
		t.Errorf("%s %v", data, err)
	}
	huge := object(t, json.RawMessage(strings.ReplaceAll(string(fixture.Job("train", 1, 77, "").(json.RawMessage)), `"77"`, `"9e99"`)))
	if _, err := checker(t, s).Check(context.Background(), check.Request{Object: huge, Namespace: "a"}); err == nil || !strings.Contains(err.Error(), "more nvidia.com/gpu than can be counted") {
		t.Errorf("%v", err)
	}
}

// TestNoKueue: on a cluster without Kueue nodes alone decide, and a requested queue
// is not found.
func TestNoKueue(t *testing.T) {
	s := fixture.New(fixture.Node("n1", "a100", 8, ""))
	s.KueueVersion = "none"
	plain := object(t, fixture.Job("j", 1, 4, ""))
	delete(plain["metadata"].(map[string]any), "labels")
	c := checker(t, s)
	if v := ask(t, c, check.Request{Object: plain, Namespace: "default", Remedies: true}); v.Verdict != check.Admitted || v.Quota.Status != check.StatusNotApplicable || v.Nodes.Status != check.StatusOK {
		t.Errorf("%s %s", v.Verdict, v.Summary)
	}
	missed := check.Step{Check: "Queue", Status: check.StatusFailed, Message: "there is no queue q: this cluster has no Kueue"}
	if v := ask(t, c, check.Request{Object: plain, Namespace: "default", Steps: []check.Step{missed}}); v.Verdict != check.Never || !strings.Contains(v.Summary, "has no Kueue") {
		t.Errorf("%s %s", v.Verdict, v.Summary)
	}
	big := object(t, fixture.Job("j", 2, 8, ""))
	delete(big["metadata"].(map[string]any), "labels")
	if v := ask(t, c, check.Request{Object: big, Namespace: "default", Remedies: true}); v.Verdict != check.Never || v.Reason != check.NodesTooSmall {
		t.Errorf("%s %s", v.Verdict, v.Summary)
	}
}
