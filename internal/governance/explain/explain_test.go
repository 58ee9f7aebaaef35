package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

func hours(d time.Duration) string { return d.Round(time.Minute).String() }

// question is a job with its workload, both as JSON ("" for no workload).
func question(t testing.TB, job, workload string, pods ...state.Pod) explain.Question {
	t.Helper()
	q := explain.Question{Pods: pods}
	if err := json.Unmarshal([]byte(job), &q.Object); err != nil {
		t.Fatal(err, job)
	}
	var err error
	if q.Job, err = state.DecodeJob(kinds.PyTorchJob, []byte(job)); err != nil {
		t.Fatal(err)
	}
	if workload != "" {
		w, err := state.DecodeWorkload([]byte(workload))
		if err != nil {
			t.Fatal(err)
		}
		q.Workload = &w
	}
	return q
}

// pytorch is a job of team t, suspended or not, of the name, with its labels as JSON.
func pytorch(name, labels string, gpus int, suspended bool) string {
	return fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"namespace":"t","uid":"uid-t-%[1]s","creationTimestamp":"2026-01-02T10:28:00Z","labels":{%[2]s},"annotations":{"cli.hyperpod/created-by":"dora"}},
"spec":{"runPolicy":{"suspend":%[4]t},"pytorchReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"pytorch","image":"i","resources":{"requests":{"nvidia.com/gpu":"%[3]d"},"limits":{"nvidia.com/gpu":"%[3]d"}}}]}}}}}}`, name, labels, gpus, suspended)
}

const queued = `"kueue.x-k8s.io/queue-name":"queue"`

func cluster(more ...any) *fixture.Server {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Class("high", 90),
		fixture.Node("n1", "a100", 8, ""), fixture.Node("n2", "a100", 8, ""))
	s.Add(fixture.Team("t", "all", 8, `"borrowingLimit":"4"`, `"preemption":{"withinClusterQueue":"LowerPriority"}`)...)
	s.Add(fixture.Team("u", "all", 8, "", "")...)
	s.Add(more...)
	return s
}

func text(o any) string { return string(o.(json.RawMessage)) }

// with puts JSON into a workload's status.
func with(o any, status string) any {
	s := strings.Replace(text(o), `"status":{}`, `"status":{`+status+`}`, 1)
	return json.RawMessage(s)
}

func explained(t testing.TB, s *fixture.Server, q explain.Question) *explain.Explanation {
	t.Helper()
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.New(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explain.Explain(context.Background(), c, q, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	explanation.Fill(e, errs.Suggestion.String)
	return e
}

func TestCases(t *testing.T) {
	wait := func(gpus int) any { return fixture.Work("t", "llama", gpus, 10, 92*time.Minute, false) }
	cond := func(kind, status, reason, message string) string {
		return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":"2026-01-02T11:30:00Z"}`, kind, status, reason, message)
	}
	reserved := `"admission":{"clusterQueue":"t","podSetAssignments":[{"count":1,"flavors":{"nvidia.com/gpu":"a100"},"name":"worker","resourceUsage":{"nvidia.com/gpu":"4"}}]},`
	held := []any{
		fixture.Work("t", "sweep", 6, 10, 3*time.Hour, true), fixture.Work("u", "vit", 8, 50, 5*time.Hour, true),
		fixture.Pod("t", "sweep", "n1", 6), fixture.Pod("u", "vit", "n2", 8),
	}
	container := func(waiting, message string) state.Pod {
		return state.Pod{Meta: state.Meta{Name: "llama-worker-0", Labels: map[string]string{"training.kubeflow.org/replica-type": "worker"}}, Phase: "Pending",
			Containers: []state.Container{{Name: "pytorch", Waiting: waiting, Message: message}}}
	}
	unschedulable := state.Pod{Meta: state.Meta{Name: "llama-worker-0", Labels: map[string]string{"training.kubeflow.org/replica-type": "worker"}}, Phase: "Pending",
		Conditions: []state.Condition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."}}}
	crashed := container("CrashLoopBackOff", "")
	crashed.Name = "llama-0"
	crashed.Containers[0].LastTerminated, crashed.Containers[0].LastExitCode = "OOMKilled", 137
	crashed.Containers = append(crashed.Containers, state.Container{Name: "proxy"})
	for _, c := range []struct {
		name     string
		labels   string
		running  bool // not suspended
		workload any
		others   []any
		pods     []state.Pod
		reason   string
		detail   string
		says     string // in the text
	}{
		{name: "waits", workload: wait(4), others: held, reason: "WaitingForQuota", detail: check.QuotaInUse, says: "held by   t/sweep  6 nvidia.com/gpu  for 3h0m0s"},
		{name: "admitted-soon", workload: wait(4), reason: "PendingEvaluation", says: "nothing blocks it"},
		{name: "no-queue-label", labels: "-", reason: explain.NotQueued, says: "suspended and has no queue label"},
		{name: "no-workload", reason: explain.NoWorkload, says: "has not created its Workload"},
		{name: "unknown-queue", labels: `"kueue.x-k8s.io/queue-name":"quee"`, reason: "Misconfigured", detail: check.LocalQueueMissing, says: "queue quee does not exist in namespace t"},
		{name: "too-large", workload: wait(16), reason: "ExceedsMaxQuota", detail: check.ExceedsBorrowing, says: "16 nvidia.com/gpu is more than the most t can ever hold (12)"},
		{name: "held-back", workload: json.RawMessage(strings.Replace(text(wait(4)), `"active":true`, `"active":false`, 1)), reason: "Deactivated", says: "patch-job unsuspend llama"},
		{name: "back-off", workload: with(wait(4), `"requeueState":{"count":1,"requeueAt":"2026-01-02T12:05:00Z"},"conditions":[`+cond("Evicted", "True", "PodsReadyTimeout", "m")+`]`), reason: explain.Backoff, says: "retries it at 12:05:00 UTC"},
		{name: "admission-check", workload: with(wait(4), reserved+`"admissionChecks":[{"name":"budget","state":"Pending","message":"waits for approval","lastTransitionTime":"2026-01-02T11:30:00Z"}],"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+`]`),
			reason: "UnsatisfiedAdmissionChecks", says: "waits for admission check budget (Pending): waits for approval"},
		{name: "image-pull", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+`]`),
			pods: []state.Pod{container("ImagePullBackOff", "Back-off pulling image")}, reason: "ImagePullBackOff", says: "1 of 1 pods of Worker: ImagePullBackOff: Back-off pulling image"},
		{name: "unschedulable", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+`]`),
			pods: []state.Pod{unschedulable}, reason: "Unschedulable", says: "2 Insufficient nvidia.com/gpu"},
		{name: "pods-not-ready", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+","+cond("PodsReady", "False", "WaitForStart", "Not all pods are ready")+`]`),
			pods: []state.Pod{container("ContainerCreating", "")}, reason: "WaitingForPodsReady", says: "waitForPodsReady"},
		{name: "no-pods", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+`]`),
			pods: []state.Pod{}, reason: jobs.NoPods, says: "no pods yet: is the Kubeflow training operator running?"},
		{name: "no-pods-no-queue-label", labels: "-", running: true, pods: []state.Pod{}, reason: jobs.NoPods, says: "no pods yet: is the Kubeflow training operator running?"},
		{name: "secret-missing", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+`]`),
			pods: []state.Pod{container("CreateContainerConfigError", `secret "hf-token" not found`)}, reason: "CreateContainerConfigError", says: "hyperpod cancel-job llama -n t"},
		{name: "crashes", running: true, workload: with(wait(4), reserved+`"conditions":[`+cond("QuotaReserved", "True", "QuotaReserved", "")+","+cond("Admitted", "True", "Admitted", "")+`]`),
			pods: []state.Pod{crashed}, reason: "CrashLoopBackOff", says: "hyperpod get-log llama -n t --pod llama-0 --container pytorch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			labels := queued
			switch c.labels {
			case "":
			case "-":
				labels = ""
			default:
				labels = c.labels
			}
			workload := ""
			s := cluster(c.others...)
			if c.workload != nil {
				workload = text(c.workload)
				s.Add(c.workload)
			}
			e := explained(t, s, question(t, pytorch("llama", labels, 4, !c.running), workload, c.pods...))
			if e.Reason != c.reason || e.Detail != c.detail {
				t.Errorf("%s %s: %s", e.Reason, e.Detail, e.Summary)
			}
			page := explanation.Text(e, 80, false, hours)
			if !strings.Contains(strings.Join(strings.Fields(page), " "), strings.Join(strings.Fields(c.says), " ")) {
				t.Errorf("no %q in\n%s", c.says, page)
			}
			golden.Screen(t, "testdata/"+c.name+".golden", page)
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRemedies: what would make it run is what the core says, each.
func TestRemedies(t *testing.T) {
	s := cluster(fixture.Work("t", "sweep", 8, 10, 3*time.Hour, true), fixture.Pod("t", "sweep", "n1", 8),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"other","namespace":"t"},"spec":{"clusterQueue":"u"}}`))
	job := strings.Replace(pytorch("llama", queued, 4, true), `"replicas":1`, `"replicas":2`, 1)
	work := strings.Replace(text(fixture.Work("t", "llama", 4, 10, time.Hour, false)), `"count":1`, `"count":2`, 1)
	s.Add(json.RawMessage(work))
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.New(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	q := question(t, job, work)
	q.Queues = func(context.Context) []*kueue.LocalQueue { return in.LocalQueues }
	for range 2 { // asking leaves the engine as it was
		e, err := explain.Explain(context.Background(), c, q, fixture.Noon)
		if err != nil {
			t.Fatal(err)
		}
		explanation.Fill(e, errs.Suggestion.String)
		var got []string
		for _, r := range e.Verdict.Remedies {
			line := r.Code + " " + strings.Join(r.Commands, "; ")
			if r.PodSet != "" {
				line += fmt.Sprint(r.Nodes, " of ", r.PodSet)
			}
			for _, p := range r.Preempts {
				line += " preempts " + p.Name
			}
			for _, h := range r.Jobs {
				line += " ends " + h.Name
			}
			got = append(got, line)
		}
		want := strings.Join([]string{"FewerNodes 1 of worker", "OtherQueue ",
			"HigherPriority hyperpod patch-job priority llama --priority high -n t preempts sweep",
			"JobsEnd hyperpod cancel-job sweep -n t ends sweep"}, "\n")
		if strings.Join(got, "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
		}
		if e.Position == nil || e.Position.Position != 1 || e.Position.Waiting != 1 || e.Position.WaitingSeconds < 3600 {
			t.Errorf("queue %+v", e.Position)
		}
	}
}

// TestPermissions: no suggestion needs a permission that the user lacks; the missing
// permission is named instead. Each is checked at most once.
func TestPermissions(t *testing.T) {
	s := cluster(fixture.Work("t", "sweep", 8, 10, 3*time.Hour, true))
	work := text(fixture.Work("t", "llama", 8, 10, time.Hour, false))
	s.Add(json.RawMessage(work))
	commands := func(may func(verb string, k kinds.Resource) bool) string {
		q := question(t, pytorch("llama", queued, 8, true), work)
		q.May = func(_ context.Context, verb string, k kinds.Resource, namespace string) bool {
			if namespace != "t" {
				t.Errorf("asked for %s", namespace)
			}
			return may(verb, k)
		}
		var got []string
		for _, r := range explained(t, s, q).Verdict.Remedies {
			if r.Code == "HigherPriority" || r.Code == "JobsEnd" {
				got = append(got, r.Code, strings.Join(r.Commands, "; "), r.Message)
			}
		}
		return strings.Join(got, "|")
	}
	const patch, cancel = "hyperpod patch-job priority llama --priority high -n t", "hyperpod cancel-job sweep -n t"
	for _, c := range []struct {
		name, want string
		may        func(verb string, k kinds.Resource) bool
	}{
		{"everything", "HigherPriority|" + patch + "||JobsEnd|" + cancel + "|", func(string, kinds.Resource) bool { return true }},
		{"update stands for patch", "HigherPriority|" + patch + "||JobsEnd|" + cancel + "|", func(verb string, _ kinds.Resource) bool { return verb != "patch" }},
		{"nothing", "HigherPriority||you need permission to patch pytorchjobs in t|JobsEnd||you need permission to delete pytorchjobs in t", func(string, kinds.Resource) bool { return false }},
		{"no delete", "HigherPriority|" + patch + "||JobsEnd||you need permission to delete pytorchjobs in t", func(verb string, k kinds.Resource) bool { return verb != "delete" || k.Plural != "pytorchjobs" }},
	} {
		if got := commands(c.may); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	// A job that is held back is let go on by who may patch its workload.
	held := strings.Replace(work, `"active":true`, `"active":false`, 1)
	if held == work {
		held = strings.Replace(work, `"spec":{`, `"spec":{"active":false,`, 1)
	}
	s = cluster(json.RawMessage(held))
	for may, want := range map[bool]string{true: "to resume it: hyperpod patch-job unsuspend llama -n t", false: "to resume it, you need permission to patch workloads in t"} {
		q := question(t, pytorch("llama", queued, 8, true), held)
		q.May = func(_ context.Context, verb string, k kinds.Resource, _ string) bool {
			return may || k.Plural != "workloads" || verb != "patch"
		}
		if e := explained(t, s, q); !strings.Contains(e.Summary, want) {
			t.Errorf("%v: %s", may, e.Summary)
		}
	}
}

// A step is left out where the user has no permission for it, and for a job that start-job cannot repeat.
func TestNextSteps(t *testing.T) {
	work := text(fixture.Work("t", "llama", 4, 10, time.Hour, true))
	pod := state.Pod{Meta: state.Meta{Name: "llama-worker-0"}, Phase: "Pending", Containers: []state.Container{{Name: "pytorch", Waiting: "ErrImagePull"}}}
	for _, c := range []struct {
		name  string
		may   func(verb string) bool
		fails bool
		want  string
	}{
		{"everything", func(string) bool { return true }, false, "OtherImage CancelJob"},
		{"no create", func(verb string) bool { return verb != "create" }, false, "CancelJob"},
		{"no delete", func(verb string) bool { return verb != "delete" }, false, ""},
		{"no template", func(string) bool { return true }, true, "CancelJob"},
	} {
		q := question(t, pytorch("llama", queued, 4, false), work, pod)
		q.May = func(_ context.Context, verb string, _ kinds.Resource, _ string) bool { return c.may(verb) }
		q.Make = func(remedy.Change) (map[string]any, remedy.Rendered, error) {
			if c.fails {
				return nil, remedy.Rendered{}, errors.New("no template")
			}
			return nil, remedy.Rendered{}, nil
		}
		var got []string
		for _, s := range explained(t, cluster(json.RawMessage(work)), q).NextSteps {
			got = append(got, string(s.Code))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
